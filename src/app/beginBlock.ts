import type { Handler } from '../abci/types.ts'
import type { Event } from '../abci/data.ts'
import { getChain } from '../modules/chain/keeper.ts'
import type { CommitVote, Offence } from '../modules/stake/block/commit.ts'
import { punish } from '../modules/stake/block/misbehaviour.ts'
import { makeOverlay } from '../store/overlay.ts'
import { type Chain, headOf, makeBlock, paramsAt } from './chain.ts'
import { legacyVotesOf, offencesOf, printEvents, timeMsOf } from './convert.ts'

/** What a decided block brings beside its transactions. */
export interface BlockStart {
  readonly height: number
  readonly timeMs: number
  readonly votes: readonly CommitVote[]
  readonly offences: readonly Offence[]
}

/**
 * Opens a block above the head; one that was opened before and never committed is dropped, as CometBFT may run a block
 * again. Step 1 of protocol.md §2, Order inside a block.
 */
export function openBlock(chain: Chain, { height, timeMs, votes, offences }: BlockStart): readonly Event[] {
  const head = headOf(chain)
  const { lastHeight, initialHeight } = getChain(head)
  const expected = lastHeight === 0 ? initialHeight : lastHeight + 1
  if (height !== expected) throw new Error(`block ${height} does not follow the head: expected ${expected}`)
  const overlay = makeOverlay(head)
  const block = makeBlock(head, height, timeMs, paramsAt(chain, height))
  chain.open = { overlay, block, votes, transactions: 0 }
  return printEvents(punish(overlay, block, offences))
}

/** 0.37 dialect: the begin of a decided block. */
export const beginBlock =
  (chain: Chain): Handler<'beginBlock'> =>
  ({ header, lastCommitInfo, byzantineValidators }) => ({
    events: openBlock(chain, {
      height: header.height,
      timeMs: timeMsOf(header.time),
      votes: legacyVotesOf(lastCommitInfo),
      offences: offencesOf(byzantineValidators),
    }),
  })
