import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { LibraryStatus, Limits, Report, Wanted } from './thread.ts'

/** Which file of a library. Name and version have their form from protocol.md §6, so they are safe in a path. */
export interface FileName {
  readonly name: string
  readonly version: string
}

/** A file as it stands on disk. Sums in lower-case hex. */
export interface Measure {
  readonly bytes: number
  readonly md5: string
  readonly sha256: string
}

const stagingOf = (home: string): string => join(home, 'eni', 'staging')
const libOf = (home: string): string => join(home, 'eni', 'lib')

// A proposal's id is base64, whose slash is none in a file name.
const fileOf = (id: string): string => Buffer.from(id, 'base64').toString('base64url')

/** Where the file of a proposal waits, whole and verified, for the block of its point. */
export const stagedPath = (home: string, id: string): string => join(stagingOf(home), `${fileOf(id)}.so`)

/** Where the file of a proposal grows. */
export const partPath = (home: string, id: string): string => join(stagingOf(home), `${fileOf(id)}.part`)

/** Where a deployed library stands. */
export const libPath = (home: string, { name, version }: FileName): string => join(libOf(home), `${name}-${version}.so`)

// A version begins with v and a digit: no library's file has this name.
const currentPath = (home: string, name: string): string => join(libOf(home), `${name}-current.so`)

/** Size and sums of a file; undefined when there is none. */
export async function measure(path: string): Promise<Measure | undefined> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')]
  let bytes = 0
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      md5.update(chunk)
      sha256.update(chunk)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return { bytes, md5: md5.digest('hex'), sha256: sha256.digest('hex') }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Makes the folders, and removes from staging what is of no proposal in `ids`, and every file that was still growing.
 */
export async function prepare(home: string, ids: Iterable<string>): Promise<void> {
  for (const folder of [stagingOf(home), libOf(home)]) await mkdir(folder, { recursive: true })
  const kept = new Set([...ids].map((id) => `${fileOf(id)}.so`))
  for (const name of await readdir(stagingOf(home))) {
    if (!kept.has(name)) await rm(join(stagingOf(home), name), { recursive: true, force: true })
  }
}

/** A fetched file becomes the staged one of its proposal. */
export async function stage(home: string, id: string): Promise<void> {
  await rename(partPath(home, id), stagedPath(home, id))
  await syncFolder(stagingOf(home))
}

/** Removes what a proposal has in staging. */
export async function unstage(home: string, id: string): Promise<void> {
  for (const path of [partPath(home, id), stagedPath(home, id)]) await rm(path, { force: true })
}

/** A staged file becomes the library: whole or not at all, also when the machine stops meanwhile. */
export async function install(home: string, id: string, file: FileName): Promise<void> {
  await rename(stagedPath(home, id), libPath(home, file))
  await syncFolder(libOf(home))
  await syncFolder(stagingOf(home))
}

/** `<name>-current.so` leads to this version from then on; it is never absent in between. */
export async function pointCurrent(home: string, { name, version }: FileName): Promise<void> {
  const path = currentPath(home, name)
  const target = `${name}-${version}.so`
  if ((await readlink(path).catch(() => undefined)) === target) return
  await rm(`${path}.new`, { force: true })
  await symlink(target, `${path}.new`)
  await rename(`${path}.new`, path)
  await syncFolder(libOf(home))
}

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
