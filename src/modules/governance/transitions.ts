import type { TxError } from '../../base/txError.ts'
import { governanceErrors } from './errors.ts'
import type { ProposalResult } from './tables.ts'

/**
 * Whether a proposal takes votes, by its Result; else why not. What ends one is the tally (tally.ts) or its point
 * (block.ts).
 *
 *   '' ──Y ≥ 2/3──▶ Approved ──cannot be carried out──▶ Rejected
 *    ├──N ≥ 2/3──▶ Rejected
 *    └──point────▶ Expired
 */
export const votable: Readonly<Record<ProposalResult, TxError | undefined>> = {
  '': undefined,
  Approved: governanceErrors.proposalApproved,
  Rejected: governanceErrors.proposalRejected,
  Expired: governanceErrors.proposalExpired,
}
