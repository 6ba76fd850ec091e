import type { VerifyOptions } from './forms.ts'
import type { Target } from './httpTransport.ts'
import type { VerifiedRow } from './light/row.ts'
import type { Transport } from './transport.ts'

/** Answers that one row proves, under the names of the functions that ask for the same thing unproven. */
export interface SvcVerified {
  readonly stake: {
    readonly validator: {
      /** The candidacy that an address owns. That it owns none cannot be proven: the call rejects. */
      readonly query: (validatorAddress: string, options?: VerifyOptions) => Promise<VerifiedRow>
    }
  }
  readonly governance: { readonly queryProposal: (proposalId: string, options?: VerifyOptions) => Promise<VerifiedRow> }
  /** The account: balance and nonce. */
  readonly getBalance: (address: string, options?: VerifyOptions) => Promise<VerifiedRow>
  readonly getTransactionCount: (address: string, options?: VerifyOptions) => Promise<VerifiedRow>
  /** Any row: its table, and the parts of its key with / between them. */
  readonly getProof: (table: string, key?: string, options?: VerifyOptions) => Promise<VerifiedRow>
}

/**
 * The functions of `svc.verified`. They reject with SvcProofError where anything is missing between a header that the
 * light client verified and the row; with SvcRpcError when the gateway does not answer. The verifier is loaded with the
 * first call.
 */
export function verifiedFunctions(transport: Transport, target: Target): SvcVerified {
  const getProof: SvcVerified['getProof'] = async (table, key = '', options = {}) =>
    (await import('./light/proveRow.ts')).proveRow({ ...target, transport }, { table, key }, options)
  const rowOf =
    (table: string) =>
    (key: string, options?: VerifyOptions): Promise<VerifiedRow> =>
      getProof(table, key, options)
  const account = rowOf('accounts')
  return {
    stake: { validator: { query: rowOf('candidacies') } },
    governance: { queryProposal: rowOf('proposals') },
    getBalance: account,
    getTransactionCount: account,
    getProof,
  }
}
