/**
 * Ends a process of test files by a signal when its run takes too long. It is a thread, as a run that loops answers
 * nobody. It measures CPU time and never the time of a clock, so that the same runs end on a busy machine as on a quiet one.
 */
import { isMainThread, workerData } from 'node:worker_threads'

/** The signal for a run that took more CPU time than it may. */
export const LOOPS = 'SIGVTALRM'
/** The signal for a run that waits for something that never comes. */
export const WAITS = 'SIGALRM'

const LOOK_MS = 250
// Even a starved process does more than this when it has anything to do. One that looks every few ms whether something
// has come does less.
const IDLE_MS = 30_000
const IDLE_CPU_MS = 1_500

/** The CPU time that this process has taken so far, that of all its threads. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** What tells the thread the limit: the CPU time of the process at which its run ends, in ms; 0 between runs. */
export const watched = (): Int32Array<SharedArrayBuffer> => new Int32Array(new SharedArrayBuffer(4))

function watch(limit: Int32Array): void {
  let idle = { most: 0, sinceMs: performance.now(), cpuMs: cpuMs() }
  setInterval(() => {
    const most = Atomics.load(limit, 0)
    const now = { most, sinceMs: performance.now(), cpuMs: cpuMs() }
    // Each run has a limit of its own; between runs it may wait for as long as it likes.
    if (most === 0 || most !== idle.most || now.cpuMs - idle.cpuMs > IDLE_CPU_MS) idle = now
    if (most > 0 && now.cpuMs > most) process.kill(process.pid, LOOPS)
    if (now.sinceMs - idle.sinceMs > IDLE_MS) process.kill(process.pid, WAITS)
  }, LOOK_MS)
}

if (!isMainThread && workerData instanceof SharedArrayBuffer) watch(new Int32Array(workerData))
