import { visibleText } from '../marks.ts'

export type CsvValue = string | number | bigint

/** A decimal number below 0, which begins like a formula and is none. */
const NEGATIVE = /^-[0-9]+(?:\.[0-9]+)?$/

/**
 * A cell. Text that a spreadsheet would run as a formula is marked as text, and what would turn it around is written as
 * its code. Source: RFC 4180; OWASP, CSV injection.
 */
function cell(value: CsvValue): string {
  const shown = visibleText(String(value))
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && !NEGATIVE.test(value) ? `'${shown}` : shown
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a CSV file: a line of names, then the rows. */
export const csvText = (names: readonly string[], rows: readonly (readonly CsvValue[])[]): string =>
  [names, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')

/** Hands a file to the reader. */
export function download(name: string, text: string, type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
