import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { concat, utf8 } from '../base/bytes.ts'

/** Added to an index: ed25519 has hardened derivation only. */
const HARDENED = 2 ** 31

/** `index` as 4 bytes, most significant first. */
function u32be(index: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, index)
  return bytes
}

/**
 * The ed25519 seed (32 bytes) at a path of hardened indexes below a master seed of 16 to 64 bytes. Source: SLIP-0010.
 * Each index: 0 to 2^31 − 1, without the mark of hardening. Ours, because the libraries bring a second implementation
 * of the curve.
 */
export function deriveSeed(masterSeed: Uint8Array, path: readonly number[]): Uint8Array {
  let node = hmac(sha512, utf8('ed25519 seed'), masterSeed) // 32 bytes of key, then 32 of chain code
  for (const index of path) {
    if (!Number.isInteger(index) || index < 0 || index >= HARDENED) {
      throw new RangeError(`path: expected an index of 0 to 2^31 - 1, got ${index}`)
    }
    node = hmac(sha512, node.subarray(32), concat(Uint8Array.of(0), node.subarray(0, 32), u32be(index + HARDENED)))
  }
  return node.subarray(0, 32)
}

/** The mnemonic of every devnet. It is public: what its keys hold belongs to everybody. */
export const PUBLIC_MNEMONIC = 'test test test test test test test test test test test junk'

/**
 * The ed25519 seed of account `index` of a BIP-39 mnemonic: SLIP-10 path m/44'/1'/index'/0'/0'.
 * Throws an Error that does not repeat the words when the mnemonic is not one.
 */
export function seedOfMnemonic(mnemonic: string, index: number): Uint8Array {
  if (!validateMnemonic(mnemonic, wordlist))
    throw new Error('mnemonic: expected 12 to 24 English BIP-39 words with their checksum')
  return deriveSeed(mnemonicToSeedSync(mnemonic), [44, 1, index, 0, 0])
}

/** A new random mnemonic of 12 (128 bits) or 24 (256 bits) words. Secret. */
export const newMnemonic = (words: 12 | 24 = 24): string => generateMnemonic(wordlist, words === 24 ? 256 : 128)
