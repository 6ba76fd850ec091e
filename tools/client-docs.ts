/**
 * Writes the generated part of each function's section in docs/client.md, between `<!-- call -->` and `<!-- /call -->`,
 * and a section with an example for each function that has none; with `--check` it writes nothing and exits 1 when they have drifted
 * from the registry.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Fields } from '../src/tx/fields.ts'
import { clientOperations, clientQueries, typeOfSchema } from './client/surface.ts'

const path = new URL('../docs/client.md', import.meta.url)

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
const table = (rows: readonly (readonly string[])[]): string =>
  [['Member', 'Type', 'Required', 'Meaning'], ['---', '---', '---', '---'], ...rows].map(row).join('\n')
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
  return `\`\`\`js\nconsole.log(await svc.async.${call}({ ${[sender, ...given].filter(Boolean).join(', ')} }))\n\`\`\``
}

const COMMON = [
  ['from', 'string', 'no', 'account that acts; `svc.defaultAccount` when left out'],
  ['nonce', 'number', 'no', 'number of transactions made by the sender before this one'],
]

/** What stands between the marks of each function. */
const parts = new Map<string, string>([
  ...clientOperations.map(
    ({ call, method, doc, fields, returns }) =>
      [
        call,
        [
          `${doc} Method \`${method}\`.`,
          '',
          table([...fieldRows(fields), ...COMMON]),
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
                  Object.entries(fields).map(([name, { schema, doc: meaning, optional }], at) => [
                    name,
                    typeOfSchema(schema),
                    required(optional),
                    at < count ? meaning : `${meaning}; in an object of members only`,
                  ]),
                ),
              ]),
          '',
          `Returns ${returned(result)}.`,
        ].join('\n'),
      ] as const,
  ),
])

function returned(result: Readonly<Record<string, unknown>>): string {
  const names = Object.keys((result['properties'] ?? {}) as object)
  if (names.join() === 'height,hash,check_tx,deliver_tx') return 'the transaction result object'
  return names.length === 0
    ? `\`${typeOfSchema(result)}\``
    : `an object with ${names.map((name) => `\`${name}\``).join(', ')}`
}

const examples = new Map<string, string>([
  ...clientOperations.map(({ call, fields }) => [call, exampleOf(call, fields, 'from: alice')] as const),
  ...clientQueries.map(({ call, fields }) => [call, exampleOf(call, fields, '')] as const),
])

const before = readFileSync(path, 'utf8')
let text = before
for (const [call, part] of parts) {
  const made = `<!-- ${call} -->\n${part}\n<!-- /${call} -->`
  const found = new RegExp(`<!-- ${call} -->[\\s\\S]*?<!-- /${call} -->`)
  text = found.test(text)
    ? text.replace(found, () => made)
    : `${text.trimEnd()}\n\n### svc.${call} [ext]\n\n${made}\n\n${examples.get(call) ?? ''}\n`
}
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (text !== before) {
  process.stderr.write('docs/client.md: its tables differ from the code; run `npm run reference`\n')
  process.exit(1)
}
