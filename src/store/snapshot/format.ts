import { concat, fromUtf8, u64be, utf8 } from '../../base/bytes.ts'
import { sha256 } from '../../base/hash.ts'

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
