import { kernelErrors } from '../modules/errors.ts'
import { decodeTx, type Tx, txHash } from '../tx/envelope.ts'
import { isSignedBySender } from '../tx/verify.ts'
import type { Failure } from './result.ts'

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
