import { TOKEN } from '../../../base/amount.ts'
import { field, optional } from '../../../tx/fields.ts'
import { pubKey } from '../../../values/pubKey.ts'
import { amount, ratio } from '../../../values/number.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { getChain } from '../../chain/keeper.ts'
import { defineTx } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { selfStakeOf } from '../../shownRules.ts'
import { stakeErrors } from '../errors.ts'
import { CANDIDACY } from '../events.ts'
import { createCandidacy, dropWithdrawn, getLiveByOwner, isKeyTaken } from '../keeper.ts'
import { appliedTo, description } from './candidacy.ts'

/** Source: interface, declare; protocol.md §3. */
export const declareCandidacy = defineTx({
  operation: 'declareCandidacy',
  call: 'stake.validator.declare',
  event: defineEvent({ type: 'svc.stake.declare', attributes: CANDIDACY, doc: 'A candidacy was declared.' }),
  doc:
    'Declares a candidacy: the sender becomes the validator account, which pays, and stakes 10 % of maxAmount ' +
    '(self_staking_ratio): 1,000 tokens by default.',
  input: {
    pubKey: field(pubKey),
    description: optional(description()),
    maxAmount: optional(
      field(
        amount,
        'most shares the candidacy may hold, in base units; the sender stakes self_staking_ratio of them. Without it 10,000 tokens',
      ),
    ),
    compRate: optional(
      field(ratio, "commission, the part of the delegators' earnings that the owner keeps: 0 to 1, decimal text"),
    ),
  },
  gas: (params) => params.declareCandidacy,
  execute: ({ state, block, sender }, given) => {
    if (isKeyTaken(state, given.pubKey, sender)) return stakeErrors.pubKeyDeclared
    if (getLiveByOwner(state, sender) !== undefined) return stakeErrors.addressDeclared
    const { defaultMaxAmount, defaultCompRate } = getChain(state)
    const { pubKey: key, maxAmount: maxShares = defaultMaxAmount, compRate = defaultCompRate } = given
    const selfStake = selfStakeOf(maxShares, block.params.selfStakingRatio)
    if (selfStake < TOKEN) return stakeErrors.insufficientBondShares
    return {
      locks: selfStake,
      apply: () => {
        dropWithdrawn(state, sender)
        takeBalance(state, sender, selfStake)
        const candidacy = {
          pubKey: key,
          ownerAddress: sender,
          shares: selfStake,
          maxShares,
          compRate,
          ...{ name: '', website: '', location: '', email: '', profile: '', ...given.description },
          blockHeight: block.height,
          createdAt: block.time,
        }
        createCandidacy(state, candidacy)
        return appliedTo(candidacy)
      },
    }
  },
})
