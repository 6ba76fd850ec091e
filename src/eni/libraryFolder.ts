import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { LibraryStatus, Limits, Report, LibraryJob } from './thread.ts'

/** The name and version of a library. Their form (protocol.md §6) makes them safe in a path. */
export type FileName = Pick<LibraryJob, 'name' | 'version'>

const stagingOf = (home: string): string => join(home, 'eni', 'staging')
const libOf = (home: string): string => join(home, 'eni', 'lib')

// A proposal's id is base64, whose slash cannot stand in a file name.
const fileOf = (id: string): string => Buffer.from(id, 'base64').toString('base64url')

/** The path at which the whole, verified file of a proposal waits until it is due. */
export const stagedPath = (home: string, id: string): string => join(stagingOf(home), `${fileOf(id)}.so`)

/** The path to which the file of a proposal is downloaded. */
export const partPath = (home: string, id: string): string => join(stagingOf(home), `${fileOf(id)}.part`)

/** The path of a deployed library. */
export const libPath = (home: string, { name, version }: FileName): string => join(libOf(home), `${name}-${version}.so`)

// A version begins with v and a digit, so no library's own file has this name.
const currentPath = (home: string, name: string): string => join(libOf(home), `${name}-current.so`)

/** Reads the size and the checksums (lower-case hex) of a file; undefined when there is no file. */
export async function measure(path: string) {
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

/** Creates the folders, and removes from staging what is not the complete file of a proposal in `ids`. */
export async function prepare(home: string, ids: Iterable<string>): Promise<void> {
  for (const folder of [stagingOf(home), libOf(home)]) await mkdir(folder, { recursive: true })
  const kept = new Set([...ids].map((id) => `${fileOf(id)}.so`))
  for (const name of await readdir(stagingOf(home))) {
    if (!kept.has(name)) await rm(join(stagingOf(home), name), { recursive: true, force: true })
  }
}

/** Turns a finished download into the staged file of its proposal. */
export async function stage(home: string, id: string): Promise<void> {
  await rename(partPath(home, id), stagedPath(home, id))
  await syncFolder(stagingOf(home))
}

/** Removes a proposal's files from staging. */
export async function unstage(home: string, id: string): Promise<void> {
  for (const path of [partPath(home, id), stagedPath(home, id)]) await rm(path, { force: true })
}

/** Turns the staged file of a proposal into the deployed library, atomically even if the machine stops. */
export async function install(home: string, id: string, file: FileName): Promise<void> {
  await rename(stagedPath(home, id), libPath(home, file))
  await syncFolder(libOf(home))
  await syncFolder(stagingOf(home))
}

/** Makes the link `<name>-current.so` point to this version. The link exists at every moment. */
export async function pointCurrent(home: string, { name, version }: FileName): Promise<void> {
  const path = currentPath(home, name)
  const target = `${name}-${version}.so`
  if ((await readlink(path).catch(() => undefined)) === target) return
  await rm(`${path}.new`, { force: true })
  await symlink(target, `${path}.new`)
  await rename(`${path}.new`, path)
  await syncFolder(libOf(home))
}

/** A job and how far it has come. */
export interface JobState {
  library: LibraryJob
  status: LibraryStatus | undefined
  /** The size of its file in staging; undefined while there is none. */
  stagedBytes: number | undefined
  /** False while a file is still to be fetched. */
  isDone: boolean
  /** How many tries have failed. */
  failures: number
  /** The next URL to try, and the earliest time for it (by performance.now). */
  urlIndex: number
  nextTryMs: number
  pauseMs: number
}

/** The message of an error and of its cause, in one line. */
export const messageOf = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { message?: string } }
  return [message ?? String(error), cause?.message].filter((text) => text !== undefined && text !== '').join(': ')
}

interface LibraryFolderOptions {
  readonly home: string
  /** Every job, by proposal id, in the order in which they were proposed. */
  readonly jobs: Map<string, JobState>
  readonly limits: Limits
  readonly report: (report: Report) => void
  /** Called when the queue is empty, so that the next download is chosen among all jobs, however slow the disk is. */
  readonly onReconciled: () => void
}

/**
 * Opens the library folder of a home, which keeps the files on disk and the reported statuses in line with the chain's
 * proposals. Its subfolders are created with the first call of `reconcile`.
 */
export function openLibraryFolder({ home, jobs, limits, report, onReconciled }: LibraryFolderOptions) {
  let prepared: Promise<void> | undefined
  let work: Promise<unknown> = Promise.resolve()

  const tell = (job: JobState, status: LibraryStatus, why?: string): void => {
    if (job.status === status) return
    job.status = status
    report({ type: 'status', library: job.library, status, why })
  }

  /** Lets the job be tried again after a pause, which grows with each call. */
  const postpone = (job: JobState, why: string): void => {
    job.isDone = false
    job.urlIndex = 0
    job.nextTryMs = performance.now() + job.pauseMs
    job.pauseMs = Math.min(2 * job.pauseMs, limits.pauseMsMax)
    tell(job, job.library.goal === 'deploy' ? 'collapsed' : 'failed', why)
  }

  const prepareOnce = (): Promise<void> =>
    (prepared ??= prepare(home, jobs.keys()).catch((error: unknown) => {
      prepared = undefined
      throw error
    }))

  /**
   * Points the link to the version proposed last, which is the highest: only higher versions can be proposed. At a start
   * later ones are still to be looked at: then the link stays, and the last of them points it. `isWhole`: whether the file
   * of `job` is there.
   */
  const point = async (job: JobState, isWhole: boolean): Promise<void> => {
    const versions = [...jobs.values()].filter(({ library }) => library.name === job.library.name)
    const later = versions.slice(versions.indexOf(job) + 1)
    if (later.some(({ library, status }) => library.goal === 'deploy' && status === undefined)) return
    const newest = versions.filter((one) => (one === job ? isWhole : one.status === 'deployed')).at(-1)
    if (newest !== undefined) await pointCurrent(home, newest.library)
  }

  const reconcile = async (job: JobState): Promise<void> => {
    const { id, goal, urls, md5 } = job.library
    await prepareOnce()
    if (goal === 'drop') {
      await unstage(home, id)
      jobs.delete(id)
      job.isDone = true
      return tell(job, 'rejected')
    }
    const isInstalled = goal === 'deploy' && (await measure(libPath(home, job.library)))?.md5 === md5
    if (job.stagedBytes === undefined) {
      const staged = await measure(stagedPath(home, id))
      if (staged?.md5 === md5) job.stagedBytes = staged.bytes
    }
    job.isDone = isInstalled || job.stagedBytes !== undefined || urls.length === 0
    if (goal === 'stage' && job.stagedBytes !== undefined) return tell(job, 'ready')
    if (isInstalled || job.stagedBytes !== undefined) {
      if (isInstalled) await unstage(home, id)
      else await install(home, id, job.library)
      job.stagedBytes = undefined
      await point(job, true)
      return tell(job, 'deployed')
    }
    if (goal === 'deploy') await point(job, false)
    if (urls.length === 0)
      tell(job, goal === 'deploy' ? 'collapsed' : 'failed', 'the proposal has no file for the OS of this node')
    else if (goal === 'deploy') tell(job, 'collapsed', 'not fetched at its point')
    else if (job.status === undefined) tell(job, 'init')
  }

  /**
   * Brings one job as near to its goal as its downloaded file allows. Calls run one after the other, each with its
   * `before` first. It never rejects: a failure of the disk is reported, and the job is tried again later.
   */
  const reconcileInTurn = (job: JobState, before?: () => Promise<void>): Promise<void> => {
    const done = work
      .then(before)
      .then(() => reconcile(job))
      .catch((error: unknown) => {
        const why = `cannot keep the file: ${messageOf(error)}`
        job.stagedBytes = undefined // The file is read again the next time.
        report({ type: 'try', library: job.library, why })
        postpone(job, why)
      })
      .finally(() => {
        if (work === done) onReconciled()
      })
    work = done
    return done
  }

  return { reconcile: reconcileInTurn, postpone }
}
