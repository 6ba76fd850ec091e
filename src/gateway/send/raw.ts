import QuickLRU from 'quick-lru'
import { kernelErrors } from '../../modules/errors.ts'
import { decodeTx, type Tx, txHash } from '../../tx/envelope.ts'
import { isInNoBlock } from '../../tx/nonceQueue.ts'
import { isSignedBySender } from '../../modules/isSignedBySender.ts'
import { type Address, addressOf } from '../../values/address.ts'
import { NONCES_KEPT } from '../http/limits.ts'
import { fewAtATime } from '../fewAtATime.ts'
import { broadcast, findSent, inBlock, type Refusal, type Refused, type SentTx, type Setting } from './broadcast.ts'
import type { Follower } from './follow.ts'

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

/**
 * Creates the sender of transactions that callers have signed. They go to the node as they come, those of one account one
 * after the other. The same bytes never execute twice: what waits here is not sent again, and what has a nonce that is
 * used up is looked up first. It waits for no other, so strangers who send somebody's old transactions again do not
 * keep that account from sending.
 */
export function createRawSender(setting: Setting, follower: Follower) {
  const { chain } = setting
  const inTurn = fewAtATime(1)
  /** The nonces that come next, as the node last said. */
  const nextNonces = new QuickLRU<Address, number>({ maxSize: NONCES_KEPT })

  /** Returns what waits here for these bytes already. */
  const again = (hash: string): SentTx | undefined => {
    const same = follower.get(hash)
    return same?.state === 'accepted' ? { ...same, state: 'known' } : same
  }
  const send = async (bytes: Uint8Array, hash: string, { nonce, from }: Tx['body']): Promise<SentTx> => {
    const same = again(hash)
    if (same !== undefined) return same
    follower.needRoom()
    await chain.needReady()
    const sent = await broadcast(setting, bytes)
    const address = addressOf(from)
    const next = 'refused' in sent ? sent.refused.expectedNonce : sent.state === 'accepted' ? nonce + 1 : undefined
    if (next !== undefined) nextNonces.set(address, next)
    return 'refused' in sent ? sent : follower.follow(sent, { address, nonce, bytes })
  }

  return async (bytes: Uint8Array): Promise<SentTx> => {
    const hash = txHash(bytes)
    const same = again(hash)
    if (same !== undefined) return same
    const tx = readRawTx(bytes, await chain.chainId())
    if ('refused' in tx) return tx
    const { body } = tx
    const address = addressOf(body.from)
    const isOld = (): boolean => body.nonce < (nextNonces.get(address) ?? 0)
    const sendNew = async (): Promise<SentTx | undefined> => {
      if (!nextNonces.has(address)) {
        await chain.needReady()
        nextNonces.set(address, (await chain.account(address)).nonce)
      }
      return isOld() ? undefined : send(bytes, hash, body)
    }
    const sent = isOld() ? undefined : await inTurn(address, sendNew)
    const { code, expectedNonce } = sent !== undefined && 'refused' in sent ? sent.refused : {}
    if (sent !== undefined && (code === undefined || isInNoBlock(code, expectedNonce, body.nonce))) return sent
    const found = await findSent(chain.forCallers, hash)
    return found === undefined ? (sent ?? send(bytes, hash, body)) : inBlock(hash, found)
  }
}
