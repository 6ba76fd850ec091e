import type { Shortfall } from '../base/txError.ts'
import type { CheckTx, TransactionResult } from '../tx/result.ts'

/** The part of a result that says why the transaction failed, in CheckTx or in its block; undefined when it did not. */
export const failureOf = ({
  check_tx,
  deliver_tx,
}: Pick<TransactionResult, 'check_tx' | 'deliver_tx'>): CheckTx | undefined =>
  [check_tx, deliver_tx].find(({ code = 0 }) => code !== 0)

/** True when a transaction failed, in CheckTx or in its block. Source: interface, Errors. */
export const isFailed = (result: TransactionResult): boolean => failureOf(result) !== undefined

/**
 * A transaction that failed. `code` and `log` are those of the interface's error table; `shortfall` says what a balance
 * lacked, where that was the reason; `result` is the whole result object.
 *
 * @example
 * try {
 *   await svc.async.stake.validator.activate({ from })
 * } catch (error) {
 *   if (error instanceof SvcTxError) console.log(`failed with code ${error.code}: ${error.log}`, error.result.hash)
 * }
 */
export class SvcTxError extends Error {
  override readonly name = 'SvcTxError'
  readonly code: number
  readonly log: string
  readonly shortfall: Shortfall | undefined
  readonly result: TransactionResult
  constructor(result: TransactionResult, shortfall?: unknown) {
    const { code = 0, log = '' } = failureOf(result) ?? {}
    const lacked = (shortfall ?? undefined) as Shortfall | undefined
    const why = lacked ? ` (needed ${lacked.needed}, available ${lacked.available} base units)` : ''
    super(`the transaction failed with code ${code}: ${log}${why}`)
    this.code = code
    this.log = log
    this.shortfall = lacked
    this.result = result
  }
}

/**
 * A call that has no result. `code` is the JSON-RPC error's (protocol.md §10), 4900 when the gateway cannot be reached
 * or the connection was lost, or undefined when the answer was no JSON-RPC: `data` then holds its HTTP `status` and, where
 * the gateway gives one, the `error`. When a transaction was sent, `data` holds its `hash`: it may still be committed.
 *
 * @example
 * try {
 *   await svc.async.transfer({ from, to, value: 1n })
 * } catch (error) {
 *   if (!(error instanceof SvcRpcError)) throw error
 *   const { hash } = (error.data ?? {}) as { hash?: string }
 *   if (hash !== undefined) await svc.async.waitForTx(hash)
 * }
 */
export class SvcRpcError extends Error {
  override readonly name = 'SvcRpcError'
  readonly code: number | undefined
  readonly data: unknown
  readonly method: string
  /** What went wrong: `message` without the name of the method. */
  readonly reason: string
  constructor(method: string, code: number | undefined, reason: string, data?: unknown) {
    super(`${method}: ${reason}`)
    this.method = method
    this.reason = reason
    this.code = code
    this.data = data
  }
}

/**
 * An answer that could not be verified. `message` says why. The answer itself is not shown, because it may be anything.
 *
 * @example
 * try {
 *   await svc.verified.getBalance(owner)
 * } catch (error) {
 *   if (error instanceof SvcProofError) console.log(error.message)
 * }
 */
export class SvcProofError extends Error {
  override readonly name = 'SvcProofError'
  constructor(reason: string) {
    super(`not verified: ${reason}`)
  }
}

/** The code of a call without an answer: the gateway cannot be reached, or the connection was lost. Source: EIP-1193. */
export const DISCONNECTED = 4900

/**
 * True for an error that leaves open what the gateway did: it did not answer, or met a defect. Any other comes with the
 * hash of what was sent, if anything was. Source: protocol.md §10.
 */
export const isUnclear = (error: unknown): boolean =>
  [undefined, DISCONNECTED, -32603].includes((error as SvcRpcError).code)

/** The error of a call to a gateway that cannot be reached. */
export const unreachable = (method: string, address: string, reason: string): SvcRpcError =>
  new SvcRpcError(method, DISCONNECTED, `the gateway at ${address} cannot be reached: ${reason}`)

/** JSON-RPC's code of a method that the server does not have. */
export const METHOD_NOT_FOUND = -32601

/** JSON-RPC's code of params that no method takes. */
export const INVALID_PARAMS = -32602

/** JSON-RPC's code of a transaction that is in no block within the time limit. Source: protocol.md §10. */
export const NOT_IN_BLOCK = -32012

/** JSON-RPC's code of too many requests; `data.retryAfterMs` says when to try again. Source: protocol.md §10. */
export const TOO_MANY = -32015

/**
 * How long the gateway wants the caller to wait before it asks again, in ms; undefined for an error that does not say so,
 * or says what is no time below `msMax`: no timer takes much more than 2e9.
 */
export function retryAfterMs(error: unknown, msMax = 2e9): number | undefined {
  const ms = (error as { readonly data?: { readonly retryAfterMs?: unknown } | null } | undefined)?.data?.retryAfterMs
  return typeof ms === 'number' && ms >= 0 && ms < msMax ? ms : undefined
}

/** Any throw as an Error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown })
