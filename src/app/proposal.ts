import type { Address } from '../base/address.ts'
import { nonceOf } from '../modules/accounts/keeper.ts'
import { getChain } from '../modules/chain/keeper.ts'
import { admit } from '../modules/kernel.ts'
import { type Chain, headOf } from './chain.ts'

/**
 * Judges a block's transactions one after the other by checks 1 to 4, which depend on the block and the head alone:
 * true when the next one may stand at its place. Touches no state. Source: protocol.md §2, PrepareProposal.
 */
export function makeGate(chain: Chain): (bytes: Uint8Array) => boolean {
  const head = headOf(chain)
  const { chainId } = getChain(head)
  const next = new Map<Address, number>()
  const nextNonce = (sender: Address): number => next.get(sender) ?? nonceOf(head, sender)
  const admission = { chainId, nonceOf: nextNonce }
  return (bytes) => {
    const read = chain.txs.read(bytes)
    if (read.sender === undefined || admit(read, admission) !== undefined) return false
    chain.txs.keep(read)
    next.set(read.sender, nextNonce(read.sender) + 1)
    return true
  }
}
