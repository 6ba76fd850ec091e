import { isNodeError } from '../comet/errors.ts'
import type { NodeRpc } from '../comet/rpc.ts'
import { BAD_NONCE_CODE, kernelErrors } from '../modules/errors.ts'
import { decodeTx, type Tx, TX_BYTES_MAX, txHash } from '../tx/envelope.ts'
import { decodeNonce } from '../tx/nonceQueue.ts'
import { isSignedBySender } from '../tx/verify.ts'
import { nodeFailure } from './errors.ts'
import type { Failure } from './result.ts'
import type { Tracker, Waiter } from './tracker.ts'

/** A transaction that was refused before it left the gateway. */
export interface RefusedRaw {
  readonly hash: string
  readonly refused: Failure
}

/**
 * Reads a caller's transaction by checks 1 to 3 of protocol.md §2, which need nothing but its bytes and the chain's id.
 * What fails is refused in the chain's words. It reaches neither the node nor a queue, so that nobody can fill them
 * with bytes that cost nothing.
 */
export function readRawTx(bytes: Uint8Array, chainId: string): Tx | RefusedRaw {
  const refuse = ({ code, log }: Failure): RefusedRaw => ({ hash: txHash(bytes), refused: { code, log } })
  const tx = decodeTx(bytes)
  if ('why' in tx) return refuse(kernelErrors.cannotDecode(tx.why))
  if (tx.body.chainId !== chainId) return refuse(kernelErrors.wrongChain(chainId, tx.body.chainId))
  return isSignedBySender(tx) ? tx : refuse(kernelErrors.badSignature)
}

/** Why CheckTx refused a transaction. `expectedNonce`: the nonce that comes next, when it was refused for its own. */
export interface Refusal extends Failure {
  readonly expectedNonce?: number | undefined
}

/**
 * What became of a broadcast. `accepted`: the transaction is in the mempool. `known`: the node has had these bytes
 * before. `unclear`: no answer came in time, and the bytes may have arrived. These three have a waiter, which somebody
 * must end.
 */
export type Broadcast =
  | { readonly state: 'refused'; readonly hash: string; readonly refused: Refusal }
  | { readonly state: 'accepted' | 'known' | 'unclear'; readonly hash: string; readonly waiter: Waiter }

const tooLarge = (bytes: Uint8Array): Failure => {
  const read = decodeTx(bytes)
  const why = 'why' in read ? read.why : `size: the node takes less than ${bytes.length} bytes`
  const { code, log } = kernelErrors.cannotDecode(why)
  return { code, log }
}

/**
 * Sends transaction bytes, and waits for their hash from before they leave. Throws RpcError -32011 or -32013 with
 * `data.hash`. Bytes above TX_BYTES_MAX are refused here in the words of check 1, because the node's mempool may refuse
 * them before it asks CheckTx.
 */
export async function broadcast(rpc: NodeRpc, tracker: Tracker, bytes: Uint8Array): Promise<Broadcast> {
  const hash = txHash(bytes)
  if (bytes.length > TX_BYTES_MAX) return { state: 'refused', hash, refused: tooLarge(bytes) }
  const waiter = tracker.wait(hash)
  try {
    const { code, log, data } = await rpc.broadcastTxSync(bytes)
    if (code === 0) return { state: 'accepted', hash, waiter }
    waiter.cancel()
    const expectedNonce = code === BAD_NONCE_CODE ? decodeNonce(data) : undefined
    return { state: 'refused', hash, refused: { code, log, expectedNonce } }
  } catch (error) {
    if (isNodeError(error, 'TxInCache')) return { state: 'known', hash, waiter }
    if (isNodeError(error, 'NodeTimeout')) return { state: 'unclear', hash, waiter }
    waiter.cancel()
    if (isNodeError(error, 'TxTooLarge')) return { state: 'refused', hash, refused: tooLarge(bytes) }
    throw nodeFailure(error, { hash }) ?? error
  }
}
