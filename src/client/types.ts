import type { TransactionResult } from '../tx/result.ts'
import type { KeyType, ValueType } from '../values/valueType.ts'

/** Members that every operation takes. */
export interface Sender {
  /** Account that acts, 0x and 40 hex digits; `svc.defaultAccount` when left out. */
  readonly from?: string
  /** Number of transactions made by the sender before this one; found out when left out. */
  readonly nonce?: number | string | bigint
}

/** `error` is an Error, or the result object of a transaction that failed; then there is no result. */
export type Callback<R> = (error: Error | TransactionResult | null, result?: R) => void

/**
 * An operation: with a callback it answers there, else it waits and returns the result object. Source: interface, Call
 * style.
 */
export interface Operation<I> {
  (input: I): TransactionResult
  (input: I, callback: Callback<TransactionResult>): void
}

/** What a promise form takes behind its arguments. */
export interface CallOptions {
  /** Ends the waiting: the promise rejects with its reason. What was sent before may still be committed. */
  readonly signal?: AbortSignal
}

/** How a call waits for a block. */
export interface WaitOptions extends CallOptions {
  /** How long, in ms; 60,000 by default. */
  readonly timeoutMs?: number
}

/** How a verified answer is waited for, and how old it may be. */
export interface VerifyOptions extends WaitOptions {
  /**
   * The most that the time of the verified header may lie before this machine's clock, in ms; 300,000 by default,
   * Infinity for any age.
   */
  readonly maxAgeMs?: number
}

/**
 * An operation as a promise: rejects with SvcTxError when the transaction fails, with SvcRpcError when there is no
 * result.
 */
export type AsyncOperation<I> = (input: I, options?: CallOptions) => Promise<TransactionResult>

/** A field that the client reads when it signs by itself. */
export interface FieldSpec {
  /** Name of its value's type (src/values). */
  readonly type: string
  /** Of a field that must be given: what its error says when it is not. */
  readonly doc?: string
  readonly optional?: boolean
  readonly fields?: Readonly<Record<string, FieldSpec>>
}

/** A transaction type, as tools/gen-client.ts found it in the registry. */
export interface OperationSpec {
  readonly call: string
  readonly method: string
  readonly operation: string
  readonly fields: Readonly<Record<string, FieldSpec>>
}

/** Any other method of the gateway. */
export interface QuerySpec {
  readonly call: string
  readonly method: string
  readonly isTransaction?: true
}

/** A table under the app hash: the tag of its keys, the message of its rows, and the types of its columns. */
export interface StateTable {
  readonly tag: number
  readonly messageName: string
  readonly key: Readonly<Record<string, KeyType<unknown>>>
  readonly row: Readonly<Record<string, ValueType<unknown>>>
}
