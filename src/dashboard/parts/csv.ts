/** A value of a cell of a CSV file. */
export type CsvValue = string | number | bigint

/** A cell. Text that a spreadsheet would run as a formula is marked as text. Source: RFC 4180; OWASP, CSV injection. */
function cell(value: CsvValue): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
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
