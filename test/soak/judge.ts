import type { CampaignReport } from '../support/campaign.ts'
import { fitLine, type Line, type Point } from './line.ts'
import { MIB, type Sample } from './samples.ts'

const MEMORY_MB_A_HOUR_MAX = 1
/**
 * A part whose caches fill with the chain for hours is held to a limit instead. CometBFT has four databases, each with
 * two write buffers of 4 MiB and a cache of blocks of 8 MiB; 32 MiB are for the rest, such as tables that are being merged.
 */
const KEPT_MB_MAX: ReadonlyMap<string, number> = new Map([['CometBFT', 4 * (2 * 4 + 8) + 32]])
const WAL_MIB_MAX = 64
/** Connections come and go, and a busy machine has more of them for a while. Only the lowest counts tell of a leak. */
const DESCRIPTORS_MORE_MAX = 16
const HOURS_OF_DAY = 24

const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0)

type Judged = Pick<CampaignReport, 'target' | 'passed'>

/**
 * Memory grows when its slope is above both the limit and the error of the line: a short run cannot tell a slope below
 * that error, and its target says so.
 */
function judgeSlope({ slopePerHour, error }: Line): Judged {
  const limit = Math.max(MEMORY_MB_A_HOUR_MAX, error)
  const tells = error > MEMORY_MB_A_HOUR_MAX ? ', the least that a run of this length can tell' : ''
  // NaN does not hold.
  return { target: `grows by less than ${limit.toFixed(1)} MB an hour${tells}`, passed: slopePerHour < limit }
}

const judgeKept = (kept: readonly number[], keptMax: number): Judged => ({
  target: `at most ${keptMax} MB in use, whatever its caches hold`,
  passed: kept.length > 0 && kept.every((mb) => mb <= keptMax),
})

/** What a process keeps after a collection of its garbage. */
function memoryOf(name: string, samples: readonly Sample[]): CampaignReport {
  const points = samples.flatMap(({ atMs, keptMb }) =>
    keptMb === undefined ? [] : [{ atMs, value: keptMb.get(name) ?? Number.NaN }],
  )
  const kept = points.map(({ value }) => value)
  const line = fitLine(points)
  const keptMax = KEPT_MB_MAX.get(name)
  const [first, last] = [kept[0], kept.at(-1)].map((mb) => (mb ?? Number.NaN).toFixed(0))
  const highest = most(samples.map(({ parts }) => parts.get(name)?.memoryMb ?? 0))
  return {
    name: `memory, ${name}`,
    ran: points.length,
    seed: undefined,
    result:
      `${line.slopePerHour.toFixed(2)} ± ${line.error.toFixed(2)} MB an hour, from ${first} to ${last} MB, ` +
      `at most ${most(kept).toFixed(0)} MB; with garbage ${highest.toFixed(0)} MB at most`,
    ...(keptMax === undefined ? judgeSlope(line) : judgeKept(kept, keptMax)),
  }
}

function descriptorsOf(name: string, samples: readonly Sample[]): CampaignReport {
  const counts = samples.map(({ parts }) => parts.get(name)?.descriptors ?? Number.NaN)
  const third = Math.ceil(counts.length / 3)
  const [early, late] = [Math.min(...counts.slice(0, third)), Math.min(...counts.slice(-third))]
  return {
    name: `file descriptors, ${name}`,
    target: `the lowest count of the last third is at most ${DESCRIPTORS_MORE_MAX} above that of the first`,
    ran: counts.length,
    seed: undefined,
    result: `${early} at least in the first third, ${late} in the last; never more than ${most(counts)}`,
    passed: late <= early + DESCRIPTORS_MORE_MAX,
  }
}

/** Megabytes of log since the first sample. A log that has become too long loses its oldest file: nothing is written then. */
function written(name: string, samples: readonly Sample[]): readonly Point[] {
  let [before, sum] = [samples[0]?.logBytes.get(name) ?? 0, 0]
  return samples.map(({ atMs, logBytes }) => {
    const now = logBytes.get(name) ?? 0
    sum += Math.max(0, now - before)
    before = now
    return { atMs, value: sum / 1e6 }
  })
}

/** Judges what was seen after the warm-up. `all`: of the whole run. */
export function judge(all: readonly Sample[], measured: readonly Sample[]): readonly CampaignReport[] {
  const names = [...(measured[0]?.parts.keys() ?? [])]
  const wal = most(all.map(({ walBytes }) => walBytes)) / MIB
  const logs = [...(measured[0]?.logBytes.keys() ?? [])].map(
    (name) => `${name} ${(fitLine(written(name, measured)).slopePerHour * HOURS_OF_DAY).toFixed(1)}`,
  )
  return [
    ...names.map((name) => memoryOf(name, measured)),
    ...names.map((name) => descriptorsOf(name, measured)),
    {
      name: "SQLite's write-ahead log",
      target: `under ${WAL_MIB_MAX} MiB at any time`,
      ran: all.length,
      seed: undefined,
      result: `${wal.toFixed(1)} MiB at most`,
      passed: wal < WAL_MIB_MAX,
    },
    {
      name: 'logs',
      target: 'their growth is known',
      ran: measured.length,
      seed: undefined,
      result: `MB a day: ${logs.join(', ')}`,
      passed: measured.length > 0,
    },
  ]
}
