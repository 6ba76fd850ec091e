/** The rounds of a height: PrepareProposal, ProcessProposal, ExtendVote and VerifyVoteExtension. */
import { toHex } from '../../base/bytes.ts'
import { bytesInBlock } from '../blockBytes.ts'
import { ProposalStatus, VerifyStatus } from '../types.ts'
import type { Circumstances, Proposal } from './consensus.ts'
import type { ChainContext } from './context.ts'
import type { ChainNode } from './node.ts'
import { pick } from './random.ts'
import { keyAddress } from './validatorSets.ts'
import { counted, NOTHING } from './values.ts'

type Txs = readonly Uint8Array[]

const sizeOf = (txs: Txs): number => txs.reduce((sum, { length }) => sum + bytesInBlock(length), 0)

/** The validator that proposes, and its node. */
interface Proposer {
  readonly key: string
  readonly node: ChainNode
}

/** Who proposes in the next round: a validator that has a node. */
export function nextProposer({ consensus, validators, next }: ChainContext): Proposer {
  const keys = [...consensus.setAt(consensus.height + 1).keys()]
  const at = next(Math.min(keys.length, validators.length))
  return { key: keys[at] as string, node: validators[at] as ChainNode }
}

/** Asks a proposer for a block, of which at most `maxTxBytes` bytes are transactions. */
export async function prepareProposal(
  context: ChainContext,
  { key, node }: Proposer,
  txs: Txs,
  maxTxBytes: number,
  circumstances: Circumstances,
): Promise<Proposal> {
  const { consensus, judge } = context
  await context.disturb(node)
  const { txs: prepared = [] } = await node.call(
    'prepareProposal',
    consensus.prepare(key, txs, maxTxBytes, circumstances),
  )
  const size = sizeOf(prepared)
  judge.check(
    2,
    size <= maxTxBytes,
    () =>
      `${node.name} returned ${counted(prepared.length, 'transaction')} of ${size} bytes, and maxTxBytes was ${maxTxBytes}`,
  )
  return consensus.propose(key, prepared, circumstances)
}

const accepts = async (node: ChainNode, { process }: Proposal): Promise<boolean> =>
  (await node.call('processProposal', process)).status === ProposalStatus.accept

const verdictOf = (isAccepted: boolean): string => (isAccepted ? 'accepted' : 'rejected')

/** Expects that each validator judges the block in the same way, and returns the verdict. */
export async function processProposal(
  context: ChainContext,
  proposal: Proposal,
  proposer?: ChainNode,
): Promise<boolean> {
  const { judge, validators } = context
  const verdicts: boolean[] = []
  const what = `the same block of ${counted(proposal.txs.length, 'transaction')}`
  for (const node of validators) {
    await context.disturb(node)
    verdicts.push(await accepts(node, proposal))
  }
  const again = pick(context.next, validators) as ChainNode
  const odd = verdicts.findIndex((verdict) => verdict !== verdicts[0])
  for (const node of odd < 0 ? [again] : [validators[0] as ChainNode, validators[odd] as ChainNode]) {
    const first = verdicts[validators.indexOf(node)] as boolean
    const second = await accepts(node, proposal)
    judge.check(4, first === second, () => `${node.name} ${verdictOf(first)} and then ${verdictOf(second)} ${what}`)
  }
  const [isAccepted = true] = verdicts
  judge.check(
    5,
    odd < 0,
    () =>
      `${validators[0]?.name} ${verdictOf(isAccepted)} and ${validators[odd]?.name} ${verdictOf(!isAccepted)} ${what}`,
  )
  if (proposer !== undefined)
    judge.check(
      3,
      isAccepted,
      () =>
        `the validators rejected the block of ${counted(proposal.txs.length, 'transaction')} that ${proposer.name} prepared`,
    )
  return isAccepted
}

/** A block that nobody would prepare: transactions doubled, left out, in another order, cut, and bytes that are none. */
export function arbitraryTxs({ next, seen, mempool }: ChainContext): Txs {
  const pool = [...mempool.values(), ...seen.slice(-20)]
  const txs = Array.from({ length: next(6) }, () => {
    const tx = pick(next, pool) ?? NOTHING
    return next(4) === 0 ? tx.slice(0, next(tx.length + 1)) : tx
  })
  return next(4) === 0 ? [...txs, Uint8Array.from({ length: next(40) }, () => next(256))] : txs
}

/** Whether a validator accepts an extension. */
async function verifies(node: ChainNode, { hash, height }: Proposal, key: string, voteExtension: Uint8Array) {
  const request = { hash, height, validatorAddress: keyAddress(key), voteExtension }
  return (await node.call('verifyVoteExtension', request)).status === VerifyStatus.accept
}

/** Expects that all nodes but `sender` judge an extension in the same way, and returns the verdict. */
async function verifyAll(
  context: ChainContext,
  proposal: Proposal,
  key: string,
  extension: Uint8Array,
  sender: ChainNode | undefined,
): Promise<boolean> {
  const { judge, validators } = context
  const others = validators.filter((node) => node !== sender)
  const what = `the same vote extension of ${counted(extension.length, 'byte')}`
  const verdicts: boolean[] = []
  for (const node of others) {
    await context.disturb(node)
    verdicts.push(await verifies(node, proposal, key, extension))
  }
  const [isAccepted = true] = verdicts
  const odd = verdicts.findIndex((verdict) => verdict !== isAccepted)
  for (const at of odd < 0 ? [0] : [0, odd]) {
    const node = others[at]
    if (node === undefined) continue
    const [first, second] = [verdicts[at] as boolean, await verifies(node, proposal, key, extension)]
    judge.check(7, first === second, () => `${node.name} ${verdictOf(first)} and then ${verdictOf(second)} ${what}`)
  }
  if (others.length > 1)
    judge.check(
      8,
      odd < 0,
      () => `${others[0]?.name} ${verdictOf(isAccepted)} and ${others[odd]?.name} ${verdictOf(!isAccepted)} ${what}`,
    )
  return isAccepted
}

/**
 * The precommits for a block: each validator with a node extends its vote, and the others verify the extension; those without
 * a node send what such a node gave. An extension of a validator that is not correct is judged too. Returns the extensions
 * by the keys of validators.
 */
export async function extendVotes(context: ChainContext, proposal: Proposal): Promise<ReadonlyMap<string, Uint8Array>> {
  const { consensus, judge, next, validators } = context
  const extensions = new Map<string, Uint8Array>()
  if (!consensus.hasExtensions(proposal.height)) return extensions
  const keys = [...consensus.setAt(proposal.height).keys()]
  for (const [at, key] of keys.entries()) {
    const node = validators[at] as ChainNode | undefined
    let extension = extensions.get(keys[at % validators.length] as string) ?? NOTHING
    if (node !== undefined) {
      // A node that starts again gets the proposal of the round again, before its vote.
      if (await context.disturb(node)) await accepts(node, proposal)
      extension = (await node.call('extendVote', proposal.extend)).voteExtension ?? NOTHING
    }
    const isAccepted = await verifyAll(context, proposal, key, extension, node)
    judge.check(
      6,
      isAccepted,
      () => `the vote extension ${toHex(extension) || '(empty)'} of a correct validator was rejected by the others`,
    )
    extensions.set(key, extension)
  }
  const [any = NOTHING] = extensions.values()
  const wrong =
    next(2) === 0 ? any.slice(0, next(any.length + 1)) : Uint8Array.from({ length: next(40) }, () => next(256))
  const liar = pick(next, keys) as string
  await verifyAll(context, proposal, liar, wrong, validators[keys.indexOf(liar)])
  return extensions
}
