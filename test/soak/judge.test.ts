import { describe, expect, test } from '@jest/globals'
import { judge } from './judge.ts'
import { fitLine } from './line.ts'
import type { Sample } from './samples.ts'

const HOUR_MS = 3_600_000

/** Garbage, of which nine of ten looks see some: up to 30 MB, and never the same. */
const garbage = (at: number): number => (at % 10 === 0 ? 0 : ((at * 7919) % 300) / 10)
const COLLECT_EVERY = 16

/** A run of two hours; `more`: what one process holds beside its garbage, by the hour. */
const run = (
  more: (hour: number) => { memory?: number; descriptors?: number; wal?: number; log?: number },
  name = 'gateway',
) =>
  Array.from({ length: 1_200 }, (_, at): Sample => {
    const hour = at / 600
    const { memory = 0, descriptors = 0, wal = 0, log = 0 } = more(hour)
    return {
      atMs: hour * HOUR_MS,
      parts: new Map([[name, { memoryMb: 60 + garbage(at) + memory, descriptors: 30 + descriptors }]]),
      keptMb: at % COLLECT_EVERY === 0 ? new Map([[name, 60 + memory]]) : undefined,
      walBytes: wal,
      logBytes: new Map([['gateway', log]]),
    }
  })
const broken = (samples: readonly Sample[]): readonly string[] =>
  judge(samples, samples)
    .filter(({ passed }) => !passed)
    .map(({ name }) => name)

describe('a soak', () => {
  test('holds when memory only goes up and down', () => {
    expect(broken(run(() => ({})))).toEqual([])
  })

  test('holds when a busy machine has more connections for a while', () => {
    expect(broken(run((hour) => ({ descriptors: hour > 1.5 && hour < 1.8 ? 60 : 0 })))).toEqual([])
  })

  test.each<[string, Parameters<typeof run>[0]]>([
    ['memory, gateway', (hour) => ({ memory: 2 * hour })],
    ['file descriptors, gateway', (hour) => ({ descriptors: Math.round(20 * hour) })],
    ["SQLite's write-ahead log", (hour) => ({ wal: hour === 1 ? 64 * 2 ** 20 : 0 })],
  ])('reports %s', (name, more) => {
    expect(broken(run(more))).toEqual([name])
  })

  test('holds CometBFT, whose caches fill for hours, to what it may keep', () => {
    expect(broken(run((hour) => ({ memory: 18 * hour }), 'CometBFT'))).toEqual([])
    expect(broken(run((hour) => ({ memory: hour > 1.9 ? 37 : 0 }), 'CometBFT'))).toEqual(['memory, CometBFT'])
  })

  test('names the growth of logs by the day', () => {
    for (const oldestKept of [0, 1]) {
      // One file of half a megabyte after the other, of which the oldest is removed.
      const samples = run((hour) => ({ log: hour * 1e6 - oldestKept * Math.floor(hour * 2) * 0.5e6 }))
      expect(judge(samples, samples).at(-1)?.result).toMatch(/^MB a day: gateway 2[34]\.\d$/)
    }
  })

  test('without looks holds nothing', () => {
    expect(broken([])).toContain('logs')
    expect(broken(run(() => ({})).slice(0, 2))).toContain('memory, gateway')
  })
})

describe('a line', () => {
  test('has the slope of its points and says how far off it may be', () => {
    const points = (noise: (at: number) => number) =>
      Array.from({ length: 24 }, (_, at) => ({ atMs: (at / 24) * HOUR_MS, value: (3 * at) / 24 + noise(at) }))
    const exact = fitLine(points(() => 0))
    expect(exact.slopePerHour).toBeCloseTo(3)
    expect(exact.error).toBeCloseTo(0)
    const noisy = fitLine(points((at) => ((at * 7919) % 13) / 4))
    expect(Math.abs(noisy.slopePerHour - 3)).toBeLessThan(noisy.error)
  })
})
