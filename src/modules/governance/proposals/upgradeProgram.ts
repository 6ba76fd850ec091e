import { defineEvent } from '../../event.ts'
import { governanceErrors } from '../errors.ts'
import { proposerIdOf } from '../keeper.ts'
import { checkFiles, checkName } from '../library.ts'
import { libraryMembers } from './deployLibEni.ts'
import { defineProposal, pointHeight } from './proposal.ts'

/** Not implemented: the forms are checked, then the answer is code 4. Source: interface, Limits 6; protocol.md §6. */
export const proposeUpgradeProgram = defineProposal({
  operation: 'proposeUpgradeProgram',
  doc: 'Not implemented: a well-formed call is always answered with code 4.',
  input: { ...libraryMembers, upgradeBlockHeight: pointHeight('the new program is deployed') },
  event: defineEvent({
    type: 'svc.governance.proposeUpgradeProgram',
    attributes: ['proposal_id'],
    doc: 'Never emitted: upgrades are not implemented.',
  }),
  execute: ({ state, sender }, message) => {
    const candidacyId = proposerIdOf(state, sender)
    if (typeof candidacyId !== 'number') return candidacyId
    return checkName(message) ?? checkFiles(message) ?? governanceErrors.upgradeNotImplemented
  },
})
