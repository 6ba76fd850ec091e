import { utf8 } from '../base/bytes.ts'
import { ownerOfPrivateKey, signerOfPrivateKey } from '../keys/ethereum.ts'
import type { KeyFile } from '../keys/files.ts'
import { type Curve, type ForeignKeystore, type KeystoreError, openSecret, ownerOfSeed } from '../keys/keystore.ts'
import { digestOfBody } from '../modules/isSignedBySender.ts'
import { type Signer, signerOfSeed } from '../tx/sign.ts'
import { readSecret } from './secrets.ts'

/** The function that derives the owner from a secret of a curve. */
export const ownerBy = (curve: Curve): typeof ownerOfSeed => (curve === 'ed25519' ? ownerOfSeed : ownerOfPrivateKey)

/** Decrypts the secret of a keystore of any curve. Throws a KeystoreError. */
export function openKey(keystore: ForeignKeystore, password: string): Uint8Array {
  const ownerOf = ownerBy(keystore.curve)
  try {
    return openSecret(keystore, password, ownerOf)
  } catch (error) {
    // ethers normalizes a password as we do; geth takes it as it was typed.
    if ((error as KeystoreError).problem !== 'wrongPassword' || password.normalize('NFKC') === password) throw error
    return openSecret(keystore, password, ownerOf, utf8)
  }
}

/** The signer of a key file of any curve. Throws a KeystoreError. */
export function openSigner({ keystore }: Pick<KeyFile, 'keystore'>, password: string): Signer {
  const secret = openKey(keystore, password)
  if (keystore.curve === 'ed25519') return signerOfSeed(secret)
  return signerOfPrivateKey(secret, digestOfBody)
}

/** The signer of a key file, whose password is read from a file or asked for. Throws a KeystoreError. */
export const askSigner = async (key: KeyFile, passwordFile: string | undefined): Promise<Signer> =>
  openSigner(key, await readSecret({ what: `password of ${key.name}`, file: passwordFile, flag: '--password-file' }))
