import { rmSync } from 'node:fs'
import { type Connection, openConnection, sqliteCode } from '../sqlite/connection.ts'
import { OWN_TABLES, sideName, sideOrders } from '../sqlite/columns.ts'
import { prepareSchema, readMeta, writeMeta } from '../sqlite/schema.ts'
import type { Table } from '../table.ts'
import { equalBytes, sha256, toHex } from '../../base/bytes.ts'
import { leafHash, sha256Text } from '../tree/node.ts'
import { bytesOf, idOf } from '../sorted.ts'
import { makeSqlState } from '../sqlite/sqliteReader.ts'
import { inBatches } from '../sqlite/sqlTable.ts'
import { buildPages } from '../sqlite/sqlTree.ts'
import type { StateReader } from '../state.ts'
import type { AnyTable } from '../store.ts'
import type { LeafChange } from '../tree/tree.ts'
import { chunkLength, makeRecordReader, NotARecord, type SnapshotMetadata } from './format.ts'

/**
 * Every table that is the state: rows and their orders, and what the store keeps beside them; `meta` is the file's own.
 */
const namesOf = (tables: readonly Table[]): readonly string[] => [
  ...tables
    .filter(({ hashed }) => hashed)
    .flatMap((table) => [table.name, ...sideOrders(table).map((index) => sideName(table, index))]),
  ...Object.keys(OWN_TABLES).filter((name) => name !== 'meta'),
]

/**
 * Puts the state in the database `from` in place of that of `connection`, in one transaction. Throws when it is another
 * chain's.
 */
export function copyState(connection: Connection, from: string, tables: readonly Table[]): void {
  const { db } = connection
  db.prepare('ATTACH DATABASE ? AS restored').run(from)
  try {
    db.transaction(() => {
      const [chainId] = db.prepare("SELECT value FROM restored.meta WHERE name = 'chain_id'").raw().get() as [string]
      const own = readMeta(connection, 'chain_id')
      if (own !== undefined && own !== chainId)
        throw new Error(`the restored state is of chain ${chainId}, not of ${own}`)
      for (const name of namesOf(tables))
        db.exec(`DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM restored."${name}"`)
      writeMeta(connection, 'chain_id', chainId)
    }).immediate()
  } finally {
    db.exec('DETACH DATABASE restored')
  }
}

/** What the rows themselves say of the block that they are the state of. */
export interface Head {
  readonly chainId: string
  readonly height: number
  /** Unix ms. */
  readonly timeMs: number
}

interface RestoreOptions {
  /** Of the new database; one that is there is removed. */
  readonly path: string
  readonly tables: readonly AnyTable[]
  readonly metadata: SnapshotMetadata
  /** Reads the head in the restored rows; may throw when they have none. */
  readonly headOf: (state: StateReader) => Head
}

/** A snapshot on its way into a new database. A failure of the disk is thrown as it is told. */
export interface Restore {
  readonly metadata: SnapshotMetadata
  /** Index of the chunk that comes next; as many as there are when all have come. */
  next(): number
  /**
   * Takes the next chunk: `bad` when its bytes are not those of the metadata, and then nothing of it was taken. Throws
   * NotARecord when they are and yet hold no state: the metadata lies.
   */
  add(chunk: Uint8Array): 'taken' | 'bad'
  /**
   * Ends with a database that is a whole state, of the app hash, height and chain of the metadata. Throws NotARecord
   * when it is not.
   */
  finish(): void
  /** Removes the database. */
  drop(): void
}

const CACHE_KIB = 64 * 1024

const LEAVES =
  'CREATE TABLE leaves (key_hash BLOB NOT NULL PRIMARY KEY, hash BLOB NOT NULL, state_key BLOB NOT NULL) WITHOUT ROWID, STRICT'

/** Removes the database of a restore, if there is one. */
export function removeRestore(path: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}

function openNew({ path, tables }: RestoreOptions): Connection {
  removeRestore(path)
  const connection = openConnection(path, { readonly: false })
  // Worth nothing until it was read into the state, and begun anew after a crash: no journal, nothing waited for.
  connection.db.pragma('journal_mode = OFF')
  connection.db.pragma('synchronous = OFF')
  connection.db.pragma(`cache_size = -${CACHE_KIB}`)
  prepareSchema(connection, path, tables as readonly unknown[] as readonly Table[], [])
  connection.db.exec(LEAVES)
  return connection
}

const leavesInOrder = ({ statement }: Connection): Iterable<LeafChange> =>
  inBatches(
    new Uint8Array(0) as Uint8Array,
    (after, limit) =>
      statement(`SELECT key_hash, hash FROM leaves WHERE key_hash > ? ORDER BY key_hash LIMIT ${limit}`).all(
        after,
      ) as unknown[][],
    ([keyHash]) => keyHash as Uint8Array,
    ([keyHash, hash]) => ({ keyHash: idOf(keyHash as Uint8Array), hash: idOf(hash as Uint8Array) }),
  )

/**
 * What `work` gives. What the rows of a liar make it throw is a NotARecord; what the disk does is thrown as it is told.
 */
function ofUntrusted<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = sqliteCode(error)
    if (error instanceof NotARecord || (code !== undefined && !code.startsWith('SQLITE_CONSTRAINT'))) throw error
    throw new NotARecord(`a row of it cannot be: ${(error as Error).message}`)
  }
}

/**
 * Begins to restore a snapshot into a new database at `path`, beside the state that is in use. Memory: one chunk and a
 * bounded part of the tree, however large the state is.
 */
export function beginRestore(options: RestoreOptions): Restore {
  const { path, metadata, headOf } = options
  const tables = options.tables as readonly unknown[] as readonly Table[]
  const connection = openNew(options)
  const { db, statement } = connection
  const state = makeSqlState(connection, tables, () => 0)
  const reader = makeRecordReader(tables)
  let [next, records] = [0, 0]

  const write = db.transaction((chunk: Uint8Array) => {
    for (const { table, key, value, row } of reader.read(chunk)) {
      state.need(table).write(key, undefined, row)
      const keyHash = sha256Text(key)
      statement('INSERT INTO leaves VALUES (?, ?, ?)').run(bytesOf(keyHash), bytesOf(leafHash(keyHash, value)), key)
      records++
    }
  })

  return {
    metadata,
    next: () => next,
    add: (chunk) => {
      const expected = metadata.chunkHashes[next]
      if (
        expected === undefined ||
        chunk.length !== chunkLength(metadata, next) ||
        !equalBytes(sha256(chunk), expected)
      )
        return 'bad'
      ofUntrusted(() => write(chunk))
      next++
      return 'taken'
    },
    finish: () => {
      if (next !== metadata.chunkHashes.length || !reader.isAtEnd()) throw new NotARecord('it ends within a record')
      if (records !== metadata.records) throw new NotARecord(`it holds ${records} records, not ${metadata.records}`)
      const root = buildPages(connection, leavesInOrder(connection))
      statement('INSERT INTO tree_keys SELECT key_hash, state_key FROM leaves ORDER BY key_hash').run()
      if (!equalBytes(root, metadata.appHash))
        throw new NotARecord(`its rows have the app hash ${toHex(root).toUpperCase()}`)
      const { chainId, height, timeMs } = ofUntrusted(() => headOf(state))
      if (height !== metadata.height || chainId !== metadata.chainId)
        throw new NotARecord(`its rows are those of ${chainId} at ${height}`)
      statement('INSERT INTO blocks VALUES (?, ?, ?, 0)').run(height, timeMs, toHex(root))
      writeMeta(connection, 'chain_id', chainId)
      db.exec('DROP TABLE leaves')
      connection.close()
    },
    drop: () => {
      connection.close()
      removeRestore(path)
    },
  }
}
