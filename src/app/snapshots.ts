/** Offers the snapshots of this node, and restores those of peers. Source: src/store/README.md, Snapshots. */
import {
  type ApplySnapshotChunkRequest,
  type ApplySnapshotChunkResponse,
  ApplySnapshotChunkResult,
  type ListSnapshotsResponse,
  type LoadSnapshotChunkRequest,
  type LoadSnapshotChunkResponse,
  type OfferSnapshotRequest,
  type OfferSnapshotResponse,
  OfferSnapshotResult,
  type Snapshot as WireSnapshot,
} from '../abci/types.ts'
import { equalBytes } from '../base/bytes.ts'
import { headOfState } from '../modules/chain/keeper.ts'
import { loadAnswers } from '../modules/governance/keeper.ts'
import { tables } from '../modules/registry.ts'
import {
  decodeMetadata,
  lackOfRoom,
  NotARecord,
  type Offered,
  openRestore,
  removeRestore,
  SNAPSHOT_FORMAT,
  snapshotHash,
  type SnapshotMetadata,
} from '../store/index.ts'
import { type AppContext, resetTo, type RestoreInProgress, type SnapshotOptions } from './context.ts'

const print = ({ metadata, metadataBytes, hash }: Offered): WireSnapshot => ({
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
  { options }: AppContext,
  { restorePath, chainId: expected }: SnapshotOptions,
  { snapshot, appHash }: OfferSnapshotRequest,
): Judged {
  const { reject, rejectFormat, rejectSender } = OfferSnapshotResult
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
  const chainId = options.store.chainId() ?? expected
  if (chainId !== undefined && metadata.chainId !== chainId) {
    return { result: rejectSender, why: `it is of chain ${JSON.stringify(metadata.chainId)}, not of ${chainId}` }
  }
  if (!equalBytes(metadata.appHash, appHash))
    return { result: rejectSender, why: 'its app hash is not the trusted one' }
  const own = options.store.height()
  if (snapshot.height < own) return { result: reject, why: `the state here is at height ${own}` }
  // Only the last chunk shows that a state is invented. It must not fill the disk before.
  const why = lackOfRoom(restorePath, metadata)
  return why === undefined ? metadata : { result: reject, why }
}

/** Reports a snapshot of this node that cannot be read. The peer that asked gets an empty response. */
const logUnreadable = ({ options: { logger } }: AppContext, err: unknown): void =>
  logger.error({ err }, 'a snapshot that a peer asks for cannot be read')

/** The snapshots of this node. One that the disk fails to read is left out, because an error would end the node. */
export function listSnapshots(app: AppContext): ListSnapshotsResponse {
  if (app.offered === undefined || app.options.snapshots?.beginAt === undefined) return { snapshots: [] }
  try {
    return { snapshots: app.offered.list().map(print) }
  } catch (error) {
    logUnreadable(app, error)
    return { snapshots: [] }
  }
}

/**
 * One chunk of a snapshot of this node; empty when there is no such chunk or when the disk fails. Peers are strangers,
 * and an error would end the node.
 */
export async function loadSnapshotChunk(
  app: AppContext,
  { height, format, chunk }: LoadSnapshotChunkRequest,
): Promise<LoadSnapshotChunkResponse> {
  const none = new Uint8Array(0)
  if (app.offered === undefined || format !== SNAPSHOT_FORMAT) return { chunk: none }
  try {
    return { chunk: (await app.offered.readChunk(height, chunk)) ?? none }
  } catch (error) {
    logUnreadable(app, error)
    return { chunk: none }
  }
}

function dropRestore(app: AppContext): void {
  app.restoring?.restore.drop()
  app.restoring = undefined
}

/**
 * Accepts a peer's snapshot, and gives up the one before it. What its chunks hold goes into a database of its own until
 * all of it is verified.
 */
export function offerSnapshot(app: AppContext, request: OfferSnapshotRequest): OfferSnapshotResponse {
  const { logger, snapshots } = app.options
  if (snapshots === undefined) return { result: OfferSnapshotResult.reject }
  dropRestore(app)
  const judged = judgeOffer(app, snapshots, request)
  if ('why' in judged) {
    logger.error({ height: request.snapshot?.height, why: judged.why }, 'a snapshot was refused')
    return { result: judged.result }
  }
  const restore = openRestore({ path: snapshots.restorePath, tables, metadata: judged, headOf: headOfState })
  app.restoring = { restore, senders: new Set() }
  logger.info(
    { height: judged.height, chunks: judged.chunkHashes.length, records: judged.records },
    'a snapshot is being restored',
  )
  return { result: OfferSnapshotResult.accept }
}

/** Adds the next chunk. With the last one the restored state replaces the store's and becomes the head. */
function addChunk(
  app: AppContext,
  { restore, senders }: RestoreInProgress,
  { restorePath, replaceBy }: SnapshotOptions,
  { chunk, sender }: ApplySnapshotChunkRequest,
): ApplySnapshotChunkResponse {
  const { accept, retry } = ApplySnapshotChunkResult
  const { logger, store } = app.options
  const index = restore.next()
  const { height, chunkHashes, records } = restore.metadata
  if (restore.add(chunk) === 'bad') {
    logger.error(
      { height, chunk: index, sender },
      'a chunk is not what its snapshot says: it is fetched anew, from somebody else',
    )
    return { result: retry, refetchChunks: [index], rejectSenders: [sender] }
  }
  senders.add(sender)
  if (restore.next() < chunkHashes.length) return { result: accept }
  restore.finish()
  replaceBy(restorePath)
  loadAnswers(store)
  removeRestore(restorePath)
  app.restoring = undefined
  resetTo(app, store)
  logger.info({ height, records }, 'the state was restored from a snapshot')
  return { result: accept }
}

/** Takes one chunk of the snapshot that was accepted. One that comes out of turn is asked for again. */
export function applySnapshotChunk(app: AppContext, request: ApplySnapshotChunkRequest): ApplySnapshotChunkResponse {
  const { accept, abort, retry, rejectSnapshot } = ApplySnapshotChunkResult
  const {
    restoring,
    options: { logger, snapshots },
  } = app
  if (restoring === undefined || snapshots === undefined) return { result: abort }
  const { restore, senders } = restoring
  if (request.index < restore.next()) return { result: accept } // this chunk was added before
  if (request.index > restore.next()) return { result: retry, refetchChunks: [restore.next()] }
  try {
    return addChunk(app, restoring, snapshots, request)
  } catch (error) {
    if (!(error instanceof NotARecord)) throw error
    const rejectSenders = [...senders.add(request.sender)]
    logger.error(
      { height: restore.metadata.height, senders: rejectSenders, why: error.message },
      'a snapshot is no state of this chain',
    )
    dropRestore(app)
    return { result: rejectSnapshot, rejectSenders }
  }
}
