import { proposalIdBytes, type ProposalId } from '../../src/values/pubKey.ts'
import type { Tally } from '../../src/modules/governance/tables.ts'
import { votes } from '../../src/modules/governance/tables.ts'
import type { SetMember } from '../../src/modules/stake/tables.ts'
import type { StateReader } from '../../src/store/state.ts'

/** The tally of a proposal by its definition: every vote row, with the powers of `set`. Source: protocol.md §6. */
export function countedTally(state: StateReader, id: ProposalId, set: readonly SetMember[]): Tally {
  const powerOf = (candidacyId: number): number =>
    set.reduce((sum, member) => sum + (member.candidacyId === candidacyId ? member.power : 0), 0)
  const tally = { yes: 0, no: 0, total: set.reduce((sum, { power }) => sum + power, 0) }
  for (const { candidacyId, answer } of state.scan(votes, { prefix: proposalIdBytes(id) }))
    tally[answer === 'Y' ? 'yes' : 'no'] += powerOf(candidacyId)
  return tally
}
