import { openConnection } from './connection.ts'
import { checkVersion } from './schema.ts'
import { makeSqlState } from './sqlState.ts'
import type { AnyTable, Reader } from './store.ts'
import type { Table } from './table.ts'

/** A reader that also tells when what it reads was written. */
export interface SqliteReader extends Reader {
  /** Another number whenever anything was committed since; asked within a `read`, it is that of the state read. */
  version(): bigint
}

/**
 * A read-only connection to the state in `path`, in this process or another while a node writes it. StoreError when the
 * file is not there or is no state of a version that we know. A `read` within a `read` sees the same state.
 */
export function openSqliteReader({
  path,
  tables,
}: {
  readonly path: string
  readonly tables: readonly AnyTable[]
}): SqliteReader {
  const connection = openConnection(path, { readonly: true })
  try {
    checkVersion(connection, path)
  } catch (error) {
    connection.close()
    throw error
  }
  let reads = 0
  const state = makeSqlState(connection, tables as readonly unknown[] as readonly Table[], () => reads)
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
    version: () => (connection.statement('PRAGMA data_version').get() as [bigint])[0],
    close: connection.close,
  }
}
