import { isNodeError } from '../comet/errors.ts'
import type { NodeRpc } from '../comet/rpc.ts'
import { kernelErrors } from '../modules/errors.ts'
import { decodeTx, type Tx, TX_BYTES_MAX, txHash } from '../tx/envelope.ts'
import { isSignedBySender } from '../tx/verify.ts'
import { nodeFailure } from './errors.ts'
import type { Failure } from './result.ts'
import type { Tracker, Waiter } from './tracker.ts'

/** A transaction that needs no node to be refused. */
export interface RefusedRaw {
  readonly hash: string
  readonly refused: Failure
}

/**
 * Reads a caller's transaction by checks 1 to 3 of protocol.md §2, which need nothing but its bytes and the chain's id.
 * What fails is refused in the chain's words and reaches neither the node nor a queue, so that nobody can fill them
 * with bytes that cost nothing.
 */
export function readRawTx(bytes: Uint8Array, chainId: string): Tx | RefusedRaw {
  const refuse = ({ code, log }: Failure): RefusedRaw => ({ hash: txHash(bytes), refused: { code, log } })
  const tx = decodeTx(bytes)
  if ('why' in tx) return refuse(kernelErrors.cannotDecode(tx.why))
  if (tx.body.chainId !== chainId) return refuse(kernelErrors.wrongChain(chainId, tx.body.chainId))
  return isSignedBySender(tx) ? tx : refuse(kernelErrors.badSignature)
}

/**
 * What became of a broadcast. `accepted`: in the mempool. `known`: the node has had these bytes already. `unclear`: no
 * answer in time; the bytes may have arrived. All three have a waiter that somebody must end.
 */
export type Sent =
  | { readonly state: 'refused'; readonly hash: string; readonly failure: Failure }
  | { readonly state: 'accepted' | 'known' | 'unclear'; readonly hash: string; readonly waiter: Waiter }

const tooLarge = (bytes: Uint8Array): Failure => {
  const read = decodeTx(bytes)
  const why = 'why' in read ? read.why : `size: the node takes less than ${bytes.length} bytes`
  const { code, log } = kernelErrors.cannotDecode(why)
  return { code, log }
}

/**
 * Sends transaction bytes; their hash is waited for before they leave. Throws RpcError -32011 or -32013 with
 * `data.hash`. Bytes above TX_BYTES_MAX are refused in the words of check 1, as the node's mempool may refuse them
 * before CheckTx is asked.
 */
export async function broadcast(rpc: NodeRpc, tracker: Tracker, bytes: Uint8Array): Promise<Sent> {
  const hash = txHash(bytes)
  if (bytes.length > TX_BYTES_MAX) return { state: 'refused', hash, failure: tooLarge(bytes) }
  const waiter = tracker.wait(hash)
  try {
    const { code, log } = await rpc.broadcastTxSync(bytes)
    if (code === 0) return { state: 'accepted', hash, waiter }
    waiter.cancel()
    return { state: 'refused', hash, failure: { code, log } }
  } catch (error) {
    if (isNodeError(error, 'TxInCache')) return { state: 'known', hash, waiter }
    if (isNodeError(error, 'NodeTimeout')) return { state: 'unclear', hash, waiter }
    waiter.cancel()
    if (isNodeError(error, 'TxTooLarge')) return { state: 'refused', hash, failure: tooLarge(bytes) }
    throw nodeFailure(error, { hash }) ?? error
  }
}

const BAD_NONCE_CODE = 6

/**
 * The nonce that the chain expects, when it refused a transaction for its nonce. The log is frozen: protocol.md §2,
 * check 4.
 */
export function expectedNonce(sent: Sent): number | undefined {
  if (sent.state !== 'refused' || sent.failure.code !== BAD_NONCE_CODE) return undefined
  const expected = /^bad nonce: expected ([0-9]{1,16}), got [0-9]+$/.exec(sent.failure.log)?.[1]
  return expected === undefined ? undefined : Number(expected)
}
