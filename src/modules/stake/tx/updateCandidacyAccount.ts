import { address, ZERO_ADDRESS } from '../../../values/address.ts'
import { utf8 } from '../../../base/bytes.ts'
import { field } from '../../../tx/fields.ts'
import { defineTx, effects, isError } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { stakeErrors } from '../errors.ts'
import { getLiveByOwner, requestAccountUpdate } from '../keeper.ts'
import { allowed } from '../transitions.ts'

/** Source: interface, updateAccount; protocol.md §3. */
export const updateCandidacyAccount = defineTx({
  operation: 'updateCandidacyAccount',
  call: 'stake.validator.updateAccount',
  event: defineEvent({
    type: 'svc.stake.updateAccount',
    attributes: ['owner', 'request_id'],
    doc: 'A candidacy was offered to another account.',
  }),
  doc: 'Requests that the candidacy moves to a new address, which has to accept.',
  input: { newCandidateAccount: field(address) },
  returns: 'account update request id',
  gas: (params) => params.updateCandidacy,
  execute: (context, { newCandidateAccount: to }) => {
    const { state, sender } = context
    const candidacy = allowed(context, 'updateAccount')
    if (isError(candidacy)) return candidacy
    if (to === ZERO_ADDRESS || to === sender || getLiveByOwner(state, to) !== undefined) return stakeErrors.badRequest
    return effects(() => {
      const id = String(requestAccountUpdate(state, candidacy, to))
      return {
        data: utf8(id),
        attributes: { owner: sender, request_id: id },
        accounts: [to],
        validators: [sender],
      }
    })
  },
})
