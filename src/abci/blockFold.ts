import { bytesInBlock } from './blockBytes.ts'
import { callHandler } from './call.ts'
import type { ConnectionContext } from './context.ts'
import type { ReplyQueue } from './replyQueue.ts'
import type { Incoming } from './requestQueue.ts'
import {
  type BeginBlockRequest,
  BlockIdFlag,
  type FinalizeBlockRequest,
  type FinalizeBlockResponse,
  type RequestKind,
} from './types.ts'
import { checkReply, type ReplyKind } from './wire.ts'

interface Block {
  readonly begin: BeginBlockRequest
  readonly txs: Uint8Array[]
  /** How many transactions stand before each Flush: its reply must stand behind as many. */
  readonly flushes: number[]
  bytes: number
}

/** The members of 0.37 by the names that they have in FinalizeBlock. 0.37 does not tell a vote for nil from one for the block. */
function decided({ begin: { hash, header, lastCommitInfo, byzantineValidators }, txs }: Block): FinalizeBlockRequest {
  const votes = lastCommitInfo.votes.map((vote) => ({
    ...vote,
    blockIdFlag: vote.signedLastBlock ? BlockIdFlag.commit : BlockIdFlag.absent,
  }))
  const { height, time, nextValidatorsHash, proposerAddress } = header
  const decidedLastCommit = { ...lastCommitInfo, votes }
  const misbehavior = byzantineValidators
  return { txs, decidedLastCommit, misbehavior, hash, height, time, nextValidatorsHash, proposerAddress }
}

/** The replies to what came since BeginBlock, in its order. */
function* repliesOf({ flushes }: Block, response: FinalizeBlockResponse): Generator<[ReplyKind, unknown]> {
  const { txResults = [], events, validatorUpdates, consensusParamUpdates } = response
  let at = 0
  for (const before of flushes) {
    for (; at < before; at += 1) yield ['deliverTx', txResults[at]]
    yield ['flush', {}]
  }
  for (; at < txResults.length; at += 1) yield ['deliverTx', txResults[at]]
  yield ['endBlock', { events, validatorUpdates, consensusParamUpdates }]
}

const IN_BLOCK: ReadonlySet<RequestKind | undefined> = new Set(['deliverTx', 'endBlock', 'flush'])

/**
 * Creates the fold of one connection, which serves the blocks of the 0.37 dialect by FinalizeBlock: it keeps the
 * transactions until EndBlock comes, and answers all of them then. CometBFT 0.37 sends them without waiting for replies
 * (state/execution.go, execBlockOnProxyApp). A block that its connection does not end is dropped with it. Source: decision
 * record 0019.
 */
export function createBlockFold(context: ConnectionContext) {
  let block: Block | undefined

  const end = (ended: Block, replies: ReplyQueue): void => {
    const unfold = (response: unknown): Iterable<[ReplyKind, unknown]> => {
      checkReply('finalizeBlock', response) // so that an error has the names that the application uses
      context.foldedAppHash = (response as FinalizeBlockResponse).appHash
      return repliesOf(ended, response as FinalizeBlockResponse)
    }
    callHandler('finalizeBlock', decided(ended), context, replies, unfold)
  }

  return {
    /**
     * Takes a request that belongs to a block; false leaves it to the caller. The reason is returned for a request that
     * cannot come here: no node sends it, and its connection must be closed.
     */
    take: (request: Incoming, replies: ReplyQueue): boolean | { readonly refused: string } => {
      const { kind } = request
      if (block === undefined) {
        if (kind === 'deliverTx' || kind === 'endBlock')
          return { refused: `${kind} came outside a block: expected beginBlock` }
        if (kind !== 'beginBlock') return false
        block = { begin: request.request as BeginBlockRequest, txs: [], flushes: [], bytes: 0 }
        context.isLegacy = true
        replies.answer(kind, {})
        return true
      }
      if (!IN_BLOCK.has(kind))
        return { refused: `${kind ?? 'an unknown request'} came inside a block: expected deliverTx or endBlock` }
      if (kind === 'endBlock') {
        const ended = block
        block = undefined
        end(ended, replies)
        return true
      }
      // The node sends no transaction before the Flush behind BeginBlock is answered.
      if (kind === 'flush' && block.txs.length === 0) return false
      const tx = kind === 'deliverTx' ? (request.request as { readonly tx: Uint8Array }).tx : undefined
      if (tx === undefined) block.flushes.push(block.txs.length)
      else block.txs.push(tx)
      block.bytes += bytesInBlock(tx?.length ?? 0)
      if (block.bytes <= context.frameBytesMax) return true
      block = undefined
      return { refused: `block of more than ${context.frameBytesMax} bytes` }
    },
  }
}
