import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tableOf } from '../../bench/report.ts'
import { brokenLimits, type Endured } from './limits.ts'

const ratio = (value: number | null): string =>
  value === null || !Number.isFinite(value) ? 'none' : value.toFixed(value < 10 ? 2 : 0)
const largest = (parts: Readonly<Record<string, number>>): string => {
  const [name = '', mb = 0] = Object.entries(parts).sort(([, a], [, b]) => b - a)[0] ?? []
  return `${mb.toFixed(0)} (${name})`
}
const refusals = ({ calls, refused }: Endured): string => {
  const parts = Object.entries(refused).map(([code, times]) => `${times} × ${code}`)
  return parts.length === 0 ? 'none' : `${parts.join(', ')} of ${calls}`
}

/** One row for each attack. */
export const stressTable = (rows: readonly Endured[], slack: number): string =>
  tableOf(
    [
      'attack',
      'block interval',
      '`svc_transfer`',
      'back to quiet',
      'honest calls refused',
      'memory, peak MB',
      'left MB',
      'WAL MB',
      '',
    ],
    rows.map((row) => {
      const broken = brokenLimits(row, slack)
      return [
        row.title,
        ratio(row.blockRatio),
        ratio(row.transferRatio),
        ratio(row.back),
        refusals(row),
        largest(row.memoryPeakMb),
        largest(row.memoryLeftMb),
        row.walPeakMb.toFixed(0),
        broken.length === 0 ? 'held' : 'BROKEN',
      ]
    }),
  )

/** One line for the person who waits. */
export function progressLine(row: Endured, slack: number): string {
  const broken = brokenLimits(row, slack)
  const strangers = Object.entries(row.strangers)
    .map(([what, times]) => `${times} ${what}`)
    .join(', ')
  return (
    `${row.name}: block interval × ${ratio(row.blockRatio)}, svc_transfer × ${ratio(row.transferRatio)}, ` +
    `back to quiet after ${ratio(row.back)} of the limit, honest calls refused: ${refusals(row)}, ` +
    `memory peak +${largest(row.memoryPeakMb)}, left +${largest(row.memoryLeftMb)} MB, WAL ${row.walPeakMb.toFixed(0)} MB; ` +
    `strangers: ${strangers}${broken.length === 0 ? '' : `; BROKEN: ${broken.join(', ')}`}`
  )
}

const DOC = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url))
const BEGIN = '<!-- written by make stress ARGS="--write": begin -->'
const END = '<!-- end -->'

/** Puts the table between the marks of docs/reliability.md; the text around it is people's. */
export function writeReliability(table: string): void {
  const text = readFileSync(DOC, 'utf8')
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error(`${DOC} lacks its marks`)
  writeFileSync(DOC, `${text.slice(0, from)}${BEGIN}\n\n${table}\n\n${text.slice(to)}`)
}
