import QuickLRU from 'quick-lru'
import { type Address, addressOf } from '../../values/address.ts'
import { fromUtf8 } from '../../base/bytes.ts'
import { isNodeError } from '../../comet/errors.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { decodeTx, type Tx, TX_BYTES_MAX, txHash } from '../../tx/envelope.ts'
import {
  BAD_NONCE_CODE,
  createNonceQueue,
  decodeNonce,
  isInNoBlock,
  type NonceQueue,
  type Numbered,
  REBROADCAST_MS,
  type Sent,
} from '../../tx/nonceQueue.ts'
import type { PendingTx, Signer } from '../../tx/sign.ts'
import type { Shortfall } from '../../base/txError.ts'
import { decodeShortfall } from '../../tx/shortfall.ts'
import { isSignedBySender } from '../../tx/verify.ts'
import type { Chain } from '../chain.ts'
import { nodeFailure, RpcError, rpcErrors } from '../rpc/errors.ts'
import {
  LOOK_UP_MS,
  NONCES_KEPT,
  SHORTFALLS_KEPT,
  WAITING_AGAIN_MAX,
  WAITING_MAX,
  WAITING_OF_SENDER_MAX,
  WAITING_SIGNED_HERE_MAX,
} from '../http/limits.ts'
import type { Inclusion, Tracker, Waiter } from './tracker.ts'

/** Why a transaction was refused. `expectedNonce`: the nonce that comes next, when it was refused for its own. */
export interface Refusal {
  readonly code: number
  readonly log: string
  readonly expectedNonce?: number | undefined
}

/** A transaction that this gateway or CheckTx has refused. `hash`: upper-case hex. */
interface Refused {
  readonly hash: string
  readonly refused: Refusal
  /** The node may have had the same bytes before, because the connection to it broke. */
  readonly isResent?: boolean
}

/** How a transaction ended. */
export type Outcome = Refused | { readonly hash: string; readonly included: Inclusion }

/**
 * A transaction that was sent. `accepted`: it is in the mempool. `known`: the node has had these bytes before. `unclear`:
 * no answer came in time, and the bytes may have arrived.
 */
interface OnItsWay {
  readonly hash: string
  readonly state: 'accepted' | 'known' | 'unclear'
}

/**
 * A transaction after CheckTx: refused, or on its way into a block. `outcome` rejects with RpcError -32012 when no block
 * holds the transaction in time.
 */
export type SentTx = Refused | (OnItsWay & { readonly outcome: Promise<Outcome> })

/** The same before anybody waits for its block. Whoever gets a `waiter` must end it. */
type Broadcast = OnItsWay & { readonly waiter: Waiter }

interface Setting {
  readonly chain: Chain
  readonly tracker: Tracker
  readonly waitMs: number
  /** What balances lacked, by the hash of the transaction that CheckTx refused for it. */
  readonly shortfalls: QuickLRU<string, Shortfall>
}

/**
 * Reads a caller's transaction by checks 1 to 3 of protocol.md §2, which need nothing but its bytes and the chain's id.
 * What fails is refused in the chain's words. It reaches neither the node nor a queue, so that nobody can fill them
 * with bytes that cost nothing.
 */
function readRawTx(bytes: Uint8Array, chainId: string): Tx | Refused {
  const refuse = (refused: Refusal): Refused => ({ hash: txHash(bytes), refused })
  const tx = decodeTx(bytes)
  if ('why' in tx) return refuse(kernelErrors.cannotDecode(tx.why))
  if (tx.body.chainId !== chainId) return refuse(kernelErrors.wrongChain(chainId, tx.body.chainId))
  return isSignedBySender(tx) ? tx : refuse(kernelErrors.badSignature)
}

const tooLarge = (bytes: Uint8Array): Refusal => {
  const read = decodeTx(bytes)
  return kernelErrors.cannotDecode('why' in read ? read.why : `size: the node takes less than ${bytes.length} bytes`)
}

/**
 * Sends transaction bytes, and waits for their hash from before they leave. Throws RpcError -32011 or -32013 with
 * `data.hash`. Bytes above TX_BYTES_MAX are refused here in the words of check 1, because the node's mempool may refuse
 * them before it asks CheckTx.
 */
async function broadcast({ chain, tracker, shortfalls }: Setting, bytes: Uint8Array): Promise<Refused | Broadcast> {
  const hash = txHash(bytes)
  if (bytes.length > TX_BYTES_MAX) return { hash, refused: tooLarge(bytes) }
  const waiter = tracker.wait(hash)
  try {
    const { code, log, data, isResent } = await chain.rpc.broadcastTxSync(bytes)
    if (code === 0) return { state: 'accepted', hash, waiter }
    waiter.cancel()
    const expectedNonce = code === BAD_NONCE_CODE ? decodeNonce(data) : undefined
    const shortfall = decodeShortfall(fromUtf8(data) ?? '')
    if (shortfall !== undefined) shortfalls.set(hash, shortfall)
    return { hash, refused: { code, log, expectedNonce }, isResent }
  } catch (error) {
    if (isNodeError(error, 'TxInCache')) return { state: 'known', hash, waiter }
    if (isNodeError(error, 'NodeTimeout')) return { state: 'unclear', hash, waiter }
    waiter.cancel()
    if (isNodeError(error, 'TxTooLarge')) return { hash, refused: tooLarge(bytes) }
    throw nodeFailure(error, { hash }) ?? error
  }
}

/**
 * Pauses that end all at once. `hasSlept` resolves with false for one that was cut short.
 *
 * PERF: an AbortSignal makes two errors for each pause. Without it a gateway takes 0.92 of the CPU for a transaction.
 */
function createPauses() {
  const running = new Map<NodeJS.Timeout, (hasSlept: boolean) => void>()
  let isOver = false
  return {
    hasSlept: (ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        if (isOver) return resolve(false)
        const timer = setTimeout(() => {
          running.delete(timer)
          resolve(true)
        }, ms).unref()
        running.set(timer, resolve)
      }),
    endAll: () => {
      isOver = true
      for (const [timer, resolve] of running) {
        clearTimeout(timer)
        resolve(false)
      }
    },
  }
}

/**
 * Waits for the block of what was sent, and looks it up by its hash at the end, because the feed skips blocks that were
 * pruned. The mempool drops silently what a block has made invalid, so the bytes are rebroadcast.
 */
async function follow(
  setting: Setting,
  { hash, state, waiter }: Broadcast,
  { bytes, nonce }: { readonly bytes: Uint8Array; readonly nonce: number },
): Promise<Outcome> {
  const { chain, waitMs } = setting
  const deadline = setTimeout(waiter.cancel, waitMs)
  const { hasSlept, endAll } = createPauses()
  const found = (included: Inclusion | undefined): Outcome | undefined => included && { hash, included }
  const lookUp = (): Promise<Outcome | undefined> => chain.findTx(hash).then(found, () => undefined)
  const lookUpOften = async (): Promise<Outcome | undefined> => {
    do {
      const outcome = await lookUp()
      if (outcome !== undefined) return outcome
    } while (await hasSlept(LOOK_UP_MS))
    return undefined
  }
  const rebroadcast = async (): Promise<Outcome | undefined> => {
    for (let pauseMs = REBROADCAST_MS; await hasSlept(pauseMs); pauseMs *= 2) {
      const again = await broadcast(setting, bytes).catch(() => undefined)
      if (again === undefined) continue
      if ('waiter' in again) again.waiter.cancel()
      else if (isInNoBlock(again.refused.code, again.refused.expectedNonce, nonce)) return again
    }
    return undefined
  }
  const ends = [waiter.included.then(found), rebroadcast()]
  // A transaction that the node knew may be in a block that has passed.
  if (state === 'known') ends.push(lookUpOften())
  const first = await Promise.race(ends)
  endAll()
  clearTimeout(deadline)
  waiter.cancel()
  const outcome = first ?? (await lookUp())
  if (outcome === undefined) {
    throw new RpcError('notInBlock', `${rpcErrors.notInBlock.message}; ask for it with svc_getTransaction`, { hash })
  }
  return outcome
}

/** Resolves once a block holds the transaction. Rejects when none does, and its nonce is free again. */
async function included(outcome: Promise<Outcome>): Promise<void> {
  if ('refused' in (await outcome)) throw new Error('the mempool has dropped the transaction')
}

/** Signs a transaction with a nonce. Raw transactions are signed already, and their nonce is fixed. */
type Sign = (chainId: string, nonce: number) => Uint8Array

/** Looks up what was sent. Throws RpcError -32011 with `data.hash` when the node does not say. */
const findSent = (chain: Pick<Chain, 'findTx'>, hash: string): Promise<Inclusion | undefined> =>
  chain.findTx(hash).catch((error: unknown) => {
    throw nodeFailure(error, { hash }) ?? error
  })

/** What is answered to bytes that are in a block. */
const inBlock = (hash: string, included: Inclusion): SentTx => ({
  hash,
  state: 'known',
  outcome: Promise.resolve({ hash, included }),
})

/** Signs and sends one transaction. */
async function sendOne(setting: Setting, { tx: sign, nonce, isFixed }: Numbered<Sign>): Promise<Sent<SentTx>> {
  const { chain } = setting
  await chain.needReady()
  const bytes = sign(await chain.chainId(), nonce)
  const sent = await broadcast(setting, bytes)
  const { hash } = sent
  if ('refused' in sent) {
    const { code, expectedNonce } = sent.refused
    if (code !== BAD_NONCE_CODE) return { state: 'refused', result: sent }
    const mayBeSent = isFixed || sent.isResent === true
    const found = mayBeSent ? await findSent(chain, hash) : undefined
    if (found === undefined) {
      // What has used the nonce up may be the same bytes: signed again, they would be a second transaction.
      if (mayBeSent && !isFixed) throw new RpcError('nodeAway', 'the connection to the node broke', { hash })
      return { state: 'badNonce', result: sent, expected: expectedNonce }
    }
    return { state: 'refused', result: inBlock(hash, found), expected: expectedNonce }
  }
  const { state, waiter } = sent
  if (state === 'known' && !isFixed) {
    // It is the transaction of another call, or of another gateway, that says the same with this nonce.
    waiter.cancel()
    return { state: 'taken' }
  }
  const outcome = follow(setting, sent, { bytes, nonce })
  // Whoever asks for the outcome later still gets its rejection.
  outcome.catch(() => undefined)
  return { state, result: { hash, state, outcome }, ended: () => included(outcome) }
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
    nextNonce: (address: Address) => (busy.get(address)?.queue ?? idle.get(address))?.nextNonce(),
  }
}

/** Who signs: the gateway, or the caller; `again`: bytes of a caller's that wait here already. */
type Place = 'raw' | 'signedHere' | 'again'

/** Returns which limit one more transaction would exceed; undefined when there is room. */
function fullOf({ raw, signedHere, again }: Readonly<Record<Place, number>>, place: Place): string | undefined {
  if (place === 'again') {
    return again < WAITING_AGAIN_MAX
      ? undefined
      : `${WAITING_AGAIN_MAX} calls that send waiting transactions again wait at this gateway`
  }
  if (raw + signedHere >= WAITING_MAX) return `${WAITING_MAX} transactions wait at this gateway`
  if (place === 'signedHere' && signedHere >= WAITING_SIGNED_HERE_MAX) {
    return `${WAITING_SIGNED_HERE_MAX} transactions that this gateway signs wait at it`
  }
  return undefined
}

const mempoolFull = (why: string, data?: unknown): RpcError =>
  new RpcError('mempoolFull', `${why}, try again later`, data)

/** Calls `release` once the transaction has ended or could not be sent. */
async function releasing(sending: Promise<SentTx>, release: () => void): Promise<SentTx> {
  try {
    const sent = await sending
    if ('refused' in sent) release()
    else sent.outcome.then(release, release)
    return sent
  } catch (error) {
    release()
    throw error
  }
}

/** Sends transactions. */
export type Sender = ReturnType<typeof createSender>

/**
 * Creates the sender of a gateway. The transactions of one account are sent in the order of the calls, and wait for their
 * blocks at the same time. `tracker` must be told of the blocks of `chain`. Sending throws RpcError -32011 and -32013, with
 * `data.hash` where bytes were sent.
 */
export function createSender(given: Omit<Setting, 'shortfalls'>) {
  const { chain } = given
  const shortfalls = new QuickLRU<string, Shortfall>({ maxSize: SHORTFALLS_KEPT })
  const setting: Setting = { ...given, shortfalls }
  const underWay: Record<Place, number> = { raw: 0, signedHere: 0, again: 0 }
  const queues = createQueues((address) =>
    createNonceQueue<Sign, SentTx>({
      readNonce: async () => {
        await chain.needReady()
        return (await chain.account(address)).nonce
      },
      send: async ([only]) => [await sendOne(setting, only as Numbered<Sign>)],
      batchMax: 1,
      // The node is the gateway's own, and need not be doubted.
      noncesMax: Number.POSITIVE_INFINITY,
    }),
  )
  /** What callers have signed and waits here, by its hash. */
  const rawByHash = new Map<string, Promise<SentTx>>()
  /** The first raw transactions of accounts whose next nonce is not known, until the node has answered them. */
  const firstByAddress = new Map<Address, Promise<unknown>>()

  /** Counts a call against the limits until its transaction has ended. `data` goes into the error beyond them. */
  const counted = async (place: Place, send: () => Promise<SentTx>, data?: unknown): Promise<SentTx> => {
    const full = fullOf(underWay, place)
    if (full !== undefined) throw mempoolFull(full, data)
    underWay[place] += 1
    return releasing(send(), () => {
      underWay[place] -= 1
    })
  }

  /** Sends in the account's turn. */
  const sendInTurn = async (address: Address, sign: Sign, nonce?: number): Promise<SentTx> => {
    if (queues.usersOf(address) >= WAITING_OF_SENDER_MAX)
      throw mempoolFull(`${WAITING_OF_SENDER_MAX} transactions of ${address} wait at this gateway`)
    return releasing(queues.take(address).submit(sign, { nonce }), () => queues.giveBack(address))
  }

  /**
   * Sends a raw transaction. One whose nonce has passed is looked up beside the account's queue, which strangers could
   * fill otherwise: anybody can send the bytes of blocks again.
   */
  const sendRaw = async (bytes: Uint8Array, { body }: Tx): Promise<SentTx> => {
    const [address, { nonce }] = [addressOf(body.from), body]
    let next = queues.nextNonce(address)
    for (let first = firstByAddress.get(address); next === undefined && first !== undefined; ) {
      await first
      next = queues.nextNonce(address)
      first = firstByAddress.get(address)
    }
    if (next !== undefined && nonce < next) {
      const hash = txHash(bytes)
      const found = await findSent(chain.forCallers, hash)
      if (found !== undefined) return inBlock(hash, found)
    }
    const sending = sendInTurn(address, () => bytes, nonce)
    if (next === undefined) {
      const forget = (): unknown => firstByAddress.delete(address)
      firstByAddress.set(address, sending.then(forget, forget))
    }
    return sending
  }

  /** Waits for what another call has sent. */
  const waitWith = async (first: Promise<SentTx>): Promise<SentTx> => {
    const sent = await first
    return 'refused' in sent || sent.state !== 'accepted' ? sent : { ...sent, state: 'known' }
  }

  return {
    /** Signs and sends a transaction. */
    submit: (signer: Signer, { operation, message, nonce: given }: PendingTx): Promise<SentTx> => {
      const sign: Sign = (chainId, nonce) => signer.signTx({ chainId, nonce, operation, message })
      return counted('signedHere', () => sendInTurn(signer.address, sign, given))
    },
    /** Sends what the caller has signed. */
    submitRaw: (bytes: Uint8Array): Promise<SentTx> => {
      const hash = txHash(bytes)
      const first = rawByHash.get(hash)
      if (first !== undefined) return counted('again', () => waitWith(first), { hash })
      const send = async (chainId: string): Promise<SentTx> => {
        const tx = readRawTx(bytes, chainId)
        return 'refused' in tx ? tx : counted('raw', () => sendRaw(bytes, tx))
      }
      // Once the chain is known, calls enter their queue in the order in which they came.
      const chainId = chain.knownChainId()
      const sending = chainId === undefined ? chain.chainId().then(send) : send(chainId)
      rawByHash.set(hash, sending)
      return releasing(sending, () => rawByHash.delete(hash))
    },
    /** Returns the nonce after the last one of the account that waits here for its block; 0 when none waits. */
    pendingNonce: queues.pendingNonce,
    /** Returns what a balance lacked for one of the last transactions that were refused here for that. */
    shortfallOf: (hash: string): Shortfall | undefined => shortfalls.get(hash),
    /** How many transactions are signed, sent or waited for now. */
    underWay: (): number => underWay.raw + underWay.signedHere + underWay.again,
  }
}
