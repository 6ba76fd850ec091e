import { type Address, parseAddress } from '../base/address.ts'
import { isObject } from '../base/json.ts'
import { type Field, field, type Fields, nested, optional, readFields } from '../tx/fields.ts'
import type { TransactionResult } from '../tx/result.ts'
import { address } from '../values/account.ts'
import { proposalId, pubKey } from '../values/key.ts'
import { amount, ratio, uint } from '../values/number.ts'
import { text, yesNo } from '../values/text.ts'
import type { InputType, WireValue } from '../values/valueType.ts'
import type { AccountSender, PendingTx } from './accountSender.ts'
import { asError, INVALID_PARAMS, isFailed, SvcRpcError, SvcTxError } from './errors.ts'
import type { Callback, CallOptions, FieldSpec, OperationSpec, QuerySpec } from './types.ts'
import type { Call, Transport } from './transport.ts'

/** The types of the fields that the generated operations name. */
const fieldTypes: ReadonlyMap<string, InputType<WireValue>> = new Map(
  [address, amount, proposalId, pubKey, ratio, text, uint, yesNo].map((type) => [type.name, type]),
)

function readerOfField({ type, doc = '', fields }: FieldSpec): Field<unknown> {
  if (fields !== undefined) return nested(fieldsOf(fields), doc)
  const valueType = fieldTypes.get(type)
  if (valueType === undefined) throw new Error(`the client knows no values of type ${type}`)
  return field(valueType, doc)
}

function fieldOf(spec: FieldSpec): Field<unknown> {
  const one = readerOfField(spec)
  return spec.optional === true ? optional(one) : one
}

/** The fields that the gateway reads from the same JSON. What their values mean is the chain's to judge. */
export const fieldsOf = (specs: Readonly<Record<string, FieldSpec>>): Fields =>
  Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, fieldOf(spec)]))

/** What an input says: the message that a transaction holds, and the nonce when the caller gives one. */
export interface Message {
  readonly nonce: number | undefined
  readonly message: Readonly<Record<string, unknown>>
}

/**
 * Reads an operation's input. Throws a FieldError in the words in which the gateway refuses the same input with
 * -32602.
 */
export type Reader = (input: Readonly<Record<string, unknown>>) => Message

const nonce = optional(field(uint, 'number of transactions made by the sender before this one'))

// Amounts are read as text, so that a bigint goes the same way here as through JSON.
const plain = (value: unknown): unknown =>
  typeof value === 'bigint'
    ? value.toString()
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
      : value

function readerOf({ fields }: OperationSpec): Reader {
  const all: Fields = { ...fieldsOf(fields), nonce }
  return ({ from: _from, ...input }) => {
    const { nonce: given, ...message } = readFields(all, plain(input)) as Readonly<Record<string, unknown>>
    return { nonce: given as number | undefined, message }
  }
}

/** Creates readers, each of them at its first use. */
export function createReaders(): (spec: OperationSpec) => Reader {
  const made = new Map<string, Reader>()
  return (spec) => {
    const reader = made.get(spec.operation) ?? readerOf(spec)
    made.set(spec.operation, reader)
    return reader
  }
}

/** What the functions of a client share. */
export interface Client {
  readonly transport: Transport
  readonly senders: ReadonlyMap<Address, AccountSender>
  readonly readerOf: (spec: OperationSpec) => Reader
  readonly defaultAccount: () => string | undefined
}

/** One function of the client, in both forms. */
export interface ClientFunction {
  readonly call: string
  readonly isTransaction: boolean | undefined
  readonly promise: (args: readonly unknown[], signal?: AbortSignal) => Promise<unknown>
  readonly blocking: (args: readonly unknown[]) => unknown
}

/** A query: its arguments by position, or all in one object. */
export function queryFunction({ transport }: Client, { call, method, isTransaction }: QuerySpec): ClientFunction {
  const callOf = (args: readonly unknown[]): Call => {
    const given = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1)
    return { method, params: given.length === 1 && isObject(given[0]) ? given[0] : given }
  }
  return {
    call,
    isTransaction,
    promise: (args, signal) => transport.ask(callOf(args), signal),
    blocking: (args) => transport.askBlocking(callOf(args), call),
  }
}

/** How an operation is carried out: signed here and sent, or signed by the gateway. */
type Way = { readonly sender: AccountSender; readonly tx: PendingTx } | { readonly call: Call }

/** An operation. Its one argument may be left out where no field is needed. */
export function operationFunction(client: Client, spec: OperationSpec): ClientFunction {
  const { transport, senders, defaultAccount } = client
  const { call, method, operation } = spec
  const wayOf = ([input = {}]: readonly unknown[]): Way => {
    if (!isObject(input)) throw new SvcRpcError(method, INVALID_PARAMS, 'params: expected an object of members')
    const from = input['from'] ?? defaultAccount()
    const sender = typeof from === 'string' ? senders.get(parseAddress(from) ?? (from as Address)) : undefined
    if (sender === undefined) return { call: { method, params: [from === undefined ? input : { ...input, from }] } }
    try {
      return { sender, tx: { operation, ...client.readerOf(spec)(input) } }
    } catch (error) {
      throw new SvcRpcError(method, INVALID_PARAMS, asError(error).message)
    }
  }
  const promise: ClientFunction['promise'] = async (args, signal) => {
    const way = wayOf(args)
    return 'call' in way ? transport.ask(way.call, signal) : way.sender.submit(way.tx, signal)
  }
  const blocking: ClientFunction['blocking'] = (args) => {
    const way = wayOf(args)
    return 'call' in way ? transport.askBlocking(way.call, call) : way.sender.submitBlocking(way.tx, call)
  }
  return { call, isTransaction: true, promise, blocking }
}

/**
 * The form with a callback behind the arguments, which receives the result; without one the result is returned. Source: interface, Call
 * style.
 */
export function callbackForm({ isTransaction, promise, blocking }: ClientFunction) {
  return (...args: unknown[]): unknown => {
    if (typeof args.at(-1) !== 'function') return blocking(args)
    const callback = args.pop() as Callback<unknown>
    // What the callback throws is its own: it must not come back as a rejection here.
    const tell = (error: Error | TransactionResult | null, result?: unknown): void =>
      queueMicrotask(() => (error === null ? callback(null, result) : callback(error)))
    promise(args).then(
      (result) =>
        isTransaction && isFailed(result as TransactionResult) ? tell(result as TransactionResult) : tell(null, result),
      (error: unknown) => tell(asError(error)),
    )
    return undefined
  }
}

const isOptions = (value: unknown): value is CallOptions => isObject(value) && Object.hasOwn(value, 'signal')

/** Resolves with the result; rejects with SvcTxError when the transaction failed. */
export function promiseForm({ isTransaction, promise }: ClientFunction) {
  return async (...args: unknown[]): Promise<unknown> => {
    const options = isOptions(args.at(-1)) ? (args.pop() as CallOptions) : {}
    const result = await promise(args, options.signal)
    if (isTransaction && isFailed(result as TransactionResult)) throw new SvcTxError(result as TransactionResult)
    return result
  }
}

/** Objects inside objects, as the dots in the functions' names have them. */
export function treeOf(
  functions: readonly ClientFunction[],
  form: (one: ClientFunction) => unknown,
): Readonly<Record<string, unknown>> {
  const tree: Record<string, unknown> = {}
  for (const one of functions) {
    const path = one.call.split('.')
    const name = path.pop() as string
    let node = tree
    for (const part of path) node = (node[part] ??= {}) as Record<string, unknown>
    node[name] = form(one)
  }
  return tree
}
