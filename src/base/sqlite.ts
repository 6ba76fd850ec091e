/** SQLite databases that keep what is committed whatever happens to the machine. */
import Database from 'better-sqlite3'
import { StoreError } from './storeError.ts'

/** One SQLite connection and its prepared statements. */
export interface Connection {
  readonly db: Database.Database
  /** Returns the statement of `sql`, which is prepared once. Rows come as arrays and integers as bigint. */
  statement(sql: string): Database.Statement
  close(): void
}

const BUSY_MS = 5000
const WAL_BYTES_KEPT = 64 * 1024 * 1024
// The WAL grows to 16 MiB before it is written back, so that rows and pages that every block changes are written back
// once for many blocks.
const CHECKPOINT_PAGES = 4000
const SYNCHRONOUS_FULL = 2n

/**
 * The SQLite code of an error, such as `SQLITE_BUSY`; undefined for other errors. `instanceof` would fail where a module
 * is loaded twice.
 */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}

/**
 * Throws for rows that the store never wrote so: the file was changed by hand or by the disk. The error has a code of
 * storage, so that it stops the process and never becomes a verdict on a transaction.
 */
export function failCorrupt(code: 'SQLITE_CORRUPT_ROW' | 'SQLITE_CORRUPT_INDEX', message: string): never {
  throw Object.assign(new Error(message), { code })
}

/** better-sqlite3 gives this error no code; with one it stops the process like every other failure of storage. */
const closedError = (): Error => Object.assign(new Error('the database is closed'), { code: 'SQLITE_MISUSE' })

function wrap(db: Database.Database): Connection {
  const statements = new Map<string, Database.Statement>()
  return {
    db,
    statement: (sql) => {
      let statement = statements.get(sql)
      if (statement === undefined) {
        if (!db.open) throw closedError()
        statement = db.prepare(sql)
        if (statement.reader) statement.raw(true)
        statements.set(sql, statement)
      }
      return statement
    },
    close: () => {
      statements.clear()
      db.close()
    },
  }
}

function open(path: string, options: Database.Options): Database.Database {
  try {
    return new Database(path, options)
  } catch (error) {
    const why = (error as Error).message
    throw new StoreError(
      'cannotOpen',
      `${path}: cannot be opened (${why}): check that its folder is there and may be written`,
      { cause: error },
    )
  }
}

/** What to throw for an error about a file: a StoreError that names the file when it is no database. */
const named = (path: string, error: unknown): unknown =>
  sqliteCode(error) === 'SQLITE_NOTADB'
    ? new StoreError('otherFile', `${path}: is not a database: name another file, or move this one away`, {
        cause: error,
      })
    : error

/** The CREATE TABLE of each table in a file by its name; none in a new file. */
export const tablesIn = (db: Database.Database): ReadonlyMap<string, string> =>
  new Map(db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").raw().all() as [string, string][])

/** The error for a database that a chain did not write. */
export const foreignFile = (path: string, cause?: unknown): StoreError =>
  new StoreError(
    'otherFile',
    `${path}: holds something else than a chain's state: name another file, or move this one away`,
    { cause },
  )

/** Reads a text of the table `meta`, which every file has; undefined when it is not there. */
export function readMeta({ statement }: Connection, name: string): string | undefined {
  return (statement('SELECT value FROM meta WHERE name = ?').get(name) as [string] | undefined)?.[0]
}

/** Writes a text of the table `meta`. */
export function writeMeta({ statement }: Connection, name: string, value: string): void {
  statement('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value').run(name, value)
}

/**
 * Opens a database in WAL mode with `synchronous=FULL`. That is set after WAL and read back: otherwise SQLite falls to
 * NORMAL, and a power cut could take committed blocks. A file with tables but without `meta` is not ours: StoreError,
 * and the file stays as it was.
 */
export function openConnection(path: string, { readonly }: { readonly readonly: boolean }): Connection {
  const db = open(path, { readonly, fileMustExist: readonly, timeout: BUSY_MS })
  try {
    db.defaultSafeIntegers(true)
    const tables = tablesIn(db)
    if (tables.size > 0 && !tables.has('meta')) throw foreignFile(path)
    if (!readonly) db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('fullfsync = ON')
    db.pragma(`busy_timeout = ${BUSY_MS}`)
    db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`)
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    const mode = db.pragma('journal_mode', { simple: true })
    const synchronous = db.pragma('synchronous', { simple: true })
    if (mode !== 'wal' || synchronous !== SYNCHRONOUS_FULL) {
      throw new StoreError(
        'notDurable',
        `${path}: SQLite runs with journal_mode ${mode} and synchronous ${synchronous} instead of wal and 2: keep the file on a local disk`,
      )
    }
    return wrap(db)
  } catch (error) {
    db.close()
    throw named(path, error)
  }
}

/**
 * How long a writer waits for the one before it. A killed process holds its locks until its last thread has ended, a
 * moment later.
 */
const LOCK_MS_MAX = 2000

/**
 * Takes `<path>.lock` until it is closed, or until this process ends in whatever way. A second writer gets a StoreError.
 * The lock is on a file beside the state's, so that others can read the state while the node runs.
 */
export function takeLock(path: string): { close(): void } {
  const db = open(`${path}.lock`, { timeout: LOCK_MS_MAX })
  try {
    // Nothing is written, not even a journal: a full disk must not keep svcd reset from taking the lock.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    return { close: () => void db.close() }
  } catch (error) {
    db.close()
    if (sqliteCode(error) !== 'SQLITE_BUSY') throw named(`${path}.lock`, error)
    throw new StoreError('inUse', `${path}: is open in another process that writes it: stop that one first`, {
      cause: error,
    })
  }
}
