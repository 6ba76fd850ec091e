import type { Handler } from '../abci/types.ts'
import type { Chain } from './chain.ts'
import { makeGate } from './proposal.ts'

/**
 * Bytes that a transaction takes in a block: its own, one tag, and its length as a varint. This is how CometBFT counts
 * max_tx_bytes.
 */
export function bytesInBlock(length: number): number {
  let varint = 1
  for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) varint++
  return 1 + varint + length
}

/**
 * The block to propose: what passes checks 1 to 4 at its place, in mempool order, within max_tx_bytes. Source:
 * protocol.md §2.
 */
export const prepareProposal =
  (chain: Chain): Handler<'prepareProposal'> =>
  ({ txs, maxTxBytes }) => {
    const passes = makeGate(chain)
    const chosen: Uint8Array[] = []
    let size = 0
    for (const tx of txs) {
      const next = size + bytesInBlock(tx.length)
      // One too large is passed over before the gate: its nonce is then missing, and those behind it fail there.
      if (next > maxTxBytes || !passes(tx)) continue
      size = next
      chosen.push(tx)
    }
    return { txs: chosen }
  }
