import type { SvcVerified, VerifiedRow } from '../client/index.ts'

type Given = Readonly<Record<string, unknown>>

/** How each query that one row answers is asked with `--prove`. Lists and what is derived from many rows are not among them. */
export const PROVABLE: ReadonlyMap<string, (verified: SvcVerified, given: Given) => Promise<VerifiedRow>> = new Map([
  ['svc_queryValidator', ({ stake }, given) => stake.validator.query(String(given['validatorAddress']))],
  ['svc_queryProposal', ({ governance }, given) => governance.queryProposal(String(given['proposalId']))],
  ['svc_getBalance', (verified, given) => verified.getBalance(String(given['address']))],
  ['svc_getTransactionCount', (verified, given) => verified.getTransactionCount(String(given['address']))],
  ['svc_getProof', (verified, given) => verified.getProof(String(given['table']), given['key'] === undefined ? '' : String(given['key']))],
] satisfies [string, (verified: SvcVerified, given: Given) => Promise<VerifiedRow>][])
