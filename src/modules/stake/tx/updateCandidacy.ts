import { maxOf, parseRatio, type Ratio, shareCeil } from '../../../base/amount.ts'
import { pubKeyOf } from '../../../base/pubKey.ts'
import { invalidParameter } from '../../../base/txError.ts'
import { field, type MessageOf, optional } from '../../../tx/fields.ts'
import { pubKey } from '../../../values/key.ts'
import { amount, ratio } from '../../../values/number.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { defineTx, isError, type Outcome, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { isKeyTaken } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { change, description } from './candidacy.ts'

const input = {
  pubKey: optional(field(pubKey)),
  description: optional(description()),
  maxAmount: optional(field(amount, 'most shares the candidacy may hold, in base units; at least its shares')),
  compRate: optional(field(ratio, 'compensation rate, 0 to 1, decimal text')),
}

/** Source: interface, update; protocol.md §3. */
export const updateCandidacy = defineTx({
  operation: 'updateCandidacy',
  call: 'stake.validator.update',
  event: 'svc.stake.update',
  doc: "Changes the sender's candidacy; when a description is given, verified becomes N.",
  input,
  gas: (params) => params.updateCandidacy,
  execute: executeUpdate,
})

function executeUpdate(context: TxContext, message: MessageOf<typeof input>): Outcome {
  const { state, block, sender } = context
  const candidacy = allowed(context, 'update')
  if (isError(candidacy)) return candidacy
  const key = message.pubKey === undefined ? candidacy.pubKey : pubKeyOf(message.pubKey)
  if (key !== candidacy.pubKey && isKeyTaken(state, key, sender)) return stakeErrors.pubKeyDeclared
  const maxShares = message.maxAmount === undefined ? candidacy.maxShares : BigInt(message.maxAmount)
  if (message.maxAmount !== undefined && maxShares < candidacy.shares) {
    return invalidParameter(`maxAmount: expected at least the candidacy's shares ${candidacy.shares}, got ${maxShares}`)
  }
  const selfStake = shareCeil(maxShares, block.params.selfStakingRatio)
  const missing = message.maxAmount === undefined ? 0n : maxOf(0n, selfStake - candidacy.shares)
  return {
    locks: missing,
    apply: () => {
      takeBalance(state, sender, missing)
      return change(context, candidacy, {
        pubKey: key,
        maxShares,
        shares: candidacy.shares + missing,
        compRate: message.compRate === undefined ? candidacy.compRate : (parseRatio(message.compRate) as Ratio),
        ...message.description,
        verified: message.description === undefined && candidacy.verified,
      })
    },
  }
}
