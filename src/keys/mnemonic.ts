import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { concat, u64be, utf8 } from '../base/bytes.ts'

/** Added to every index, because ed25519 has only hardened derivation. */
const HARDENED = 2 ** 31

/**
 * Derives the ed25519 seed (32 bytes) at a path of hardened indexes from a master seed of 16 to 64 bytes. Each index is
 * 0 to 2^31 − 1, without the hardening bit. Written here because the libraries for it bring a second implementation of
 * the curve. Source: SLIP-0010.
 */
export function deriveSeed(masterSeed: Uint8Array, path: readonly number[]): Uint8Array {
  let node = hmac(sha512, utf8('ed25519 seed'), masterSeed) // 32 bytes of key, then 32 of chain code
  for (const index of path) {
    if (!Number.isInteger(index) || index < 0 || index >= HARDENED) {
      throw new RangeError(`path: expected an index from 0 to 2^31 - 1, got ${index}`)
    }
    const indexBytes = u64be(index + HARDENED).subarray(4)
    node = hmac(sha512, node.subarray(32), concat(Uint8Array.of(0), node.subarray(0, 32), indexBytes))
  }
  return node.subarray(0, 32)
}

/** The mnemonic of every devnet. It is public, so whatever its keys hold belongs to everybody. */
export const PUBLIC_MNEMONIC = 'test test test test test test test test test test test junk'

/**
 * Derives the ed25519 seeds of the first `count` accounts of a BIP-39 mnemonic, as `seedOfMnemonic` does. Throws an
 * Error that does not repeat the words when they are not a mnemonic.
 */
export function seedsOfMnemonic(mnemonic: string, count: number): readonly Uint8Array[] {
  const master = masterSeedOf(mnemonic)
  return Array.from({ length: count }, (_, index) => deriveSeed(master, [44, 1, index, 0, 0]))
}

/**
 * Derives the ed25519 seed of account `index` of a BIP-39 mnemonic, at the SLIP-10 path m/44'/1'/index'/0'/0'. Throws
 * an Error that does not repeat the words when they are not a mnemonic.
 */
export const seedOfMnemonic = (mnemonic: string, index: number): Uint8Array =>
  deriveSeed(masterSeedOf(mnemonic), [44, 1, index, 0, 0])

/** What a mnemonic is, for errors. */
export const MNEMONIC_FORM = '12 to 24 English BIP-39 words with their checksum'

/** True when the words are in that form. */
export const isMnemonic = (words: string): boolean => validateMnemonic(words, wordlist)

/** How many words a mnemonic may have. Source: BIP-39. */
const MNEMONIC_LENGTHS = [12, 15, 18, 21, 24]

/** The most characters of a word that are repeated to who wrote it. */
const WORD_SHOWN_MAX = 20

/**
 * What is wrong with words that have single spaces between them; undefined when nothing is. It repeats the word that is
 * in no list, so it is for nobody but whoever wrote it.
 */
export function faultOfMnemonic(words: string): string | undefined {
  const all = words.split(' ')
  const strange = all.findIndex((word) => !wordlist.includes(word))
  if (strange >= 0)
    return `Word ${strange + 1}, “${all[strange]?.slice(0, WORD_SHOWN_MAX)}”, is not in the list of English words.`
  if (!MNEMONIC_LENGTHS.includes(all.length))
    return `${all.length === 1 ? 'This is one word' : `These are ${all.length} words`}. There are 12, 15, 18, 21 or 24.`
  if (isMnemonic(words)) return undefined
  return 'The checksum of the words fails: one of them is another word of the list, or they are in another order.'
}

function masterSeedOf(mnemonic: string): Uint8Array {
  if (!isMnemonic(mnemonic)) throw new Error(`mnemonic: expected ${MNEMONIC_FORM}`)
  return mnemonicToSeedSync(mnemonic)
}

/** Creates a random mnemonic of 12 words (128 bits) or 24 words (256 bits). It is secret. */
export const newMnemonic = (words: 12 | 24 = 24): string => generateMnemonic(wordlist, words === 24 ? 256 : 128)
