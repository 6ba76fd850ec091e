import { txEntries } from '../../src/modules/registry.ts'
import type { Fields } from '../../src/tx/fields.ts'
import { clientQueries, typeOfSchema } from '../client/surface.ts'
import { table } from './markdown.ts'

const RESULT = 'the transaction result object'
const HEAD = ['Field', 'Type', 'Required', 'Meaning']
const required = (isOptional: boolean | undefined): string => (isOptional === true ? 'no' : 'yes')

const fieldRows = (fields: Fields, within = ''): readonly (readonly string[])[] =>
  Object.entries(fields).flatMap(([name, { inputType, doc, optional, fields: inner = {} }]) => [
    [`${within}${name}`, inputType, required(optional), doc],
    ...fieldRows(inner, `${within}${name}.`),
  ])

const EXAMPLES: Readonly<Record<string, string>> = { address: 'bob', uint: '1', flag: 'true' }

/** An example of a function that nobody wrote one for: required fields only. */
function exampleOf(call: string, fields: Fields, sender: string): string {
  const given = Object.entries(fields)
    .filter(([, { optional }]) => !optional)
    .map(([name, { type }]) => `${name}: ${EXAMPLES[type] ?? "'1'"}`)
  const input = [sender, ...given].filter(Boolean).join(', ')
  return `\`\`\`js\nconsole.log(await svc.async.${call}(${input === '' ? '' : `{ ${input} }`}))\n\`\`\``
}

const COMMON = [
  ['from', 'string', 'no', 'account that acts; `svc.defaultAccount` when left out'],
  ['nonce', 'number', 'no', 'number of transactions made by the sender before this one'],
]

/** What stands between the marks of each function. */
const parts = new Map<string, string>([
  ...txEntries.map(
    ({ call, method, doc, input, returns }) =>
      [
        call,
        [
          `${doc} Method \`${method}\`.`,
          '',
          table(HEAD, [...fieldRows(input), ...COMMON]),
          '',
          `Returns the transaction result object; \`deliver_tx.data\` ${returns === undefined ? 'is left out' : `holds the ${returns}`}.`,
        ].join('\n'),
      ] as const,
  ),
  ...clientQueries.map(
    ({ call, method, doc, fields, count, result }) =>
      [
        call,
        [
          `${doc} Method \`${method}\`.`,
          ...(Object.keys(fields).length === 0
            ? []
            : [
                '',
                table(
                  HEAD,
                  Object.entries(fields).map(([name, { inputType, doc: meaning, optional }], at) => [
                    name,
                    inputType,
                    required(optional),
                    at < count ? meaning : `${meaning}; by name only`,
                  ]),
                ),
              ]),
          '',
          `Returns ${returned(result)}.`,
        ].join('\n'),
      ] as const,
  ),
])

type Schema = Readonly<Record<string, unknown>>

function returned(result: Schema): string {
  const [only, ...others] = ((result['anyOf'] ?? []) as readonly Schema[]).filter(({ type }) => type !== 'null')
  if (only !== undefined && others.length === 0) return `${returned(only)}, or null`
  const names = Object.keys((result['properties'] ?? {}) as object)
  if (names.join().startsWith('height,hash,check_tx,deliver_tx')) {
    const more = names.slice(4).map((name) => `\`${name}\``)
    return more.length === 0 ? RESULT : `${RESULT}, which may also have ${more.join(' and ')}`
  }
  const items = result['items'] as Schema | undefined
  if (items !== undefined) return `an array of \`${typeOfSchema(items)}\``
  return names.length === 0
    ? `\`${typeOfSchema(result)}\``
    : `an object with ${names.map((name) => `\`${name}\``).join(', ')}`
}

const examples = new Map<string, string>([
  ...txEntries.map(({ call, input }) => [call, exampleOf(call, input, 'from: alice')] as const),
  ...clientQueries.map(({ call, fields }) => [call, exampleOf(call, fields, '')] as const),
])

/**
 * The text of docs/client.md with the generated part of each function's section brought up to date, between
 * `<!-- call -->` and `<!-- /call -->`, and with a new section for each function that had none.
 */
export function withClientSections(before: string): string {
  let text = before
  for (const [call, part] of parts) {
    const made = `<!-- ${call} -->\n${part}\n<!-- /${call} -->`
    const found = new RegExp(`<!-- ${call} -->[\\s\\S]*?<!-- /${call} -->`)
    text = found.test(text)
      ? text.replace(found, () => made)
      : `${text.trimEnd()}\n\n### svc.${call} [ext]\n\n${made}\n\n${examples.get(call) ?? ''}\n`
  }
  return text
}
