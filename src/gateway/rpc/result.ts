import { setTimeout as sleep } from 'node:timers/promises'
import { toBase64 } from '../../base/bytes.ts'
import type { TxResult } from '../../comet/rpc.ts'
import type { TransactionResult } from '../../tx/result.ts'
import type { Chain } from '../chain.ts'
import { ANSWER_OVERHEAD_BYTES } from '../http/limits.ts'
import { turnFor } from '../http/turns.ts'
import { RpcError } from './errors.ts'
import type { Outcome, Refusal, SentTx } from '../send/broadcast.ts'

/** base64 of `GasFee`: the key of every fee. Source: protocol.md §10. */
const FEE_KEY = 'R2FzRmVl'

/** The result of a transaction that CheckTx refused. Source: interface, Errors; protocol.md §10. */
export const refusedResult = (hash: string, { code, log }: Refusal): TransactionResult => ({
  height: 0,
  hash,
  check_tx: { code, log, fee: {} },
  deliver_tx: { fee: {} },
})

/** check_tx and deliver_tx of a transaction in a block; `gasPrice` is in base units and was in force in that block. */
export function includedParts(
  { code, log, gasUsed, data }: TxResult,
  gasPrice: bigint,
): Pick<TransactionResult, 'check_tx' | 'deliver_tx'> {
  if (code !== 0) return { check_tx: { code, log, fee: {} }, deliver_tx: { code, log, fee: {} } }
  return {
    check_tx: { fee: {} },
    deliver_tx: {
      ...(gasUsed > 0
        ? { gasUsed: String(gasUsed), fee: { key: FEE_KEY, value: (BigInt(gasUsed) * gasPrice).toString() } }
        : { fee: {} }),
      ...(data.length > 0 ? { data: toBase64(data) } : {}),
    },
  }
}

/**
 * The result of a transaction in a block: height 0 when it failed there. Source: interface, Transaction result object.
 */
export const includedResult = (
  hash: string,
  height: number,
  result: TxResult,
  gasPrice: bigint,
): TransactionResult => ({ height: result.code === 0 ? height : 0, hash, ...includedParts(result, gasPrice) })

const PRICE_TRIES = 3
const PRICE_PAUSE_MS = 100

/** The gas price of a committed block; the node may be away for a moment. Throws RpcError -32011 with the hash. */
async function needGasPrice(chain: Chain, height: number, hash: string): Promise<bigint> {
  for (let tries = 1; ; tries++) {
    try {
      return await chain.gasPrice(height)
    } catch {
      if (tries === PRICE_TRIES) {
        throw new RpcError('nodeAway', `the transaction is in block ${height}, but the node does not tell its fee`, {
          hash,
        })
      }
      await sleep(PRICE_PAUSE_MS)
    }
  }
}

/**
 * The interface's result object of an outcome. Throws RpcError -32011 when the node goes away before the fee is known.
 */
export async function resultOf(chain: Chain, outcome: Outcome): Promise<TransactionResult> {
  if ('refused' in outcome) return refusedResult(outcome.hash, outcome.refused)
  // A block ends the waiting of thousands of calls at once. To answer them in one turn would keep all other callers waiting.
  await turnFor(ANSWER_OVERHEAD_BYTES)
  const { height, result } = outcome.included
  const gasPrice = result.code === 0 && result.gasUsed > 0 ? await needGasPrice(chain, height, outcome.hash) : 0n
  return includedResult(outcome.hash, height, result, gasPrice)
}

/**
 * What is answered to a caller who does not wait for the block. Throws RpcError -32011 with the hash when the node did
 * not say whether it has the transaction. Source: protocol.md §10, svc_sendRawTransaction.
 */
export function sentResult(sent: SentTx): TransactionResult {
  const { hash } = sent
  if ('refused' in sent) {
    const { expectedNonce } = sent.refused
    const expected = expectedNonce === undefined ? {} : { expected_nonce: expectedNonce }
    return { ...refusedResult(hash, sent.refused), ...expected }
  }
  if (sent.state === 'unclear') throw new RpcError('nodeAway', 'the node does not answer in time', { hash })
  const known = sent.state === 'known' ? { known: true as const } : {}
  return { height: 0, hash, check_tx: { fee: {} }, deliver_tx: { fee: {} }, ...known }
}
