import type { Fields } from '../tx/fields.ts'
import type { TransactionResult } from '../tx/result.ts'

/**
 * The fields that every operation takes.
 *
 * @example
 * const sender: Sender = { from: '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27', nonce: 0 }
 * await svc.async.transfer({ ...sender, to, value: 1n })
 */
export interface Sender {
  /** The account that acts: 0x and 40 hex digits. `svc.defaultAccount` when left out. */
  readonly from?: string
  /** How many transactions the sender made before this one. The client finds it out when it is left out. */
  readonly nonce?: number | string | bigint
}

/**
 * Receives the result of a call, or its error: an Error, or the result object of a transaction that failed. Once the
 * error is known to be null, TypeScript knows that there is a result.
 *
 * @example
 * const print: Callback<number> = (error, height) => console.log(error ?? height + 1)
 * svc.blockNumber(print)
 */
export type Callback<R> = (
  ...outcome: [error: null, result: R] | [error: Error | TransactionResult, result: undefined]
) => void

/**
 * A callback that takes no result.
 *
 * @example
 * const report: ErrorCallback = (error) => console.log(error === null ? 'sent' : error)
 * svc.transfer({ from, to, value: 1n }, report)
 */
export type ErrorCallback = (error: Error | TransactionResult | null) => void

/**
 * An operation. With a callback, the callback receives the result object; without one, the call waits and returns it.
 * Source: interface, Call style.
 *
 * @example
 * const { hash } = svc.transfer({ from, to, value: 1n })
 * svc.transfer({ from, to, value: 1n }, (error, result) => console.log(error ?? result?.hash))
 */
export interface Operation<I> {
  (input: I): TransactionResult
  (input: I, callback: Callback<TransactionResult>): void
  (input: I, callback: ErrorCallback): void
}

/**
 * Options of a promise form, behind its arguments.
 *
 * @example
 * const options: CallOptions = { signal: AbortSignal.timeout(5_000) }
 * const height = await svc.async.blockNumber(options)
 */
export interface CallOptions {
  /** Ends the waiting: the promise rejects with the signal's reason. A transaction that was sent may still be committed. */
  readonly signal?: AbortSignal
  /** Called with the hash of a transaction that the client signed, once the node has taken it and it waits for a block. */
  readonly onSent?: (hash: string) => void
}

/**
 * How long a call waits for a block.
 *
 * @example
 * const options: WaitOptions = { timeoutMs: 10_000 }
 * const { height } = await svc.async.waitForTx(hash, options)
 */
export interface WaitOptions extends CallOptions {
  /** In ms; 60,000 by default. */
  readonly timeoutMs?: number
}

/**
 * How long a call waits for a verified answer, and how old the answer may be.
 *
 * @example
 * const options: VerifyOptions = { maxAgeMs: 60_000 }
 * const { data } = await svc.verified.getBalance(owner, options)
 */
export interface VerifyOptions extends WaitOptions {
  /**
   * How far the time of the verified header may lie before this machine's clock, in ms. 300,000 by default; Infinity
   * accepts any age.
   */
  readonly maxAgeMs?: number
}

/**
 * An operation as a promise. It rejects with SvcTxError when the transaction fails, and with SvcRpcError when there is
 * no result.
 *
 * @example
 * const { height } = await svc.async.stake.validator.deactivate({ from }, { signal: AbortSignal.timeout(30_000) })
 */
export type AsyncOperation<I> = (input: I, options?: CallOptions) => Promise<TransactionResult>

/** A method of the gateway, as tools/gen-client.ts found it. */
export interface QuerySpec {
  readonly call: string
  readonly method: string
  readonly isTransaction?: true
}

/** A transaction type of the registry. */
export interface OperationSpec extends QuerySpec {
  readonly operation: string
  /** Read when the client signs by itself. The chain judges the values, and the client itself before it asks a wallet. */
  readonly fields: Fields
}
