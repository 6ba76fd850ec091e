import type { SvcVerified, VerifiedRow, VerifyOptions } from '../client/index.ts'

type Given = Readonly<Record<string, unknown>>

/** Asks for the row of a query with `--prove`. */
type Ask = (verified: SvcVerified, given: Given, options: VerifyOptions) => Promise<VerifiedRow>

/**
 * How each query that one row answers is asked with `--prove`. Lists and what is derived from many rows are not among
 * them.
 */
export const PROVABLE: ReadonlyMap<string, Ask> = new Map([
  [
    'svc_queryValidator',
    ({ stake }, given, options) => stake.validator.query(String(given['validatorAddress']), options),
  ],
  [
    'svc_queryProposal',
    ({ governance }, given, options) => governance.queryProposal(String(given['proposalId']), options),
  ],
  ['svc_getBalance', (verified, given, options) => verified.getBalance(String(given['address']), options)],
  [
    'svc_getTransactionCount',
    (verified, given, options) => verified.getTransactionCount(String(given['address']), options),
  ],
  [
    'svc_getProof',
    (verified, given, options) =>
      verified.getProof(String(given['table']), given['key'] === undefined ? '' : String(given['key']), options),
  ],
] satisfies [string, Ask][])
