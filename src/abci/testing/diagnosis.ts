/** Which requirement is broken when two nodes executed one block differently. */
import type { FinalizeBlockRequest, FinalizeBlockResponse, RequestKind } from '../types.ts'
import type { ChainContext } from './context.ts'
import type { ChainNode, MadeCall } from './node.ts'
import type { Requirement, RequirementError } from './requirementError.ts'
import { stateText } from './values.ts'

interface Suspects {
  readonly requirement: Requirement
  readonly kinds: readonly RequestKind[]
  readonly named: string
}

/** Calls that may have no influence on a block, by the requirement that says so. */
const SUSPECTS: readonly Suspects[] = [
  { requirement: 9, kinds: ['prepareProposal'], named: 'PrepareProposal' },
  { requirement: 9, kinds: ['processProposal'], named: 'ProcessProposal' },
  { requirement: 9, kinds: ['extendVote'], named: 'ExtendVote' },
  { requirement: 10, kinds: ['verifyVoteExtension'], named: 'VerifyVoteExtension, which receives the extensions,' },
  { requirement: 11, kinds: ['checkTx'], named: 'CheckTx' },
  { requirement: 11, kinds: ['query', 'info'], named: 'Query or Info' },
]

/** Plays the blocks, and the calls of `kinds` around them, to a new node. Returns what the block of `height` leads to. */
async function replayOn(
  context: ChainContext,
  history: readonly MadeCall[],
  kinds: readonly RequestKind[],
  height: number,
): Promise<string> {
  const node = await context.openNode?.()
  if (node === undefined) return ''
  let answer: FinalizeBlockResponse = {}
  let isOpen = false
  try {
    await node.begin()
    for (const { kind, request } of history) {
      if (kind !== 'finalizeBlock' && !kinds.includes(kind)) continue
      // What was asked between FinalizeBlock and Commit comes after Commit here.
      if (isOpen) await node.call('commit', {})
      isOpen = kind === 'finalizeBlock'
      const response = await node.call(kind, request)
      if (kind !== 'finalizeBlock') continue
      answer = response as FinalizeBlockResponse
      if ((request as FinalizeBlockRequest).height === height) break
    }
  } finally {
    await node.close()
  }
  return stateText(answer)
}

/**
 * The error for a block that `node` executed otherwise than `other`. Where there is a factory, new nodes are given the blocks
 * alone, and then one kind of other calls beside them, which shows what the difference comes from.
 */
export async function explain(
  context: ChainContext,
  node: ChainNode,
  other: ChainNode,
  request: FinalizeBlockRequest,
  texts: readonly [own: string, others: string],
): Promise<RequirementError> {
  const { consensus, judge, openNode } = context
  const { height } = request
  const differ = `${node.name} and ${other.name} executed block ${height} and answered ${texts.join(' and ')}`
  if (openNode === undefined) return judge.error(11, differ)
  const blocks: readonly MadeCall[] = [...[...consensus.blocks.values()].map((block) => block.request), request].map(
    (one) => ({ kind: 'finalizeBlock', request: one }),
  )
  const [first, second] = [await replayOn(context, blocks, [], height), await replayOn(context, blocks, [], height)]
  if (first !== second)
    return judge.error(11, `two new nodes that were given the same blocks answered ${first} and ${second}; ${differ}`)
  const wrong = texts[0] === first ? other : node
  for (const { requirement, kinds, named } of SUSPECTS) {
    // A node that began with a snapshot was not asked what came before.
    if (wrong.isPartial || !wrong.history.some(({ kind }) => kinds.includes(kind))) continue
    if ((await replayOn(context, wrong.history, kinds, height)) !== first)
      return judge.error(requirement, `calls of ${named} changed what block ${height} leads to; ${differ}`)
  }
  const restarted = wrong.restarts > 0 ? `, and ${wrong.name} was restarted before` : ''
  return judge.error(11, `${differ}${restarted}`)
}
