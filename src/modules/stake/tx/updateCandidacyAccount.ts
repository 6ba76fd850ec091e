import { addressOf, ZERO_ADDRESS } from '../../../base/address.ts'
import { utf8 } from '../../../base/bytes.ts'
import { address } from '../../../tx/members.ts'
import { takeNumber } from '../../chain/keeper.ts'
import { defineTx, effects, isError } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { closePendingUpdate, getByOwner, getLiveByOwner } from '../keeper.ts'
import { accountUpdates } from '../tables.ts'
import { allowed } from '../transitions.ts'

/**
 * Asks to bind the sender's candidacy to a new address, which has to accept. Source: interface, updateAccount;
 * protocol.md §3.
 */
export const updateCandidacyAccount = defineTx({
  operation: 'updateCandidacyAccount',
  method: 'svc_updateCandidacyAccount',
  call: 'stake.validator.updateAccount',
  event: 'svc.stake.updateAccount',
  doc: 'Requests that the candidacy moves to a new address, which has to accept.',
  input: { newCandidateAccount: address() },
  returns: 'account update request id',
  gas: (params) => params.updateCandidacy,
  execute: ({ state, sender }, message) => {
    const candidacy = allowed(getByOwner(state, sender), 'updateAccount')
    if (isError(candidacy)) return candidacy
    const to = addressOf(message.newCandidateAccount)
    if (to === ZERO_ADDRESS || to === sender || getLiveByOwner(state, to) !== undefined) return stakeErrors.badRequest
    return effects(() => {
      closePendingUpdate(state, candidacy.id, 'REPLACED')
      const id = takeNumber(state, 'nextRequestId')
      state.put(accountUpdates, {
        id,
        candidacyId: candidacy.id,
        fromAddress: sender,
        toAddress: to,
        status: 'PENDING',
      })
      return {
        data: utf8(String(id)),
        attributes: [
          ['owner', sender],
          ['request_id', String(id)],
        ],
      }
    })
  },
})
