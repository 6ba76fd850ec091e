import type { TransactionResult } from '../tx/result.ts'

const failureOf = ({
  check_tx,
  deliver_tx,
}: TransactionResult): { readonly code: number; readonly log: string } | undefined => {
  const failed = [check_tx, deliver_tx].find(({ code = 0 }) => code !== 0)
  return failed === undefined ? undefined : { code: failed.code ?? 0, log: failed.log ?? '' }
}

/** True when a transaction failed, in CheckTx or in its block. Source: interface, Errors. */
export const isFailed = (result: TransactionResult): boolean => failureOf(result) !== undefined

/** A transaction that failed: `code` and `log` of the interface's error table, `result` the whole result object. */
export class SvcTxError extends Error {
  override readonly name = 'SvcTxError'
  readonly code: number
  readonly log: string
  readonly result: TransactionResult
  constructor(result: TransactionResult) {
    const { code, log } = failureOf(result) ?? { code: 0, log: '' }
    super(`the transaction failed with code ${code}: ${log}`)
    this.code = code
    this.log = log
    this.result = result
  }
}

/**
 * A call without a result. `code`: the JSON-RPC error's (protocol.md §10); undefined when no JSON-RPC answer came.
 * `data` holds `hash` where a transaction was sent: it may still be committed, ask with `svc.async.waitForTx(hash)`.
 */
export class SvcRpcError extends Error {
  override readonly name = 'SvcRpcError'
  readonly code: number | undefined
  readonly data: unknown
  readonly method: string
  constructor(method: string, code: number | undefined, message: string, data?: unknown) {
    super(`${method}: ${message}`)
    this.method = method
    this.code = code
    this.data = data
  }
}

/** An answer that could not be verified: `message` says why. What came is not shown, for it may be anything. */
export class SvcProofError extends Error {
  override readonly name = 'SvcProofError'
  constructor(reason: string) {
    super(`not verified: ${reason}`)
  }
}

/** JSON-RPC's code of params that no method takes. */
export const INVALID_PARAMS = -32602

/** JSON-RPC's code of a transaction that is in no block within the time limit. Source: protocol.md §10. */
export const NOT_IN_BLOCK = -32012

/** JSON-RPC's code of too many requests; `data.retryAfterMs` says when to try again. Source: protocol.md §10. */
export const TOO_MANY = -32015

/** Any throw as an Error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown })
