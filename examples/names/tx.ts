/** A transaction: 64 bytes of signature, 32 bytes of the signer's public key, and the JSON text that is signed. */
import { createHash } from 'node:crypto'
import { getPublicKey, hashes, sign, verify } from '@noble/ed25519'

hashes.sha512 = (bytes) => new Uint8Array(createHash('sha512').update(bytes).digest())

/** What is signed. `to`: the public key of the new owner, in hex; empty to release a name. */
export type Action = 'register' | 'transfer' | 'release'
export type Body = { chainId: string; nonce: number; action: Action; name: string; to: string }
export type Tx = Body & { sender: string }

const TX_BYTES_MAX = 1000
const matches = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value)
export const isName = (value: unknown) => matches(value, /^[a-z0-9-]{1,32}$/)
export const isKey = (value: unknown) => matches(value, /^[0-9a-f]{64}$/)
export const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export function signTx(body: Body, secretKey: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(body))
  return Buffer.concat([sign(text, secretKey), getPublicKey(secretKey), text])
}

/** Strangers choose these bytes. Returns undefined unless every member is what it should be, and the signature fits. */
export function readTx(bytes: Uint8Array): Tx | undefined {
  if (bytes.length > TX_BYTES_MAX) return undefined
  const [signature, key, text] = [bytes.subarray(0, 64), bytes.subarray(64, 96), bytes.subarray(96)]
  try {
    const { chainId, nonce, action, name, to } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text))
    const isMove = action === 'register' || action === 'transfer'
    const isWhole = isMove ? isKey(to) : action === 'release' && to === ''
    if (!isWhole || !isName(name) || !Number.isSafeInteger(nonce) || nonce < 0) return undefined
    return verify(signature, text, key) ? { chainId, nonce, action, name, to, sender: toHex(key) } : undefined
  } catch {
    return undefined
  }
}
