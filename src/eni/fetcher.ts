import { download, FILE_BYTES_MAX } from './download.ts'
import { type Job, makeShelf, messageOf, partPath, stage } from './libraryFolder.ts'
import type { AllowList, Lookup } from './policy.ts'
import type { Limits, Report, Wanted } from './thread.ts'

/** What a node keeps to. Source: protocol.md §7, deploy_libeni. */
export const LIMITS: Limits = {
  delayMsMax: 60_000,
  tryMs: 60_000,
  pauseMs: 1000,
  pauseMsMax: 300_000,
  stagingBytesMax: 1024 * 1024 * 1024,
}

/** What a fetcher is made of. */
export interface FetcherOptions {
  readonly home: string
  readonly allowed: AllowList
  readonly lookup: Lookup
  readonly limits: Limits
  readonly report: (report: Report) => void
  /** From 0 up to 1; Math.random unless given. */
  readonly random?: () => number
}

/** Fetches, stages and deploys libraries. */
export interface Fetcher {
  /**
   * What the chain says of these proposals now, in the order in which they were proposed; what was said before of
   * others stays. The first call says all there is: staging is cleared of the rest.
   */
  readonly want: (libraries: readonly Wanted[]) => void
}

/**
 * Whose turn it is first: what failed less often, so that URLs that give nothing hold up nobody for long; then the
 * nearest point; then the oldest proposal.
 */
const inTurn = (one: Job, other: Job): number => one.failed - other.failed || one.library.dueMs - other.library.dueMs

/**
 * A fetcher for one home. One file at a time, in turn, and none before a random time has passed: the nodes of a chain
 * do not all call a server at the block of a proposal. It never throws: what fails is told and tried again. Source:
 * protocol.md §7, deploy_libeni.
 */
export function makeFetcher({ home, allowed, lookup, limits, report, random = Math.random }: FetcherOptions): Fetcher {
  /** In the order in which they were proposed. */
  const jobs = new Map<string, Job>()
  /** The try under way. */
  let current: { readonly job: Job; readonly abort: AbortController } | undefined
  let timer: NodeJS.Timeout | undefined
  // A download stands outside of what the shelf does one after the other: nothing may wait for it.
  const shelf = makeShelf({ home, jobs, limits, report, onSettled: () => schedule() })

  const fetchInto = async (job: Job, url: string, abort: AbortController): Promise<void> => {
    const { library } = job
    const limit = setTimeout(() => abort.abort(new Error(`not done within ${limits.tryMs / 1000} s`)), limits.tryMs)
    await download({
      url,
      md5: library.md5,
      path: partPath(home, library.id),
      allowed,
      lookup,
      signal: abort.signal,
    }).finally(() => clearTimeout(limit))
    await shelf.settle(job, () => (job.library.goal === 'drop' ? Promise.resolve() : stage(home, library.id)))
  }

  /** One try of one URL, unless the file turns out to be there. */
  const attempt = async (job: Job): Promise<void> => {
    const { library } = job
    const abort = new AbortController()
    current = { job, abort }
    const url = library.urls[job.at] as string
    try {
      if (job.at === 0) await shelf.settle(job)
      if (!job.isDone && job.nextMs <= performance.now()) await fetchInto(job, url, abort)
    } catch (error) {
      if (job.library.goal === 'drop') return
      const why = messageOf(error)
      report({ type: 'try', library, url, why })
      job.at += 1
      job.failed += 1
      job.nextMs = performance.now()
      if (job.at === library.urls.length) shelf.postpone(job, `not fetched: ${why}`)
    } finally {
      current = undefined
      schedule()
    }
  }

  /** True while staging has room for one more. Room for one file is kept for what is to be deployed at once. */
  const hasRoom = ({ library }: Job): boolean => {
    const held = [...jobs.values()].reduce((bytes, { staged = 0 }) => bytes + staged, 0)
    return held + (library.goal === 'deploy' ? 1 : 2) * FILE_BYTES_MAX <= limits.stagingBytesMax
  }

  /** Starts the next try when its time has come. */
  function schedule(): void {
    clearTimeout(timer)
    if (current !== undefined) return
    const waiting = [...jobs.values()].filter((job) => !job.isDone && hasRoom(job))
    const now = performance.now()
    const due = waiting.filter(({ nextMs }) => nextMs <= now)
    const next = due.sort(inTurn)[0]
    if (next !== undefined) timer = setTimeout(() => void attempt(next), 0)
    else if (waiting.length > 0) timer = setTimeout(schedule, Math.min(...waiting.map(({ nextMs }) => nextMs)) - now)
  }

  /** How long a node waits before its first try. Little where the point is near, none once it has come. */
  const delayOf = ({ dueMs }: Wanted): number =>
    random() * Math.max(0, Math.min(limits.delayMsMax, (dueMs - Date.now()) / 10))

  const add = (library: Wanted): void => {
    const job = jobs.get(library.id) ?? {
      library,
      status: undefined,
      staged: undefined,
      isDone: true,
      failed: 0,
      at: 0,
      nextMs: performance.now() + delayOf(library),
      pauseMs: limits.pauseMs,
    }
    job.library = library
    if (library.goal === 'deploy' && job.failed === 0) job.nextMs = performance.now()
    jobs.set(library.id, job)
    if (library.goal === 'drop' && current?.job === job)
      current.abort.abort(new Error('the proposal was rejected or expired'))
    void shelf.settle(job)
  }

  return {
    want: (libraries) => {
      for (const library of libraries) add(library)
    },
  }
}
