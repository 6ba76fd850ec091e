/** The answers of a node to ABCI's four requests of state sync: it offers its snapshots, and restores those of peers. */
import { equalBytes } from '../../base/bytes.ts'
import { isDiskFull } from '../../base/diskFull.ts'
import { lackOfRoom, openRestore, removeRestore, type Restore, type RestoreOptions } from '../sqlite/restore.ts'
import type { Table } from '../table.ts'
import { type Offered, openOffered } from './folder.ts'
import { decodeMetadata, NotARecord, SNAPSHOT_FORMAT, snapshotHash, type SnapshotMetadata } from './format.ts'

// The numbers of OfferSnapshotResult and ApplySnapshotChunkResult.
const OFFER = { accept: 1, reject: 3, rejectFormat: 4, rejectSender: 5 } as const
const CHUNK = { accept: 1, abort: 2, retry: 3, rejectSnapshot: 5 } as const

const NOTHING = new Uint8Array(0)

/** A snapshot as ABCI offers it. */
export interface OfferedSnapshot {
  readonly height: number
  readonly format: number
  readonly chunks: number
  readonly hash: Uint8Array
  readonly metadata: Uint8Array
}

/** Where the store reports what happens outside its calls. A pino logger and `console` fit. */
export interface StoreLogger {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The verdict on one chunk, with the members of ABCI's ResponseApplySnapshotChunk. */
export interface ChunkVerdict {
  readonly result: number
  readonly refetchChunks?: readonly number[]
  readonly rejectSenders?: readonly string[]
}

/** Handlers of an `Application` of @svcd/abci, which takes them as they are. None of them throws for what a peer sends. */
export interface StateSyncHandlers {
  listSnapshots(): { readonly snapshots: readonly OfferedSnapshot[] }
  loadSnapshotChunk(request: {
    readonly height: number
    readonly format: number
    readonly chunk: number
  }): Promise<{ readonly chunk: Uint8Array }>
  offerSnapshot(request: { readonly snapshot?: OfferedSnapshot | undefined; readonly appHash: Uint8Array }): {
    readonly result: number
  }
  applySnapshotChunk(request: {
    readonly index: number
    readonly chunk: Uint8Array
    readonly sender: string
  }): ChunkVerdict
}

/** Options of `stateSyncHandlers`. */
export interface StateSyncOptions {
  /** The state of this node. `replaceBy` is called with the restored database, and throws to keep the state as it was. */
  readonly store: { height(): number; chainId(): string | undefined; replaceBy(path: string): void }
  readonly tables: readonly Table[]
  /** The folder of this node's own snapshots. */
  readonly folder: string
  /** False for a node that offers none of them. */
  readonly isOffering?: boolean
  /** The path of the database that a peer's snapshot is restored into. */
  readonly restorePath: string
  /** The only chain whose snapshots a node without state accepts; any chain when left out. */
  readonly chainId?: string | undefined
  readonly headOf?: RestoreOptions['headOf']
  /** Called when a snapshot has become the state. */
  readonly onRestored?: () => void
  readonly logger?: StoreLogger
}

/** A peer's snapshot that is being restored, and the peers that sent its chunks so far. */
interface Restoring {
  readonly restore: Restore
  readonly senders: Set<string>
}

const print = ({ metadata, metadataBytes, hash }: Offered): OfferedSnapshot => ({
  height: metadata.height,
  format: SNAPSHOT_FORMAT,
  chunks: metadata.chunkHashes.length,
  hash,
  metadata: metadataBytes,
})

/** Why an offer is refused, or the metadata of the snapshot offered. */
type Judged = { readonly result: number; readonly why: string } | SnapshotMetadata

/**
 * `appHash` is what the light client trusts. No honest node offers metadata that contradicts it or itself: then whoever
 * sent it is asked for nothing any more.
 */
function judgeOffer(
  { store, restorePath, chainId: expected }: StateSyncOptions,
  { snapshot, appHash }: Parameters<StateSyncHandlers['offerSnapshot']>[0],
): Judged {
  const { reject, rejectFormat, rejectSender } = OFFER
  if (snapshot === undefined) return { result: reject, why: 'the offer is empty' }
  if (snapshot.format !== SNAPSHOT_FORMAT)
    return { result: rejectFormat, why: `its format is ${snapshot.format}, not ${SNAPSHOT_FORMAT}` }
  const metadata = decodeMetadata(snapshot.metadata)
  if (metadata === undefined) return { result: rejectSender, why: 'its metadata is malformed' }
  if (!equalBytes(snapshotHash(snapshot.metadata), snapshot.hash))
    return { result: rejectSender, why: 'its hash is not its metadata’s' }
  if (metadata.height !== snapshot.height || metadata.chunkHashes.length !== snapshot.chunks) {
    return { result: rejectSender, why: 'its metadata is that of another height or number of chunks' }
  }
  const chainId = store.chainId() ?? expected
  if (chainId !== undefined && metadata.chainId !== chainId) {
    return { result: rejectSender, why: `it is of chain ${JSON.stringify(metadata.chainId)}, not of ${chainId}` }
  }
  if (!equalBytes(metadata.appHash, appHash))
    return { result: rejectSender, why: 'its app hash is not the trusted one' }
  const own = store.height()
  if (snapshot.height < own) return { result: reject, why: `the state here is at height ${own}` }
  // Only the last chunk shows that a state is invented. It must not fill the disk before.
  const why = lackOfRoom(restorePath, metadata)
  return why === undefined ? metadata : { result: reject, why }
}

/** The handlers that offer the snapshots of a folder. Strangers call them, and an error would end the node. */
function offeringHandlers({ folder, isOffering = true, logger }: StateSyncOptions) {
  const offered = openOffered(folder)
  const logUnreadable = (err: unknown): void => logger?.error({ err }, 'a snapshot that a peer asks for cannot be read')
  return {
    listSnapshots: () => {
      if (!isOffering) return { snapshots: [] }
      try {
        return { snapshots: offered.list().map(print) }
      } catch (error) {
        logUnreadable(error)
        return { snapshots: [] }
      }
    },
    loadSnapshotChunk: async ({ height, format, chunk }) => {
      if (format !== SNAPSHOT_FORMAT) return { chunk: NOTHING }
      try {
        return { chunk: (await offered.readChunk(height, chunk)) ?? NOTHING }
      } catch (error) {
        logUnreadable(error)
        return { chunk: NOTHING }
      }
    },
  } satisfies Partial<StateSyncHandlers>
}

/**
 * Creates the handlers of state sync. A peer's snapshot goes into a database of its own until all of it is verified, and
 * replaces the state with its last chunk. A chunk that is not what the metadata names is asked for again from another
 * peer; a snapshot that is no state is given up, with all peers that sent it.
 *
 * @example
 * const handlers = stateSyncHandlers({ store, tables: [balances], folder: 'snapshots', restorePath: 'restore.db' })
 */
export function stateSyncHandlers(options: StateSyncOptions): StateSyncHandlers {
  const { store, tables, restorePath, headOf, onRestored, logger } = options
  let restoring: Restoring | undefined

  const drop = (): void => {
    restoring?.restore.drop()
    restoring = undefined
  }

  /** Logs that a snapshot takes more of the disk than its metadata says, and returns the verdict. Throws any other error. */
  const giveUp = ({ height }: SnapshotMetadata, error: unknown, verdict: number): number => {
    if (!isDiskFull(error)) throw error
    logger?.error({ height }, 'a snapshot takes more than the free disk')
    return verdict
  }

  /** Adds the next chunk. With the last one the restored state replaces the store's. */
  const addChunk = ({ restore, senders }: Restoring, chunk: Uint8Array, sender: string): ChunkVerdict => {
    const index = restore.next()
    const { height, chunkHashes, records } = restore.metadata
    if (restore.add(chunk) === 'bad') {
      logger?.error(
        { height, chunk: index, sender },
        'a chunk is not what its snapshot says: it is fetched anew, from somebody else',
      )
      return { result: CHUNK.retry, refetchChunks: [index], rejectSenders: [sender] }
    }
    senders.add(sender)
    if (restore.next() < chunkHashes.length) return { result: CHUNK.accept }
    restore.finish()
    store.replaceBy(restorePath)
    removeRestore(restorePath)
    restoring = undefined
    onRestored?.()
    logger?.info({ height, records }, 'the state was restored from a snapshot')
    return { result: CHUNK.accept }
  }

  return {
    ...offeringHandlers(options),
    offerSnapshot: (request) => {
      drop()
      const judged = judgeOffer(options, request)
      if ('why' in judged) {
        logger?.error({ height: request.snapshot?.height, why: judged.why }, 'a snapshot was refused')
        return { result: judged.result }
      }
      try {
        const restore = openRestore({ path: restorePath, tables, metadata: judged, ...(headOf && { headOf }) })
        restoring = { restore, senders: new Set() }
      } catch (error) {
        removeRestore(restorePath)
        return { result: giveUp(judged, error, OFFER.reject) }
      }
      logger?.info(
        { height: judged.height, chunks: judged.chunkHashes.length, records: judged.records },
        'a snapshot is being restored',
      )
      return { result: OFFER.accept }
    },
    applySnapshotChunk: ({ index, chunk, sender }) => {
      if (restoring === undefined) return { result: CHUNK.abort }
      const { restore, senders } = restoring
      if (index < restore.next()) return { result: CHUNK.accept } // this chunk was added before
      if (index > restore.next()) return { result: CHUNK.retry, refetchChunks: [restore.next()] }
      try {
        return addChunk(restoring, chunk, sender)
      } catch (error) {
        drop() // It may be what fills the disk.
        const { height } = restore.metadata
        if (error instanceof NotARecord) {
          const rejectSenders = [...senders.add(sender)]
          logger?.error({ height, senders: rejectSenders, why: error.message }, 'a snapshot is no state of this chain')
          return { result: CHUNK.rejectSnapshot, rejectSenders }
        }
        return { result: giveUp(restore.metadata, error, CHUNK.rejectSnapshot) }
      }
    },
  }
}
