/**
 * Builds src/client/gen/calls.ts from the registry and the gateway's methods: what the client's functions are called,
 * which method each of them asks, the kinds of their members, and their types. The client imports nothing of the state
 * machine. Run by tools/gen.ts.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  clientOperations,
  clientQueries,
  type ClientMember,
  type ClientQuery,
  typeOfKind,
  typeOfSchema,
} from './client/surface.ts'

const out = join(import.meta.dirname, '../src/client/gen')

const upper = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
const inputName = (operation: string): string => `${upper(operation)}Input`
const resultName = ({ method, isTransaction }: ClientQuery): string =>
  isTransaction ? 'TransactionResult' : `${upper(method.replace(/^.*[_.]/, ''))}Result`

function memberLines(members: Readonly<Record<string, ClientMember>>, indent: string): string {
  return Object.entries(members)
    .map(([name, member]) => {
      const type =
        member.members === undefined
          ? typeOfKind(member.kind)
          : `{\n${memberLines(member.members, `${indent}  `)}${indent}}`
      return `${indent}/** ${member.doc}. */\n${indent}readonly ${name}${member.optional === true ? '?' : ''}: ${type}\n`
    })
    .join('')
}

/**
 * Signatures of a query: by position, `optional` ones left out from the end, then what the form adds; and all by name.
 */
function signatures(query: ClientQuery, tail: string, isOpen: boolean, returned: string): string {
  const all = Object.entries(query.members)
  const positional = all.slice(0, query.count)
  const required = positional.filter(([, { optional }]) => !optional).length
  const lines = Array.from({ length: query.count - required + 1 }, (_, more) =>
    positional.slice(0, required + more).map(([name, { schema }]) => `${name}: ${typeOfSchema(schema)}`),
  )
  if (all.length > 0) {
    const named = all.map(
      ([name, { schema, optional }]) => `readonly ${name}${optional ? '?' : ''}: ${typeOfSchema(schema)}`,
    )
    lines.push([`members: { ${named.join('; ')} }`])
  }
  const last = tail === '' ? [] : [`${tail}${isOpen ? '?' : ''}: ${tailType(tail, query)}`]
  return lines.map((parts) => `(${[...parts, ...last].join(', ')}): ${returned}`).join('; ')
}

const tailType = (tail: string, query: ClientQuery): string =>
  tail === 'callback' ? `Callback<${resultName(query)}>` : 'CallOptions'

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
  for (const { call, doc, operation } of clientOperations) {
    insert(tree, call, {
      doc,
      sync: `Operation<${inputName(operation)}>`,
      promise: `AsyncOperation<${inputName(operation)}>`,
    })
  }
  for (const query of clientQueries) {
    const result = resultName(query)
    const sync = `{ ${signatures(query, '', false, result)}; ${signatures(query, 'callback', false, 'void')} }`
    insert(tree, query.call, {
      doc: query.doc,
      sync,
      promise: `{ ${signatures(query, 'options', true, `Promise<${result}>`)} }`,
    })
  }
  return tree as Tree
}

const IMPORTS = [
  'AsyncOperation',
  'Callback',
  'CallOptions',
  'Operation',
  'OperationSpec',
  'QuerySpec',
  'Sender',
  'TransactionResult',
]

/**
 * Members as the client reads them at run time, where only the error of one that is missing shows its doc: a browser
 * loads no other.
 */
const plainMembers = (members: Readonly<Record<string, ClientMember>>): object =>
  Object.fromEntries(
    Object.entries(members).map(([name, { doc, members: inside, ...rest }]) => [
      name,
      {
        ...rest,
        ...(rest.optional === true ? {} : { doc }),
        ...(inside === undefined ? {} : { members: plainMembers(inside) }),
      },
    ]),
  )

function source(): string {
  const operations = clientOperations.map(({ call, method, operation, members }) => ({
    call,
    method,
    operation,
    members: plainMembers(members),
  }))
  const queries = clientQueries.map(({ call, method, isTransaction }) => ({
    call,
    method,
    ...(isTransaction ? { isTransaction } : {}),
  }))
  const tree = functionsTree()
  return [
    '/* Written by tools/gen-client.ts: change the registry, not this file. */',
    `import type { ${IMPORTS.join(', ')} } from '../types.ts'\n`,
    ...clientOperations.map(
      ({ operation, doc, members }) =>
        `/** ${doc} */\nexport interface ${inputName(operation)} extends Sender {\n${memberLines(members, '  ')}}\n`,
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
    `/** Every operation. */\nexport const operations: readonly OperationSpec[] = ${JSON.stringify(operations)}\n`,
    `/** Every query. */\nexport const queries: readonly QuerySpec[] = ${JSON.stringify(queries)}\n`,
  ].join('\n')
}

mkdirSync(out, { recursive: true })
writeFileSync(join(out, 'calls.ts'), source())
