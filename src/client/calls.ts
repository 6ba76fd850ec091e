import { type Address, parseAddress } from '../values/address.ts'
import { isObject } from '../base/json.ts'
import { field, optional, readFields } from '../tx/fields.ts'
import type { TransactionResult } from '../tx/result.ts'
import type { PendingTx } from '../tx/sign.ts'
import { uint } from '../values/number.ts'
import type { AccountSender } from './accountSender.ts'
import { asError, failureOf, INVALID_PARAMS, isFailed, SvcRpcError, SvcTxError } from './errors.ts'
import { type Call, plainParams, type Transport } from './transport.ts'
import type { Callback, CallOptions, OperationSpec, QuerySpec } from './types.ts'

/** What the functions of a client share. */
export interface Client {
  readonly transport: Transport
  readonly senders: ReadonlyMap<Address, AccountSender>
  readonly defaultAccount: () => string | undefined
}

/** One function of the client, in both forms. */
export interface ClientFunction {
  readonly call: string
  readonly isTransaction: boolean | undefined
  readonly promise: (args: readonly unknown[], options?: CallOptions) => Promise<unknown>
  readonly blocking: (args: readonly unknown[]) => unknown
}

/** A query: its arguments by position, or all in one object. */
export function queryFunction({ transport }: Client, { call, method, isTransaction }: QuerySpec): ClientFunction {
  const callOf = (args: readonly unknown[]): Call => {
    const given = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1)
    return { method, params: given.length === 1 && isObject(given[0]) ? given[0] : given, isTransaction }
  }
  return {
    call,
    isTransaction,
    promise: (args, options) => transport.ask(callOf(args), options?.signal),
    blocking: (args) => transport.askBlocking(callOf(args), call),
  }
}

const nonce = optional(field(uint))

/**
 * Reads an operation's input the way it would reach the gateway through JSON. Throws a FieldError in the words in which
 * the gateway refuses the same input with -32602.
 */
function readTx({ operation, fields }: OperationSpec, { from: _from, ...input }: Readonly<Record<string, unknown>>) {
  const { nonce: given, ...message } = readFields({ ...fields, nonce }, plainParams(input))
  return { operation, message, nonce: given as number | undefined }
}

/** How an operation is carried out: signed here and sent, or signed by the gateway. */
type Way = { readonly sender: AccountSender; readonly tx: PendingTx } | { readonly call: Call }

/** An operation. Its one argument may be left out where no field is needed. */
export function operationFunction({ transport, senders, defaultAccount }: Client, spec: OperationSpec): ClientFunction {
  const { call, method } = spec
  const wayOf = ([input = {}]: readonly unknown[]): Way => {
    if (!isObject(input)) throw new SvcRpcError(method, INVALID_PARAMS, 'params: expected an object of members')
    const from = input['from'] ?? defaultAccount()
    const sender = typeof from === 'string' ? senders.get(parseAddress(from) ?? (from as Address)) : undefined
    if (sender === undefined)
      return { call: { method, params: [from === undefined ? input : { ...input, from }], isTransaction: true } }
    try {
      return { sender, tx: readTx(spec, input) }
    } catch (error) {
      throw new SvcRpcError(method, INVALID_PARAMS, asError(error).message)
    }
  }
  return {
    call,
    isTransaction: true,
    promise: async (args, options = {}) => {
      const way = wayOf(args)
      return 'call' in way ? transport.ask(way.call, options.signal) : way.sender.submit(way.tx, options)
    },
    blocking: (args) => {
      const way = wayOf(args)
      return 'call' in way ? transport.askBlocking(way.call, call) : way.sender.submitBlocking(way.tx, call)
    },
  }
}

/**
 * Creates the form that takes a callback after the arguments, which receives the result; without a callback the result is
 * returned. Source: interface, Call style.
 */
export function callbackForm({ isTransaction, promise, blocking }: ClientFunction) {
  return (...args: unknown[]): unknown => {
    if (typeof args.at(-1) !== 'function') return blocking(args)
    const callback = args.pop() as Callback<unknown>
    // An error that the callback throws is the caller's: it must not become a rejection here.
    const tell: Callback<unknown> = (...outcome) => queueMicrotask(() => callback(...outcome))
    promise(args).then(
      (result) =>
        isTransaction && isFailed(result as TransactionResult)
          ? tell(result as TransactionResult, undefined)
          : tell(null, result),
      (error: unknown) => tell(asError(error), undefined),
    )
    return undefined
  }
}

// Empty ones are options behind another argument, and fields in its place.
const isOptions = (value: unknown, isBehind: boolean): value is CallOptions =>
  isObject(value) && ('signal' in value || 'onSent' in value || (isBehind && Object.keys(value).length === 0))

/** The code of refused input. A balance that is too low is one reason for it. Source: protocol.md §2, Codes. */
const INVALID_INPUT = 20

/** Resolves with the result of a transaction. Rejects with SvcTxError when it failed. */
export async function needDone(
  { ask }: Transport,
  result: TransactionResult,
  signal?: AbortSignal,
): Promise<TransactionResult> {
  const failure = failureOf(result)
  if (failure === undefined) return result
  const asking =
    failure.code === INVALID_INPUT ? ask({ method: 'svc_getShortfall', params: [result.hash] }, signal) : undefined
  throw new SvcTxError(result, await asking?.catch(() => null))
}

/** Resolves with the result; rejects with SvcTxError when the transaction failed. */
export function promiseForm(transport: Transport, { isTransaction, promise }: ClientFunction) {
  return async (...args: unknown[]): Promise<unknown> => {
    const options = isOptions(args.at(-1), args.length > 1) ? (args.pop() as CallOptions) : {}
    const result = await promise(args, options)
    return isTransaction ? needDone(transport, result as TransactionResult, options.signal) : result
  }
}

/**
 * Builds the objects that the dots in the functions' names stand for. `T` is the type that is generated from the same
 * names.
 */
export function treeOf<T>(functions: readonly ClientFunction[], form: (one: ClientFunction) => unknown): T {
  const tree: Record<string, unknown> = {}
  for (const one of functions) {
    const path = one.call.split('.')
    const name = path.pop() as string
    let node = tree
    for (const part of path) node = (node[part] ??= {}) as Record<string, unknown>
    node[name] = form(one)
  }
  return tree as T
}
