import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'

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
