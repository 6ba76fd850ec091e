import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import type { Signer } from '../../src/tx/sign.ts'

/** The accounts of a devnet: the last owns the validator, the first are the honest senders. */
const SIGNERS = devnetSigners()

export const ACCOUNTS = SIGNERS.map(({ address }) => address)

/** The owner of the node's candidacy. */
export const OWNER = SIGNERS.at(-1) as Signer

export const VALIDATOR = OWNER.address

/** Accounts that the gateway signs for, and that honest callers send from. */
export const HONEST_SENDERS = ACCOUNTS.slice(0, 4)

/** The first of them. Strangers send its old transactions again. */
export const REPLAYED = SIGNERS[0] as Signer
