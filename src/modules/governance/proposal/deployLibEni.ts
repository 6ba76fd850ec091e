import type { Proposal } from '../tables.ts'
import type { ProposalKind } from './kind.ts'

/** What a node shows that keeps no status of its own for a library. */
function statusOf({ result, pending }: Proposal): string {
  if (result === 'Rejected' || result === 'Expired') return 'rejected'
  return result === 'Approved' && !pending ? 'collapsed' : 'init'
}

/**
 * Deploys a native library at its point. What happens to the file is each node's own, outside consensus. Source:
 * protocol.md §6, §7.
 */
export const deployLibEni: ProposalKind = {
  at: 'point',
  carryOut: () => ({}),
  detail: (proposal, status) => {
    const { name, version, fileUrl, md5, reason } = proposal
    return { name, version, fileurl: fileUrl, md5, reason, status: status ?? statusOf(proposal) }
  },
}
