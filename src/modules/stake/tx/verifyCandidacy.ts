import { addressOf } from '../../../base/address.ts'
import { field, type MessageOf } from '../../../tx/fields.ts'
import { address } from '../../../values/account.ts'
import { yesNo } from '../../../values/text.ts'
import { getChain } from '../../chain/keeper.ts'
import { defineTx, effects, type Outcome, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { getLiveByOwner } from '../keeper.ts'
import { change } from './candidacy.ts'

const input = { candidateAddress: field(address), verified: field(yesNo) }

/** Source: protocol.md §3, verify [ext]. */
export const verifyCandidacy = defineTx({
  operation: 'verifyCandidacy',
  call: 'stake.validator.verify',
  event: 'svc.stake.verify',
  doc: 'Sets verified of a candidacy; only the foundation address of genesis may.',
  input,
  gas: () => 0,
  execute: executeVerify,
})

function executeVerify(context: TxContext, message: MessageOf<typeof input>): Outcome {
  const { state, sender } = context
  if (sender !== getChain(state).foundationAddress) return stakeErrors.verificationDisallowed
  const candidacy = getLiveByOwner(state, addressOf(message.candidateAddress))
  if (candidacy === undefined) return stakeErrors.unknownCandidacy
  return effects(() => change(context, candidacy, { verified: message.verified === 'Y' }))
}
