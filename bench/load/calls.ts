import { setTimeout as sleep } from 'node:timers/promises'
import { percentileOf } from '../stats.ts'
import { openLane } from './http.ts'
import type { CallJob, Measured } from './job.ts'

/** Calls over HTTP: see CallJob. */
export async function callLoop({
  target,
  lanes,
  perSecond,
  bodies,
  good,
  warmUpMs,
  measuredMs,
}: CallJob): Promise<Measured> {
  const open = await Promise.all(Array.from({ length: lanes }, () => openLane(target.host, target.port)))
  const latencies: number[] = []
  const startMs = performance.now()
  const endMs = startMs + warmUpMs + measuredMs
  let [sent, refused, answered] = [0, 0, 0]
  // A call that is late keeps its due time: a slow server does not hide what it makes callers wait.
  const dueMs = (place: number): number => (perSecond === undefined ? 0 : startMs + (place / perSecond) * 1000)
  await Promise.all(
    open.map(async (lane) => {
      while (performance.now() < endMs) {
        const place = sent++
        const waitMs = dueMs(place) - performance.now()
        if (waitMs > 0) await sleep(waitMs)
        const beginMs = perSecond === undefined ? performance.now() : Math.max(dueMs(place), startMs)
        const isGood = (await lane.post(bodies[place % bodies.length] as string)).includes(good)
        const nowMs = performance.now()
        answered++
        if (!isGood) refused++
        else if (beginMs >= startMs + warmUpMs) latencies.push(nowMs - beginMs)
      }
      lane.close()
    }),
  )
  return {
    perSecond: (latencies.length / measuredMs) * 1000,
    blockTxs: 0,
    p50Ms: percentileOf(latencies, 0.5),
    p99Ms: percentileOf(latencies, 0.99),
    sent,
    refused,
    committed: answered,
  }
}
