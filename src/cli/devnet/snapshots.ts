import { constants, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { UserError } from '../../node/errors.ts'

/** The most snapshots that a devnet keeps. */
export const DEVNET_SNAPSHOTS_MAX = 10

/** What a chain writes into the home of a validator: state, blocks, signing state, and fetched libraries. */
const COPIED = ['data', 'eni'] as const

const folderOf = (home: string, id: number): string => join(home, 'snapshots', String(id))

/** The ids of the snapshots in a home, in the order in which they were made. */
export function listDevnetSnapshots(home: string): readonly number[] {
  const folder = join(home, 'snapshots')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

const copy = (from: string, to: string): void =>
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, preserveTimestamps: true })

/** Throws a UserError when there are DEVNET_SNAPSHOTS_MAX already. */
export function assertRoom(home: string): void {
  const { length } = listDevnetSnapshots(home)
  if (length < DEVNET_SNAPSHOTS_MAX) return
  throw new UserError(
    `the devnet has ${length} snapshots, the maximum. Revert to an earlier one, which removes those after it`,
  )
}

/** Throws a UserError when there is no such snapshot. */
export function assertSnapshot(home: string, id: number): void {
  const held = listDevnetSnapshots(home)
  if (held.includes(id)) return
  throw new UserError(`expected the number of a snapshot (${held.join(', ') || 'there are none yet'}), got ${id}`)
}

/**
 * Copies what the stopped validators of a devnet have written. Returns the number of the snapshot. Throws errors of the
 * file system, and then leaves nothing behind. Call assertRoom first.
 */
export function takeSnapshot(home: string, homes: readonly string[]): number {
  const id = (listDevnetSnapshots(home).at(-1) ?? 0) + 1
  const unfinished = join(home, 'snapshots', 'new')
  rmSync(unfinished, { recursive: true, force: true })
  try {
    for (const [at, one] of homes.entries()) {
      const to = join(unfinished, String(at))
      ensureFolder(to)
      for (const name of COPIED) if (existsSync(join(one, name))) copy(join(one, name), join(to, name))
    }
    renameSync(unfinished, folderOf(home, id))
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return id
}

/**
 * Puts back what a snapshot holds, and removes the snapshots that were made after it. Call assertSnapshot first. It is
 * copied whole before anything is removed: throws errors of the file system, such as of a full disk, and the chain is then
 * as it was. If the process is killed later, the home has no complete chain, and --reset starts anew.
 */
export function revertTo(home: string, homes: readonly string[], id: number): void {
  const unfinished = join(home, 'snapshots', 'new')
  rmSync(unfinished, { recursive: true, force: true })
  try {
    copy(folderOf(home, id), unfinished)
    for (const [at, one] of homes.entries()) {
      for (const name of COPIED) {
        const from = join(unfinished, String(at), name)
        rmSync(join(one, name), { recursive: true, force: true })
        if (existsSync(from)) renameSync(from, join(one, name))
      }
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  // The headers that svcd query --prove keeps may be of blocks that are no more.
  rmSync(join(home, 'light'), { recursive: true, force: true })
  for (const later of listDevnetSnapshots(home).filter((other) => other > id))
    rmSync(folderOf(home, later), { recursive: true, force: true })
}
