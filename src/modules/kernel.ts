import { isMachineFailure } from '../base/engineErrors.ts'
import { type Address, addressOf } from '../values/address.ts'
import { sha256 } from '../base/sha256.ts'
import { invalidParameter, type TxError } from '../base/txError.ts'
import type { RevertibleState, State } from '../store/state.ts'
import { decodeTx, type NotATx, type Tx, type TxBody } from '../tx/envelope.ts'
import { checkFields, decodeFields } from '../tx/fields.ts'
import { isSignedBySender } from './isSignedBySender.ts'
import { nonceOf, payFee, shortfallOf, useNonce } from './accounts/keeper.ts'
import { type Applied, type Block, isError, type NodeChecks, type TxContext } from './define.ts'
import { kernelErrors } from './errors.ts'
import type { ChainEvent, EventEntry } from './event.ts'
import { txEntryOf } from './registry.ts'

/** The result of a transaction. Code, data and gas are consensus; gas and data are empty on failure. */
export interface Verdict extends TxError {
  readonly data: Uint8Array
  readonly gas: number
  readonly events: readonly ChainEvent[]
  /** The accounts that it concerns; none when it failed checks 1 to 4. */
  readonly accounts?: readonly Address[]
  /** Owners of the candidacies whose history it is part of. */
  readonly validators?: readonly Address[]
  /** Set with code 1000: what was thrown, for the node's log. */
  readonly defect?: unknown
}

/** How a transaction is run. */
export interface Run {
  readonly block: Block
  /** Index of the transaction in its block, from 0. */
  readonly index: number
  /** In a block a failure after check 4 uses up the nonce; CheckTx keeps nothing of what it refuses. */
  readonly mode: 'check' | 'deliver'
  readonly node?: NodeChecks | undefined
  /** The signature was verified before: a recheck. */
  readonly isVerified?: boolean
  /** CheckTx only: why this node does not want a transaction that would succeed with this fee. It is dropped then. */
  readonly unwanted?: (fee: bigint) => TxError | undefined
}

/** One transaction from bytes to verdict: all its effects in `state`, or none but the nonce. Source: protocol.md §2. */
export function runTx(state: RevertibleState, read: ReadTx, run: Run): Verdict {
  const refused = admit(read, run.block.chainId, (account) => nonceOf(state, account), run.isVerified)
  if (refused !== undefined) return failed(refused)
  const { body } = read.tx as Pick<Tx, 'body'>
  const sender = read.sender as Address
  state.savepoint()
  const outcome = executeOrFail(state, read, body, sender, run)
  if (isError(outcome)) {
    state.rollback()
    if (run.mode === 'check') return failed(outcome)
    useNonce(state, sender)
    return { ...failed(outcome), accounts: [sender] }
  }
  const unwanted = run.unwanted?.(outcome.fee)
  if (unwanted !== undefined) {
    state.rollback()
    return failed(unwanted)
  }
  state.release()
  return succeeded(outcome, sender, run.mode)
}

function succeeded({ applied, gas, event }: Executed, sender: Address, mode: Run['mode']): Verdict {
  const { data = nothing, attributes, accounts = none, validators = none } = applied
  // Nobody reads the events of a check.
  if (mode === 'check') return { ...kernelErrors.ok, data, gas, events: none }
  return {
    ...kernelErrors.ok,
    data,
    gas,
    events: [event.of({ sender, ...attributes })],
    accounts: [sender, ...accounts],
    validators,
  }
}

const none: readonly never[] = []
const nothing = new Uint8Array(0)
const failed = ({ code, log, shortfall, defect }: Failure): Verdict => {
  const verdict = { code, log, shortfall, data: nothing, gas: 0, events: [] }
  return defect === undefined ? verdict : { ...verdict, defect }
}

/**
 * Checks 1 to 4 of protocol.md §2: why the transaction is refused as it is, or undefined. `nextNonce` gives the nonce that
 * comes next for a sender. `isVerified`: the signature was verified before, as for a recheck.
 */
export function admit(
  read: ReadTx,
  chainId: string,
  nextNonce: (sender: Address) => number,
  isVerified = false,
): TxError | undefined {
  const { tx, sender } = read
  if ('why' in tx) return kernelErrors.cannotDecode(tx.why)
  const { body } = tx
  if (body.chainId !== chainId) return kernelErrors.wrongChain(chainId, body.chainId)
  if (!isVerified && !read.isSigned()) return kernelErrors.badSignature
  const expected = nextNonce(sender as Address)
  return body.nonce === expected ? undefined : kernelErrors.badNonce(expected, body.nonce)
}

/** What a transaction did. */
interface Executed {
  readonly applied: Applied
  readonly gas: number
  readonly fee: bigint
  readonly event: EventEntry
}

/** A failed transaction: code and log, what the balance lacks, and what was thrown if it was a throw. */
type Failure = Pick<Verdict, 'code' | 'log' | 'shortfall' | 'defect'>

/** `execute`, whose throw is the transaction's failure (code 1000) unless it is one of this machine. */
function executeOrFail(state: State, read: ReadTx, body: TxBody, sender: Address, run: Run): Failure | Executed {
  try {
    return execute(state, read, body, sender, run)
  } catch (thrown) {
    if (isMachineFailure(thrown)) throw thrown
    return { ...kernelErrors.defect, defect: thrown ?? 'nothing was thrown' }
  }
}

/** Checks 5 to 7, then fee and effects, all on `state`, which the caller drops when this fails. */
function execute(
  state: State,
  read: ReadTx,
  { operation, message }: TxBody,
  sender: Address,
  { block, index, node }: Run,
): TxError | Executed {
  const entry = txEntryOf.get(operation)
  if (entry === undefined) return kernelErrors.unknownRequest(operation)
  const malformed = checkFields(entry.input, message)
  if (malformed !== undefined) return invalidParameter(malformed)
  const { params } = block
  const gas = entry.gas(params)
  const fee = BigInt(gas) * BigInt(params.gasPrice)
  const context: TxContext = { state, block, sender, fee, tx: read, index, node }
  const outcome = entry.execute(context, decodeFields(entry.input, message))
  if (isError(outcome)) return outcome
  const shortfall = shortfallOf(state, sender, fee + outcome.locks, fee)
  if (shortfall !== undefined) return { ...kernelErrors.insufficientBalance, shortfall }
  payFee(state, sender, params.holdAccount, fee)
  return { applied: outcome.apply(), gas, fee, event: entry.event }
}

/** The verdict of `isSignedBySender` on a transaction, of which these are the bytes. */
export type Verify = (tx: Tx, bytes: Uint8Array) => boolean

/**
 * Transaction bytes, decoded; the bytes must not change afterwards. The same bytes always give the same, so it may be
 * kept. Hash and signature are worked out when they are first asked for.
 */
export class ReadTx {
  readonly bytes: Uint8Array
  readonly tx: Pick<Tx, 'body'> | NotATx
  /** Whom the transaction says it is from; undefined for bytes that are no transaction. */
  readonly sender: Address | undefined
  #hash: Uint8Array | undefined
  readonly #verify: Verify
  // What only the signature needs; let go once it is verified.
  #unverified: Tx | undefined
  #signed = false

  constructor(bytes: Uint8Array, verify: Verify) {
    const tx = decodeTx(bytes)
    this.bytes = bytes
    this.#verify = verify
    if ('why' in tx) this.tx = tx
    else {
      this.tx = { body: tx.body }
      this.sender = addressOf(tx.body.from)
      this.#unverified = tx
    }
  }

  /** sha256 of the bytes. */
  get hash(): Uint8Array {
    return (this.#hash ??= sha256(this.bytes))
  }

  /** True when the sender signed it. */
  isSigned(): boolean {
    if (this.#unverified !== undefined) this.#signed = this.#verify(this.#unverified, this.bytes)
    this.#unverified = undefined
    return this.#signed
  }
}

/** Decodes transaction bytes. `verify`: `isSignedBySender`, or its verdict when it was reached before. */
export const readTx = (bytes: Uint8Array, verify: Verify = isSignedBySender): ReadTx => new ReadTx(bytes, verify)
