import { printPubKey } from '../../../base/pubKey.ts'
import type { TxError } from '../../../base/txError.ts'
import { field, type MessageOf } from '../../../tx/fields.ts'
import { uint } from '../../../values/number.ts'
import { balanceOf, moveBalance } from '../../accounts/keeper.ts'
import { defineTx, type Effects, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import {
  changeCandidacy,
  closePendingUpdate,
  dropWithdrawn,
  getAccountUpdate,
  getById,
  getLiveByOwner,
} from '../keeper.ts'

const input = { accountUpdateRequestId: field(uint, 'id that updateAccount returned') }

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
  input,
  gas: (params) => params.updateCandidacy,
  execute: executeAccept,
})

function executeAccept(
  { state, block, sender, fee }: TxContext,
  { accountUpdateRequestId: id }: MessageOf<typeof input>,
): TxError | Effects {
  const request = getAccountUpdate(state, id)
  if (request?.status !== 'PENDING' || request.toAddress !== sender) return stakeErrors.badRequest
  if (getLiveByOwner(state, sender) !== undefined) return stakeErrors.badRequest
  const candidacy = getById(state, request.candidacyId)
  if (candidacy?.withdrawn !== false)
    throw new Error(`stake: request ${id} is PENDING for a candidacy that is not live`)
  const { ownerAddress, pubKey, shares } = candidacy
  if (balanceOf(state, sender) < shares + fee) return stakeErrors.insufficientBondShares
  return {
    locks: shares,
    apply: () => {
      dropWithdrawn(state, sender)
      moveBalance(state, sender, ownerAddress, shares)
      changeCandidacy(state, candidacy, { ownerAddress: sender }, block.time)
      closePendingUpdate(state, candidacy.id, 'COMPLETED')
      return {
        attributes: [
          ['owner', sender],
          ['pub_key', printPubKey(pubKey)],
          ['request_id', String(id)],
        ],
      }
    },
  }
}
