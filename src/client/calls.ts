import { type Address, parseAddress } from '../base/address.ts'
import { isObject } from '../base/json.ts'
import { type Field, field, type Fields, nested, optional, readFields } from '../tx/fields.ts'
import { address } from '../values/account.ts'
import { proposalId, pubKey } from '../values/key.ts'
import { amount, ratio, uint } from '../values/number.ts'
import { text, yesNo } from '../values/text.ts'
import type { InputType, WireValue } from '../values/valueType.ts'
import { asError, INVALID_PARAMS, isFailed, SvcRpcError, SvcTxError } from './errors.ts'
import type { Callback, CallOptions, FieldSpec, OperationSpec, QuerySpec, TransactionResult } from './types.ts'
import type { Lane } from './lane.ts'
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

/** Readers, each made when it is first asked for. */
export function makeReaders(): (spec: OperationSpec) => Reader {
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
  readonly lanes: ReadonlyMap<Address, Lane>
  readonly readerOf: (spec: OperationSpec) => Reader
  readonly chainId: () => Promise<string>
  readonly chainIdBlocking: (functionCall: string) => string
  readonly defaultAccount: () => string | undefined
}

/** One function of the client: the same call asked in both ways. */
export interface Asked {
  readonly call: string
  readonly isTransaction: boolean | undefined
  readonly promise: (args: readonly unknown[], signal?: AbortSignal) => Promise<unknown>
  readonly blocking: (args: readonly unknown[]) => unknown
}

/** A query: its arguments by position, or all in one object. */
export function askedQuery({ transport }: Client, { call, method, isTransaction }: QuerySpec): Asked {
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

/** What an operation comes to: signed here, or signed by the gateway. */
type Way = { readonly lane: Lane; readonly message: Message } | { readonly call: Call }

/** An operation. Its one argument may be left out where no member is needed. */
export function askedOperation(client: Client, spec: OperationSpec): Asked {
  const { transport, lanes, defaultAccount } = client
  const { call, method, operation } = spec
  const wayOf = ([input = {}]: readonly unknown[]): Way => {
    if (!isObject(input)) throw new SvcRpcError(method, INVALID_PARAMS, 'params: expected an object of members')
    const from = input['from'] ?? defaultAccount()
    const lane = typeof from === 'string' ? lanes.get(parseAddress(from) ?? (from as Address)) : undefined
    if (lane === undefined) return { call: { method, params: [from === undefined ? input : { ...input, from }] } }
    try {
      return { lane, message: client.readerOf(spec)(input) }
    } catch (error) {
      throw new SvcRpcError(method, INVALID_PARAMS, asError(error).message)
    }
  }
  const promise: Asked['promise'] = async (args, signal) => {
    const way = wayOf(args)
    if ('call' in way) return transport.ask(way.call, signal)
    const {
      lane,
      message: { nonce, message },
    } = way
    const order = { operation, message }
    return nonce === undefined
      ? lane.submit(order, signal)
      : transport.ask(lane.withNonce(order, nonce, await client.chainId()), signal)
  }
  const blocking: Asked['blocking'] = (args) => {
    const way = wayOf(args)
    if ('call' in way) return transport.askBlocking(way.call, call)
    const {
      lane,
      message: { nonce, message },
    } = way
    const order = { operation, message }
    return nonce === undefined
      ? lane.submitBlocking(order, call)
      : transport.askBlocking(lane.withNonce(order, nonce, client.chainIdBlocking(call)), call)
  }
  return { call, isTransaction: true, promise, blocking }
}

/**
 * With a callback behind the arguments it is told there; without one the result is returned. Source: interface, Call
 * style.
 */
export function callbackForm({ isTransaction, promise, blocking }: Asked) {
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
export function promiseForm({ isTransaction, promise }: Asked) {
  return async (...args: unknown[]): Promise<unknown> => {
    const options = isOptions(args.at(-1)) ? (args.pop() as CallOptions) : {}
    const result = await promise(args, options.signal)
    if (isTransaction && isFailed(result as TransactionResult)) throw new SvcTxError(result as TransactionResult)
    return result
  }
}

/** Objects inside objects, as the dots in the functions' names have them. */
export function treeOf(asked: readonly Asked[], form: (one: Asked) => unknown): Readonly<Record<string, unknown>> {
  const tree: Record<string, unknown> = {}
  for (const one of asked) {
    const path = one.call.split('.')
    const name = path.pop() as string
    let node = tree
    for (const part of path) node = (node[part] ??= {}) as Record<string, unknown>
    node[name] = form(one)
  }
  return tree
}
