import { readFileSync } from 'node:fs'

/** One row of a table, or one item of a numbered list, of docs/interface.md. */
export interface InterfaceRow {
  /**
   * Its heading, and its first cell or its number, without brackets: `Validator object · shares`, `Limits · 3`. Unique.
   */
  readonly key: string
  readonly section: string
  /** The cells of a row, by their column's head; empty for an item of a list. */
  readonly cells: Readonly<Record<string, string>>
}

/** The first cells that tell the rows of a table apart. One does, but for the tables of moves. */
const keyCells: Readonly<Record<string, number>> = { 'State before': 2 }

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Every table row and every numbered item of docs/interface.md, in its order. Throws when two have one key. */
export function interfaceRows(): readonly InterfaceRow[] {
  const rows: InterfaceRow[] = []
  let section = ''
  let head: readonly string[] = []
  for (const line of readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8').split('\n')) {
    const heading = /^#+ (.+)$/.exec(line)?.[1]
    const item = /^(\d+)\. /.exec(line)?.[1]
    if (heading !== undefined) section = heading.replace(/ \(.*\)$/, '')
    else if (item !== undefined) rows.push({ key: `${section} · ${item}`, section, cells: {} })
    else if (!line.startsWith('|')) head = []
    else if (head.length === 0) head = cellsOf(line)
    else if (!/^\|[-|]+\|$/.test(line)) {
      const cells = cellsOf(line)
      const names = cells.slice(0, keyCells[head[0] as string] ?? 1).map((cell) => cell.replace(/\(.*\)$/, ''))
      const named = Object.fromEntries(head.map((name, at) => [name, cells[at] ?? '']))
      rows.push({ key: `${section} · ${names.join(', ')}`, section, cells: named })
    }
  }
  const twice = rows.find(({ key }, at) => rows.findIndex((one) => one.key === key) !== at)
  if (twice !== undefined) throw new Error(`two rows of the interface have the key ${twice.key}`)
  return rows
}

/** The rows of one table. */
export function tableOf(section: string): readonly InterfaceRow[] {
  const rows = interfaceRows().filter((row) => row.section === section && Object.keys(row.cells).length > 0)
  if (rows.length === 0) throw new Error(`the interface has no table ${section}`)
  return rows
}

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** What the notes of a row say of a text's form. */
const FORMS: readonly (readonly [notes: RegExp, form: RegExp])[] = [
  [/^Decimal integer as text/, /^\d+$/],
  [/^Decimal fraction as text|decimal fraction/, /^\d+(\.\d+)?$/],
  [/^UTC timestamp/, UTC],
  [/^Empty while unresolved, otherwise UTC timestamp/, new RegExp(`^$|${UTC.source}`)],
  [/^Y or N/, /^[YN]$/],
  [/^Proposal ID, base64/, /^[A-Za-z0-9+/]{43}=$/],
  [/address\)|^Account address|^Address of/, /^0x[0-9a-f]{40}$/],
]

function misfit(value: unknown, type: string, notes: string): string | undefined {
  if (type.startsWith('Number')) return Number.isSafeInteger(value) ? undefined : 'is no integer'
  if (type.startsWith('Object'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'is no object'
  if (typeof value !== 'string') return 'is no string'
  const form = FORMS.find(([pattern]) => pattern.test(notes))?.[1]
  return form === undefined || form.test(value) ? undefined : `has another form: ${value}`
}

/**
 * How an object differs from the table of its fields: members that are missing, too many, of another type, or whose
 * text has another form than the notes say. Empty when it is as the interface has it.
 */
export function misfits(section: string, object: Readonly<Record<string, unknown>>): readonly string[] {
  const rows = tableOf(section)
  const names = new Set(rows.map(({ cells }) => cells['Field']))
  const extra = Object.keys(object)
    .filter((name) => !names.has(name))
    .map((name) => `${name} is not in the table`)
  const wrong = rows.flatMap(({ cells }) => {
    const { Field: field = '', Type: type = '', Notes: notes = '' } = cells
    if (!Object.hasOwn(object, field)) return [`${field} is missing`]
    const why = misfit(object[field], type, `${notes}${type.replace(/^String \(/, '')}`)
    return why === undefined ? [] : [`${field} ${why}`]
  })
  return [...extra, ...wrong]
}
