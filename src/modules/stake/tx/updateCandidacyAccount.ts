import { address, ZERO_ADDRESS } from '../../../values/address.ts'
import { utf8 } from '../../../base/bytes.ts'
import { field, type ValuesOf } from '../../../tx/fields.ts'
import { defineTx, effects, isError, type Outcome, type TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { stakeErrors } from '../errors.ts'
import { getLiveByOwner, requestAccountUpdate } from '../keeper.ts'
import { allowed } from '../transitions.ts'

const input = { newCandidateAccount: field(address) }

const event = defineEvent({
  type: 'svc.stake.updateAccount',
  attributes: ['owner', 'request_id'],
  doc: 'A candidacy was offered to another account.',
})

/** Source: interface, updateAccount; protocol.md §3. */
export const updateCandidacyAccount = defineTx({
  operation: 'updateCandidacyAccount',
  call: 'stake.validator.updateAccount',
  event,
  doc: 'Requests that the candidacy moves to a new address, which has to accept.',
  input,
  returns: 'account update request id',
  gas: (params) => params.updateCandidacy,
  execute: executeUpdateAccount,
})

function executeUpdateAccount(
  context: TxContext,
  { newCandidateAccount: to }: ValuesOf<typeof input>,
): Outcome<typeof event> {
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
}
