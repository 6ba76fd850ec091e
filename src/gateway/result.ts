import { toBase64 } from '../base/bytes.ts'
import type { TxResult } from '../comet/wire.ts'

/** What a transaction failed with, or came to, in CheckTx. */
export interface Failure {
  readonly code: number
  readonly log: string
}

/** base64 of `GasFee`: the key of every fee. Source: protocol.md §10. */
export const FEE_KEY = 'R2FzRmVl'

interface Part {
  readonly code?: number
  readonly log?: string
  readonly gasUsed?: string
  readonly fee: { readonly key?: string; readonly value?: string }
  readonly data?: string
}

/** The interface's transaction result object. Its members stand in the order in which the interface shows them. */
export interface TransactionResult {
  readonly height: number
  readonly hash: string
  readonly check_tx: Part
  readonly deliver_tx: Part
}

/** The result of a transaction that CheckTx refused. Source: interface, Errors; protocol.md §10. */
export const refusedResult = (hash: string, { code, log }: Failure): TransactionResult => ({
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
