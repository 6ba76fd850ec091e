/**
 * The thread in which libraries are fetched: consensus shares no turn of its event loop with it. Started by thread.ts.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { makeFetcher } from './fetcher.ts'
import { parseAllowList, systemResolver } from './policy.ts'
import type { ThreadData, Wanted } from './thread.ts'

const { home, allowAddresses, limits } = workerData as ThreadData
const { want } = makeFetcher({
  home,
  allowed: parseAllowList(allowAddresses),
  lookup: systemResolver,
  limits,
  report: (report) => parentPort?.postMessage(report),
})
parentPort?.on('message', (libraries: readonly Wanted[]) => want(libraries))
