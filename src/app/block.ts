/** A decided block, from BeginBlock to Commit: in one FinalizeBlock request, or call by call in the 0.37 dialect. */
import type {
  BeginBlockRequest,
  BeginBlockResponse,
  CommitResponse,
  DeliverTxRequest,
  DeliverTxResponse,
  EndBlockResponse,
  Event,
  FinalizeBlockRequest,
  FinalizeBlockResponse,
  Misbehavior,
} from '../abci/types.ts'
import { endBlock as runEndBlock, evidenceParamsOf } from '../modules/endBlock.ts'
import { runTx } from '../modules/kernel.ts'
import { params } from '../modules/params/keeper.ts'
import { type CommitVote, punish } from '../modules/stake/block.ts'
import { createOverlay, oldestSnapshot } from '../store/index.ts'
import {
  type AppContext,
  createBlock,
  handOverAhead,
  logDefect,
  needOpen,
  nextOf,
  type OpenBlock,
  resetTo,
} from './context.ts'
import { offencesOf, printBlockEvents, printUpdates, printVerdict, timeMsOf, votesOf } from './convert.ts'
import { takeOutcome } from './optimisticExecution.ts'
import { assertProgramVersion } from './programVersion.ts'

/**
 * Opens a block above the head. One that was opened before and never committed is dropped, because CometBFT may send a
 * block again. Step 1 of protocol.md §2, Order inside a block.
 */
function openBlock(
  app: AppContext,
  { height, time }: Pick<FinalizeBlockRequest, 'height' | 'time'>,
  votes: readonly CommitVote[],
  misbehavior: readonly Misbehavior[],
): readonly Event[] {
  const expected = nextOf(app).height
  if (height !== expected) throw new Error(`block ${height} does not follow the head: expected ${expected}`)
  assertProgramVersion(app, app.head.state)
  const overlay = createOverlay(app.head.state)
  const block = createBlock(app, timeMsOf(time))
  const begun = punish(overlay, block, offencesOf(misbehavior))
  app.head.open = { overlay, block, votes, begun, outcomes: [], hasNewest: false }
  return printBlockEvents(begun)
}

/** 0.37 dialect: begins a decided block. */
export const beginBlock = (app: AppContext, request: BeginBlockRequest): BeginBlockResponse => ({
  events: openBlock(app, request.header, votesOf(request.lastCommitInfo, true), request.byzantineValidators),
})

/** Runs one transaction of the open block; the 0.37 dialect asks for each. Source: protocol.md §2. */
export function deliverTx(app: AppContext, { tx }: DeliverTxRequest): DeliverTxResponse {
  const open = needOpen(app, 'DeliverTx')
  const { read, since } = app.txCache.take(tx)
  open.hasNewest ||= since === app.passes
  const verdict = runTx(open.overlay, read, { block: open.block, index: open.outcomes.length, mode: 'deliver' })
  open.outcomes.push({ operation: 'why' in read.tx ? undefined : read.tx.body.operation, tx, verdict })
  logDefect(app, read, verdict)
  return printVerdict(verdict)
}

/** Runs the EndBlock duties of the open block and computes its app hash. Nothing is written. */
export function endBlock(app: AppContext): EndBlockResponse {
  const open = needOpen(app, 'EndBlock')
  const end = runEndBlock(open.overlay, open.block, open.votes)
  open.end = end
  open.prepared = app.options.store.prepare(open.overlay)
  return {
    events: printBlockEvents(end.events, open.begun),
    validatorUpdates: printUpdates(end.validatorUpdates),
    ...(end.evidenceParams === undefined ? {} : { consensusParamUpdates: { evidence: end.evidenceParams } }),
  }
}

/** Runs a whole block: its begin, each DeliverTx, and EndBlock, in order. Nothing is written. */
export function runBlock(app: AppContext, decided: FinalizeBlockRequest): FinalizeBlockResponse {
  const begun = openBlock(app, decided, votesOf(decided.decidedLastCommit), decided.misbehavior)
  const handOver = handOverAhead(app, decided.txs)
  const txResults = decided.txs.map((tx, index) => {
    handOver(index)
    return deliverTx(app, { tx })
  })
  const { events = [], ...ended } = endBlock(app)
  const { prepared } = needOpen(app, 'FinalizeBlock')
  if (prepared === undefined) throw new Error(`block ${decided.height} ended without an app hash`)
  return { ...ended, events: [...begun, ...events], txResults, appHash: prepared.appHash }
}

/** Answers for a decided block: with the outcome of its optimistic execution, or by running it now. */
export function finalizeBlock(app: AppContext, decided: FinalizeBlockRequest): FinalizeBlockResponse {
  app.usesFinalizeBlock = true
  return takeOutcome(app, decided) ?? runBlock(app, decided)
}

/**
 * The lowest height whose block is still needed once this block is committed; 0 keeps all blocks. A block is kept while
 * it is one of the newest `keepBlocks`, while evidence may refer to it, and while it is not below the oldest snapshot,
 * because a node that restores the snapshot needs the blocks after it. Source: CometBFT's requirement 11 and decision
 * record 0009.
 */
function retainHeightOf({ options: { keepBlocks = 0, snapshots } }: AppContext, { block, end }: OpenBlock): number {
  if (keepBlocks === 0) return 0
  const { height, params } = block
  // The evidence parameters as the node has them. A change that this block makes was sent with this block, although the
  // parameter itself changes in the next one.
  const { maxAgeNumBlocks } = end?.evidenceParams ?? evidenceParamsOf(params.unstakeWaitPeriod, 0)
  const oldest = snapshots?.beginAt === undefined ? undefined : oldestSnapshot(snapshots.folder)
  return Math.max(0, Math.min(height - keepBlocks + 1, height - maxAgeNumBlocks, oldest ?? height))
}

/**
 * Writes the open block in one SQLite transaction and returns once it is on disk. Blocks below the response's
 * retainHeight may be deleted, by CometBFT and here.
 */
export function commit(app: AppContext): CommitResponse {
  const { store, snapshots, queries, histories, onCommitted, onRetired } = app.options
  const open = needOpen(app, 'Commit')
  const { prepared, block, outcomes, begun, end } = open
  if (prepared === undefined || end === undefined)
    throw new Error(`Commit of block ${block.height} came before its end`)
  const { height, timeMs, chainId } = block
  const retainHeight = retainHeightOf(app, open)
  const blocksFrom = retainHeight === 0 ? {} : { blocksFrom: retainHeight }
  const journal = histories?.journal({ height, timeMs, outcomes, events: [...begun, ...end.events] })
  store.commit(prepared, { height, timeMs, chainId, transactions: outcomes.length, ...blocksFrom, journal })
  // A new value of a parameter is in force from the next block on.
  const isChanged = prepared.changes.some(({ table }) => table.tag === params.tag)
  resetTo(app, store, isChanged ? undefined : block.params)
  if (outcomes.length === 0 || open.hasNewest) app.passes += 1
  queries?.committed()
  histories?.committed(retainHeight)
  snapshots?.beginAt?.(height)
  onCommitted?.(height, prepared.changes, outcomes)
  if (end.retiredVersion !== undefined) onRetired?.(end.retiredVersion, height)
  return { appHash: prepared.appHash, retainHeight }
}
