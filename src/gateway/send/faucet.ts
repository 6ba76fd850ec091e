import type { Signer } from '../../tx/sign.ts'
import type { Address } from '../../values/address.ts'
import { createCount } from '../http/admission.ts'
import { FAUCET_CALLS_MAX, FAUCET_PAYMENTS_MAX, FAUCET_WINDOW_MS } from '../http/limits.ts'

/** Who pays for svc_faucet, and to whom as yet. */
export type Faucet = ReturnType<typeof createFaucet>

/**
 * Creates the faucet of a devnet; undefined where there is nobody to pay. The last account pays: programs count on the
 * balances and nonces of the first ones.
 */
export function createFaucet(signers: readonly Signer[]) {
  const payer = signers.at(-1)
  if (payer === undefined) return undefined
  const countCalls = createCount('calls of svc_faucet from one address', FAUCET_CALLS_MAX, FAUCET_WINDOW_MS)
  const countPayments = createCount('payments of svc_faucet to one account', FAUCET_PAYMENTS_MAX, FAUCET_WINDOW_MS)
  return {
    payer,
    /** Counts a payment; `caller` as in `callerAddress`. Throws an RpcError where the caller or the account has had too many. */
    admit: (caller: string, to: Address): void => {
      const refused = countCalls(caller, 1) ?? countPayments(to, 1)
      if (refused !== undefined) throw refused
    },
  }
}
