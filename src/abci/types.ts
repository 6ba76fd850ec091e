/**
 * The requests and responses of ABCI as plain objects, both dialects in one superset (proto/abci). Integers are safe
 * numbers: one of a request that lies beyond ±(2^53 − 1) is read as that bound. Text of a request that is not UTF-8
 * holds U+FFFD. A request's members are all present; the messages marked `?` are absent where the node left them out.
 * Its bytes are views of the received packet: copy what is kept for long. Every member of a response may be left out
 * and is then the proto3 default. "0.37" and "0.40" mark what only that dialect knows.
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

/** Echoes `message`; answered by the server. */
export interface EchoRequest {
  message: string
}
/** Asks that everything before it be answered; answered by the server. */
export interface FlushRequest {}
/** What the node is: its version and the protocol versions it speaks. */
export interface InfoRequest {
  version: string
  blockVersion: number
  p2pVersion: number
  abciVersion: string
}
/** Starts the chain from genesis; comes again when the node fell before block 1 was committed. */
export interface InitChainRequest {
  time: Timestamp
  chainId: string
  consensusParams?: ConsensusParams
  validators: readonly ValidatorUpdate[]
  appStateBytes: Uint8Array
  initialHeight: number
}
/** A read of the state at `height`, 0 for the newest. */
export interface QueryRequest {
  data: Uint8Array
  path: string
  height: number
  prove: boolean
}
/** Judges one transaction for the mempool; `type` is a CheckTxType. */
export interface CheckTxRequest {
  tx: Uint8Array
  type: number
}
/** 0.37: a decided block begins. */
export interface BeginBlockRequest {
  hash: Uint8Array
  header: Header
  lastCommitInfo: CommitInfo
  byzantineValidators: readonly Misbehavior[]
}
/** 0.37: one transaction of the decided block. */
export interface DeliverTxRequest {
  tx: Uint8Array
}
/** 0.37: the decided block ends. */
export interface EndBlockRequest {
  height: number
}
/** Makes the finished block durable. */
export interface CommitRequest {}
/** Asks for the snapshots at hand. */
export interface ListSnapshotsRequest {}
/** Offers a peer's snapshot; `appHash` is verified by the light client, the snapshot is not. */
export interface OfferSnapshotRequest {
  snapshot?: Snapshot
  appHash: Uint8Array
}
/** Asks for one chunk of a snapshot at hand. */
export interface LoadSnapshotChunkRequest {
  height: number
  format: number
  chunk: number
}
/** Hands over one chunk of the snapshot that was accepted. */
export interface ApplySnapshotChunkRequest {
  index: number
  chunk: Uint8Array
  sender: string
}
/** Asks for the transactions of a block this node proposes, at most `maxTxBytes` bytes in all. */
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
/** Judges a proposed block. */
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
/** Asks for the extension of this validator's precommit. */
export interface ExtendVoteRequest extends ProcessProposalRequest {}
/** Judges the extension of another validator's precommit. */
export interface VerifyVoteExtensionRequest {
  hash: Uint8Array
  validatorAddress: Uint8Array
  height: number
  voteExtension: Uint8Array
}
/** A decided block. */
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
/** 0.40: one transaction for a mempool that the application keeps. */
export interface InsertTxRequest {
  tx: Uint8Array
}
/** 0.40: asks the application's mempool for transactions to gossip; 0 means no limit. */
export interface ReapTxsRequest {
  maxBytes: number
  maxGas: number
}

/** The answer to echo. */
export interface EchoResponse {
  message?: string
}
/** The answer to flush. */
export interface FlushResponse {}
/** `lastBlockHeight` and its hash must be those last made durable, 0 and empty before the first block. */
export interface InfoResponse {
  data?: string
  version?: string
  appVersion?: number
  lastBlockHeight?: number
  lastBlockAppHash?: Uint8Array
}
/** No validators means those of the request. */
export interface InitChainResponse {
  consensusParams?: ConsensusParams
  validators?: readonly ValidatorUpdate[]
  appHash?: Uint8Array
}
/** What a query found. */
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
 * The result of one transaction in a block. Deterministic: code, data, gasWanted, gasUsed; the rest may differ between
 * nodes.
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
/** The mempool's verdict, code 0 to take it. 0.37: `sender` and `priority` order its mempool. */
export interface CheckTxResponse extends ExecTxResult {
  sender?: string
  priority?: number
}
/** 0.37: the events of the block's begin. */
export interface BeginBlockResponse {
  events?: readonly Event[]
}
/** 0.37: the result of one transaction. */
export interface DeliverTxResponse extends ExecTxResult {}
/** 0.37: what the block changes in the validator set and the consensus parameters. */
export interface EndBlockResponse {
  validatorUpdates?: readonly ValidatorUpdate[]
  consensusParamUpdates?: ConsensusParams
  events?: readonly Event[]
}
/** `retainHeight`: blocks below it may be pruned, 0 keeps all. `appHash` is written in the 0.37 dialect alone. */
export interface CommitResponse {
  appHash?: Uint8Array
  retainHeight?: number
}
/** The snapshots at hand. */
export interface ListSnapshotsResponse {
  snapshots?: readonly Snapshot[]
}
/** `result` is an OfferSnapshotResult. */
export interface OfferSnapshotResponse {
  result?: number
}
/** One chunk, at most 16 MB; empty where there is none. */
export interface LoadSnapshotChunkResponse {
  chunk?: Uint8Array
}
/** `result` is an ApplySnapshotChunkResult. */
export interface ApplySnapshotChunkResponse {
  result?: number
  refetchChunks?: readonly number[]
  rejectSenders?: readonly string[]
}
/** The block's transactions in order. */
export interface PrepareProposalResponse {
  txs?: readonly Uint8Array[]
}
/** `status` is a ProposalStatus. */
export interface ProcessProposalResponse {
  status?: number
}
/** The extension to sign. */
export interface ExtendVoteResponse {
  voteExtension?: Uint8Array
}
/** `status` is a VerifyStatus. */
export interface VerifyVoteExtensionResponse {
  status?: number
}
/** What the block did: one result a transaction, in order. */
export interface FinalizeBlockResponse {
  events?: readonly Event[]
  txResults?: readonly ExecTxResult[]
  validatorUpdates?: readonly ValidatorUpdate[]
  consensusParamUpdates?: ConsensusParams
  appHash?: Uint8Array
}
/** 0.40: code 0 means taken. */
export interface InsertTxResponse {
  code?: number
}
/** 0.40: the transactions to gossip. */
export interface ReapTxsResponse {
  txs?: readonly Uint8Array[]
}

/** Every request kind with its request and its response, named as the handler of the application. */
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

/** The name of a request kind. */
export type RequestKind = keyof AbciCalls
/** A request of one kind, or of any. */
export type AbciRequest<K extends RequestKind = RequestKind> = AbciCalls[K][0]
/** A response of one kind, or of any. */
export type AbciResponse<K extends RequestKind = RequestKind> = AbciCalls[K][1]
/** The handler of one kind: answers now, or later by a promise. Its throw is fatal to the server. */
export type Handler<K extends RequestKind> = (request: AbciCalls[K][0]) => AbciCalls[K][1] | Promise<AbciCalls[K][1]>

type Optional = 'insertTx' | 'reapTxs'
type Own = 'echo' | 'flush'
/**
 * What a blockchain application answers. On one connection a request starts when everything before it is answered, but
 * for queries and snapshot chunks, which may overlap each other; the connections of a node are served side by side.
 */
export type Application = { readonly [K in Exclude<RequestKind, Optional | Own>]: Handler<K> } & {
  readonly [K in Optional]?: Handler<K>
}
