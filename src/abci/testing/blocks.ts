/** A decided block: FinalizeBlock, Commit and the rechecks. */
import { toHex } from '../../base/bytes.ts'
import { type CheckTxResponse, CheckTxType, type FinalizeBlockResponse } from '../types.ts'
import type { Proposal } from './consensus.ts'
import { type ChainContext, nodesOf } from './context.ts'
import { explain } from './diagnosis.ts'
import type { ChainNode } from './node.ts'
import { pick } from './random.ts'
import { counted, resultsText, stateText } from './values.ts'

/** How often CheckTx may change its mind about one transaction. */
const FLIPS_MAX = 6
/** How many transactions are checked anew at each height, to see that. */
export const PROBES = 3

/** Executes a block on all nodes, and expects that they answer the same. */
export async function finalize(
  context: ChainContext,
  { finalize: request, height }: Proposal,
): Promise<FinalizeBlockResponse> {
  const { consensus, judge } = context
  const nodes = nodesOf(context)
  const [first] = nodes as [ChainNode]
  let expected: FinalizeBlockResponse = {}
  for (const node of nodes) {
    await context.disturb(node)
    const answer = await node.call('finalizeBlock', request)
    if (node === first) {
      expected = answer
      continue
    }
    const [own, others] = [stateText(answer), stateText(expected)]
    if (own !== others) throw await explain(context, node, first, request, [own, others])
    for (const requirement of consensus.hasExtensions(height - 1) ? ([10, 11] as const) : ([11] as const))
      judge.check(requirement, true, () => '')
    judge.check(
      12,
      resultsText(answer) === resultsText(expected),
      () =>
        `${node.name} and ${first.name} answered block ${height} with the results ${resultsText(answer)} and ${resultsText(expected)}`,
    )
  }
  return expected
}

/** Makes the executed block the state of all nodes. A node may be restarted in between, and then executes it once more. */
export async function commit(context: ChainContext, height: number): Promise<void> {
  for (const node of nodesOf(context)) {
    const isRestarted = await context.disturb(node, false)
    if (!isRestarted) await node.commit(height)
    await node.checkInfo()
  }
}

/** True for a transaction that may wait in the mempool. */
export const isAccepted = ({ code = 0 }: CheckTxResponse): boolean => code === 0

/** CheckTx of one transaction on the validators' nodes, which must agree. Returns the first answer. */
export async function checkTx(context: ChainContext, tx: Uint8Array, isRecheck: boolean): Promise<CheckTxResponse> {
  const name = toHex(tx)
  const responses: CheckTxResponse[] = []
  const { judge, validators } = context
  for (const node of validators) {
    const type = isRecheck && node.checked.has(name) ? CheckTxType.recheck : CheckTxType.new
    const response = await node.call('checkTx', { tx, type })
    responses.push(response)
    if (isAccepted(response)) node.checked.add(name)
    else node.checked.delete(name)
  }
  const [first = {}] = responses
  const odd = responses.findIndex((one) => isAccepted(one) !== isAccepted(first))
  judge.check(
    13,
    odd < 0,
    () =>
      `CheckTx of one transaction on the same state answered ${first.code ?? 0} on ${validators[0]?.name} ` +
      `and ${responses[odd]?.code ?? 0} on ${validators[odd]?.name}`,
  )
  return first
}

/** Takes the transactions of a block out of the mempool, and checks the others again, which drops what is refused. */
export async function recheck(context: ChainContext, txs: readonly Uint8Array[]): Promise<void> {
  for (const tx of txs) {
    context.mempool.delete(toHex(tx))
    for (const node of context.validators) node.checked.delete(toHex(tx))
  }
  for (const [name, tx] of [...context.mempool])
    if (!isAccepted(await checkTx(context, tx, true))) context.mempool.delete(name)
}

/** Checks some transactions once at every height, and finds those of which the verdict never settles. */
export class Oscillation {
  private readonly verdicts = new Map<string, { isAccepted: boolean; flips: number }>()

  /** Checks some anew. Must be called right before Commit, after which CheckTx begins with the committed state. */
  async probe(context: ChainContext): Promise<void> {
    const { judge, next, seen } = context
    for (let count = 0; count < PROBES && seen.length > 0; count++) {
      // Mostly the first ones, so that each of them is seen at many heights.
      const tx = (next(2) === 0 ? seen[count] : pick(next, seen)) as Uint8Array | undefined
      if (tx === undefined || context.mempool.has(toHex(tx))) continue
      const accepted = isAccepted(await checkTx(context, tx, false))
      for (const node of context.validators) node.checked.delete(toHex(tx))
      const before = this.verdicts.get(toHex(tx)) ?? { isAccepted: accepted, flips: 0 }
      const flips = before.flips + (before.isAccepted === accepted ? 0 : 1)
      this.verdicts.set(toHex(tx), { isAccepted: accepted, flips })
      judge.check(
        13,
        flips <= FLIPS_MAX,
        () =>
          `CheckTx accepted and refused the transaction ${toHex(tx).slice(0, 32)} in turn, ${counted(flips, 'time')}`,
      )
    }
  }
}
