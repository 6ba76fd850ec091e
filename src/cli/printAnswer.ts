import { isObject } from '../base/json.ts'
import { cell, fields, styled, table } from './output.ts'

type Json = Readonly<Record<string, unknown>>

/** Columns of the lists whose rows have more than a line holds; other rows show all that is no object. */
const COLUMNS: readonly (readonly string[])[] = [
  ['rank', 'owner_address', 'voting_power', 'shares', 'active', 'verified', 'state', 'name'],
  ['Id', 'Type', 'BlockHeight', 'ExpireBlockHeight', 'Result'],
]

/** What stands in a column; a validator's name is that of its description. */
function held(row: Json, column: string): unknown {
  return column in row ? row[column] : (row['description'] as Json | undefined)?.[column]
}

function printRows(rows: readonly unknown[]): string {
  const [first] = rows
  if (!isObject(first)) return rows.map(cell).join('\n')
  const columns =
    COLUMNS.find(([lead = '', second = '']) => lead in first && second in first) ??
    Object.keys(first).filter((name) => !isObject(first[name]))
  return table(
    columns,
    rows.map((row) => columns.map((column) => cell(held(row as Json, column)))),
  )
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : printRows(value)
  if (isObject(value)) return fields(value)
  return value === null ? 'none' : cell(value)
}

/**
 * A gateway's answer for people: a table of a list, `name  value` of an object; `{height, data}` with its height above.
 */
export function printAnswer(result: unknown): string {
  if (!isObject(result) || !('data' in result) || Object.keys(result).length !== 2) return printValue(result)
  return `${styled('dim', `height ${cell(result['height'])}`)}\n${printValue(result['data'])}`
}
