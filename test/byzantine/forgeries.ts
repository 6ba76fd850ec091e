import { OfferSnapshotResult as Offer, type Snapshot } from '../../src/abci/types.ts'
import { concat } from '../../src/base/bytes.ts'
import { decodeMetadata, encodeMetadata, type SnapshotMetadata } from '../../src/store/snapshot/format.ts'
import { type Next, randomBytes } from '../fuzz/bytes.ts'
import { sha256 } from '../support/snapshotNodes.ts'

/** A lie about a snapshot. `result`: what an honest application answers to the offer. */
export interface Forgery {
  readonly result: number
  readonly forge: (next: Next, honest: Snapshot, chunks: readonly Uint8Array[]) => Snapshot
  /** What becomes of each chunk, where the offer has to be accepted. */
  readonly chunk?: (chunk: Uint8Array) => Uint8Array
}

/** Nobody accepts it, and its sender is asked for nothing any more. */
const named = (forge: Forgery['forge']): Forgery => ({ result: Offer.rejectSender, forge })

/** The snapshot with this metadata, and the hash that belongs to it. */
const sealed = (honest: Snapshot, metadata: Uint8Array): Snapshot => ({ ...honest, metadata, hash: sha256(metadata) })

/** Metadata that says something else, with the hash that belongs to it. */
const says = (change: (next: Next, metadata: SnapshotMetadata) => Partial<SnapshotMetadata>): Forgery =>
  named((next, honest) => {
    const metadata = decodeMetadata(honest.metadata) as SnapshotMetadata
    return sealed(honest, encodeMetadata({ ...metadata, ...change(next, metadata) }))
  })

/** Changes one byte in the middle. */
const bent = (chunk: Uint8Array): Uint8Array =>
  chunk.with(Math.floor(chunk.length / 2), (chunk[Math.floor(chunk.length / 2)] ?? 0) ^ 1)

/** Every lie, by its name. */
export const FORGERIES: Readonly<Record<string, Forgery>> = {
  'a later format': { result: Offer.rejectFormat, forge: (next, honest) => ({ ...honest, format: 2 + next(1000) }) },
  'format 0': { result: Offer.rejectFormat, forge: (_next, honest) => ({ ...honest, format: 0 }) },
  'another hash': named((next, honest) => ({ ...honest, hash: randomBytes(next, 32) })),
  'a hash of another length': named((next, honest) => ({ ...honest, hash: randomBytes(next, 1 + next(31)) })),
  'another height': named((next, honest) => ({ ...honest, height: honest.height + 1 + next(2) })),
  'more chunks': named((next, honest) => ({ ...honest, chunks: honest.chunks + 1 + next(100) })),
  'random metadata': named((next, honest) => sealed(honest, randomBytes(next, 1 + next(400)))),
  'metadata cut short': named((next, honest) =>
    sealed(honest, honest.metadata.subarray(0, next(honest.metadata.length))),
  ),
  'metadata with more behind': named((next, honest) =>
    sealed(honest, concat(honest.metadata, randomBytes(next, 1 + next(100)))),
  ),
  'another app hash': says((next) => ({ appHash: randomBytes(next, 32) })),
  'another chain': says((next) => ({ chainId: `x${next(1000)}` })),
  'another height in the metadata': says((next, { height }) => ({ height: height + 1 + next(1000) })),
  'more bytes': says((next, { bytes }) => ({ bytes: bytes * (2 + next(9)) + 2 ** 24 })),
  'other rows': {
    result: Offer.accept,
    forge: (_next, honest, chunks) =>
      sealed(
        honest,
        encodeMetadata({
          ...(decodeMetadata(honest.metadata) as SnapshotMetadata),
          chunkHashes: chunks.map((chunk) => sha256(bent(chunk))),
        }),
      ),
    chunk: bent,
  },
}
