import { fromHex } from '../base/bytes.ts'
import { type Address, parseAddress } from '../values/address.ts'
import { seedOfMnemonic } from '../keys/mnemonic.ts'
import { isTooShort, PASSWORD_LENGTH_MIN } from '../keys/password.ts'
import { type AnySigner, type KeySigner, signerOfSeed } from '../tx/sign.ts'

/** Bytes of a private key: an ed25519 seed. */
const SEED_BYTES = 32

/**
 * The accounts that the client signs for. Their keys stay in this process.
 *
 * @example
 * const accounts: LocalAccounts = svc.accounts
 * svc.defaultAccount = accounts.add('test test test test test test test test test test test junk', 1)
 */
export interface LocalAccounts {
  /**
   * Takes a key and returns its address, in lower case: a private key (32 bytes, or their hex with 0x or without), a
   * BIP-39 mnemonic (account `index` of it, 0 by default), or a signer. Throws an Error that never repeats the key.
   */
  readonly add: (key: string | Uint8Array | AnySigner, index?: number) => string
  /**
   * Takes the key in a keystore (its text, or the JSON it holds), as `svcd keys new` writes it, and resolves with its
   * address. Rejects with a KeystoreError that says what is wrong with file or password. Opening takes about half a
   * second.
   */
  readonly addKeystore: (keystore: unknown, password: string) => Promise<string>
  /**
   * The text of a keystore for a private key or mnemonic (account `index` of it), sealed with a password, as `svcd keys
   * import --file` takes it. The key is not added. Takes about half a second. Rejects with an Error when the password has
   * fewer than 8 characters.
   */
  readonly createKeystore: (key: string | Uint8Array, password: string, index?: number) => Promise<string>
  /** The addresses, in the order in which their keys were added. */
  readonly list: () => readonly string[]
  /** Forgets a key; false when there was none. */
  readonly remove: (address: string) => boolean
}

const notAKey = (): Error =>
  new Error(`key: expected a private key of ${SEED_BYTES} bytes (hex), a mnemonic or a signer`)

function seedOf(key: string | Uint8Array, index: number): Uint8Array {
  const text = typeof key === 'string' ? key.trim() : undefined
  if (text !== undefined && /\s/.test(text)) return seedOfMnemonic(text, index)
  const bytes = text === undefined ? Uint8Array.from((key as Uint8Array) ?? []) : fromHex(text.replace(/^0x/, ''))
  if (bytes?.length !== SEED_BYTES) throw notAKey()
  return bytes
}

/**
 * The signer of an ed25519 key, as `svc.accounts.add` takes it: to be a member of an account of several keys, or the
 * `signer` of a client.
 *
 * @example
 * const open = (seed: Uint8Array): Svc => new Svc('http://127.0.0.1:8545', { signer: ed25519Signer(seed) })
 */
export const ed25519Signer = (key: string | Uint8Array, index = 0): KeySigner => signerOfSeed(seedOf(key, index))

const isSigner = (key: unknown): key is AnySigner => typeof (key as { signTx?: unknown } | null)?.signTx === 'function'

/** Creates accounts that are kept in `into`, by address. */
export function createLocalAccounts<T>(into: Map<Address, T>, open: (signer: AnySigner) => T): LocalAccounts {
  const add: LocalAccounts['add'] = (key, index = 0) => {
    const signer = isSigner(key) ? key : ed25519Signer(key, index)
    // A signer from elsewhere may write it as Ethereum does, in capital and small letters.
    const address = parseAddress(signer.address)
    if (address === undefined) throw notAKey()
    // When a key is added again, what is known of its account stays.
    if (!into.has(address)) into.set(address, open(signer))
    return address
  }
  return {
    add,
    addKeystore: async (keystore, password) => {
      // Most pages have no keystore: they need not load what opens one.
      const { openKeystore } = await import('../keys/keystore.ts')
      return add(openKeystore(keystore, password))
    },
    createKeystore: async (key, password, index = 0) => {
      if (isTooShort(password)) throw new Error(`password: expected at least ${PASSWORD_LENGTH_MIN} characters`)
      const { createKeystore } = await import('../keys/keystore.ts')
      return JSON.stringify(createKeystore(seedOf(key, index), password), undefined, 2)
    },
    list: () => [...into.keys()],
    remove: (address) => into.delete(parseAddress(address) ?? (address as Address)),
  }
}
