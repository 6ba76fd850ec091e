import { concat } from '../../base/bytes.ts'
import { stateCodec } from '../../codec/state.ts'
import type { WireValue } from '../../values/column.ts'
import { stateTables } from '../gen/rows.ts'

/** The state key of a row; undefined when there can be no such row. */
export function stateKey(table: string, key: string): Uint8Array | undefined {
  const declared = stateTables.get(table)
  const types = Object.values(declared?.key ?? {})
  const parts = key === '' ? [] : key.split('/')
  if (declared === undefined || parts.length !== types.length) return undefined
  const bytes: Uint8Array[] = [Uint8Array.of(declared.tag)]
  for (const [index, type] of types.entries()) {
    const value = type.parse(parts[index] as string)
    if (value === undefined) return undefined
    bytes.push(type.toKey(value))
  }
  return concat(...bytes)
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A row for people and programs, from its state key and the bytes that were proven. Amounts are text, base units. */
export function printRow(table: string, key: Uint8Array, value: Uint8Array): Readonly<Record<string, unknown>> {
  const declared = stateTables.get(table)
  if (declared === undefined) throw new Error(`the state has no table ${table}`)
  const row: Record<string, unknown> = {}
  let start = 1
  for (const [name, type] of Object.entries(declared.key)) {
    const part = type.fromKey(key, start)
    if (part === undefined) throw new Error(`${table}: the key has no ${name}`)
    row[snakeCase(name)] = type.toJson(part.value)
    start = part.next
  }
  const members = stateCodec<Readonly<Record<string, WireValue>>>(declared.messageName).decode(value)
  for (const [name, held] of Object.entries(members)) {
    const type = declared.row[name]
    if (type === undefined) throw new Error(`${table}: the client knows no column ${name}`)
    row[snakeCase(name)] = type.toJson(type.fromWire(held))
  }
  return row
}
