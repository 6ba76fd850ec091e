/**
 * The thread in which libraries are fetched: consensus shares no turn of its event loop with it. Started by thread.ts.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { makeFetcher } from './fetcher.ts'
import { parseAllowList } from './policy.ts'
import { systemResolver } from './target.ts'
import type { ThreadData } from './thread.ts'
import type { Wanted } from './wanted.ts'

const { home, allowAddresses, limits } = workerData as ThreadData
const { want } = makeFetcher({
  home,
  allowed: parseAllowList(allowAddresses),
  lookup: systemResolver,
  limits,
  report: (report) => parentPort?.postMessage(report),
})
parentPort?.on('message', (libraries: readonly Wanted[]) => want(libraries))
