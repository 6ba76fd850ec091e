import type QuickLRU from 'quick-lru'
import { fromUtf8 } from '../../base/bytes.ts'
import type { Shortfall } from '../../base/txError.ts'
import { isNodeError } from '../../comet/errors.ts'
import { kernelErrors } from '../../modules/errors.ts'
import { decodeTx, TX_BYTES_MAX, txHash } from '../../tx/envelope.ts'
import { BAD_NONCE_CODE, decodeNonce } from '../../tx/nonceQueue.ts'
import { decodeShortfall } from '../../tx/shortfall.ts'
import type { Chain } from '../chain.ts'
import { nodeFailure } from '../rpc/errors.ts'
import type { Inclusion, Tracker, Waiter } from './tracker.ts'

/** Why a transaction was refused. `expectedNonce`: the nonce that comes next, when it was refused for its own. */
export interface Refusal {
  readonly code: number
  readonly log: string
  readonly expectedNonce?: number | undefined
}

/** A transaction that this gateway or CheckTx has refused. `hash`: upper-case hex. */
export interface Refused {
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
export interface OnItsWay {
  readonly hash: string
  readonly state: 'accepted' | 'known' | 'unclear'
}

/**
 * A transaction after CheckTx: refused, or on its way into a block. `outcome` rejects with RpcError -32012 when no block
 * holds the transaction in time.
 */
export type SentTx = Refused | (OnItsWay & { readonly outcome: Promise<Outcome> })

/** A transaction that was sent, before anybody waits for its block. Whoever gets a `waiter` must end it. */
export type Broadcast = OnItsWay & { readonly waiter: Waiter }

/** What sending needs. */
export interface Setting {
  readonly chain: Chain
  readonly tracker: Tracker
  readonly waitMs: number
  /** What balances lacked, by the hash of the transaction that CheckTx refused for it. */
  readonly shortfalls: QuickLRU<string, Shortfall>
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
export async function broadcast(
  { chain, tracker, shortfalls }: Setting,
  bytes: Uint8Array,
): Promise<Refused | Broadcast> {
  const hash = txHash(bytes)
  if (bytes.length > TX_BYTES_MAX) return { hash, refused: tooLarge(bytes) }
  const waiter = tracker.wait(hash)
  try {
    const { code, log, data, isResent } = await chain.rpc.broadcastTxSync(bytes)
    if (code === 0) {
      // What was refused before may be good now.
      shortfalls.delete(hash)
      return { state: 'accepted', hash, waiter }
    }
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

/** Looks up what was sent. Throws RpcError -32011 with `data.hash` when the node does not say. */
export const findSent = (chain: Pick<Chain, 'findTx'>, hash: string): Promise<Inclusion | undefined> =>
  chain.findTx(hash).catch((error: unknown) => {
    throw nodeFailure(error, { hash }) ?? error
  })

/** What is answered to bytes that are in a block. */
export const inBlock = (hash: string, included: Inclusion): SentTx => ({
  hash,
  state: 'known',
  outcome: Promise.resolve({ hash, included }),
})
