import { useNonce } from '../modules/accounts/keeper.ts'
import { getChain } from '../modules/chain/keeper.ts'
import { admit } from '../modules/kernel.ts'
import { makeOverlay } from '../store/overlay.ts'
import { type Chain, headOf } from './chain.ts'

/**
 * Judges a block's transactions one after the other by checks 1 to 4, which depend on the block and the head alone: true when the
 * next one may stand at its place. Touches no state. Source: protocol.md §2, PrepareProposal.
 */
export function makeGate(chain: Chain): (bytes: Uint8Array) => boolean {
  const nonces = makeOverlay(headOf(chain))
  const { chainId } = getChain(nonces)
  return (bytes) => {
    const read = chain.txs.read(bytes)
    if (admit(nonces, chainId, read) !== undefined || read.sender === undefined) return false
    useNonce(nonces, read.sender)
    return true
  }
}
