import { ApplySnapshotChunkResult, OfferSnapshotResult, type Snapshot as WireSnapshot } from '../abci/data.ts'
import type { Application, ApplySnapshotChunkResponse, Handler, OfferSnapshotRequest } from '../abci/types.ts'
import { equalBytes } from '../base/bytes.ts'
import { headOfState } from '../modules/chain/keeper.ts'
import { tables } from '../modules/registry.ts'
import { decodeMetadata, SNAPSHOT_FORMAT, snapshotHash, type SnapshotMetadata } from '../store/snapshot/format.ts'
import { type Offered, openOffered } from '../store/snapshot/folder.ts'
import { NotARecord } from '../store/snapshot/format.ts'
import { beginRestore, removeRestore, type Restore } from '../store/snapshot/restore.ts'
import type { Chain, SnapshotOptions } from './chain.ts'

type SnapshotHandlers = Pick<
  Application,
  'listSnapshots' | 'offerSnapshot' | 'loadSnapshotChunk' | 'applySnapshotChunk'
>

/** A node without a place for snapshots has none and takes none: it syncs by blocks. */
const NONE: SnapshotHandlers = {
  listSnapshots: () => ({ snapshots: [] }),
  offerSnapshot: () => ({ result: OfferSnapshotResult.reject }),
  loadSnapshotChunk: () => ({ chunk: new Uint8Array(0) }),
  applySnapshotChunk: () => ({ result: ApplySnapshotChunkResult.abort }),
}

const print = ({ metadata, metadataBytes, hash }: Offered): WireSnapshot => ({
  height: metadata.height,
  format: SNAPSHOT_FORMAT,
  chunks: metadata.chunkHashes.length,
  hash,
  metadata: metadataBytes,
})

/** Why an offer is refused, or what it offers. */
type Judged = { readonly result: number; readonly why: string } | SnapshotMetadata

/**
 * `appHash` is what the light client trusts. No honest node offers metadata that contradicts it or itself: then whoever
 * sent it is asked for nothing any more.
 */
function judgeOffer({ options }: Chain, { snapshot, appHash }: OfferSnapshotRequest): Judged {
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
  const chainId = options.store.chainId() ?? options.snapshots?.chainId
  if (chainId !== undefined && metadata.chainId !== chainId) {
    return { result: rejectSender, why: `it is of chain ${JSON.stringify(metadata.chainId)}, not of ${chainId}` }
  }
  if (!equalBytes(metadata.appHash, appHash))
    return { result: rejectSender, why: 'its app hash is not the trusted one' }
  const own = options.store.height()
  return snapshot.height < own ? { result: reject, why: `the state here is at height ${own}` } : metadata
}

/** Takes the snapshots of peers. What they hold goes into a database of its own until all of it is verified. */
function taking(
  chain: Chain,
  { restorePath, replaceBy }: SnapshotOptions,
): Pick<SnapshotHandlers, 'offerSnapshot' | 'applySnapshotChunk'> {
  const { logger } = chain.options
  const { accept, abort, retry, rejectSnapshot } = ApplySnapshotChunkResult
  let restore: Restore | undefined
  let senders = new Set<string>()

  const forget = (): void => {
    restore?.drop()
    restore = undefined
    senders = new Set()
  }

  const take = (to: Restore, chunk: Uint8Array, sender: string): ApplySnapshotChunkResponse => {
    const index = to.next()
    const { height, chunkHashes } = to.metadata
    if (to.add(chunk) === 'bad') {
      logger.error(
        { height, chunk: index, sender },
        'a chunk is not what its snapshot says: it is fetched anew, from somebody else',
      )
      return { result: retry, refetchChunks: [index], rejectSenders: [sender] }
    }
    senders.add(sender)
    if (to.next() < chunkHashes.length) return { result: accept }
    to.finish()
    replaceBy(restorePath)
    removeRestore(restorePath)
    restore = undefined
    chain.genesis = undefined
    chain.open = undefined
    chain.check = undefined
    logger.info({ height, records: to.metadata.records }, 'the state was restored from a snapshot')
    return { result: accept }
  }

  const applySnapshotChunk: Handler<'applySnapshotChunk'> = ({ index, chunk, sender }) => {
    if (restore === undefined) return { result: abort }
    if (index < restore.next()) return { result: accept } // it is in already
    if (index > restore.next()) return { result: retry, refetchChunks: [restore.next()] }
    try {
      return take(restore, chunk, sender)
    } catch (error) {
      if (!(error instanceof NotARecord)) throw error
      const rejectSenders = [...senders.add(sender)]
      logger.error(
        { height: restore.metadata.height, senders: rejectSenders, why: error.message },
        'a snapshot is no state of this chain',
      )
      forget()
      return { result: rejectSnapshot, rejectSenders }
    }
  }

  return {
    offerSnapshot: (request) => {
      forget()
      const judged = judgeOffer(chain, request)
      if ('why' in judged) {
        logger.error({ height: request.snapshot?.height, why: judged.why }, 'a snapshot was refused')
        return { result: judged.result }
      }
      restore = beginRestore({ path: restorePath, tables, metadata: judged, headOf: headOfState })
      logger.info(
        { height: judged.height, chunks: judged.chunkHashes.length, records: judged.records },
        'a snapshot is being restored',
      )
      return { result: OfferSnapshotResult.accept }
    },
    applySnapshotChunk,
  }
}

/**
 * Gives peers the snapshots of this node. They are strangers: a request of a chunk that is not there is answered empty,
 * and so is one that the disk fails, because an error would end the node.
 */
function giving(
  { options: { logger } }: Chain,
  { folder, beginAt }: SnapshotOptions,
): Pick<SnapshotHandlers, 'listSnapshots' | 'loadSnapshotChunk'> {
  const offered = openOffered(folder)
  const failed = (error: unknown): undefined =>
    void logger.error({ err: error }, 'a snapshot that a peer asks for cannot be read')
  return {
    listSnapshots: () => {
      try {
        return { snapshots: beginAt === undefined ? [] : offered.list().map(print) }
      } catch (error) {
        failed(error)
        return { snapshots: [] }
      }
    },
    loadSnapshotChunk: async ({ height, format, chunk }) => {
      const bytes = format === SNAPSHOT_FORMAT ? await offered.readChunk(height, chunk).catch(failed) : undefined
      return { chunk: bytes ?? new Uint8Array(0) }
    },
  }
}

/** Offers the snapshots of this node, and takes those of peers. Source: src/store/README.md, Snapshots. */
export function snapshots(chain: Chain): SnapshotHandlers {
  const options = chain.options.snapshots
  return options === undefined ? NONE : { ...giving(chain, options), ...taking(chain, options) }
}
