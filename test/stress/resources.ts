import { readFileSync, statSync } from 'node:fs'
import type { PartName, StressChain } from './chain.ts'

/** Megabytes by process. */
export type Megabytes = Readonly<Record<PartName, number>>

/** Watches the memory of a chain's processes and the size of its write-ahead log. */
export interface ResourceWatch {
  readonly now: () => Megabytes
  /** The most since the last call of this, and begins anew. */
  readonly takePeaks: () => { readonly memory: Megabytes; readonly walMb: number }
  readonly close: () => void
}

const EVERY_MS = 200
const MB = 1024 * 1024

// The line of /proc/<pid>/status costs far less than smaps_rollup, which holds up the process while its memory is
// walked.
const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Begins to watch. */
export function watchResources({ pids, walPath }: Pick<StressChain, 'pids' | 'walPath'>): ResourceWatch {
  const now = (): Megabytes => ({
    application: residentMb(pids.application),
    CometBFT: residentMb(pids.CometBFT),
    gateway: residentMb(pids.gateway),
  })
  const none = { memory: { application: 0, CometBFT: 0, gateway: 0 }, walMb: 0 }
  let peaks: ReturnType<ResourceWatch['takePeaks']> = none
  const timer = setInterval(() => {
    const memory = now()
    peaks = {
      memory: {
        application: Math.max(peaks.memory.application, memory.application),
        CometBFT: Math.max(peaks.memory.CometBFT, memory.CometBFT),
        gateway: Math.max(peaks.memory.gateway, memory.gateway),
      },
      walMb: Math.max(peaks.walMb, (statSync(walPath, { throwIfNoEntry: false })?.size ?? 0) / MB),
    }
  }, EVERY_MS)
  const takePeaks = (): typeof peaks => {
    const taken = peaks
    peaks = none
    return taken
  }
  return { now, takePeaks, close: () => clearInterval(timer) }
}
