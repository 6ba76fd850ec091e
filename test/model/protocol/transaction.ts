import { delegationOperations } from './delegation.ts'
import { governanceOperations } from './governance.ts'
import { gasOf, need, type Operation, Refused } from './operation.ts'
import { signersOf } from './signers.ts'
import { stakeOperations } from './stake.ts'
import { accountOf, type Block, type Event, numberParam, type State } from './state.ts'
import { sha256 } from './values.ts'
import { decodeCanonical, type Message } from './wire.ts'

const operations: Readonly<Record<string, Operation>> = {
  ...stakeOperations,
  ...delegationOperations,
  ...governanceOperations,
}

/** What a transaction is answered with. `data` in hex. */
export interface Result {
  readonly code: number
  readonly log: string
  readonly info: string
  /** What CheckTx tells of a refusal in `data`. */
  readonly told?: string
  readonly data: string
  readonly gas: number
  readonly events: readonly Event[]
  readonly fee: bigint
  /** Who sent it; undefined when it fails checks 1 to 4. */
  readonly sender: string | undefined
}

interface Tx {
  readonly from: string
  readonly nonce: number
  readonly chainId: string
  readonly operation: string
  readonly message: Message
  readonly isSigned: () => boolean
}

/** Check 5 passes. */
function isOfItsForm(operation: string, message: Message): boolean {
  try {
    operations[operation]?.check?.(message)
    return true
  } catch {
    return false
  }
}

/** Check 1. Source: protocol.md §2. */
function decodeTx(bytes: Uint8Array): Tx {
  try {
    need(bytes.length <= 65_536, 2, 'too long')
    const tx = decodeCanonical('svc.tx.Tx', Buffer.from(bytes).toString('hex'))
    const { body, publicKey, signature } = tx as Record<'body' | 'publicKey' | 'signature', string>
    const fields = decodeCanonical('svc.tx.TxBody', body)
    const { chainId, from, nonce, ...rest } = fields as { chainId: string; from: string; nonce: number }
    const [entry, ...others] = Object.entries(rest as Readonly<Record<string, Message>>)
    need(entry !== undefined && others.length === 0, 2, 'not one message')
    const [operation, message] = entry
    need(from.length === 40, 2, 'a length')
    const isSignedBy = signersOf(publicKey, signature)
    const isSigned = (): boolean =>
      isSignedBy({
        body,
        chainId,
        from,
        nonce,
        operation,
        message,
        isOfItsForm: isOfItsForm(operation, message),
      })
    return { from: `0x${from}`, nonce, chainId, operation, message, isSigned }
  } catch {
    throw new Refused(2, 'cannot decode transaction: ')
  }
}

/** Checks 1 to 4. */
function admit(state: State, bytes: Uint8Array): Tx {
  const tx = decodeTx(bytes)
  const { chainId } = state.chain
  need(tx.chainId === chainId, 3, `wrong chain id: expected ${chainId}, got ${tx.chainId}`)
  need(tx.isSigned(), 3, 'signature verification failed')
  const expected = state.accounts.get(tx.from)?.nonce ?? 0
  if (tx.nonce !== expected)
    throw new Refused(6, `bad nonce: expected ${expected}, got ${tx.nonce}`, '', String(expected))
  return tx
}

/** Who finds the transaction: the sender first, and each account once. Source: protocol.md §9. */
function indexEvents(sender: string, concerned: readonly { account: string; validator?: boolean }[]): Event[] {
  const accounts = [...new Set([sender, ...concerned.map(({ account }) => account)])]
  return accounts.map((account) => {
    const isOwner = concerned.some((one) => one.account === account && one.validator === true)
    return ['svc.tx', isOwner ? { account, validator: account } : { account }]
  })
}

function refusal(thrown: unknown, sender?: string): Result {
  if (!(thrown instanceof Refused)) throw thrown
  const events = sender === undefined ? [] : indexEvents(sender, [])
  const { code, message: log, shortfall: info, told } = thrown
  return { code, log, info, told, data: '', gas: 0, fee: 0n, events, sender }
}

/** Runs one transaction. `place`: in its block. */
export function execute(state: State, block: Block, place: number, bytes: Uint8Array, isCheck = false): Result {
  let tx: Tx
  try {
    tx = admit(state, bytes)
  } catch (thrown) {
    return refusal(thrown)
  }
  const { from: sender, operation: name, message } = tx
  const operation = operations[name]
  if (operation === undefined) throw new Error(`test/model/protocol has no rules of ${name} yet`)
  accountOf(state, sender).nonce++
  try {
    operation.check?.(message)
    const gas = gasOf(state, operation, block.height)
    const fee = BigInt(gas) * BigInt(numberParam(state, 'gas_price', block.height))
    const hash = sha256(bytes)
    const {
      data = '',
      ids = {},
      concerned = [],
    } = operation.run({ state, block, place, hash, sender, message, fee, isCheck })
    const event: Event = [operation.event, { sender, ...ids }]
    return { code: 0, log: '', info: '', data, gas, events: [event, ...indexEvents(sender, concerned)], fee, sender }
  } catch (thrown) {
    return refusal(thrown, sender)
  }
}
