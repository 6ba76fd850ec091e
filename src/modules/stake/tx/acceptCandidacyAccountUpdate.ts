import { field } from '../../../tx/fields.ts'
import { uint } from '../../../values/number.ts'
import { moveBalance, shortfallOf } from '../../accounts/keeper.ts'
import { defineTx } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { stakeErrors } from '../errors.ts'
import { CANDIDACY } from '../events.ts'
import { closePendingUpdate, dropWithdrawn, getAccountUpdate, getById, getLiveByOwner, selfShares } from '../keeper.ts'
import { change } from './candidacy.ts'

/** Source: interface, acceptAccountUpdate; protocol.md §3. */
export const acceptCandidacyAccountUpdate = defineTx({
  operation: 'acceptCandidacyAccountUpdate',
  call: 'stake.validator.acceptAccountUpdate',
  event: defineEvent({
    type: 'svc.stake.acceptAccountUpdate',
    attributes: [...CANDIDACY, 'request_id'],
    doc: 'The sender took over a candidacy.',
  }),
  doc: 'Accepts the request: the sender becomes the owner and pays the old owner for its shares; delegations stay.',
  input: { accountUpdateRequestId: field(uint, 'id that updateAccount returned') },
  gas: (params) => params.updateCandidacy,
  execute: (context, { accountUpdateRequestId: id }) => {
    const { state, sender, fee } = context
    const request = getAccountUpdate(state, id)
    if (request?.status !== 'PENDING' || request.toAddress !== sender) return stakeErrors.badRequest
    if (getLiveByOwner(state, sender) !== undefined) return stakeErrors.badRequest
    const candidacy = getById(state, request.candidacyId)
    if (candidacy?.withdrawn !== false)
      throw new Error(`stake: request ${id} is PENDING for a candidacy that is not live`)
    const { ownerAddress } = candidacy
    const shares = selfShares(candidacy)
    const shortfall = shortfallOf(state, sender, shares + fee, fee)
    if (shortfall !== undefined) return { ...stakeErrors.insufficientBondShares, shortfall }
    return {
      locks: shares,
      apply: () => {
        dropWithdrawn(state, sender)
        moveBalance(state, sender, ownerAddress, shares)
        closePendingUpdate(state, candidacy.id, 'COMPLETED')
        const { attributes } = change(context, candidacy, { ownerAddress: sender })
        return { attributes: { ...attributes, request_id: String(id) }, validators: [ownerAddress, sender] }
      },
    }
  },
})
