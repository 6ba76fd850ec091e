import { equalBytes, toHex } from '../base/bytes.ts'
import { isDiskFull } from '../base/diskFull.ts'
import { reasonOf } from '../comet/errors.ts'
import { headOfState } from '../modules/chain/keeper.ts'
import { tables, views } from '../modules/registry.ts'
import { sqliteCode, takeLock } from '../base/sqlite.ts'
import { type CommittedState, openSqliteReader, openSqliteStore, StoreError } from '../store/index.ts'
import { exitStatusOf, UserError } from './errors.ts'

// The codes of SQLite for a disk that fails and for one that may not be written.
const DISK_FAILS = /^SQLITE_(?:IOERR|READONLY|CANTOPEN)/

// Our statements are right, so SQLITE_ERROR is a table that somebody dropped. A short read is a file that was cut.
const DAMAGED = /^SQLITE_(?:CORRUPT|ERROR|IOERR_SHORT_READ)/

const damaged = (path: string, why: string): UserError =>
  new UserError(`${path} is damaged (${why}): it was changed by hand or by the disk. Run svcd reset and sync again`)

/** What to do with the state of another release. A snapshot carries the rows over, whatever the columns are. */
const otherRelease = (path: string, { message }: StoreError): UserError =>
  new UserError(
    `${message}. Run that release; or run svcd snapshot create with it, move ${path}* away, and run svcd snapshot ` +
      'restore with this one; or run svcd reset and sync again',
  )

/** What to throw for a failure to open or read a state: a UserError that names the file and the remedy. */
function explained(path: string, error: unknown): unknown {
  if (error instanceof StoreError && error.code === 'otherRelease') return otherRelease(path, error)
  if (isDiskFull(error))
    return new UserError(`${path} cannot be opened because the disk is full. Free some space, then start again`)
  if (exitStatusOf(error) !== undefined) return error
  const code = sqliteCode(error)
  if (code === undefined) return error
  if (DAMAGED.test(code)) return damaged(path, reasonOf(error))
  if (DISK_FAILS.test(code))
    return new UserError(
      `${path} cannot be opened (${reasonOf(error)}). Check that the disk works and that its folder may be written`,
    )
  return error
}

function explaining<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw explained(path, error)
  }
}

/** Does something while no other process can write the state at `path`. Throws as openState does. */
export const locked = (path: string, work: () => void): void =>
  explaining(path, () => {
    const lock = takeLock(path)
    try {
      work()
    } finally {
      lock.close()
    }
  })

/**
 * Opens the state at `path` to write it. Throws a StoreError while another process does, and a UserError when the disk
 * is full or fails, or the file is damaged.
 */
export const openState = (path: string, expectChainId?: string): ReturnType<typeof openSqliteStore> =>
  explaining(path, () =>
    openSqliteStore({ path, tables, views, ...(expectChainId === undefined ? {} : { expectChainId }) }),
  )

/**
 * Reads the state at `path` through a connection of its own, also while an application writes it. Throws as openState
 * does.
 */
export const readState = <T>(path: string, read: (state: CommittedState) => T): T =>
  explaining(path, () => {
    const reader = openSqliteReader({ path, tables })
    try {
      return reader.read(read)
    } finally {
      reader.close()
    }
  })

/** An app hash as CometBFT prints it. */
export const printHash = (hash: Uint8Array): string => toHex(hash).toUpperCase()

/** Recomputes the app hash from every row. Returns why this is not the state that was committed; undefined if it is. */
function differenceIn(state: CommittedState): string | undefined {
  const [stored, recomputed] = [state.appHash(), state.recomputeRoot()]
  if (!equalBytes(stored, recomputed))
    return `its rows give the app hash ${printHash(recomputed)}, but ${printHash(stored)} was committed`
  const { chainId, height } = headOfState(state)
  if (height === state.height() && chainId === state.chainId()) return undefined
  return `its rows are those of ${chainId} at height ${height}`
}

/**
 * Reads the state at `path` once its app hash has been recomputed from every row. Throws a UserError when rows differ
 * from what was committed, and otherwise as openState does. Before the first block there is nothing to compare. Cost: reads all rows twice.
 */
export const readVerifiedState = <T>(path: string, read: (state: CommittedState) => T): T =>
  readState(path, (state) => {
    let difference: string | undefined
    try {
      difference = state.height() === 0 ? undefined : differenceIn(state)
    } catch (error) {
      difference = reasonOf(error) // A row that cannot be decoded.
    }
    if (difference !== undefined)
      throw damaged(path, `at height ${state.height()} of ${state.chainId() ?? 'no chain'} ${difference}`)
    return read(state)
  })
