import { compareBytes, concat, equalBytes, fromUtf8, sha256, u64be, utf8 } from '../../base/bytes.ts'
import type { StateReader } from '../state.ts'
import type { Table } from '../table.ts'

/** The only format yet: `docs/decisions/0009-snapshot-format.md`. A format that was published never changes. */
export const SNAPSHOT_FORMAT = 1

/** Bytes of every chunk but the last. */
export const CHUNK_BYTES: number = 1024 * 1024

/** Most bytes of a chunk that is taken. Source: the issue, State sync. */
export const CHUNK_BYTES_MAX: number = 10 * 1024 * 1024

/** Most bytes of metadata: CometBFT's messages carry 4 MB. With 32 bytes a chunk that is a state of 122 GiB. */
export const METADATA_BYTES_MAX = 4_000_000

/** What is known of a snapshot beside its chunks. */
export interface SnapshotMetadata {
  readonly chainId: string
  readonly height: number
  /** Root of the state at that height, 32 bytes. */
  readonly appHash: Uint8Array
  readonly records: number
  /** Of all chunks together. */
  readonly bytes: number
  /** Of each chunk but the last. */
  readonly chunkBytes: number
  /** sha256 of each chunk, in order. */
  readonly chunkHashes: readonly Uint8Array[]
}

/** One snapshot of a folder. */
export interface Snapshot {
  readonly metadata: SnapshotMetadata
  /** As they are hashed and sent. */
  readonly metadataBytes: Uint8Array
}

/** What names a snapshot: equal hash, equal bytes. */
export const snapshotHash = (metadataBytes: Uint8Array): Uint8Array => sha256(metadataBytes)

/** Unsigned LEB128, the shortest form. `value`: 0 to 2^53 − 1. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let left = value
  for (; left > 0x7f; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80)
  bytes.push(left)
  return Uint8Array.from(bytes)
}

const HASH_BYTES = 32
const NUMBERS = ['height', 'records', 'bytes', 'chunkBytes'] as const
const FIXED_BYTES = NUMBERS.length * 8 + HASH_BYTES + 1
const CHAIN_ID_BYTES_MAX = 50

/**
 * height, records, bytes and chunkBytes in 8 bytes each, the app hash, one byte with the length of the chain id, the
 * chain id, the hash of each chunk. Throws when they are more than METADATA_BYTES_MAX: the state is too large for
 * snapshots.
 */
export function encodeMetadata(metadata: SnapshotMetadata): Uint8Array {
  const chainId = utf8(metadata.chainId)
  const numbers = NUMBERS.map((name) => u64be(metadata[name]))
  const hashes = Buffer.concat(metadata.chunkHashes)
  const encoded = concat(...numbers, metadata.appHash, Uint8Array.of(chainId.length), chainId, hashes)
  if (encoded.length > METADATA_BYTES_MAX) {
    throw new Error(
      `a snapshot of ${metadata.chunkHashes.length} chunks: its metadata would exceed ${METADATA_BYTES_MAX} bytes`,
    )
  }
  return encoded
}

/**
 * What these bytes say; undefined unless they are what `encodeMetadata` writes and their numbers agree with each other.
 */
export function decodeMetadata(encoded: Uint8Array): SnapshotMetadata | undefined {
  const nameLength = encoded[FIXED_BYTES - 1] ?? 0
  if (encoded.length > METADATA_BYTES_MAX || nameLength === 0 || nameLength > CHAIN_ID_BYTES_MAX) return undefined
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.length)
  const [height = 0, records = 0, bytes = 0, chunkBytes = 0] = NUMBERS.map((_, at) => Number(view.getBigUint64(8 * at)))
  if (![height, records, bytes, chunkBytes].every((value) => Number.isSafeInteger(value) && value > 0)) return undefined
  const hashes = encoded.subarray(FIXED_BYTES + nameLength)
  const chainId = fromUtf8(encoded.subarray(FIXED_BYTES, FIXED_BYTES + nameLength))
  const isWhole = chunkBytes <= CHUNK_BYTES_MAX && hashes.length === Math.ceil(bytes / chunkBytes) * HASH_BYTES
  if (chainId === undefined || !isWhole) return undefined
  const chunkHashes = Array.from({ length: hashes.length / HASH_BYTES }, (_, at) =>
    hashes.slice(HASH_BYTES * at, HASH_BYTES * (at + 1)),
  )
  const appHash = encoded.slice(FIXED_BYTES - 1 - HASH_BYTES, FIXED_BYTES - 1)
  return { chainId, height, appHash, records, bytes, chunkBytes, chunkHashes }
}

/** Bytes of the chunk at `index`. */
export const chunkLength = ({ bytes, chunkBytes }: SnapshotMetadata, index: number): number =>
  Math.min(chunkBytes, bytes - index * chunkBytes)

/**
 * The tables under the app hash, in the order of their tags: then the records are in the byte order of their state
 * keys.
 */
export const hashedTables = (tables: readonly Table[]): readonly Table[] =>
  tables.filter(({ hashed }) => hashed).sort((a, b) => a.tag - b.tag)

/** Every hashed row as one record, in order: length of the state key, state key, length of the value, value. */
export function* recordsOf(state: StateReader, tables: readonly Table[]): Generator<Uint8Array> {
  for (const table of hashedTables(tables)) {
    for (const row of state.scan(table)) {
      const key = table.keyOf(row)
      const value = table.encode(row)
      yield concat(varint(key.length), key, varint(value.length), value)
    }
  }
}

/** One row as a snapshot tells of it. */
export interface Record {
  readonly table: Table
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly row: object
}

/** Why a snapshot holds no state: its bytes are as its metadata says, and no node wrote them. */
export class NotARecord extends Error {
  override readonly name = 'NotARecord'
}

/** Most bytes of a state key or value: more than any row of ours has. */
const PART_BYTES_MAX = 1024 * 1024

/** A length and the bytes of it that start at `at`; undefined when they are not all there yet. */
function partAt(bytes: Uint8Array, at: number): { readonly part: Uint8Array; readonly next: number } | undefined {
  let length = 0
  for (let place = at, unit = 1; place < bytes.length; place++, unit *= 0x80) {
    const byte = bytes[place] as number
    length += (byte & 0x7f) * unit
    if (length > PART_BYTES_MAX || unit > PART_BYTES_MAX) throw new NotARecord('a length is out of bounds')
    if (byte > 0x7f) continue
    if (byte === 0 && place > at) throw new NotARecord('a length is not in its shortest form')
    const next = place + 1 + length
    return next > bytes.length ? undefined : { part: bytes.subarray(place + 1, next), next }
  }
  return undefined
}

function readRow(table: Table, key: Uint8Array, value: Uint8Array): object | undefined {
  try {
    const parsed = table.parseKey(key)
    const row = parsed === undefined ? undefined : table.decode(parsed as never, value)
    if (row === undefined || table.isDefault(row)) return undefined
    return equalBytes(table.keyOf(row), key) && equalBytes(table.encode(row), value) ? row : undefined
  } catch {
    return undefined
  }
}

/** Reads records from the bytes of chunks, wherever these are cut. */
export interface RecordReader {
  /** The records that are whole with these bytes. Throws NotARecord. */
  read(chunk: Uint8Array): Generator<Record>
  /** True when nothing is left over. */
  isAtEnd(): boolean
}

/**
 * A reader of records of `tables`. Each is a row of a hashed table that encodes to the same bytes, in the strict order
 * of state keys; anything else is a NotARecord. Holds at most one record beside the chunk.
 */
export function makeRecordReader(tables: readonly Table[]): RecordReader {
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
    *read(chunk) {
      const bytes = concat(rest, chunk)
      let at = 0
      for (;;) {
        const key = partAt(bytes, at)
        const value = key === undefined ? undefined : partAt(bytes, key.next)
        if (key === undefined || value === undefined) break
        at = value.next
        yield recordOf(key.part, value.part)
      }
      rest = bytes.slice(at)
    },
    isAtEnd: () => rest.length === 0,
  }
}
