import { addressOf } from '../../../base/address.ts'
import type { TxError } from '../../../base/txError.ts'
import { field, type MessageOf } from '../../../tx/fields.ts'
import { address } from '../../../values/account.ts'
import { yesNo } from '../../../values/text.ts'
import { getChain } from '../../chain/keeper.ts'
import { defineTx, type Effects, effects, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { changeCandidacy, getLiveByOwner } from '../keeper.ts'
import { appliedTo } from './candidacy.ts'

const input = { candidateAddress: field(address), verified: field(yesNo, 'Y or N') }

/** The foundation marks a candidacy as verified, or not. Source: protocol.md §3, verify [ext]. */
export const verifyCandidacy = defineTx({
  operation: 'verifyCandidacy',
  method: 'svc_verifyCandidacy',
  call: 'stake.validator.verify',
  event: 'svc.stake.verify',
  doc: 'Sets verified of a candidacy; only the foundation address of genesis may.',
  input,
  gas: () => 0,
  execute: executeVerify,
})

function executeVerify({ state, block, sender }: TxContext, message: MessageOf<typeof input>): TxError | Effects {
  if (sender !== getChain(state).foundationAddress) return stakeErrors.verificationDisallowed
  const candidacy = getLiveByOwner(state, addressOf(message.candidateAddress))
  if (candidacy === undefined) return stakeErrors.unknownCandidacy
  return effects(() => {
    changeCandidacy(state, candidacy, { verified: message.verified === 'Y' }, block.time)
    return appliedTo(candidacy)
  })
}
