import { CheckTxType } from '../abci/data.ts'
import type { Handler } from '../abci/types.ts'
import type { TxError } from '../base/txError.ts'
import { kernelErrors } from '../modules/errors.ts'
import { type ReadTx, runTx, type Verdict } from '../modules/kernel.ts'
import { type Chain, type CheckState, checkStateOf } from './chain.ts'
import { printVerdict } from './convert.ts'
import { logDefect } from './deliverTx.ts'

/**
 * Most transactions without a fee that may wait for one sender: they cost nothing, so they are few. Source: protocol.md
 * §2, CheckTx.
 */
export const FREE_TXS_MAX = 4

/** The verdict on the next transaction in a row; the check state keeps the effects of an accepted one only. */
function judge(chain: Chain, { overlay, block, free }: CheckState, read: ReadTx, isVerified: boolean): Verdict {
  const unwanted = (fee: bigint): TxError | undefined => {
    if (fee !== 0n || read.sender === undefined) return undefined
    const waiting = free.get(read.sender) ?? 0
    if (waiting >= FREE_TXS_MAX) return kernelErrors.tooManyFree
    free.set(read.sender, waiting + 1)
    return undefined
  }
  return runTx(overlay, read, { block, place: 0, mode: 'check', node: chain.options.node, isVerified, unwanted })
}

/**
 * Judges a transaction for the mempool as in block head + 1, on a copy of the head that keeps what it accepted. A
 * recheck does not verify signatures again: the mempool holds only what was verified. Source: protocol.md §2, CheckTx.
 */
export const checkTx =
  (chain: Chain): Handler<'checkTx'> =>
  ({ tx, type }) => {
    const read = chain.txs.read(tx)
    const verdict = judge(chain, checkStateOf(chain), read, type === CheckTxType.recheck)
    // What is refused here is in no mempool: it is not remembered, so nobody fills memory with it.
    if (verdict.code === 0) chain.txs.keep(read)
    logDefect(chain, read, verdict)
    return printVerdict(verdict, false)
  }
