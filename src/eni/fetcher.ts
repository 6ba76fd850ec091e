import { download, FILE_BYTES_MAX } from './download.ts'
import { type JobState, openLibraryFolder, messageOf, partPath, stage } from './libraryFolder.ts'
import type { AllowList, Lookup } from './policy.ts'
import type { Limits, Report, LibraryJob } from './thread.ts'

interface FetcherOptions {
  readonly home: string
  readonly allowed: AllowList
  readonly lookup: Lookup
  readonly limits: Limits
  readonly report: (report: Report) => void
  /** A source of random numbers from 0 up to, but not including, 1. Default: Math.random. */
  readonly random?: () => number
}

/**
 * Takes what the chain now says of these proposals, in the order in which they were proposed; jobs that are not named
 * stay as they were. The first call must name every library that is not rejected: files of any other are removed from staging.
 */
type Fetcher = (libraries: readonly LibraryJob[]) => void

/**
 * Sorts the jobs: those with fewer failures first, so that dead URLs do not hold up the others for long; then those
 * that are due earlier; then the older proposals.
 */
const byPriority = (one: JobState, other: JobState): number =>
  one.failures - other.failures || one.library.dueMs - other.library.dueMs

/**
 * Creates the fetcher of one home. It downloads one file at a time, and each only after a random wait, so that the
 * nodes of a chain do not all call a server in the block of a proposal. It never throws: a failure is reported, and the
 * job is tried again. Source: protocol.md §7, deploy_libeni.
 */
export function createFetcher({
  home,
  allowed,
  lookup,
  limits,
  report,
  random = Math.random,
}: FetcherOptions): Fetcher {
  /** By proposal id, in the order in which they were proposed. */
  const jobs = new Map<string, JobState>()
  /** The download that is running. */
  let current: { readonly job: JobState; readonly abort: AbortController } | undefined
  let timer: NodeJS.Timeout | undefined
  // Downloads run outside the folder's queue, because nothing in the queue may wait for a server.
  const folder = openLibraryFolder({ home, jobs, limits, report, onReconciled: () => schedule() })

  const fetchInto = async (job: JobState, url: string, abort: AbortController): Promise<void> => {
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
    await folder.reconcile(job, () => (job.library.goal === 'drop' ? Promise.resolve() : stage(home, library.id)))
  }

  /** Tries one URL, unless the file turns out to be there already. */
  const attempt = async (job: JobState): Promise<void> => {
    const { library } = job
    const abort = new AbortController()
    current = { job, abort }
    const url = library.urls[job.urlIndex] as string
    try {
      if (job.urlIndex === 0) await folder.reconcile(job)
      if (!job.isDone && job.nextTryMs <= performance.now()) await fetchInto(job, url, abort)
    } catch (error) {
      if (job.library.goal === 'drop') return
      const why = messageOf(error)
      report({ type: 'try', library, url, why })
      job.urlIndex += 1
      job.failures += 1
      job.nextTryMs = performance.now()
      if (job.urlIndex === library.urls.length) folder.postpone(job, `not fetched: ${why}`)
    } finally {
      current = undefined
      schedule()
    }
  }

  /** True while staging has room for one more file. Room for one file is reserved for a library that is already due. */
  const hasRoom = ({ library }: JobState): boolean => {
    const held = [...jobs.values()].reduce((bytes, { stagedBytes = 0 }) => bytes + stagedBytes, 0)
    return held + (library.goal === 'deploy' ? 1 : 2) * FILE_BYTES_MAX <= limits.stagingBytesMax
  }

  /** Starts the next try, now or when its time has come. */
  function schedule(): void {
    clearTimeout(timer)
    if (current !== undefined) return
    const waiting = [...jobs.values()].filter((job) => !job.isDone && hasRoom(job))
    const now = performance.now()
    const due = waiting.filter(({ nextTryMs }) => nextTryMs <= now)
    const next = due.sort(byPriority)[0]
    if (next !== undefined) timer = setTimeout(() => void attempt(next), 0)
    else if (waiting.length > 0)
      timer = setTimeout(schedule, Math.min(...waiting.map(({ nextTryMs }) => nextTryMs)) - now)
  }

  /** How long this node waits before its first try: not at all once the proposal is due. */
  const delayOf = ({ dueMs }: LibraryJob): number =>
    random() * Math.max(0, Math.min(limits.delayMsMax, (dueMs - Date.now()) / 10))

  const add = (library: LibraryJob): void => {
    const job = jobs.get(library.id) ?? {
      library,
      status: undefined,
      stagedBytes: undefined,
      isDone: true,
      failures: 0,
      urlIndex: 0,
      nextTryMs: performance.now() + delayOf(library),
      pauseMs: limits.pauseMs,
    }
    job.library = library
    if (library.goal === 'deploy' && job.failures === 0) job.nextTryMs = performance.now()
    jobs.set(library.id, job)
    if (library.goal === 'drop' && current?.job === job)
      current.abort.abort(new Error('the proposal was rejected or expired'))
    void folder.reconcile(job)
  }

  return (libraries) => {
    for (const library of libraries) add(library)
  }
}
