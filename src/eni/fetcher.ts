import { download, FILE_BYTES_MAX } from './download.ts'
import { partPath, stage } from './folder.ts'
import type { AllowList } from './policy.ts'
import { type Job, makeShelf, messageOf } from './shelf.ts'
import type { Lookup } from './target.ts'
import type { Limits, Report, Wanted } from './wanted.ts'

/** What a node keeps to. Source: protocol.md §7, deploy_libeni. */
export const LIMITS: Limits = { tryMs: 60_000, pauseMs: 1000, pauseMsMax: 300_000, stagingBytesMax: 1024 * 1024 * 1024 }

/** What a fetcher is made of. */
export interface FetcherOptions {
  readonly home: string
  readonly allowed: AllowList
  readonly lookup: Lookup
  readonly limits: Limits
  readonly report: (report: Report) => void
}

/** Fetches, stages and deploys libraries. */
export interface Fetcher {
  /**
   * What the chain says of these proposals now, in the order in which they were proposed; what was said before of others stays. The first
   * call says all there is: staging is cleared of the rest.
   */
  readonly want: (libraries: readonly Wanted[]) => void
}

/**
 * A fetcher for one home. One file at a time; whose turn came first goes first, so that no library waits for another's pauses. It never
 * throws: what fails is told and tried again. Source: protocol.md §7, deploy_libeni.
 */
export function makeFetcher({ home, allowed, lookup, limits, report }: FetcherOptions): Fetcher {
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
    await download({ url, md5: library.md5, path: partPath(home, library.id), allowed, lookup, signal: abort.signal })
      .finally(() => clearTimeout(limit))
    await shelf.settle(job, () => job.library.goal === 'drop' ? Promise.resolve() : stage(home, library.id))
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
    const next = waiting.reduce<Job | undefined>((first, job) => first === undefined || job.nextMs < first.nextMs ? job : first, undefined)
    if (next !== undefined) timer = setTimeout(() => void attempt(next), Math.max(0, next.nextMs - performance.now()))
  }

  const add = (library: Wanted): void => {
    const job = jobs.get(library.id)
      ?? { library, status: undefined, staged: undefined, isDone: true, at: 0, nextMs: performance.now(), pauseMs: limits.pauseMs }
    job.library = library
    jobs.set(library.id, job)
    if (library.goal === 'drop' && current?.job === job) current.abort.abort(new Error('the proposal was rejected or expired'))
    void shelf.settle(job)
  }

  return { want: (libraries) => { for (const library of libraries) add(library) } }
}
