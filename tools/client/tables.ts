import { type ChainTable, tables } from '../../src/modules/registry.ts'
import type { ValueType } from '../../src/values/valueType.ts'

/** Where the client finds the value types that fields and columns may have. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  address: ['address', 'addressOrNone'],
  pubKey: ['pubKey', 'proposalId'],
  number: ['uint', 'amount', 'ratio'],
  text: ['text', 'flag', 'yesNo', 'yesNoText', 'textOf'],
}

/** The import lines of value types. */
export function importsOf(types: readonly string[]): readonly string[] {
  const used = new Set(types)
  const imports = Object.entries(HOMES).flatMap(([home, names]) => {
    const needed = names.filter((name) => used.delete(name))
    return needed.length === 0 ? [] : [`import { ${needed.join(', ')} } from '../../values/${home}.ts'`]
  })
  if (used.size > 0) throw new Error(`gen-client: no home for the value types ${[...used].join(', ')}`)
  return imports
}

/** The name of a column's type in the client, which reads the texts of an enum as they are. */
const typeName = ({ name }: ValueType<unknown>): string => (name === 'enum' || name === 'yesNo' ? 'text' : name)

const STATE_TABLE = `/** A table under the app hash: the tag of its keys, the message of its rows, and the types of its columns. */
export interface StateTable {
  readonly tag: number
  readonly messageName: string
  readonly key: Readonly<Record<string, KeyType<unknown>>>
  readonly row: Readonly<Record<string, ValueType<unknown>>>
}
`

const columnsOf = (columns: Readonly<Record<string, ValueType<unknown>>>): string =>
  `{ ${Object.entries(columns)
    .map(([name, type]) => `${name}: ${typeName(type)}`)
    .join(', ')} }`

/** The source of src/client/gen/rows.ts: the declarations of all tables under the app hash, as the client needs them. */
export function rowsSource(): string {
  const hashed = (tables as readonly unknown[] as readonly ChainTable[]).filter((table) => table.hashed)
  const used = hashed.flatMap(({ key, row }) => [...Object.values(key), ...Object.values(row)].map(typeName))
  const lines = hashed.map(
    ({ name, tag, messageName, key, row }) =>
      `  ['${name}', { tag: ${tag}, messageName: '${messageName}', key: ${columnsOf(key)}, row: ${columnsOf(row)} }],`,
  )
  return [
    "/* Written by tools/gen-client.ts: change the modules' tables, not this file. */",
    ...importsOf(used),
    "import type { KeyType, ValueType } from '../../values/valueType.ts'\n",
    STATE_TABLE,
    '/** Every table under the app hash, by its name. */',
    `export const stateTables: ReadonlyMap<string, StateTable> = new Map<string, StateTable>([\n${lines.join('\n')}\n])\n`,
  ].join('\n')
}
