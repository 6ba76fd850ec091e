import { ownerOfPrivateKey, signerOfPrivateKey } from '../keys/ethereum.ts'
import type { KeyFile } from '../keys/files.ts'
import { type Keystore, openSecret, ownerOfSeed } from '../keys/keystore.ts'
import { txEntryOf } from '../modules/registry.ts'
import { type Signer, signerOfSeed } from '../tx/sign.ts'
import { digestOf } from '../tx/signers/index.ts'

/** Decrypts the secret of a keystore of any curve. Throws a KeystoreError. */
export const openKey = (keystore: Keystore, password: string): Uint8Array =>
  openSecret(keystore, password, keystore.curve === 'ed25519' ? ownerOfSeed : ownerOfPrivateKey)

/** The signer of a key file of any curve. Throws a KeystoreError. */
export function openSigner({ keystore }: Pick<KeyFile, 'keystore'>, password: string): Signer {
  const secret = openKey(keystore, password)
  if (keystore.curve === 'ed25519') return signerOfSeed(secret)
  return signerOfPrivateKey(secret, (body) => digestOf(body, (operation) => txEntryOf.get(operation)?.input))
}
