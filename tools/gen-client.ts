/**
 * Builds src/client/gen/calls.ts from the registry and the gateway's methods: what the client's functions are called,
 * which method each of them asks, the types of their fields, and what they answer. The client imports nothing of the state
 * machine. Run by tools/gen.ts.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TxEntry } from '../src/modules/define.ts'
import { txEntries } from '../src/modules/registry.ts'
import type { Fields } from '../src/tx/fields.ts'
import { clientQueries, type ClientQuery, typeOfSchema } from './client/surface.ts'
import { eventsSource } from './client/events.ts'
import { formsSource, typesOf } from './client/forms.ts'
import { importsOf, rowsSource } from './client/tables.ts'
import { upper } from './names.ts'

const out = join(import.meta.dirname, '../src/client/gen')

const inputName = (operation: string): string => `${upper(operation)}Input`
const resultName = ({ method, isTransaction }: ClientQuery): string =>
  isTransaction ? 'TransactionResult' : `${upper(method.replace(/^.*[_.]/, ''))}Result`

function fieldLines(fields: Fields, indent: string): string {
  return Object.entries(fields)
    .map(([name, { doc, optional, inputType, fields: inner }]) => {
      const type = inner === undefined ? inputType : `{\n${fieldLines(inner, `${indent}  `)}${indent}}`
      return `${indent}/** ${doc}. */\n${indent}readonly ${name}${optional ? '?' : ''}: ${type}\n`
    })
    .join('')
}

/**
 * Signatures of a query: by position, `optional` ones left out from the end, and all by name; then the parameter that
 * the form adds.
 */
function signatures(query: ClientQuery, last: readonly string[], returned: string): string {
  const all = Object.entries(query.fields)
  const positional = all.slice(0, query.count)
  const required = positional.filter(([, { optional }]) => !optional).length
  const lines = Array.from({ length: query.count - required + 1 }, (_, more) =>
    positional.slice(0, required + more).map(([name, { inputType }]) => `${name}: ${inputType}`),
  )
  if (all.length > 0) {
    const named = all.map(([name, { inputType, optional }]) => `readonly ${name}${optional ? '?' : ''}: ${inputType}`)
    lines.push([`members: { ${named.join('; ')} }`])
  }
  return lines.map((parts) => `(${[...parts, ...last].join(', ')}): ${returned}`).join('; ')
}

interface Leaf {
  readonly doc: string
  readonly sync: string
  readonly promise: string
}
interface Tree {
  readonly [name: string]: Tree | Leaf
}

function insert(tree: Record<string, unknown>, call: string, leaf: Leaf): void {
  const path = call.split('.')
  const last = path.pop() as string
  let node = tree
  for (const part of path) node = (node[part] ??= {}) as Record<string, unknown>
  if (node[last] !== undefined) throw new Error(`gen-client: two functions are called ${call}`)
  node[last] = leaf
}

const isLeaf = (node: Tree | Leaf): node is Leaf => typeof node['doc'] === 'string'

function treeLines(tree: Tree, form: 'sync' | 'promise', indent: string): string {
  return Object.entries(tree)
    .map(([name, node]) =>
      isLeaf(node)
        ? `${indent}/** ${node.doc} */\n${indent}readonly ${name}: ${node[form]}\n`
        : `${indent}readonly ${name}: {\n${treeLines(node, form, `${indent}  `)}${indent}}\n`,
    )
    .join('')
}

function functionsTree(): Tree {
  const tree: Record<string, unknown> = {}
  for (const { call, doc, operation } of txEntries) {
    insert(tree, call, {
      doc,
      sync: `Operation<${inputName(operation)}>`,
      promise: `AsyncOperation<${inputName(operation)}>`,
    })
  }
  for (const query of clientQueries) {
    const result = resultName(query)
    const callbacks = [`Callback<${result}>`, 'ErrorCallback'].map((type) =>
      signatures(query, [`callback: ${type}`], 'void'),
    )
    const sync = `{ ${[signatures(query, [], result), ...callbacks].join('; ')} }`
    insert(tree, query.call, {
      doc: query.doc,
      sync,
      promise: `{ ${signatures(query, ['options?: CallOptions'], `Promise<${result}>`)} }`,
    })
  }
  return tree as Tree
}

const IMPORTS = [
  'AsyncOperation',
  'Callback',
  'CallOptions',
  'ErrorCallback',
  'Operation',
  'OperationSpec',
  'QuerySpec',
  'Sender',
]

/**
 * Fields as the client reads them at run time, where only the error of one that is missing shows its doc: a browser
 * loads no other, and none that its type has.
 */
function fieldsSource(fields: Fields): string {
  const lines = Object.entries(fields).map(([name, { type, doc, optional, limits, valueType, fields: inner }]) => {
    const text = optional || doc === valueType?.doc ? '' : `, ${JSON.stringify(doc)}`
    const made = limits?.bytesMax === undefined ? type : `textOf(${limits.bytesMax})`
    const one =
      inner === undefined
        ? `field(${made}${text})`
        : `nested(${fieldsSource(inner)}, ${JSON.stringify(optional ? '' : doc)})`
    return `${name}: ${optional ? `optional(${one})` : one}`
  })
  return `{ ${lines.join(', ')} }`
}

/** What the lists are made with: most methods are called as their functions are, and a browser loads the rest only. */
const HELPERS = `const query = (call: string, method = \`svc_\${call.replace(/.*\\./, '')}\`): QuerySpec => ({ call, method })
const order = (operation: string, call: string, fields: OperationSpec['fields']): OperationSpec => ({
  operation,
  call,
  method: \`svc_\${operation}\`,
  fields,
})
`

const querySource = ({ call, method, isTransaction }: ClientQuery): string => {
  const made = method === `svc_${call.replace(/.*\./, '')}` ? `query('${call}')` : `query('${call}', '${method}')`
  return isTransaction ? `{ ...${made}, isTransaction: true }` : made
}

function operationSource({ call, method, operation, input }: TxEntry): string {
  if (method !== `svc_${operation}`) throw new Error(`gen-client: ${operation} has the method ${method}`)
  return `order('${operation}', '${call}', ${fieldsSource(input)})`
}

const listSource = (lines: readonly string[]): string => `[\n${lines.map((line) => `  ${line},\n`).join('')}]\n`

function source(): string {
  const tree = functionsTree()
  return [
    '/* Written by tools/gen-client.ts: change the registry, not this file. */',
    "import { field, nested, optional } from '../../tx/fields.ts'",
    "import type { TransactionResult } from '../../tx/result.ts'",
    ...importsOf([...txEntries.flatMap(({ input }) => typesOf(input)), 'textOf']),
    `import type { ${IMPORTS.join(', ')} } from '../types.ts'\n`,
    ...txEntries.map(
      ({ operation, doc, input }) =>
        `/** ${doc} */\nexport interface ${inputName(operation)} extends Sender {\n${fieldLines(input, '  ')}}\n`,
    ),
    ...clientQueries
      .filter(({ isTransaction }) => !isTransaction)
      .map(
        (query) =>
          `/** What ${query.call} answers. */\nexport type ${resultName(query)} = ${typeOfSchema(query.result)}\n`,
      ),
    '/** The functions of web3.svc: with a callback at the end, or synchronous. */',
    `export interface SvcFunctions {\n${treeLines(tree, 'sync', '  ')}}\n`,
    `/** The same functions as promises. */\nexport interface AsyncFunctions {\n${treeLines(tree, 'promise', '  ')}}\n`,
    HELPERS,
    '/** Every operation. */',
    `export const operations: readonly OperationSpec[] = ${listSource(txEntries.map(operationSource))}`,
    '/** Every query. */',
    `export const queries: readonly QuerySpec[] = ${listSource(clientQueries.map(querySource))}`,
  ].join('\n')
}

mkdirSync(out, { recursive: true })
writeFileSync(join(out, 'calls.ts'), source())
writeFileSync(join(out, 'events.ts'), eventsSource())
writeFileSync(join(out, 'rows.ts'), rowsSource())
writeFileSync(join(out, 'forms.ts'), formsSource())
