import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { deriveSeed } from './slip10.ts'

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
