/**
 * The requests and responses of ABCI as plain objects, with the members of both dialects. Their interfaces are generated
 * from proto/abci. "0.37" and "0.40" mark what only those versions know.
 *
 * A request has all its members, except for messages marked `?` that the node left out. Its integers are safe: one
 * beyond ±(2^53 − 1) is read as that bound. Bytes that are not UTF-8 are U+FFFD in its texts. Its bytes are views of the
 * packet received, so copy what you keep for long. A response may leave out any member, which then has its proto3
 * default.
 */
import type { AbciCalls, ExecTxResult } from '../codec/gen/abci.types.ts'

export type * from '../codec/gen/abci.types.ts'

/**
 * 0.37: the result of one transaction.
 * @example deliverTx: ({ tx }) => (tx.length > 0 ? {} : { code: 1, log: 'empty' })
 */
export type DeliverTxResponse = ExecTxResult

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

type Own = 'echo' | 'flush'
type Legacy = 'beginBlock' | 'deliverTx' | 'endBlock'
type Mempool = 'insertTx' | 'reapTxs'
/**
 * A blockchain application: a handler for each kind of request that it has an answer of its own to. The base application
 * answers the others, and its `finalizeBlock` serves the blocks of the 0.37 dialect too, unless `beginBlock`,
 * `deliverTx` and `endBlock` are given. Handlers may be members of an object or methods of a class. On one connection a
 * request starts when everything before it is answered, except for queries and snapshot chunks, which may overlap. A
 * node has several connections, which are served side by side.
 * @example const application: Application = { checkTx: ({ tx }) => (tx.length > 0 ? {} : { code: 1, log: 'empty' }) }
 */
export type Application = { readonly [K in Exclude<RequestKind, Own>]?: Handler<K> | undefined }
/**
 * An Application that answers every request itself, so that a forgotten handler is a type error. Only the mempool of
 * 0.40 remains optional.
 * @example const application: CompleteApplication = { ...handlers, checkTx }
 */
export type CompleteApplication = { readonly [K in Exclude<RequestKind, Own | Mempool>]: Handler<K> } & Pick<
  Application,
  Mempool
>
/**
 * The handlers of the base application. Each returns its response at once.
 * @example const { txs }: PrepareProposalResponse = (baseApplication satisfies BaseApplication).prepareProposal(request)
 */
export type BaseApplication = {
  readonly [K in Exclude<RequestKind, Own | Legacy | Mempool>]: (request: AbciRequest<K>) => AbciResponse<K>
}

/**
 * Why a transaction is checked: because it is new, or because a block was committed since.
 * @example if (type === CheckTxType.recheck) return {}
 */
export const CheckTxType = { new: 0, recheck: 1 } as const
/**
 * The verdict on a proposed block. `unknown` stops the node.
 * @example processProposal: () => ({ status: ProposalStatus.accept })
 */
export const ProposalStatus = { unknown: 0, accept: 1, reject: 2 } as const
/**
 * The verdict on a vote extension. `unknown` stops the node.
 * @example verifyVoteExtension: () => ({ status: VerifyStatus.accept })
 */
export const VerifyStatus = { unknown: 0, accept: 1, reject: 2 } as const
/**
 * How a validator voted on the last block.
 * @example const signed = vote.blockIdFlag !== BlockIdFlag.absent
 */
export const BlockIdFlag = { unknown: 0, absent: 1, commit: 2, nil: 3 } as const
/**
 * What a validator did wrong.
 * @example if (type === MisbehaviorType.duplicateVote) slash(validator)
 */
export const MisbehaviorType = { unknown: 0, duplicateVote: 1, lightClientAttack: 2 } as const
/**
 * The verdict on an offered snapshot. `unknown` and `abort` end state sync.
 * @example offerSnapshot: () => ({ result: OfferSnapshotResult.reject })
 */
export const OfferSnapshotResult = {
  unknown: 0,
  accept: 1,
  abort: 2,
  reject: 3,
  rejectFormat: 4,
  rejectSender: 5,
} as const
/**
 * The verdict on a chunk. `unknown` and `abort` end state sync.
 * @example applySnapshotChunk: () => ({ result: ApplySnapshotChunkResult.accept })
 */
export const ApplySnapshotChunkResult = {
  unknown: 0,
  accept: 1,
  abort: 2,
  retry: 3,
  retrySnapshot: 4,
  rejectSnapshot: 5,
} as const
