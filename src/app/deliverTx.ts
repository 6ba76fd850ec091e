import type { Handler } from '../abci/types.ts'
import { toHex } from '../base/bytes.ts'
import { type ReadTx, runTx, type Verdict } from '../modules/kernel.ts'
import { type Chain, needOpen } from './chain.ts'
import { printVerdict } from './convert.ts'

/**
 * Tells the operator of a defect: code 1000 with the transaction's hash and what was thrown. Source: protocol.md §2,
 * Codes.
 */
export function logDefect({ options: { logger } }: Chain, read: ReadTx, { defect }: Verdict): void {
  if (defect !== undefined)
    logger.error({ hash: toHex(read.hash).toUpperCase(), err: defect }, 'a transaction met a defect: code 1000')
}

/** Runs one transaction of the open block. Source: protocol.md §2. */
export const deliverTx =
  (chain: Chain): Handler<'deliverTx'> =>
  ({ tx }) => {
    const open = needOpen(chain, 'DeliverTx')
    const read = chain.txs.take(tx)
    const verdict = runTx(open.overlay, read, { block: open.block, place: open.transactions, mode: 'deliver' })
    open.transactions++
    logDefect(chain, read, verdict)
    return printVerdict(verdict)
  }
