import { compareBytes, concat, equalBytes, fromUtf8, u64be, utf8 } from '../../base/bytes.ts'
import { sha256 } from '../../base/sha256.ts'
import type { StateReader } from '../state.ts'
import type { Table } from '../table.ts'
import { HASH_BYTES } from '../tree/node.ts'

/** The only format of snapshots so far. A published format never changes. */
export const SNAPSHOT_FORMAT = 1

/** The bytes of every chunk but the last. */
export const CHUNK_BYTES: number = 1024 * 1024

/** The most bytes of a chunk that is accepted. */
export const CHUNK_BYTES_MAX: number = 10 * 1024 * 1024

/**
 * The most chunks of a snapshot: CometBFT hangs up on a peer that offers one of more (`max_snapshot_chunks`). At 1 MiB a
 * chunk that is a state of 97 GiB. Its metadata is then 3.2 MB, and CometBFT's messages carry 4 MB.
 */
export const CHUNKS_MAX = 100_000

/** What describes a snapshot besides its chunks. */
export interface SnapshotMetadata {
  readonly chainId: string
  readonly height: number
  /** The root of the state at that height, 32 bytes. */
  readonly appHash: Uint8Array
  readonly records: number
  /** The bytes of all chunks together. */
  readonly bytes: number
  /** The bytes of each chunk but the last. */
  readonly chunkBytes: number
  /** The sha256 of each chunk, in order. */
  readonly chunkHashes: readonly Uint8Array[]
}

/** One snapshot of a folder. */
export interface Snapshot {
  readonly metadata: SnapshotMetadata
  /** The metadata as it is hashed and sent. */
  readonly metadataBytes: Uint8Array
}

/**
 * The hash that identifies a snapshot: equal hashes mean equal bytes.
 *
 * @example
 * const hash = snapshotHash(snapshot.metadataBytes) // `hash` of ListSnapshots, beside `metadata`
 */
export const snapshotHash = (metadataBytes: Uint8Array): Uint8Array => sha256(metadataBytes)

/** Encodes 0 to 2^53 − 1 as unsigned LEB128, in the shortest form. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let left = value
  for (; left > 0x7f; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80)
  bytes.push(left)
  return Uint8Array.from(bytes)
}

const NUMBERS = ['height', 'records', 'bytes', 'chunkBytes'] as const
const FIXED_BYTES = NUMBERS.length * 8 + HASH_BYTES + 1
const CHAIN_ID_BYTES_MAX = 50

/** The most bytes of metadata. */
export const METADATA_BYTES_MAX: number = FIXED_BYTES + CHAIN_ID_BYTES_MAX + CHUNKS_MAX * HASH_BYTES

/**
 * Encodes metadata: height, records, bytes and chunkBytes in 8 bytes each, the app hash, one byte with the length of the
 * chain id, the chain id, and the hash of each chunk. Throws when there are more than CHUNKS_MAX: the state is too
 * large for snapshots.
 */
export function encodeMetadata(metadata: SnapshotMetadata): Uint8Array {
  if (metadata.chunkHashes.length > CHUNKS_MAX)
    throw new Error(`a snapshot of ${metadata.chunkHashes.length} chunks, and peers take at most ${CHUNKS_MAX}`)
  const chainId = utf8(metadata.chainId)
  const numbers = NUMBERS.map((name) => u64be(metadata[name]))
  const hashes = Buffer.concat(metadata.chunkHashes)
  return concat(...numbers, metadata.appHash, Uint8Array.of(chainId.length), chainId, hashes)
}

/**
 * The metadata of these bytes; undefined unless they are as `writeSnapshot` writes them and their numbers agree with each
 * other.
 *
 * @example
 * const metadata = decodeMetadata(metadataBytes) // those of OfferSnapshot
 * const isTrusted = metadata !== undefined && Buffer.compare(metadata.appHash, appHash) === 0
 */
export function decodeMetadata(encoded: Uint8Array): SnapshotMetadata | undefined {
  const nameLength = encoded[FIXED_BYTES - 1] ?? 0
  if (encoded.length > METADATA_BYTES_MAX || nameLength === 0 || nameLength > CHAIN_ID_BYTES_MAX) return undefined
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.length)
  const [height = 0, records = 0, bytes = 0, chunkBytes = 0] = NUMBERS.map((_, at) => Number(view.getBigUint64(8 * at)))
  if (![height, records, bytes, chunkBytes].every((value) => Number.isSafeInteger(value) && value > 0)) return undefined
  const hashes = encoded.subarray(FIXED_BYTES + nameLength)
  const chainId = fromUtf8(encoded.subarray(FIXED_BYTES, FIXED_BYTES + nameLength))
  const isWhole =
    hashes.length <= CHUNKS_MAX * HASH_BYTES &&
    chunkBytes <= CHUNK_BYTES_MAX &&
    hashes.length === Math.ceil(bytes / chunkBytes) * HASH_BYTES
  if (chainId === undefined || !isWhole) return undefined
  const chunkHashes = Array.from({ length: hashes.length / HASH_BYTES }, (_, at) =>
    hashes.slice(HASH_BYTES * at, HASH_BYTES * (at + 1)),
  )
  const appHash = encoded.slice(FIXED_BYTES - 1 - HASH_BYTES, FIXED_BYTES - 1)
  return { chainId, height, appHash, records, bytes, chunkBytes, chunkHashes }
}

/** The bytes of the chunk at `index`. */
export const chunkLength = ({ bytes, chunkBytes }: SnapshotMetadata, index: number): number =>
  Math.min(chunkBytes, bytes - index * chunkBytes)

/** The tables under the app hash, in the order of their tags, so that records are in the byte order of their state keys. */
export const hashedTables = (tables: readonly Table[]): readonly Table[] =>
  tables.filter(({ hashed }) => hashed).sort((a, b) => a.tag - b.tag)

/** Gives every hashed row as one record, in order: length of the state key, state key, length of the value, value. */
export function* recordsOf(state: StateReader, tables: readonly Table[]): Generator<Uint8Array> {
  for (const table of hashedTables(tables)) {
    for (const row of state.scan(table)) {
      const key = table.keyOf(row)
      const value = table.encode(row)
      yield concat(varint(key.length), key, varint(value.length), value)
    }
  }
}

/** One row of a snapshot. */
export interface Record {
  readonly table: Table
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly row: object
}

/**
 * A snapshot holds no state: its bytes are as its metadata says, and yet no node wrote them. The message says why.
 *
 * @example
 * try {
 *   restore.finish()
 * } catch (error) {
 *   if (!(error instanceof NotARecord)) throw error
 *   restore.drop() // reject the snapshot and whoever sent it
 * }
 */
export class NotARecord extends Error {
  override readonly name = 'NotARecord'
}

/** The most bytes of a state key or value. */
const VALUE_BYTES_MAX = 1024 * 1024

/** The length at `start` and the bytes that follow it; undefined when they are not all there yet. */
function lengthPrefixed(
  bytes: Uint8Array,
  start: number,
): { readonly value: Uint8Array; readonly next: number } | undefined {
  let length = 0
  for (let offset = start, unit = 1; offset < bytes.length; offset++, unit *= 0x80) {
    const byte = bytes[offset] as number
    length += (byte & 0x7f) * unit
    if (length > VALUE_BYTES_MAX || unit > VALUE_BYTES_MAX) throw new NotARecord('a length is out of bounds')
    if (byte > 0x7f) continue
    if (byte === 0 && offset > start) throw new NotARecord('a length is not in its shortest form')
    const next = offset + 1 + length
    return next > bytes.length ? undefined : { value: bytes.subarray(offset + 1, next), next }
  }
  return undefined
}

function readRow(table: Table, key: Uint8Array, value: Uint8Array): object | undefined {
  try {
    const parsed = table.parseKey(key)
    const row = parsed === undefined ? undefined : table.decode(parsed, value)
    if (row === undefined || table.isDefault(row)) return undefined
    return equalBytes(table.keyOf(row), key) && equalBytes(table.encode(row), value) ? row : undefined
  } catch {
    return undefined
  }
}

/**
 * Creates a reader of records of `tables` from the bytes of chunks, wherever these are cut. Each must be a row of a hashed
 * table that encodes to the same bytes, in the strict order of state keys; anything else is a NotARecord. It holds at most
 * one record besides the chunk.
 */
export function createRecordReader(tables: readonly Table[]) {
  const byTag = new Map(hashedTables(tables).map((table) => [table.tag, table]))
  let rest: Uint8Array = new Uint8Array(0)
  let last: Uint8Array = new Uint8Array(0)

  const recordOf = (key: Uint8Array, value: Uint8Array): Record => {
    const table = byTag.get(key[0] ?? -1)
    const row = table === undefined ? undefined : readRow(table, key, value)
    if (table === undefined || row === undefined) throw new NotARecord('a record is no row of this program’s tables')
    if (compareBytes(key, last) <= 0) throw new NotARecord('its records are not in order')
    last = key.slice()
    return { table, key: last, value, row }
  }

  return {
    /** Gives the records that are complete with these bytes. Throws NotARecord. */
    *read(chunk: Uint8Array): Generator<Record> {
      const bytes = concat(rest, chunk)
      let offset = 0
      for (;;) {
        const key = lengthPrefixed(bytes, offset)
        const value = key === undefined ? undefined : lengthPrefixed(bytes, key.next)
        if (key === undefined || value === undefined) break
        offset = value.next
        yield recordOf(key.value, value.value)
      }
      rest = bytes.slice(offset)
    },
    /** True when nothing is left over. */
    isAtEnd: (): boolean => rest.length === 0,
  }
}
