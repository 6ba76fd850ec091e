import type { TxError } from '../../../base/txError.ts'
import type { ValuesOf } from '../../../tx/fields.ts'
import type { TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { governanceErrors } from '../errors.ts'
import { proposerIdOf } from '../keeper.ts'
import { checkFiles, checkName } from '../library.ts'
import { libraryMembers } from './deployLibEni.ts'
import { defineProposal, pointHeight } from './proposal.ts'

const input = { ...libraryMembers, upgradeBlockHeight: pointHeight('the new program is deployed') }

const event = defineEvent({
  type: 'svc.governance.proposeUpgradeProgram',
  attributes: ['proposal_id'],
  doc: 'Never emitted: upgrades are not implemented.',
})

/** Not implemented: the forms are checked, then the answer is code 4. Source: interface, Limits 6; protocol.md §6. */
export const proposeUpgradeProgram = defineProposal({
  operation: 'proposeUpgradeProgram',
  doc: 'Not implemented: a well-formed call is always answered with code 4.',
  input,
  event,
  execute: executePropose,
})

function executePropose({ state, sender }: TxContext, message: ValuesOf<typeof input>): TxError {
  const candidacyId = proposerIdOf(state, sender)
  if (typeof candidacyId !== 'number') return candidacyId
  return checkName(message) ?? checkFiles(message) ?? governanceErrors.upgradeNotImplemented
}
