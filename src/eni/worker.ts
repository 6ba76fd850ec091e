/** The thread that fetches libraries, apart from the event loop on which consensus runs. thread.ts starts it. */
import { parentPort, workerData } from 'node:worker_threads'
import { createFetcher } from './fetcher.ts'
import { parseAllowList, systemResolver } from './policy.ts'
import type { ThreadData } from './thread.ts'

const { home, allowAddresses, limits } = workerData as ThreadData
const fetcher = createFetcher({
  home,
  allowed: parseAllowList(allowAddresses),
  lookup: systemResolver,
  limits,
  report: (report) => parentPort?.postMessage(report),
})
parentPort?.on('message', fetcher)
