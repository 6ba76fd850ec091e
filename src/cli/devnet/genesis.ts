import { PUBLIC_MNEMONIC, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { type Signer, signerOfSeed } from '../../tx/sign.ts'

/** Chain id of every devnet. */
export const DEVNET_CHAIN_ID = 'svcd-devnet'

/** Accounts of a devnet, and so the most validators that one can have. */
export const DEVNET_ACCOUNTS = 10

/** The accounts of the public mnemonic: anybody has their keys. */
export const devnetSigners = (): readonly Signer[] =>
  Array.from({ length: DEVNET_ACCOUNTS }, (_, index) => signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, index)))
