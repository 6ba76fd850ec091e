import { install, libPath, measure, pointCurrent, prepare, stagedPath, unstage } from './folder.ts'
import type { LibraryStatus, Limits, Report, Wanted } from './wanted.ts'

/** One library that the node keeps. */
export interface Job {
  library: Wanted
  status: LibraryStatus | undefined
  /** Bytes of its file in staging; undefined while there is none. */
  staged: number | undefined
  /** False while a file is still to be fetched. */
  isDone: boolean
  /** How many tries failed. */
  failed: number
  /** Which URL is next, and from when on (of performance.now). */
  at: number
  nextMs: number
  pauseMs: number
}

/** What failed, in one line. */
export const messageOf = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { message?: string } }
  return [message ?? String(error), cause?.message].filter((text) => text !== undefined && text !== '').join(': ')
}

interface ShelfOptions {
  readonly home: string
  /** All there are, in the order in which they were proposed. */
  readonly jobs: Map<string, Job>
  readonly limits: Limits
  readonly report: (report: Report) => void
  /**
   * After the last of the jobs that were to be settled: whose turn is next is chosen among all of them, however slow
   * the disk.
   */
  readonly onSettled: () => void
}

/** Keeps what is on disk, and what is told of it, as the chain wants it. */
export interface Shelf {
  /**
   * Brings one job to its goal as far as its file was fetched, after what was asked before; `before` runs first. Never
   * rejects.
   */
  readonly settle: (job: Job, before?: () => Promise<void>) => Promise<void>
  /** The job is tried again later, after a pause that grows. */
  readonly postpone: (job: Job, why: string) => void
}

/** A shelf for the folder of one home. */
export function makeShelf({ home, jobs, limits, report, onSettled }: ShelfOptions): Shelf {
  let prepared: Promise<void> | undefined
  let work: Promise<unknown> = Promise.resolve()

  const tell = (job: Job, status: LibraryStatus, why?: string): void => {
    if (job.status === status) return
    job.status = status
    report({ type: 'status', library: job.library, status, why })
  }

  const postpone = (job: Job, why: string): void => {
    job.isDone = false
    job.at = 0
    job.nextMs = performance.now() + job.pauseMs
    job.pauseMs = Math.min(2 * job.pauseMs, limits.pauseMsMax)
    tell(job, job.library.goal === 'deploy' ? 'collapsed' : 'failed', why)
  }

  const prepareOnce = (): Promise<void> =>
    (prepared ??= prepare(home, jobs.keys()).catch((error: unknown) => {
      prepared = undefined
      throw error
    }))

  const stagedBytesOf = async ({ id, md5 }: Wanted): Promise<number | undefined> => {
    const found = await measure(stagedPath(home, id))
    return found?.md5 === md5 ? found.bytes : undefined
  }

  /** The file of the version proposed last leads: it is the highest, as only higher ones are proposed. */
  const point = (job: Job): Promise<void> =>
    pointCurrent(
      home,
      [...jobs.values()]
        .filter((other) => other === job || (other.library.name === job.library.name && other.status === 'deployed'))
        .at(-1)?.library ?? job.library,
    )

  /** Brings what is on disk to what is wanted, as far as it was fetched. */
  const settle = async (job: Job): Promise<void> => {
    const { id, goal, urls, md5 } = job.library
    await prepareOnce()
    if (goal === 'drop') {
      await unstage(home, id)
      jobs.delete(id)
      job.isDone = true
      return tell(job, 'rejected')
    }
    const isInstalled = goal === 'deploy' && (await measure(libPath(home, job.library)))?.md5 === md5
    job.staged ??= await stagedBytesOf(job.library)
    job.isDone = isInstalled || job.staged !== undefined || urls.length === 0
    if (goal === 'stage' && job.staged !== undefined) return tell(job, 'ready')
    if (isInstalled || job.staged !== undefined) {
      if (isInstalled) await unstage(home, id)
      else await install(home, id, job.library)
      job.staged = undefined
      await point(job)
      return tell(job, 'deployed')
    }
    if (urls.length === 0)
      tell(job, goal === 'deploy' ? 'collapsed' : 'failed', 'the proposal has no file for the OS of this node')
    else if (goal === 'deploy') tell(job, 'collapsed', 'not fetched at its point')
    else if (job.status === undefined) tell(job, 'init')
  }

  // What the disk refuses is told and tried again later.
  const settleInTurn = (job: Job, before?: () => Promise<void>): Promise<void> => {
    const done = work
      .then(before)
      .then(() => settle(job))
      .catch((error: unknown) => {
        const why = `cannot keep the file: ${messageOf(error)}`
        job.staged = undefined // what is there is looked at anew
        report({ type: 'try', library: job.library, why })
        postpone(job, why)
      })
      .finally(() => {
        if (work === done) onSettled()
      })
    work = done
    return done
  }

  return { settle: settleInTurn, postpone }
}
