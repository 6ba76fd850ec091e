import { type Attributes, type Block, balanceOf, numberParam, paramOf, pay, type State } from './state.ts'
import type { Message } from './wire.ts'

/** Ends a transaction with a code and a log. A log that ends with `: ` stands for every log that begins so. */
export class Refused extends Error {
  readonly code: number
  /** What a balance lacks, as the JSON object of `svc_getShortfall`. */
  readonly shortfall: string
  /** What CheckTx tells in `data`: the shortfall, or the nonce that it expects. */
  readonly told: string
  constructor(code: number, log: string, shortfall = '', told = shortfall) {
    super(log)
    this.code = code
    this.shortfall = shortfall
    this.told = told
  }
}

/** Throws unless it holds. */
export function need(holds: boolean, code: number, log: string): asserts holds {
  if (!holds) throw new Refused(code, log)
}

export const INVALID = 'Invalid parameter: '

/** What an operation works on. `place`: of the transaction in its block. `fee`: what it costs when it succeeds. */
export interface Call {
  readonly state: State
  readonly block: Block
  readonly place: number
  readonly hash: string
  readonly sender: string
  readonly message: Message
  readonly fee: bigint
  readonly isCheck: boolean
}

/** An account that an event `svc.tx` names. `validator`: because of its candidacy, its proposals or its votes. */
export interface Concerned {
  readonly account: string
  readonly validator?: boolean
}

export interface Done {
  /** In hex. */
  readonly data?: string
  /** What the operation's event tells besides the sender. */
  readonly ids?: Attributes
  readonly concerned?: readonly Concerned[]
}

export interface Operation {
  readonly event: string
  /** The name of the parameter that is its gas, or the gas. */
  readonly gas: string | number
  /** Check 5. */
  readonly check?: (message: Message) => void
  /** Checks 6 and 7, then the fee, then the effects. */
  readonly run: (call: Call) => Done
}

/** Throws unless a balance covers what is needed of it, in which the fee is. Source: protocol.md §2 and §10. */
export function needBalance(state: State, account: string, needed: bigint, fee = 0n, log = 'Insufficient balance') {
  const available = balanceOf(state, account)
  const [neededText, feeText, availableText] = [needed, fee, available].map(String)
  const shortfall = { account, needed: neededText, fee: feeText, available: availableText }
  if (available < needed) throw new Refused(20, log, JSON.stringify(shortfall))
}

/** Check 7: the balance covers the fee and what the operation locks. Then the fee is paid. Source: protocol.md §2. */
export function charge({ state, block, sender, fee }: Call, locked = 0n): void {
  needBalance(state, sender, fee + locked, fee)
  if (fee === 0n) return
  pay(state, sender, -fee)
  if (block.altered === 'the fee is burned') state.totals.burned += fee
  else pay(state, paramOf(state, 'hold_account', block.height), fee)
}

export const gasOf = (state: State, { gas }: Operation, height: number): number =>
  typeof gas === 'number' ? gas : numberParam(state, gas, height)

const LENGTHS: Readonly<Record<string, number>> = {
  name: 128,
  website: 256,
  location: 128,
  email: 256,
  profile: 2048,
}

/** The texts of a message that are given have at most these lengths in bytes of UTF-8. */
export function checkLengths(message: Message, lengths: Readonly<Record<string, number>>): void {
  for (const [name, max] of Object.entries(lengths))
    need(Buffer.byteLength((message[name] as string | undefined) ?? '') <= max, 20, INVALID)
}

/** Bytes of this length, where they are given. */
export function checkBytes(message: Message, name: string, length: number): void {
  const hex = message[name] as string | undefined
  need(hex === undefined || hex.length === length * 2, 20, INVALID)
}

export const checkDescription = ({ description }: Message): void =>
  checkLengths((description ?? {}) as Message, LENGTHS)
export const checkReason = (message: Message): void => checkLengths(message, { reason: 2048 })
