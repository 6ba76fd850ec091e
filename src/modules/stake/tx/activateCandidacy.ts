import { TOKEN } from '../../../base/amount.ts'
import { balanceOf, shortfallOf, takeBalance } from '../../accounts/keeper.ts'
import { defineTx, effects, isError, type Outcome, type TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { missingStakeOf } from '../../shownRules.ts'
import { stakeErrors } from '../errors.ts'
import { CANDIDACY } from '../events.ts'
import { isKeyTaken, listUnbondings, pendingUnbonding, removeUnbonding } from '../keeper.ts'
import type { Candidacy } from '../tables.ts'
import { allowed } from '../transitions.ts'
import { ACTIVATION_GAS, type CandidacyEvent, change } from './candidacy.ts'

/** Source: interface, activate; protocol.md §3. */
export const activateCandidacy = defineTx({
  operation: 'activateCandidacy',
  call: 'stake.validator.activate',
  event: defineEvent({ type: 'svc.stake.activate', attributes: CANDIDACY, doc: 'A candidacy became active.' }),
  doc: "Activates the sender's deactivated, removed or withdrawn candidacy again.",
  input: {},
  gas: () => ACTIVATION_GAS,
  execute: (context) => {
    const candidacy = allowed(context, 'activate')
    if (isError(candidacy)) return candidacy
    if (candidacy.withdrawn) return restake(context, candidacy)
    return effects(() => change(context, candidacy, { active: true }))
  },
})

/** Takes what still unbonds back as shares, topped up from the balance to the self-stake of the ratio in force. */
function restake(context: TxContext, candidacy: Candidacy): Outcome<CandidacyEvent> {
  const { state, block, sender, fee } = context
  if (isKeyTaken(state, candidacy.pubKey, sender)) return stakeErrors.pubKeyDeclared
  const pending = pendingUnbonding(state, candidacy.id)
  const missing = missingStakeOf(candidacy.maxShares, pending, block.params.selfStakingRatio)
  const shares = pending + missing
  if (shares < TOKEN) return stakeErrors.insufficientBondShares
  if (balanceOf(state, sender) < missing) {
    const shortfall = shortfallOf(state, sender, missing + fee, fee)
    return { ...stakeErrors.insufficientBondShares, shortfall }
  }
  return {
    locks: missing,
    apply: () => {
      for (const entry of listUnbondings(state, candidacy.id)) removeUnbonding(state, entry)
      takeBalance(state, sender, missing)
      return change(context, candidacy, { shares, active: true, withdrawn: false })
    },
  }
}
