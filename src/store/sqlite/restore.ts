import { rmSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { equalBytes, toHex } from '../../base/bytes.ts'
import { sha256 } from '../../base/sha256.ts'
import { chunkLength, createRecordReader, NotARecord, type SnapshotMetadata } from '../snapshot/format.ts'
import { fromLatin1, toLatin1 } from '../sorted.ts'
import type { StateReader } from '../state.ts'
import type { BlockInfo } from '../store.ts'
import type { Table } from '../table.ts'
import { leafHash, sha256Text } from '../tree/node.ts'
import type { LeafChange } from '../tree/tree.ts'
import { type Connection, openConnection, sqliteCode, writeMeta } from '../../base/sqlite.ts'
import { prepareSchema } from './schema.ts'
import { createSqlState } from './sqlState.ts'
import { inBatches } from './sqlTable.ts'
import { buildPages } from './sqlTree.ts'

/** Options of `openRestore`. */
export interface RestoreOptions {
  /** The path of the new database. One that is there is removed. */
  readonly path: string
  readonly tables: readonly Table[]
  readonly metadata: SnapshotMetadata
  /**
   * What the restored rows say about the block that they are the state of, which is compared with the metadata; may throw
   * when they say nothing. By default the metadata is believed, which has no time: `timeMs` is 0 until the next block.
   */
  readonly headOf?: (state: StateReader) => Pick<BlockInfo, 'chainId' | 'height' | 'timeMs'>
}

/** A snapshot on its way into a new database. Failures of the disk are thrown as they are. */
export interface Restore {
  readonly metadata: SnapshotMetadata
  /** The index of the next chunk; the number of chunks when all have come. */
  next(): number
  /**
   * Takes the next chunk. Returns `bad`, and takes nothing of it, when its bytes are not those that the metadata names.
   * Throws NotARecord when they are and still hold no state: the metadata lies.
   */
  add(chunk: Uint8Array): 'taken' | 'bad'
  /**
   * Completes the database: a whole state with the app hash, height and chain of the metadata. Throws NotARecord when
   * it is not.
   */
  finish(): void
  /** Removes the database. */
  drop(): void
}

const CACHE_KIB = 64 * 1024

/**
 * The disk that a record takes beside its bytes: its leaf, its place in the tree and its index, in the restored database,
 * and once more in the WAL and the file of the state that takes it. Measured on 300,000 accounts: 640. Records of other
 * tables may take more, as those with more indexes do.
 */
const RECORD_BYTES = 768
/** The bytes of a record are in its row and in its leaf's key, in the state's WAL and file, and in CometBFT's chunks. */
const COPIES = 5

const LEAVES =
  'CREATE TABLE leaves (key_hash BLOB NOT NULL PRIMARY KEY, hash BLOB NOT NULL, state_key BLOB NOT NULL) WITHOUT ROWID, STRICT'

/** About the bytes of disk that a restore takes until the state is in its place, with the chunks that CometBFT keeps. */
export const roomFor = ({ bytes, records }: Pick<SnapshotMetadata, 'bytes' | 'records'>): number =>
  COPIES * bytes + RECORD_BYTES * records

/** Why the disk has no room to restore this snapshot at `path`; undefined when it has. */
export function lackOfRoom(path: string, metadata: SnapshotMetadata): string | undefined {
  const needed = roomFor(metadata)
  const { bavail, bsize } = statfsSync(dirname(path))
  return needed <= bavail * bsize ? undefined : `it may take ${needed} bytes of disk, and ${bavail * bsize} are free`
}

/**
 * Removes the database of a restore, if there is one.
 *
 * @example
 * store.replaceBy('restore.db')
 * removeRestore('restore.db')
 */
export function removeRestore(path: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}

function openNew({ path, tables }: RestoreOptions): Connection {
  removeRestore(path)
  const connection = openConnection(path, { readonly: false })
  try {
    // The file is worth nothing until the store has taken it, and a restore begins anew after a crash: it waits for no disk.
    connection.db.pragma('synchronous = OFF')
    connection.db.pragma(`cache_size = -${CACHE_KIB}`)
    prepareSchema(connection, path, tables, [])
    connection.db.exec(LEAVES)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

const leavesInOrder = ({ statement }: Connection): Iterable<LeafChange> =>
  inBatches(
    (after: Uint8Array | undefined, limit) =>
      statement(`SELECT key_hash, hash FROM leaves WHERE key_hash > ? ORDER BY key_hash LIMIT ${limit}`).all(
        after ?? new Uint8Array(0),
      ) as [Uint8Array, Uint8Array][],
    ([keyHash, hash]) => ({ keyHash: toLatin1(keyHash as Uint8Array), hash: toLatin1(hash as Uint8Array) }),
    ({ keyHash }) => fromLatin1(keyHash),
  )

/** Returns what `work` does. Errors that come from the snapshot's rows become a NotARecord; those of the disk stay as they are. */
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
 *
 * @example
 * const restore = openRestore({ path: 'restore.db', tables: [balances], metadata })
 * if (restore.add(chunk) === 'bad') console.log('ask another peer for chunk', restore.next())
 * restore.finish()
 * store.replaceBy('restore.db')
 */
export function openRestore(options: RestoreOptions): Restore {
  const { path, tables, metadata, headOf = () => ({ ...metadata, timeMs: 0 }) } = options
  const connection = openNew(options)
  const { db, statement } = connection
  const state = createSqlState(connection, tables, () => 0)
  const reader = createRecordReader(tables)
  let [next, records] = [0, 0]

  const write = db.transaction((chunk: Uint8Array) => {
    for (const { table, key, value, row } of reader.read(chunk)) {
      state.sqlTable(table).write(key, undefined, row)
      const keyHash = sha256Text(key)
      statement('INSERT INTO leaves VALUES (?, ?, ?)').run(
        fromLatin1(keyHash),
        fromLatin1(leafHash(keyHash, value)),
        key,
      )
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
      if (records > metadata.records) throw new NotARecord(`it holds more than ${metadata.records} records`)
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
