import { addressOf } from '../../../base/address.ts'
import { address, yesNo } from '../../../tx/members.ts'
import { getChain } from '../../chain/keeper.ts'
import { defineTx, effects } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { getLiveByOwner, putUpdated } from '../keeper.ts'

/** The foundation marks a candidacy as verified, or not. Source: protocol.md §3, verify [ext]. */
export const verifyCandidacy = defineTx({
  operation: 'verifyCandidacy',
  method: 'svc_verifyCandidacy',
  call: 'stake.validator.verify',
  event: 'svc.stake.verify',
  doc: 'Sets verified of a candidacy; only the foundation address of genesis may.',
  input: { candidateAddress: address(), verified: yesNo('Y or N') },
  gas: () => 0,
  execute: ({ state, block, sender }, message) => {
    if (sender !== getChain(state).foundationAddress) return stakeErrors.verificationDisallowed
    const candidacy = getLiveByOwner(state, addressOf(message.candidateAddress))
    if (candidacy === undefined) return stakeErrors.unknownCandidacy
    return effects(() => {
      putUpdated(state, { ...candidacy, verified: message.verified === 'Y' }, block.time)
      return {
        attributes: [
          ['owner', candidacy.ownerAddress],
          ['pub_key', candidacy.pubKey],
        ],
      }
    })
  },
})
