import { type Alteration, type Block, blockAt, type State } from './state.ts'
import { execute, type Result } from './transaction.ts'

const FREE_MAX = 4

/** The block that CheckTx and proposals look at: head + 1 at the head's time. */
const blockAbove = ({ chain }: State, altered?: Alteration): Block =>
  blockAt(chain.lastHeight + 1, chain.lastTimeMs, altered)

/** CheckTx: a copy of the head that keeps the effects of what was accepted. Source: protocol.md §2. */
export class Mempool {
  private state: State
  private readonly block: Block
  /** How many transactions of a sender that cost nothing wait. */
  private readonly free = new Map<string, number>()

  constructor(head: State, altered?: Alteration) {
    this.state = structuredClone(head)
    this.block = blockAbove(head, altered)
  }

  check(bytes: Uint8Array): Result {
    const state = structuredClone(this.state)
    const result = execute(state, this.block, 0, bytes, true)
    const { code, told = '', sender = '', fee } = result
    if (code !== 0) return { ...result, data: Buffer.from(told).toString('hex') }
    const waiting = this.free.get(sender) ?? 0
    if (fee === 0n && waiting >= FREE_MAX)
      return { ...result, code: 20, log: 'Too many free transactions waiting', data: '', gas: 0 }
    if (fee === 0n) this.free.set(sender, waiting + 1)
    this.state = state
    return result
  }
}

/** The transactions that pass checks 1 to 4 at their place in a proposal above the head. */
export function listAdmitted(head: State, txs: readonly Uint8Array[]): Uint8Array[] {
  const state = structuredClone(head)
  return txs.filter((tx, place) => execute(state, blockAbove(head), place, tx).sender !== undefined)
}
