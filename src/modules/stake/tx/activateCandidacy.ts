import { maxOf, shareCeil, TOKEN } from '../../../base/amount.ts'
import type { TxError } from '../../../base/txError.ts'
import type { State } from '../../../store/state.ts'
import { balanceOf, takeBalance } from '../../accounts/keeper.ts'
import { type Block, defineTx, type Effects, effects, isError } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { getByOwner, getLiveByPubKey, listUnbondings, pendingUnbonding, putUpdated } from '../keeper.ts'
import { type Candidacy, unbondings } from '../tables.ts'
import { allowed } from '../transitions.ts'

/**
 * A withdrawn candidacy takes what still unbonds back as shares, topped up from the balance to the self-stake of the
 * ratio in force.
 */
function restake(state: State, block: Block, candidacy: Candidacy): TxError | Effects {
  if (getLiveByPubKey(state, candidacy.pubKey) !== undefined) return stakeErrors.pubKeyDeclared
  const owner = candidacy.ownerAddress
  const pending = pendingUnbonding(state, candidacy.id)
  const selfStake = shareCeil(candidacy.maxShares, block.params.selfStakingRatio)
  const shares = maxOf(pending, selfStake)
  if (pending + balanceOf(state, owner) < selfStake || shares < TOKEN) return stakeErrors.insufficientBondShares
  return {
    locks: shares - pending,
    apply: () => {
      for (const { number } of listUnbondings(state, candidacy.id)) state.remove(unbondings, { number })
      takeBalance(state, owner, shares - pending)
      putUpdated(state, { ...candidacy, shares, active: true, withdrawn: false }, block.time)
      return {
        attributes: [
          ['owner', owner],
          ['pub_key', candidacy.pubKey],
        ],
      }
    },
  }
}

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
  execute: ({ state, block, sender }) => {
    const candidacy = allowed(getByOwner(state, sender), 'activate')
    if (isError(candidacy)) return candidacy
    if (candidacy.withdrawn) return restake(state, block, candidacy)
    return effects(() => {
      putUpdated(state, { ...candidacy, active: true }, block.time)
      return {
        attributes: [
          ['owner', sender],
          ['pub_key', candidacy.pubKey],
        ],
      }
    })
  },
})
