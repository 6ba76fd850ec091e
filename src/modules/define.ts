import type { Address } from '../values/address.ts'
import type { Amount } from '../base/amount.ts'
import type { TxError } from '../base/txError.ts'
import type { State } from '../store/state.ts'
import type { Fields, ValuesOf } from '../tx/fields.ts'
import type { AttributesOf, EventEntry } from './event.ts'
import type { Params } from './params/definitions.ts'

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

/** What a successful operation leaves behind beside its rows. `E` is its event. */
export interface Applied<E = EventEntry> {
  readonly data?: Uint8Array
  /** Of its event, beside the sender. */
  readonly attributes: AttributesOf<E>
  /** Accounts that it concerns beside the sender: they find it in their histories. */
  readonly accounts?: readonly Address[]
  /** Owners of the candidacies whose history it is part of. */
  readonly validators?: readonly Address[]
}

/** What an operation will do: the kernel checks that the balance covers fee and locks, takes the fee, then applies. */
export interface Effects<E = EventEntry> {
  /** Base units that leave the sender's balance beside the fee. */
  readonly locks: Amount
  readonly apply: () => Applied<E>
}

/** Why an operation fails, or what it will do. */
export type Outcome<E = EventEntry> = TxError | Effects<E>

/** The parameters that gas depends on. Source: protocol.md §2, Gas and fees. */
export type GasParams = Pick<Params, 'declareCandidacy' | 'updateCandidacy' | 'governanceProposal'>

/** One transaction type. `M` are the fields of its message, `E` is its event. */
export interface TxEntry<M extends Fields = Fields, E extends EventEntry = EventEntry> {
  /** Its name in the oneof of TxBody. */
  readonly operation: string
  /** JSON-RPC method. */
  readonly method: string
  /** Function of the client, under web3.svc. */
  readonly call: string
  /** One sentence for the docs. */
  readonly doc: string
  readonly event: E
  readonly input: M
  /** What deliver_tx.data carries on success. */
  readonly returns?: 'ProposalID' | 'account update request id'
  readonly gas: (params: GasParams) => number
  /** Guards first, in the order in which errors win (check 6); writes only inside `apply`. */
  execute(context: TxContext, given: ValuesOf<M>): Outcome<E>
}

/** Declares a transaction type. Its method is named after its operation. */
export const defineTx = <const M extends Fields, E extends EventEntry<never>>(
  entry: Omit<TxEntry<M, E>, 'method'>,
): TxEntry => ({
  ...entry,
  method: `svc_${entry.operation}`,
})

/** True when an outcome is a failure. */
export const isError = (outcome: object): outcome is TxError => 'code' in outcome

/** Effects that lock nothing. */
export const effects = <E>(apply: () => Applied<E>): Effects<E> => ({ locks: 0n, apply })
