import { readFileSync, statSync } from 'node:fs'
import type { PartName, StressChain } from './chain.ts'

export type Megabytes = Readonly<Record<PartName, number>>

/** The memory of each process, by name. */
export const eachPart = (mbOf: (part: PartName) => number): Megabytes => ({
  application: mbOf('application'),
  CometBFT: mbOf('CometBFT'),
  gateway: mbOf('gateway'),
})

const EVERY_MS = 200
const MB = 1024 * 1024

// The line of /proc/<pid>/status costs far less than smaps_rollup, which holds up the process while its memory is
// walked.
const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Begins to watch the memory of a chain's processes and the size of its write-ahead log. */
export function watchResources({ pids, walPath }: Pick<StressChain, 'pids' | 'walPath'>) {
  const now = (): Megabytes => eachPart((part) => residentMb(pids[part]))
  const none = { memory: eachPart(() => 0), walMb: 0 }
  let peaks = none
  const timer = setInterval(() => {
    const memory = now()
    peaks = {
      memory: eachPart((part) => Math.max(peaks.memory[part], memory[part])),
      walMb: Math.max(peaks.walMb, (statSync(walPath, { throwIfNoEntry: false })?.size ?? 0) / MB),
    }
  }, EVERY_MS)
  return {
    now,
    /** The most since the last call of this, and begins anew. */
    takePeaks: () => {
      const taken = peaks
      peaks = none
      return taken
    },
    close: () => clearInterval(timer),
  }
}

export type ResourceWatch = ReturnType<typeof watchResources>
