/** A cell as Markdown shows it: pipes, and outside code what a page would take for a tag, are escaped. */
const cellOf = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
    .join('`')

/** A Markdown table. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cellOf).join(' | ')} |`).join('\n')

/** A whole number with a comma after every three digits. */
export const thousands = (value: number | bigint): string => value.toString().replace(/\B(?=(\d{3})+$)/g, ',')

/** A number of bytes in MiB. */
export const mebibytes = (value: number): string => `${value / 1024 / 1024} MiB`

/** A number of milliseconds in seconds. */
export const seconds = (ms: number): string => `${ms / 1000} s`
