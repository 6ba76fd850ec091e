import { uint } from '../../../tx/members.ts'
import { balanceOf, moveBalance } from '../../accounts/keeper.ts'
import { defineTx } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { dropWithdrawn, getById, getLiveByOwner, putUpdated } from '../keeper.ts'
import { accountUpdates } from '../tables.ts'

/**
 * Binds a candidacy to the sender, who was asked by `updateAccount`: the sender's balance pays the old owner for the
 * shares. Source: interface, acceptAccountUpdate; protocol.md §3.
 */
export const acceptCandidacyAccountUpdate = defineTx({
  operation: 'acceptCandidacyAccountUpdate',
  method: 'svc_acceptCandidacyAccountUpdate',
  call: 'stake.validator.acceptAccountUpdate',
  event: 'svc.stake.acceptAccountUpdate',
  doc: 'Accepts the request: the sender becomes the owner and pays the old owner for the shares.',
  input: { accountUpdateRequestId: uint('id that updateAccount returned') },
  gas: (params) => params.updateCandidacy,
  execute: ({ state, block, sender, fee }, message) => {
    const request = state.get(accountUpdates, { id: message.accountUpdateRequestId })
    if (request?.status !== 'PENDING' || request.toAddress !== sender) return stakeErrors.badRequest
    if (getLiveByOwner(state, sender) !== undefined) return stakeErrors.badRequest
    const candidacy = getById(state, request.candidacyId)
    if (candidacy?.withdrawn !== false)
      throw new Error(`stake: request ${request.id} is PENDING for a candidacy that is not live`)
    if (balanceOf(state, sender) < candidacy.shares + fee) return stakeErrors.insufficientBondShares
    return {
      locks: candidacy.shares,
      apply: () => {
        const { ownerAddress } = candidacy
        dropWithdrawn(state, sender)
        moveBalance(state, sender, ownerAddress, candidacy.shares)
        putUpdated(state, { ...candidacy, ownerAddress: sender }, block.time)
        state.put(accountUpdates, { ...request, status: 'COMPLETED' })
        return {
          attributes: [
            ['owner', sender],
            ['pub_key', candidacy.pubKey],
            ['request_id', String(request.id)],
          ],
        }
      },
    }
  },
})
