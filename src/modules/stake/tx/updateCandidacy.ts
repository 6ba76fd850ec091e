import { invalidParameter } from '../../../base/txError.ts'
import { field, optional } from '../../../tx/fields.ts'
import { pubKey } from '../../../values/pubKey.ts'
import { amount, ratio } from '../../../values/number.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { defineTx, isError } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { missingStakeOf } from '../../shownRules.ts'
import { stakeErrors } from '../errors.ts'
import { CANDIDACY } from '../events.ts'
import { compRateChange, isKeyTaken, selfShares } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { change, description } from './candidacy.ts'

/** Source: interface, update; protocol.md §3. */
export const updateCandidacy = defineTx({
  operation: 'updateCandidacy',
  call: 'stake.validator.update',
  event: defineEvent({ type: 'svc.stake.update', attributes: CANDIDACY, doc: 'A candidacy was changed.' }),
  doc: "Changes the sender's candidacy; when a description is given, verified becomes N.",
  input: {
    pubKey: optional(field(pubKey)),
    description: optional(description()),
    maxAmount: optional(field(amount, 'most shares the candidacy may hold, in base units; at least its shares')),
    compRate: optional(
      field(ratio, "commission, the part of the delegators' earnings that the owner keeps: 0 to 1, decimal text"),
    ),
  },
  gas: (params) => params.updateCandidacy,
  execute: (context, given) => {
    const { state, block, sender } = context
    const candidacy = allowed(context, 'update')
    if (isError(candidacy)) return candidacy
    const { pubKey: key = candidacy.pubKey, maxAmount: maxShares = candidacy.maxShares } = given
    if (key !== candidacy.pubKey && isKeyTaken(state, key, sender)) return stakeErrors.pubKeyDeclared
    const missing =
      given.maxAmount === undefined
        ? 0n
        : missingStakeOf(maxShares, selfShares(candidacy), block.params.selfStakingRatio)
    const shares = candidacy.shares + missing
    if (given.maxAmount !== undefined && maxShares < shares) {
      const what = missing === 0n ? "the candidacy's shares" : "the candidacy's shares with the stake that is missing,"
      return invalidParameter(`maxAmount: expected at least ${what} ${shares}, got ${maxShares}`)
    }
    return {
      locks: missing,
      apply: () => {
        takeBalance(state, sender, missing)
        return change(context, candidacy, {
          pubKey: key,
          maxShares,
          shares,
          ...(given.compRate === undefined ? {} : compRateChange(candidacy, given.compRate, block)),
          ...given.description,
          verified: given.description === undefined && candidacy.verified,
        })
      },
    }
  },
})
