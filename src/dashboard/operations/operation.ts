import type { EventAttributes } from '../../client/gen/events.ts'
import type { OperationEvents, OperationInputs, OperationName } from '../../client/gen/forms.ts'
import { formatTokens } from '../format.ts'
import { type Piece, piece, type Words } from '../pieces.ts'
import type { Facts, Needs } from '../wallet/facts.ts'

/** What an operation is given, without who signs it. */
export type Input<O extends OperationName> = Omit<OperationInputs[O], 'from' | 'nonce'>

/** A message as the chain holds it, or as a stranger wrote it. */
export type Message = Readonly<Record<string, unknown>>

/** What an operation takes from the balance beside its fee, in base units, and what becomes of it. */
export interface Outflow {
  readonly name: 'Stake' | 'Payment' | 'Held until the proposal is decided'
  readonly units: bigint
}

/** When something comes about that a reader signs for: at a block, at a time, or so many blocks after their own. */
export interface Due {
  readonly name: string
  readonly height?: number | undefined
  /** Unix seconds. */
  readonly time?: number | undefined
  readonly blocks?: number
}

/** How a field is called, and what it takes beyond that. */
export interface FieldText {
  readonly label: string
  readonly hint?: string
  /** The labels of the fields inside it. */
  readonly inner?: Readonly<Record<string, string>>
}

/** What the page says of an operation. */
export interface OperationPage<O extends OperationName> {
  /** Its name in a title: `Transfer`. */
  readonly title: string
  /** What it asks the chain to do, in lower case: `send 5 token to 0x…`. Any of the fields may be missing. */
  readonly words: (message: Message) => Words
  /** What its event says happened, without who did it: `sent 5 token to 0x…`. */
  readonly happened: (attributes: EventAttributes[OperationEvents[O]]) => Words
  /** What it does, in the sentence that a reader signs. Text that strangers chose appears only as its form allows. */
  readonly sentence: (input: Input<O>, facts: Facts) => string
  /** What of the chain the sentence and the outflow are made from, beside the parameters. */
  readonly needs?: (input: Input<O>) => Needs
  /** Nothing is taken where it is left out. */
  readonly outflow?: (input: Input<O>, facts: Facts) => Outflow | undefined
  /** When what matters of it comes about, if that is not at once. */
  readonly due?: (input: Input<O>, facts: Facts) => Due | undefined
  /** What cannot be taken back. With it the operation looks dangerous. */
  readonly warning?: (input: Input<O>, facts: Facts) => string | undefined
  readonly fields: { readonly [F in keyof Input<O>]-?: FieldText }
}

/** The text of a field; empty when it is missing. */
export const textOf = (message: Message, name: string): string => {
  const value = message[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export const pieceOf = (kind: Exclude<Piece, string>['kind'], message: Message, name: string): Piece =>
  piece(kind, textOf(message, name))

/** The proposal that an event is about. */
export const proposalOf = ({ proposal_id: id }: { readonly proposal_id: string }): Piece => piece('proposal', id)

const RESULTS: ReadonlyMap<string, string> = new Map([
  ['Approved', 'was approved'],
  ['Rejected', 'was rejected'],
  ['Expired', 'expired'],
])

/** What became of a proposal: `was approved`. */
export const resultOf = (result: string): string => RESULTS.get(result) ?? `ended as ${result}`

/** The exact amount: what is signed is never rounded. */
export const tokens = (units: bigint | string | number): string => `${formatTokens(BigInt(units), 18)} token`

/** A list in words: `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** A stake as an outflow; undefined where there is none. */
export const stakeOf = (units: bigint): Outflow | undefined => (units === 0n ? undefined : { name: 'Stake', units })

export const addressField = (label: string): FieldText => ({ label, hint: '0x and 40 hex digits' })

type Given = number | string | bigint | undefined

/** When a proposal ends that is made with these fields; the chain ends one that names nothing. */
export function dueAt(name: string, [height, time]: readonly Given[], { params }: Facts): Due {
  if (height !== undefined) return { name, height: Number(height) }
  return time === undefined ? { name, blocks: params.proposal_expire_period } : { name, time: Number(time) }
}

/** Until when votes count, of a proposal with these fields. */
export const openUntil = (
  { expireBlockHeight: height, expireTimestamp: time }: { expireBlockHeight?: Given; expireTimestamp?: Given },
  facts: Facts,
): Due => dueAt('Open until', [height, time], facts)

export const expiringFields = {
  reason: { label: 'Reason' },
  expireBlockHeight: { label: 'Expires at block' },
  expireTimestamp: { label: 'Expires at' },
} as const
