import QuickLRU from 'quick-lru'
import { kernelErrors } from '../../modules/errors.ts'
import { decodeTx, type Tx, txHash } from '../../tx/envelope.ts'
import { isInNoBlock } from '../../tx/nonceQueue.ts'
import { isSignedBySender } from '../../modules/isSignedBySender.ts'
import { type Address, addressOf } from '../../values/address.ts'
import { NONCES_KEPT } from '../http/limits.ts'
import {
  broadcast,
  findSent,
  follow,
  inBlock,
  type OnItsWay,
  type Outcome,
  type Refusal,
  type Refused,
  type SentTx,
  type Setting,
} from './broadcast.ts'
import { type Places, releasing } from './places.ts'

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

/** Runs what has the same key one after the other, in the order of the calls. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(run, run)
    const end = (): unknown => last.get(key) === turn && last.delete(key)
    last.set(key, turn)
    turn.then(end, end)
    return turn
  }
}

/** A transaction that the node has taken and that waits for its block. */
interface Waiting extends OnItsWay {
  readonly nonce: number
  readonly outcome: Promise<Outcome>
}

/**
 * Creates the sender of transactions that callers have signed. They go to the node as they come, those of one account one
 * after the other. The same bytes never execute twice: what waits here is not sent again, and what is refused because
 * its nonce is used up is looked up. Only what the node has taken counts for its sender, so strangers who send somebody's
 * old transactions again take no place of that account.
 */
export function createRawSender(setting: Setting, places: Places) {
  const { chain } = setting
  const inTurn = createTurns()
  const waiting = new Map<Address, Map<string, Waiting>>()
  /** What the node last said of accounts: a transaction whose nonce has passed need not wait for others. */
  const nextNonces = new QuickLRU<Address, number>({ maxSize: NONCES_KEPT })

  const keep = (address: Address, one: Waiting): Waiting => {
    const own = waiting.get(address) ?? new Map<string, Waiting>()
    waiting.set(address, own.set(one.hash, one))
    const leave = places.countSender(address)
    const forget = (): void => {
      leave()
      if (own.get(one.hash) === one) own.delete(one.hash)
      if (own.size === 0 && waiting.get(address) === own) waiting.delete(address)
    }
    one.outcome.then(forget, forget)
    return one
  }

  /** Gives a transaction to the node. */
  const pass = async (bytes: Uint8Array, { nonce }: Tx['body'], address: Address): Promise<Refused | Waiting> => {
    places.needRoom(address)
    await chain.needReady()
    const sent = await broadcast(setting, bytes)
    const next = 'refused' in sent ? sent.refused.expectedNonce : sent.state === 'accepted' ? nonce + 1 : undefined
    if (next !== undefined) nextNonces.set(address, next)
    if ('refused' in sent) return sent
    const { hash, state } = sent
    return keep(address, { hash, state, nonce, outcome: follow(setting, sent, { bytes, nonce }) })
  }

  /** Waits with another call for what it has sent. */
  const waitWith = (one: Waiting): Promise<SentTx> => {
    const leave = places.enter('again', { hash: one.hash })
    return releasing(Promise.resolve({ ...one, state: one.state === 'accepted' ? 'known' : one.state }), leave)
  }

  return {
    /** Sends what a caller has signed. */
    submit: async (bytes: Uint8Array): Promise<SentTx> => {
      // Once the chain is known, calls come to their turn in the order in which they came.
      const tx = readRawTx(bytes, chain.knownChainId() ?? (await chain.chainId()))
      if ('refused' in tx) return tx
      const [address, hash, leave] = [addressOf(tx.body.from), txHash(bytes), places.enter('raw')]
      const send = async (): Promise<SentTx> => {
        const first = waiting.get(address)?.get(hash)
        if (first === undefined) return releasing(pass(bytes, tx.body, address), leave)
        leave()
        return waitWith(first)
      }
      const sent = await (tx.body.nonce < (nextNonces.get(address) ?? 0) ? send() : inTurn(address, send))
      if (!('refused' in sent) || isInNoBlock(sent.refused.code, sent.refused.expectedNonce, tx.body.nonce)) return sent
      const found = await findSent(chain.forCallers, hash)
      return found === undefined ? sent : inBlock(hash, found)
    },
    /** Returns the nonce after the last one of the account that waits; 0 when none waits. */
    pendingNonce: (address: Address): number =>
      [...(waiting.get(address)?.values() ?? [])].reduce((next, { nonce }) => Math.max(next, nonce + 1), 0),
  }
}
