import { openConnection } from '../../base/sqlite.ts'
import type { CommittedState } from '../store.ts'
import type { Table } from '../table.ts'
import { checkVersion } from './schema.ts'
import { createSqlState } from './sqlState.ts'

/** One committed state, which stays what it is while blocks go on. */
export interface HeldState {
  readonly state: CommittedState
  /** Ends the read. Nothing of `state` may be used afterwards. */
  end(): void
}

/** Reads committed states while blocks go on. */
export interface SqliteReader {
  /**
   * Runs `fn` on one committed state: no commit falls within it. `fn` is synchronous, and nothing of `state` may be used
   * after it has returned. A `read` within a `read` sees the same state.
   */
  read<T>(fn: (state: CommittedState) => T): T
  /**
   * Holds the state that is committed now, across turns of the event loop and until `end`. SQLite's write-ahead log grows
   * meanwhile. Throws while another one is held.
   */
  hold(): HeldState
  /** A number that differs whenever anything was committed since. Within a `read` it is that of the state read. */
  version(): bigint
  close(): void
}

/**
 * Opens a read-only connection to the state in `path`, which this process or another may be writing. StoreError when the
 * file is not there, or is no state of this program's schema version.
 *
 * @example
 * const reader = openSqliteReader({ path: 'state.db', tables: [balances] })
 * const [height, row] = reader.read((state) => [state.height(), state.get(balances, { owner: 'alice' })])
 */
export function openSqliteReader({
  path,
  tables,
}: {
  readonly path: string
  readonly tables: readonly Table[]
}): SqliteReader {
  const connection = openConnection(path, { readonly: true })
  try {
    checkVersion(connection, path)
  } catch (error) {
    connection.close()
    throw error
  }
  let reads = 0
  const state = createSqlState(connection, tables, () => reads)
  return {
    read: (fn) => {
      if (connection.db.inTransaction) return fn(state)
      connection.db.exec('BEGIN')
      try {
        const result = fn(state)
        if (typeof (result as { readonly then?: unknown } | undefined)?.then === 'function')
          throw new TypeError('read: what runs on a state is synchronous')
        return result
      } finally {
        reads++
        connection.db.exec('COMMIT')
      }
    },
    hold: () => {
      connection.db.exec('BEGIN')
      const end = (): void => {
        reads++
        connection.db.exec('COMMIT')
      }
      try {
        // SQLite chooses the state at the first read.
        state.height()
      } catch (error) {
        if (connection.db.inTransaction) end()
        throw error
      }
      return { state, end }
    },
    version: () => (connection.statement('PRAGMA data_version').get() as [bigint])[0],
    close: connection.close,
  }
}
