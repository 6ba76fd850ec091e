/**
 * The requests and responses of ABCI as plain objects, with the members of both dialects (proto/abci). "0.37" and "0.40"
 * mark what only those versions know.
 *
 * A request has all its members, except for messages marked `?` that the node left out. Its integers are safe: one
 * beyond ±(2^53 − 1) is read as that bound. Bytes that are not UTF-8 are U+FFFD in its texts. Its bytes are views of the
 * packet received, so copy what you keep for long. A response may leave out any member, which then has its proto3
 * default.
 */
import type {
  CommitInfo,
  ConsensusParams,
  Event,
  ExtendedCommitInfo,
  Header,
  Misbehavior,
  ProofOps,
  Snapshot,
  Timestamp,
  ValidatorUpdate,
} from './data.ts'

/**
 * Sends `message` back. The server answers it.
 * @example const request: EchoRequest = { message: 'hello' }
 */
export interface EchoRequest {
  message: string
}
/**
 * Asks for the replies to everything before it. The server answers it.
 * @example const request: FlushRequest = {}
 */
export interface FlushRequest {}
/**
 * Sent by a node that connects: its version and the protocol versions that it speaks.
 * @example info: ({ version }) => ({ data: `met CometBFT ${version}`, lastBlockHeight: height })
 */
export interface InfoRequest {
  version: string
  blockVersion: number
  p2pVersion: number
  abciVersion: string
}
/**
 * Starts the chain from genesis. It is sent again when the node stops before block 1 is committed.
 * @example initChain: ({ chainId, appStateBytes }) => start(chainId, JSON.parse(new TextDecoder().decode(appStateBytes)))
 */
export interface InitChainRequest {
  time: Timestamp
  chainId: string
  consensusParams?: ConsensusParams
  validators: readonly ValidatorUpdate[]
  appStateBytes: Uint8Array
  initialHeight: number
}
/**
 * Reads the state at `height`, where 0 means the newest.
 * @example query: ({ path }) => (path === '/count' ? { value: printed(count) } : { code: 1, log: `no ${path}` })
 */
export interface QueryRequest {
  data: Uint8Array
  path: string
  height: number
  prove: boolean
}
/**
 * Asks for a verdict on one transaction for the mempool. `type` is a CheckTxType.
 * @example checkTx: ({ tx, type }) => (type === CheckTxType.recheck || isSigned(tx) ? {} : { code: 1, log: 'not signed' })
 */
export interface CheckTxRequest {
  tx: Uint8Array
  type: number
}
/**
 * 0.37: a decided block begins.
 * @example beginBlock: ({ header }) => { open = { height: header.height, count }; return {} }
 */
export interface BeginBlockRequest {
  hash: Uint8Array
  header: Header
  lastCommitInfo: CommitInfo
  byzantineValidators: readonly Misbehavior[]
}
/**
 * 0.37: one transaction of the decided block.
 * @example deliverTx: ({ tx }) => execute(tx)
 */
export interface DeliverTxRequest {
  tx: Uint8Array
}
/**
 * 0.37: the decided block ends.
 * @example endBlock: ({ height }) => ({ validatorUpdates: updatesAt(height) })
 */
export interface EndBlockRequest {
  height: number
}
/**
 * Asks to make the finished block durable.
 * @example commit: async () => { await save(open); return { appHash: open.hash } }
 */
export interface CommitRequest {}
/**
 * Asks for the snapshots that this node has.
 * @example listSnapshots: () => ({ snapshots })
 */
export interface ListSnapshotsRequest {}
/**
 * Offers a peer's snapshot. The light client has verified `appHash`, but nobody has verified the snapshot.
 * @example offerSnapshot: ({ snapshot }) => ({ result: OfferSnapshotResult[snapshot?.format === 1 ? 'accept' : 'rejectFormat'] })
 */
export interface OfferSnapshotRequest {
  snapshot?: Snapshot
  appHash: Uint8Array
}
/**
 * Asks for one chunk of a snapshot that this node has.
 * @example loadSnapshotChunk: ({ height, chunk }) => ({ chunk: readChunk(height, chunk) })
 */
export interface LoadSnapshotChunkRequest {
  height: number
  format: number
  chunk: number
}
/**
 * Hands over one chunk of the snapshot that was accepted.
 * @example applySnapshotChunk: ({ chunk }) => { restore(chunk); return { result: ApplySnapshotChunkResult.accept } }
 */
export interface ApplySnapshotChunkRequest {
  index: number
  chunk: Uint8Array
  sender: string
}
/**
 * Asks for the transactions of a block that this node proposes, at most `maxTxBytes` bytes in total.
 * @example prepareProposal: ({ txs, maxTxBytes }) => ({ txs: takeWhileFits(txs, maxTxBytes) })
 */
export interface PrepareProposalRequest {
  maxTxBytes: number
  txs: readonly Uint8Array[]
  localLastCommit: ExtendedCommitInfo
  misbehavior: readonly Misbehavior[]
  height: number
  time: Timestamp
  nextValidatorsHash: Uint8Array
  proposerAddress: Uint8Array
}
/**
 * Asks for a verdict on a proposed block.
 * @example processProposal: ({ txs }) => ({ status: ProposalStatus[txs.every(isSigned) ? 'accept' : 'reject'] })
 */
export interface ProcessProposalRequest {
  txs: readonly Uint8Array[]
  proposedLastCommit: CommitInfo
  misbehavior: readonly Misbehavior[]
  hash: Uint8Array
  height: number
  time: Timestamp
  nextValidatorsHash: Uint8Array
  proposerAddress: Uint8Array
}
/**
 * Asks for the extension of this validator's precommit.
 * @example extendVote: ({ height }) => ({ voteExtension: priceAt(height) })
 */
export interface ExtendVoteRequest extends ProcessProposalRequest {}
/**
 * Asks for a verdict on the extension of another validator's precommit.
 * @example verifyVoteExtension: ({ voteExtension }) => ({ status: VerifyStatus[isPrice(voteExtension) ? 'accept' : 'reject'] })
 */
export interface VerifyVoteExtensionRequest {
  hash: Uint8Array
  validatorAddress: Uint8Array
  height: number
  voteExtension: Uint8Array
}
/**
 * Executes a decided block.
 * @example finalizeBlock: ({ txs }) => ({ txResults: txs.map(execute), appHash: hashOf(open) })
 */
export interface FinalizeBlockRequest {
  txs: readonly Uint8Array[]
  decidedLastCommit: CommitInfo
  misbehavior: readonly Misbehavior[]
  hash: Uint8Array
  height: number
  time: Timestamp
  nextValidatorsHash: Uint8Array
  proposerAddress: Uint8Array
}
/**
 * 0.40: one transaction for a mempool that the application keeps.
 * @example insertTx: ({ tx }) => { mempool.push(tx); return { code: 0 } }
 */
export interface InsertTxRequest {
  tx: Uint8Array
}
/**
 * 0.40: asks for transactions of the application's mempool to gossip, where 0 means no limit.
 * @example reapTxs: ({ maxBytes }) => ({ txs: takeWhileFits(mempool, maxBytes) })
 */
export interface ReapTxsRequest {
  maxBytes: number
  maxGas: number
}

/**
 * The response to Echo.
 * @example const response: EchoResponse = { message: 'hello' }
 */
export interface EchoResponse {
  message?: string
}
/**
 * The response to Flush.
 * @example const response: FlushResponse = {}
 */
export interface FlushResponse {}
/**
 * The height and app hash that were last made durable: 0 and empty before the first block.
 * @example info: () => ({ data: 'counter', lastBlockHeight: 7, lastBlockAppHash: hash })
 */
export interface InfoResponse {
  data?: string
  version?: string
  appVersion?: number
  lastBlockHeight?: number
  lastBlockAppHash?: Uint8Array
}
/**
 * The first app hash. An empty validator list means the validators of the request.
 * @example initChain: () => ({ appHash: hashOf(genesis) })
 */
export interface InitChainResponse {
  consensusParams?: ConsensusParams
  validators?: readonly ValidatorUpdate[]
  appHash?: Uint8Array
}
/**
 * What a query found. Any code but 0 is a failure.
 * @example query: () => ({ value: printed(count), height })
 */
export interface QueryResponse {
  code?: number
  log?: string
  info?: string
  index?: number
  key?: Uint8Array
  value?: Uint8Array
  proofOps?: ProofOps
  height?: number
  codespace?: string
}
/**
 * The result of one transaction in a block. All nodes must agree on code, data, gasWanted and gasUsed; the other
 * members may differ.
 * @example const result: ExecTxResult = { code: 5, log: 'insufficient funds', gasUsed: 21_000 }
 */
export interface ExecTxResult {
  code?: number
  data?: Uint8Array
  log?: string
  info?: string
  gasWanted?: number
  gasUsed?: number
  events?: readonly Event[]
  codespace?: string
}
/**
 * The mempool's verdict: code 0 accepts the transaction. 0.37: `sender` and `priority` order its mempool.
 * @example checkTx: ({ tx }) => (tx.length > 0 ? {} : { code: 1, log: 'empty' })
 */
export interface CheckTxResponse extends ExecTxResult {
  sender?: string
  priority?: number
}
/**
 * 0.37: the events of the block's begin.
 * @example beginBlock: () => ({ events: [{ type: 'reward' }] })
 */
export interface BeginBlockResponse {
  events?: readonly Event[]
}
/**
 * 0.37: the result of one transaction.
 * @example deliverTx: ({ tx }) => (tx.length > 0 ? {} : { code: 1, log: 'empty' })
 */
export interface DeliverTxResponse extends ExecTxResult {}
/**
 * 0.37: what the block changes in the validator set and the consensus parameters.
 * @example endBlock: () => ({ validatorUpdates: [{ pubKey: { ed25519: key }, power: 10 }] })
 */
export interface EndBlockResponse {
  validatorUpdates?: readonly ValidatorUpdate[]
  consensusParamUpdates?: ConsensusParams
  events?: readonly Event[]
}
/**
 * Blocks below `retainHeight` may be deleted; 0 keeps all. Always give `appHash`: it is sent in the 0.37 dialect
 * alone.
 * @example commit: () => ({ appHash: hash, retainHeight: Math.max(0, height - 100_000) })
 */
export interface CommitResponse {
  appHash?: Uint8Array
  retainHeight?: number
}
/**
 * The snapshots that this node has.
 * @example listSnapshots: () => ({ snapshots: [{ height: 1000, format: 1, chunks: 3, hash, metadata }] })
 */
export interface ListSnapshotsResponse {
  snapshots?: readonly Snapshot[]
}
/**
 * `result` is an OfferSnapshotResult.
 * @example offerSnapshot: () => ({ result: OfferSnapshotResult.reject })
 */
export interface OfferSnapshotResponse {
  result?: number
}
/**
 * One chunk of at most 16 MB; empty when there is no such chunk.
 * @example loadSnapshotChunk: () => ({ chunk: new Uint8Array(0) })
 */
export interface LoadSnapshotChunkResponse {
  chunk?: Uint8Array
}
/**
 * `result` is an ApplySnapshotChunkResult.
 * @example applySnapshotChunk: ({ index }) => ({ result: ApplySnapshotChunkResult.retry, refetchChunks: [index] })
 */
export interface ApplySnapshotChunkResponse {
  result?: number
  refetchChunks?: readonly number[]
  rejectSenders?: readonly string[]
}
/**
 * The block's transactions in order.
 * @example prepareProposal: ({ txs }) => ({ txs })
 */
export interface PrepareProposalResponse {
  txs?: readonly Uint8Array[]
}
/**
 * `status` is a ProposalStatus.
 * @example processProposal: () => ({ status: ProposalStatus.accept })
 */
export interface ProcessProposalResponse {
  status?: number
}
/**
 * The extension that the validator signs.
 * @example extendVote: () => ({ voteExtension: new Uint8Array(0) })
 */
export interface ExtendVoteResponse {
  voteExtension?: Uint8Array
}
/**
 * `status` is a VerifyStatus.
 * @example verifyVoteExtension: () => ({ status: VerifyStatus.accept })
 */
export interface VerifyVoteExtensionResponse {
  status?: number
}
/**
 * What the block did, with one result for each transaction, in order.
 * @example finalizeBlock: ({ txs }) => ({ txResults: txs.map(() => ({})), appHash: hash })
 */
export interface FinalizeBlockResponse {
  events?: readonly Event[]
  txResults?: readonly ExecTxResult[]
  validatorUpdates?: readonly ValidatorUpdate[]
  consensusParamUpdates?: ConsensusParams
  appHash?: Uint8Array
}
/**
 * 0.40: code 0 accepts the transaction.
 * @example insertTx: () => ({ code: 0 })
 */
export interface InsertTxResponse {
  code?: number
}
/**
 * 0.40: the transactions to gossip.
 * @example reapTxs: () => ({ txs: mempool })
 */
export interface ReapTxsResponse {
  txs?: readonly Uint8Array[]
}

/**
 * The request and the response of every kind, by the name of its handler.
 * @example type Verdict = AbciCalls['checkTx'][1]
 */
export interface AbciCalls {
  echo: [EchoRequest, EchoResponse]
  flush: [FlushRequest, FlushResponse]
  info: [InfoRequest, InfoResponse]
  initChain: [InitChainRequest, InitChainResponse]
  query: [QueryRequest, QueryResponse]
  checkTx: [CheckTxRequest, CheckTxResponse]
  beginBlock: [BeginBlockRequest, BeginBlockResponse]
  deliverTx: [DeliverTxRequest, DeliverTxResponse]
  endBlock: [EndBlockRequest, EndBlockResponse]
  commit: [CommitRequest, CommitResponse]
  listSnapshots: [ListSnapshotsRequest, ListSnapshotsResponse]
  offerSnapshot: [OfferSnapshotRequest, OfferSnapshotResponse]
  loadSnapshotChunk: [LoadSnapshotChunkRequest, LoadSnapshotChunkResponse]
  applySnapshotChunk: [ApplySnapshotChunkRequest, ApplySnapshotChunkResponse]
  prepareProposal: [PrepareProposalRequest, PrepareProposalResponse]
  processProposal: [ProcessProposalRequest, ProcessProposalResponse]
  extendVote: [ExtendVoteRequest, ExtendVoteResponse]
  verifyVoteExtension: [VerifyVoteExtensionRequest, VerifyVoteExtensionResponse]
  finalizeBlock: [FinalizeBlockRequest, FinalizeBlockResponse]
  insertTx: [InsertTxRequest, InsertTxResponse]
  reapTxs: [ReapTxsRequest, ReapTxsResponse]
}

/**
 * The name of a request kind.
 * @example const kind: RequestKind = 'finalizeBlock'
 */
export type RequestKind = keyof AbciCalls
/**
 * A request of one kind, or of any.
 * @example const request: AbciRequest<'checkTx'> = { tx, type: CheckTxType.new }
 */
export type AbciRequest<K extends RequestKind = RequestKind> = AbciCalls[K][0]
/**
 * A response of one kind, or of any.
 * @example const response: AbciResponse<'checkTx'> = { code: 0 }
 */
export type AbciResponse<K extends RequestKind = RequestKind> = AbciCalls[K][1]
/**
 * The handler of one kind. It returns the response, or a promise of it. When it throws, the server stops.
 * @example const checkTx: Handler<'checkTx'> = async ({ tx }) => ({ code: (await isKnown(tx)) ? 1 : 0 })
 */
export type Handler<K extends RequestKind> = (request: AbciCalls[K][0]) => AbciCalls[K][1] | Promise<AbciCalls[K][1]>

type Optional = 'insertTx' | 'reapTxs'
type Own = 'echo' | 'flush'
/**
 * A blockchain application: one handler for each kind of request. On one connection a request starts when everything
 * before it is answered, except for queries and snapshot chunks, which may overlap. A node has several connections, which
 * are served side by side.
 * @example const application: Application = { ...handlers, checkTx: ({ tx }) => (tx.length > 0 ? {} : { code: 1 }) }
 */
export type Application = { readonly [K in Exclude<RequestKind, Optional | Own>]: Handler<K> } & {
  readonly [K in Optional]?: Handler<K>
}
