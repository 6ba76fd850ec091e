import { maxOf, shareCeil, TOKEN } from '../../../base/amount.ts'
import type { TxError } from '../../../base/txError.ts'
import { balanceOf, takeBalance } from '../../accounts/keeper.ts'
import { defineTx, type Effects, effects, isError, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import {
  changeCandidacy,
  getByOwner,
  getLiveByPubKey,
  listUnbondings,
  pendingUnbonding,
  removeUnbonding,
} from '../keeper.ts'
import type { Candidacy } from '../tables.ts'
import { allowed } from '../transitions.ts'
import { appliedTo } from './candidacy.ts'

/**
 * Puts the sender's deactivated, removed or withdrawn candidacy back in the race. Source: interface, activate;
 * protocol.md §3.
 */
export const activateCandidacy = defineTx({
  operation: 'activateCandidacy',
  method: 'svc_activateCandidacy',
  call: 'stake.validator.activate',
  event: 'svc.stake.activate',
  doc: "Activates the sender's deactivated, removed or withdrawn candidacy again.",
  input: {},
  gas: () => 0,
  execute: executeActivate,
})

function executeActivate(context: TxContext): TxError | Effects {
  const { state, block, sender } = context
  const candidacy = allowed(getByOwner(state, sender), 'activate')
  if (isError(candidacy)) return candidacy
  if (candidacy.withdrawn) return restake(context, candidacy)
  return effects(() => {
    changeCandidacy(state, candidacy, { active: true }, block.time)
    return appliedTo(candidacy)
  })
}

/**
 * A withdrawn candidacy takes what still unbonds back as shares, topped up from the balance to the self-stake of the
 * ratio in force.
 */
function restake({ state, block, sender }: TxContext, candidacy: Candidacy): TxError | Effects {
  if (getLiveByPubKey(state, candidacy.pubKey) !== undefined) return stakeErrors.pubKeyDeclared
  const pending = pendingUnbonding(state, candidacy.id)
  const selfStake = shareCeil(candidacy.maxShares, block.params.selfStakingRatio)
  const shares = maxOf(pending, selfStake)
  if (pending + balanceOf(state, sender) < selfStake || shares < TOKEN) return stakeErrors.insufficientBondShares
  return {
    locks: shares - pending,
    apply: () => {
      for (const entry of listUnbondings(state, candidacy.id)) removeUnbonding(state, entry)
      takeBalance(state, sender, shares - pending)
      changeCandidacy(state, candidacy, { shares, active: true, withdrawn: false }, block.time)
      return appliedTo(candidacy)
    },
  }
}
