import type { TxError } from '../../../base/txError.ts'
import type { MessageOf } from '../../../tx/fields.ts'
import type { TxContext } from '../../define.ts'
import { governanceErrors } from '../errors.ts'
import { proposerIdOf } from '../keeper.ts'
import { checkFiles, checkName } from '../library.ts'
import { libraryMembers } from './deployLibEni.ts'
import { defineProposal, pointHeight } from './proposal.ts'

const input = { ...libraryMembers, upgradeBlockHeight: pointHeight('the new program is deployed') }

/** Not implemented: the forms are checked, then the answer is code 4. Source: interface, Limits 6; protocol.md §6. */
export const proposeUpgradeProgram = defineProposal({
  operation: 'proposeUpgradeProgram',
  doc: 'Not implemented: a well-formed call is always answered with code 4.',
  input,
  execute: executePropose,
})

function executePropose({ state, sender }: TxContext, message: MessageOf<typeof input>): TxError {
  const candidacyId = proposerIdOf(state, sender)
  if (typeof candidacyId !== 'number') return candidacyId
  return checkName(message) ?? checkFiles(message) ?? governanceErrors.upgradeNotImplemented
}
