import { setTimeout as sleep } from 'node:timers/promises'

/** The signal at which a process of Node that was started with `COLLECTING` collects its garbage. */
export const COLLECT = 'SIGUSR2'
const COLLECTOR = new URL('garbageCollector.ts', import.meta.url).href
/** What NODE_OPTIONS must be for it. */
export const COLLECTING = `--expose-gc --import ${COLLECTOR} --disable-warning=ExperimentalWarning`
const COLLECT_MS = 500

/** Makes a process collect its garbage, and waits until it has most probably done so. */
export async function collectGarbage(pid: number): Promise<void> {
  process.kill(pid, COLLECT)
  await sleep(COLLECT_MS)
}
