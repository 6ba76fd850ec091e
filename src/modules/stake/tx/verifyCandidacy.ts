import { field } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { yesNo } from '../../../values/text.ts'
import { getChain } from '../../chain/keeper.ts'
import { defineTx, effects } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { stakeErrors } from '../errors.ts'
import { CANDIDACY } from '../events.ts'
import { getLiveByOwner } from '../keeper.ts'
import { change } from './candidacy.ts'

/** Source: protocol.md §3, verify [ext]. */
export const verifyCandidacy = defineTx({
  operation: 'verifyCandidacy',
  call: 'stake.validator.verify',
  event: defineEvent({
    type: 'svc.stake.verify',
    attributes: CANDIDACY,
    doc: 'The foundation set whether a candidacy is verified.',
  }),
  doc: 'Sets verified of a candidacy; only the foundation address of genesis may.',
  input: { candidateAddress: field(address), verified: field(yesNo) },
  gas: () => 0,
  execute: (context, { candidateAddress, verified }) => {
    const { state, sender } = context
    if (sender !== getChain(state).foundationAddress) return stakeErrors.verificationDisallowed
    const candidacy = getLiveByOwner(state, candidateAddress)
    if (candidacy === undefined) return stakeErrors.unknownCandidacy
    return effects(() => change(context, candidacy, { verified: verified === 'Y' }))
  },
})
