import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, addressOf } from '../base/address.ts'
import type { Signer } from '../tx/sign.ts'
import { type Account, makeAccounts, nextKnown } from './accounts.ts'
import { broadcast, expectedNonce, readRawTx, type Sent } from './broadcast.ts'
import type { Chain } from './chain.ts'
import { isRpcError, RpcError, rpcErrors } from './errors.ts'
import { LOOK_UP_MS, RESIGNS_MAX, WAITING_MAX, WAITING_OF_SENDER_MAX, WAITING_SIGNED_HERE_MAX } from './limits.ts'
import type { Failure } from './result.ts'
import type { Inclusion, Tracker } from './tracker.ts'

/** What became of a transaction. `hash`: upper-case hex. */
export type Outcome =
  | { readonly hash: string; readonly refused: Failure }
  | { readonly hash: string; readonly included: Inclusion }

/** An operation to sign. Without `nonce` the next one of the account is taken. */
export interface Order {
  readonly operation: string
  readonly message: Readonly<Record<string, unknown>>
  readonly nonce: number | undefined
}

/**
 * Sends transactions and waits for their blocks. Throws RpcError: -32011, -32012 and -32013, with `data.hash` where
 * bytes were sent. Calls of one account are sent in the order in which they come in; they wait for their blocks at the
 * same time.
 */
export interface Sender {
  readonly submit: (signer: Signer, order: Order) => Promise<Outcome>
  readonly submitRaw: (bytes: Uint8Array) => Promise<Outcome>
  /** The first nonce of the account that no transaction known here has; 0 when none is known. */
  readonly nextNonce: (address: Address) => number
  /** Transactions that are signed, sent or waited for now. */
  readonly underWay: () => number
}

interface Setting {
  readonly chain: Chain
  readonly tracker: Tracker
  readonly waitMs: number
}

/** A broadcast of an account, with its nonce. */
interface Turn {
  readonly sent: Sent
  readonly nonce: number
}

/**
 * Waits for the block of what was sent, and asks the node by hash at the end: blocks pass unseen while the feed skips
 * pruned ones.
 */
async function follow({ chain, waitMs }: Setting, sent: Exclude<Sent, { state: 'refused' }>): Promise<Outcome> {
  const { hash, waiter } = sent
  const deadline = setTimeout(waiter.cancel, waitMs)
  const lookUp = async (): Promise<Inclusion | undefined> => chain.findTx(hash).catch(() => undefined)
  const lookUpOften = async (signal: AbortSignal): Promise<Inclusion | undefined> => {
    while (!signal.aborted) {
      const found = await lookUp()
      if (found !== undefined) return found
      await sleep(LOOK_UP_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }
  const landedOrFound = async (): Promise<Inclusion | undefined> => {
    const ended = new AbortController()
    try {
      return await Promise.race([waiter.landed, lookUpOften(ended.signal)])
    } finally {
      ended.abort()
    }
  }
  // What the node had already may be in a block that has passed.
  const landed = await (sent.state === 'known' ? landedOrFound() : waiter.landed)
  clearTimeout(deadline)
  waiter.cancel()
  const included = landed ?? (await lookUp())
  if (included === undefined) {
    throw new RpcError('notInBlock', `${rpcErrors.notInBlock.message}; ask for it with svc_getTransaction`, { hash })
  }
  return { hash, included }
}

async function settle(setting: Setting, account: Account, { sent, nonce }: Turn): Promise<Outcome> {
  if (sent.state === 'refused') return { hash: sent.hash, refused: sent.failure }
  try {
    return await follow(setting, sent)
  } catch (error) {
    // Whatever was built on it would wait for a hole to be filled.
    account.next = undefined
    throw error
  } finally {
    account.outstanding.delete(nonce)
  }
}

/** Remembers what a broadcast of `nonce` says of the account. */
function note(account: Account, { sent, nonce }: Turn): void {
  if (sent.state === 'unclear') account.next = undefined
  if (sent.state === 'refused') return
  account.outstanding.add(nonce)
  if (sent.state === 'accepted') account.next = nonce + 1
  else if (account.next !== undefined) account.next = Math.max(account.next, nonce + 1)
}

async function attempt({ chain, tracker }: Setting, account: Account, bytes: Uint8Array): Promise<Sent> {
  try {
    return await broadcast(chain.rpc, tracker, bytes)
  } catch (error) {
    if (!isRpcError(error) || error.code !== rpcErrors.mempoolFull.code) account.next = undefined
    throw error
  }
}

/** The guess, once; none while transactions are outstanding, which know better. */
function takeGuess(account: Account): number | undefined {
  const { guess } = account
  account.guess = undefined
  return account.outstanding.size === 0 ? guess : undefined
}

/** Signs with the account's next nonce. What is refused, full mempool included, uses none up. */
async function sendNext(setting: Setting, account: Account, signer: Signer, order: Order): Promise<Turn> {
  const { chain } = setting
  const chainId = await chain.chainId()
  let nonce =
    account.next ?? takeGuess(account) ?? Math.max((await chain.account(signer.address)).nonce, nextKnown(account))
  for (let resigns = 0, skipped = 0; ; ) {
    const sent = await attempt(
      setting,
      account,
      signer.signTx({ chainId, nonce, operation: order.operation, message: order.message }),
    )
    const expected = expectedNonce(sent)
    if (expected !== undefined && resigns < RESIGNS_MAX) {
      resigns += 1
      nonce = expected
    } else if (sent.state === 'known' && skipped < WAITING_MAX) {
      // Another call, or another gateway, has said the same with this nonce: that is its transaction, not this one.
      skipped += 1
      sent.waiter.cancel()
      nonce += 1
    } else {
      if (expected !== undefined) account.next = undefined
      return { sent, nonce }
    }
  }
}

/** Sends bytes as they are. What is in a block already is answered with that block. */
async function sendBytes(setting: Setting, account: Account, bytes: Uint8Array): Promise<Sent | Outcome> {
  const sent = await attempt(setting, account, bytes)
  if (expectedNonce(sent) === undefined) return sent
  const included = await setting.chain.findTx(sent.hash)
  return included === undefined ? sent : { hash: sent.hash, included }
}

/** Which limit one more transaction would pass; undefined when there is room. */
function fullOf(
  { raw, signedHere }: { readonly raw: number; readonly signedHere: number },
  by: 'raw' | 'signedHere',
  ofSender: number,
  sender: Address,
): string | undefined {
  if (raw + signedHere >= WAITING_MAX) return `${WAITING_MAX} transactions wait at this gateway`
  if (ofSender >= WAITING_OF_SENDER_MAX)
    return `${WAITING_OF_SENDER_MAX} transactions of ${sender} wait at this gateway`
  if (by === 'signedHere' && signedHere >= WAITING_SIGNED_HERE_MAX) {
    return `${WAITING_SIGNED_HERE_MAX} transactions that this gateway signs wait at it`
  }
  return undefined
}

/** A sender over `chain`, whose blocks `tracker` is told of. */
export function createSender(setting: Setting): Sender {
  const { chain } = setting
  const accounts = makeAccounts()
  const underWay = { raw: 0, signedHere: 0 }
  const counted = async <T>(by: keyof typeof underWay, address: Address, work: () => Promise<T>): Promise<T> => {
    const full = fullOf(underWay, by, accounts.underWay(address), address)
    if (full !== undefined) throw new RpcError('mempoolFull', `${full}, try again later`)
    underWay[by] += 1
    try {
      return await work()
    } finally {
      underWay[by] -= 1
    }
  }
  const finish = (account: Account, answer: Turn | Outcome): Promise<Outcome> =>
    'sent' in answer ? settle(setting, account, answer) : Promise.resolve(answer)
  const asIs = async (account: Account, bytes: Uint8Array, nonce: number): Promise<Turn | Outcome> => {
    const sent = await sendBytes(setting, account, bytes)
    if (!('state' in sent)) return sent
    const turn = { sent, nonce }
    note(account, turn)
    return turn
  }
  const inTurn = (
    by: keyof typeof underWay,
    address: Address,
    send: (account: Account) => Promise<Turn | Outcome>,
  ): Promise<Outcome> =>
    counted(by, address, () =>
      accounts.use(address, async (account) =>
        finish(
          account,
          await account.inTurn(async () => {
            await chain.needReady()
            return send(account)
          }),
        ),
      ),
    )
  const submit: Sender['submit'] = (signer, order) =>
    inTurn('signedHere', signer.address, async (account) => {
      if (order.nonce !== undefined) {
        const body = {
          chainId: await chain.chainId(),
          nonce: order.nonce,
          operation: order.operation,
          message: order.message,
        }
        return asIs(account, signer.signTx(body), order.nonce)
      }
      const turn = await sendNext(setting, account, signer, order)
      note(account, turn)
      return turn
    })
  const submitRaw: Sender['submitRaw'] = (bytes) => {
    const send = (chainId: string): Promise<Outcome> => {
      const read = readRawTx(bytes, chainId)
      if ('refused' in read) return Promise.resolve(read)
      return inTurn('raw', addressOf(read.body.from), (account) => asIs(account, bytes, read.body.nonce))
    }
    const chainId = chain.knownChainId()
    return chainId === undefined ? chain.chainId().then(send) : send(chainId)
  }
  return { submit, submitRaw, nextNonce: accounts.nextNonce, underWay: () => underWay.raw + underWay.signedHere }
}
