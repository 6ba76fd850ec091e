import QuickLRU from 'quick-lru'
import type { Shortfall } from '../../base/txError.ts'
import { BAD_NONCE_CODE, createNonceQueue, type NonceQueue, type Numbered, type Sent } from '../../tx/nonceQueue.ts'
import type { PendingTx, Signer } from '../../tx/sign.ts'
import type { Address } from '../../values/address.ts'
import { SHORTFALLS_KEPT } from '../http/limits.ts'
import { RpcError } from '../rpc/errors.ts'
import { broadcast, findSent, inBlock, type Outcome, type SentTx, type Setting } from './broadcast.ts'
import { createFollower, type Follower } from './follow.ts'
import { createRawSender } from './raw.ts'

/** Resolves once a block holds the transaction. Rejects when none does, and its nonce is free again. */
async function included(outcome: Promise<Outcome>): Promise<void> {
  if ('refused' in (await outcome)) throw new Error('the mempool has dropped the transaction')
}

/** What an account of this gateway sends. */
interface Unsigned extends Omit<PendingTx, 'nonce'> {
  readonly signer: Signer
}

async function sendOne(
  setting: Setting,
  follower: Follower,
  { tx: { signer, operation, message }, nonce, isFixed }: Numbered<Unsigned>,
): Promise<Sent<SentTx>> {
  const { chain } = setting
  await chain.needReady()
  const bytes = signer.signTx({ chainId: await chain.chainId(), nonce, operation, message })
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
  const result = follower.follow(sent, { address: signer.address, nonce, bytes })
  // Whoever asks for the outcome later still gets its rejection.
  result.outcome.catch(() => undefined)
  return { state, result, ended: () => included(result.outcome) }
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
  const follower = createFollower(setting)
  const sendRaw = createRawSender(setting, follower)
  let underWay = 0
  /** Counts a call until its transaction has ended. */
  const count = (sending: Promise<SentTx>): Promise<SentTx> => {
    underWay += 1
    const end = (): unknown => (underWay -= 1)
    sending.then((sent) => ('refused' in sent ? sent : sent.outcome)).then(end, end)
    return sending
  }
  /** The nonce queues of the accounts that this gateway signs for. */
  const queues = new Map<Address, NonceQueue<Unsigned, SentTx>>()
  const createQueue = (address: Address): NonceQueue<Unsigned, SentTx> => {
    const queue = createNonceQueue<Unsigned, SentTx>({
      readNonce: async () => {
        await chain.needReady()
        return (await chain.account(address)).nonce
      },
      send: async ([only]) => [await sendOne(setting, follower, only as Numbered<Unsigned>)],
      batchMax: 1,
      // The node is the gateway's own, and need not be doubted.
      noncesMax: Number.POSITIVE_INFINITY,
    })
    queues.set(address, queue)
    return queue
  }
  return {
    submit: async (signer: Signer, { nonce, ...tx }: PendingTx): Promise<SentTx> => {
      follower.needRoom()
      const queue = queues.get(signer.address) ?? createQueue(signer.address)
      return count(queue.submit({ signer, ...tx }, { nonce }))
    },
    submitRaw: (bytes: Uint8Array): Promise<SentTx> => count(sendRaw(bytes)),
    pendingNonce: follower.nextNonce,
    /** Returns what a balance lacked for one of the last transactions that were refused here for that. */
    shortfallOf: (hash: string): Shortfall | undefined => shortfalls.get(hash),
    /** How many calls have their transactions signed, sent or waited for now. */
    underWay: (): number => underWay,
  }
}
