import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, addressOf } from '../base/address.ts'
import { BAD_NONCE_CODE } from '../modules/errors.ts'
import { createNonceQueue, type NonceQueue, type Numbered, type Sent } from '../tx/nonceQueue.ts'
import type { Signer } from '../tx/sign.ts'
import { type Broadcast, broadcast, readRawTx, type Refusal } from './broadcast.ts'
import type { Chain } from './chain.ts'
import { RpcError, rpcErrors } from './errors.ts'
import { LOOK_UP_MS, NONCES_KEPT, WAITING_MAX, WAITING_OF_SENDER_MAX, WAITING_SIGNED_HERE_MAX } from './limits.ts'
import type { Inclusion, Tracker } from './tracker.ts'

/** How a transaction ended. `hash`: upper-case hex. */
export type Outcome =
  | { readonly hash: string; readonly refused: Refusal }
  | { readonly hash: string; readonly included: Inclusion }

/**
 * A transaction after CheckTx: refused, or on its way into a block. `outcome` rejects with RpcError -32012 when no block
 * holds the transaction in time.
 */
export type SentTx =
  | { readonly hash: string; readonly refused: Refusal }
  | {
      readonly hash: string
      readonly state: 'accepted' | 'known' | 'unclear'
      readonly outcome: Promise<Outcome>
    }

/** An operation to sign. Without `nonce` it gets the next one of the account. */
export interface Order {
  readonly operation: string
  readonly message: Readonly<Record<string, unknown>>
  readonly nonce: number | undefined
}

/**
 * Sends transactions. The calls of one account are sent in the order in which they come; they wait for their blocks at
 * the same time. Throws RpcError -32011 and -32013, with `data.hash` where bytes were sent.
 */
export interface Sender {
  readonly submit: (signer: Signer, order: Order) => Promise<SentTx>
  readonly submitRaw: (bytes: Uint8Array) => Promise<SentTx>
  /** The nonce after the last one of the account that waits here for its block; 0 when none waits. */
  readonly pendingNonce: (address: Address) => number
  /** How many transactions are signed, sent or waited for now. */
  readonly underWay: () => number
}

interface Setting {
  readonly chain: Chain
  readonly tracker: Tracker
  readonly waitMs: number
}

/** Signs a transaction with a nonce. Raw transactions are signed already, and their nonce is fixed. */
type Sign = (chainId: string, nonce: number) => Uint8Array

/**
 * Waits for the block of what was sent, and asks the node by hash at the end: blocks pass unseen while the feed skips
 * pruned ones.
 */
async function follow(
  { chain, waitMs }: Setting,
  { hash, state, waiter }: Exclude<Broadcast, { state: 'refused' }>,
): Promise<Outcome> {
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
  // A transaction that the node knew may be in a block that has passed.
  const landed = await (state === 'known' ? landedOrFound() : waiter.landed)
  clearTimeout(deadline)
  waiter.cancel()
  const included = landed ?? (await lookUp())
  if (included === undefined) {
    throw new RpcError('notInBlock', `${rpcErrors.notInBlock.message}; ask for it with svc_getTransaction`, { hash })
  }
  return { hash, included }
}

/** The transaction on its way, with its outcome. Whoever asks for the outcome later still gets its rejection. */
function onItsWay(setting: Setting, sent: Exclude<Broadcast, { state: 'refused' }>): Sent<SentTx> {
  const outcome = follow(setting, sent)
  outcome.catch(() => undefined)
  const { state, hash } = sent
  return { state, result: { hash, state, outcome }, ended: () => outcome }
}

/** Signs and sends one transaction. */
async function sendOne(setting: Setting, { tx: sign, nonce, isFixed }: Numbered<Sign>): Promise<Sent<SentTx>> {
  const { chain, tracker } = setting
  await chain.needReady()
  const sent = await broadcast(chain.rpc, tracker, sign(await chain.chainId(), nonce))
  if (sent.state !== 'refused') {
    if (sent.state !== 'known' || isFixed) return onItsWay(setting, sent)
    // It is the transaction of another call, or of another gateway, that says the same with this nonce.
    sent.waiter.cancel()
    return { state: 'taken' }
  }
  const { hash, refused } = sent
  if (refused.code !== BAD_NONCE_CODE) return { state: 'refused', result: { hash, refused } }
  const included = isFixed ? await chain.findTx(hash) : undefined
  // These very bytes are in a block: they are answered with it.
  if (included !== undefined)
    return { state: 'refused', result: { hash, state: 'known', outcome: Promise.resolve({ hash, included }) } }
  return { state: 'badNonce', result: { hash, refused }, expected: refused.expectedNonce }
}

type Queue = NonceQueue<Sign, SentTx>

/** The queues of accounts. Those without a transaction under way are kept for their next nonce, NONCES_KEPT of them. */
function createQueues(createQueue: (address: Address) => Queue) {
  const busy = new Map<Address, { readonly queue: Queue; users: number }>()
  const idle = new Map<Address, Queue>()
  const take = (address: Address): Queue => {
    const known = busy.get(address) ?? { queue: idle.get(address) ?? createQueue(address), users: 0 }
    idle.delete(address)
    busy.set(address, known)
    known.users += 1
    return known.queue
  }
  const giveBack = (address: Address): void => {
    const known = busy.get(address)
    if (known === undefined || --known.users > 0) return
    busy.delete(address)
    idle.set(address, known.queue)
    const [oldest] = idle.keys()
    if (idle.size > NONCES_KEPT && oldest !== undefined) idle.delete(oldest)
  }
  return {
    take,
    giveBack,
    usersOf: (address: Address) => busy.get(address)?.users ?? 0,
    pendingNonce: (address: Address) => busy.get(address)?.queue.pendingNonce() ?? 0,
  }
}

/** Who signs: the gateway, or the caller. */
type SignedBy = 'raw' | 'signedHere'

/** Which limit one more transaction would pass; undefined when there is room. */
function fullOf(
  { raw, signedHere }: Readonly<Record<SignedBy, number>>,
  by: SignedBy,
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

/** Creates the sender of a gateway. `tracker` must be told of the blocks of `chain`. */
export function createSender(setting: Setting): Sender {
  const { chain } = setting
  const underWay: Record<SignedBy, number> = { raw: 0, signedHere: 0 }
  const queues = createQueues((address) =>
    createNonceQueue<Sign, SentTx>({
      readNonce: async () => (await chain.account(address)).nonce,
      send: async ([only]) => [await sendOne(setting, only as Numbered<Sign>)],
      batchMax: 1,
    }),
  )

  /** Sends in the account's turn. The transaction counts against the limits until it has ended. */
  const sendCounted = async (by: SignedBy, address: Address, sign: Sign, nonce?: number): Promise<SentTx> => {
    const full = fullOf(underWay, by, queues.usersOf(address), address)
    if (full !== undefined) throw new RpcError('mempoolFull', `${full}, try again later`)
    underWay[by] += 1
    const release = (): void => {
      underWay[by] -= 1
      queues.giveBack(address)
    }
    try {
      const sent = await queues.take(address).submit(sign, { nonce })
      if ('refused' in sent) release()
      else sent.outcome.then(release, release)
      return sent
    } catch (error) {
      release()
      throw error
    }
  }

  const submit: Sender['submit'] = (signer, { operation, message, nonce: given }) =>
    sendCounted(
      'signedHere',
      signer.address,
      (chainId, nonce) => signer.signTx({ chainId, nonce, operation, message }),
      given,
    )

  const submitRaw: Sender['submitRaw'] = (bytes) => {
    const send = async (chainId: string): Promise<SentTx> => {
      const tx = readRawTx(bytes, chainId)
      return 'refused' in tx ? tx : sendCounted('raw', addressOf(tx.body.from), () => bytes, tx.body.nonce)
    }
    // Once the chain is known, calls enter their queue in the order in which they came.
    const chainId = chain.knownChainId()
    return chainId === undefined ? chain.chainId().then(send) : send(chainId)
  }

  return {
    submit,
    submitRaw,
    pendingNonce: queues.pendingNonce,
    underWay: () => underWay.raw + underWay.signedHere,
  }
}
