import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain } from '../chain.ts'
import { isRpcError, RpcError } from '../errors.ts'
import { includedResult, refusedResult, type TransactionResult } from '../result.ts'
import type { Outcome } from '../sender.ts'
import { outcomeLabel, type Services } from './define.ts'

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
async function resultOf(chain: Chain, outcome: Outcome): Promise<TransactionResult> {
  if ('refused' in outcome) return refusedResult(outcome.hash, outcome.refused)
  const { height, result } = outcome.included
  const gasPrice = result.code === 0 && result.gasUsed > 0 ? await needGasPrice(chain, height, outcome.hash) : 0n
  return includedResult(outcome.hash, height, result, gasPrice)
}

/** The result object of what `send` sends; counts its end under `operation`. `send` is called at once. */
export async function transact(
  { chain, onOutcome }: Services,
  operation: string,
  send: () => Promise<Outcome>,
): Promise<TransactionResult> {
  try {
    const outcome = await send()
    onOutcome(operation, outcomeLabel(outcome))
    return await resultOf(chain, outcome)
  } catch (error) {
    onOutcome(operation, isRpcError(error) ? String(error.code) : 'defect')
    throw error
  }
}
