import { fileURLToPath } from 'node:url'
import { table } from '../../tools/reference/markdown.ts'
import { writePart } from '../../tools/reference/writtenPart.ts'
import type { CampaignReport } from '../support/campaign.ts'
import { brokenLimits, type Endured } from './limits.ts'

const ratio = (value: number | null): string =>
  value === null || !Number.isFinite(value) ? 'none' : value.toFixed(value < 10 ? 2 : 0)
const largest = (parts: Readonly<Record<string, number>>): string => {
  const [name = '', mb = 0] = Object.entries(parts).sort(([, a], [, b]) => b - a)[0] ?? []
  return `${Math.round(mb)} (${name})`
}
const refusals = ({ calls, refused }: Endured): string => {
  const parts = Object.entries(refused).map(([code, times]) => `${times} × ${code}`)
  return parts.length === 0 ? 'none' : `${parts.join(', ')} of ${calls}`
}

const HEAD =
  'attack | block interval | `svc_transfer` | histories | back to quiet | honest calls refused | memory, peak MB | ' +
  'left MB | WAL MB | '

export const stressTable = (rows: readonly Endured[], slack: number): string =>
  table(
    HEAD.split(' | '),
    rows.map((row) => {
      const broken = brokenLimits(row, slack)
      return [
        row.title,
        ratio(row.blockRatio),
        ratio(row.transferRatio),
        ratio(row.historyRatio),
        ratio(row.back),
        refusals(row),
        largest(row.memoryPeakMb),
        largest(row.memoryLeftMb),
        row.walPeakMb.toFixed(0),
        broken.length === 0 ? 'held' : 'BROKEN',
      ]
    }),
  )

/** All attacks in one line; the table says what each came to. `slack`: as in `brokenLimits`. */
export function stressReport(rows: readonly Endured[], slack: number): CampaignReport {
  const broken = rows.flatMap((row) => {
    const limits = brokenLimits(row, slack)
    return limits.length === 0 ? [] : [`${row.name} (${limits.join(', ')})`]
  })
  return {
    name: 'strangers',
    target: `under each attack ${slack === 1 ? 'every limit holds' : `no limit is exceeded by more than ${slack} times`}`,
    ran: rows.length,
    seed: undefined,
    result: broken.length === 0 ? `held under ${rows.length} attacks` : `broken under ${broken.join('; ')}`,
    passed: broken.length === 0,
  }
}

/** One line for the person who waits. */
export function progressLine(row: Endured, slack: number): string {
  const broken = brokenLimits(row, slack)
  const strangers = Object.entries(row.strangers)
    .map(([what, times]) => `${times} ${what}`)
    .join(', ')
  return (
    `${row.name}: block interval × ${ratio(row.blockRatio)}, svc_transfer × ${ratio(row.transferRatio)}, ` +
    `histories × ${ratio(row.historyRatio)}, ` +
    `back to quiet after ${ratio(row.back)} of the limit, honest calls refused: ${refusals(row)}, ` +
    `memory peak +${largest(row.memoryPeakMb)}, left +${largest(row.memoryLeftMb)} MB, WAL ${row.walPeakMb.toFixed(0)} MB; ` +
    `strangers: ${strangers}${broken.length === 0 ? '' : `; BROKEN: ${broken.join(', ')}`}`
  )
}

const DOC = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url))

export const writeReliability = (table: string): void => writePart(DOC, 'stress', table)
