import { type Address, parseAddress } from '../base/address.ts'
import type { Amount } from '../base/amount.ts'
import { cut, show, UNKNOWN_NAME_LENGTH_MAX } from '../base/json.ts'
import type { TxError } from '../base/txError.ts'
import type { State, StateReader } from '../store/state.ts'
import type { Fields, MessageOf } from '../tx/fields.ts'
import { uint } from '../values/number.ts'
import { kernelErrors } from './errors.ts'
import type { Params } from './params/definitions.ts'

/** The attributes of an event, in their order; all of them are indexed. */
export type Attributes = Readonly<Record<string, string>>

/** An event as protocol.md §9 names it. */
export interface ChainEvent {
  readonly type: string
  readonly attributes: Attributes
}

/** The block that is being executed, or for CheckTx the one that would come next. */
export interface Block {
  readonly chainId: string
  readonly height: number
  /** Block time, whole ms. */
  readonly timeMs: number
  /** Block time, whole seconds. */
  readonly time: number
  /** The parameters in force in this block. */
  readonly params: Params
}

/** What a node answers for itself: asked in CheckTx, never in a block, or two nodes would disagree (protocol.md §6). */
export interface NodeChecks {
  readonly os: string
}

/** What an operation sees. */
export interface TxContext {
  readonly state: State
  readonly block: Block
  readonly sender: Address
  /** What the transaction pays when it succeeds, in base units. */
  readonly fee: Amount
  /** The sha256 of the transaction's bytes, computed when it is asked for. */
  readonly tx: { readonly hash: Uint8Array }
  /** Index of the transaction in its block, from 0. */
  readonly index: number
  /** CheckTx only. */
  readonly node?: NodeChecks | undefined
}

/** What a successful operation leaves behind beside its rows. */
export interface Applied {
  readonly data?: Uint8Array
  readonly attributes?: Attributes
  /** Accounts that it concerns beside the sender: they find it in their histories. */
  readonly accounts?: readonly Address[]
  /** Owners of the candidacies whose history it is part of. */
  readonly validators?: readonly Address[]
}

/** What an operation will do: the kernel checks that the balance covers fee and locks, takes the fee, then applies. */
export interface Effects {
  /** Base units that leave the sender's balance beside the fee. */
  readonly locks: Amount
  readonly apply: () => Applied
}

/** Why an operation fails, or what it will do. */
export type Outcome = TxError | Effects

/** The parameters that gas depends on. Source: protocol.md §2, Gas and fees. */
export type GasParams = Pick<Params, 'declareCandidacy' | 'updateCandidacy' | 'governanceProposal'>

/** One transaction type. `M` are the fields of its message. */
export interface TxEntry<M extends Fields = Fields> {
  /** Its name in the oneof of TxBody. */
  readonly operation: string
  /** JSON-RPC method. */
  readonly method: string
  /** Function of the client, under web3.svc. */
  readonly call: string
  /** One sentence for the docs. */
  readonly doc: string
  readonly event: string
  readonly input: M
  /** What deliver_tx.data carries on success. */
  readonly returns?: 'ProposalID' | 'account update request id'
  readonly gas: (params: GasParams) => number
  /** Guards first, in the order in which errors win (check 6); writes only inside `apply`. */
  execute(context: TxContext, message: MessageOf<M>): Outcome
}

/** Declares a transaction type. Its method is named after its operation. */
export const defineTx = <const M extends Fields>(entry: Omit<TxEntry<M>, 'method'>): TxEntry => ({
  ...entry,
  method: `svc_${entry.operation}`,
})

/** What a query sees: one committed height. */
export interface QueryContext {
  readonly state: StateReader
  /** The head. 0 before the first block. */
  readonly height: number
  /** The height the request names; 0 when it names none. */
  readonly requestedHeight: number
  /** The parameters in force in block `height`; not before the first block. */
  readonly params: () => Params
  /** The value of `compute`, computed once for each head and `name`: what several queries of a head share. */
  readonly once: <T>(name: string, compute: () => T) => T
}

/** Why a query is refused: a non-zero code and a log that says which path or argument. */
export type QueryError = TxError

/** What stands behind `?` in a query's path, by name. */
export type QueryOptions = ReadonlyMap<string, string>

/**
 * What a query answers: `data`, or the `items` of a list, which are read as they are printed. With a `total`, the
 * number of items of the whole list, the answer is an object of both.
 */
export type QueryAnswer =
  | { readonly data: unknown }
  | { readonly items: Iterable<unknown>; readonly total?: number | undefined }

/** One abci_query path. */
export interface QueryEntry {
  /** The path's fixed parts; `<…>` stands for one argument: `/stake/validator/<address>`. */
  readonly path: string
  /** One sentence for the docs. */
  readonly doc: string
  /** True where the answer grows with the state: it is paced, and `/batch` refuses the path (protocol.md §8). */
  readonly isList?: true
  /** The answer, which is written as JSON; a QueryError for a malformed argument. */
  readonly run: (context: QueryContext, args: readonly string[], options: QueryOptions) => QueryAnswer | QueryError
}

/** The answer for the address that a path names; refuses a text that is none. */
export function withAddress(
  text: string,
  answer: (address: Address) => QueryAnswer | QueryError,
): QueryAnswer | QueryError {
  const address = parseAddress(text)
  return address === undefined
    ? kernelErrors.badArgument(`address: expected 0x and 40 hex digits, got ${show(text)}`)
    : answer(address)
}

function* slice<T>(
  items: Iterable<T>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  print: (item: T, at: number) => unknown,
): Generator<unknown> {
  if (limit === 0) return
  let at = 0
  for (const item of items) {
    if (at >= offset) yield print(item, at)
    if (++at >= offset + limit) return
  }
}

/**
 * At most `limit` items of a list from `offset` on, by default all. `at` is the index in the whole list. Options other
 * than those two and `others`, which the caller reads, are refused.
 */
export function pageOf<T>(
  items: Iterable<T>,
  options: QueryOptions,
  print: (item: T, at: number) => unknown,
  others: readonly string[] = [],
): { readonly items: Iterable<unknown> } | QueryError {
  const page = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  const known = ['limit', 'offset', ...others]
  for (const name of options.keys()) {
    if (!known.includes(name))
      return kernelErrors.badArgument(
        `${cut(name, UNKNOWN_NAME_LENGTH_MAX)}: expected ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`,
      )
  }
  for (const name of ['limit', 'offset'] as const) {
    const text = options.get(name)
    const value = text === undefined ? page[name] : uint.parse(text)
    if (value === undefined) return kernelErrors.badArgument(`${name}: expected a decimal integer, got ${show(text)}`)
    page[name] = value
  }
  return { items: slice(items, page, print) }
}

/** True when an outcome is a failure. */
export const isError = (outcome: object): outcome is TxError => 'code' in outcome

/** Effects that lock nothing. */
export const effects = (apply: () => Applied): Effects => ({ locks: 0n, apply })
