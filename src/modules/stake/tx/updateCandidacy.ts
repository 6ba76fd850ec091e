import { maxOf, parseRatio, type Ratio, shareCeil } from '../../../base/amount.ts'
import { pubKeyOf } from '../../../base/pubKey.ts'
import { invalidParameter, type TxError } from '../../../base/txError.ts'
import { field, type MessageOf, optional } from '../../../tx/fields.ts'
import { pubKey } from '../../../values/key.ts'
import { amount, ratio } from '../../../values/number.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { defineTx, type Effects, isError, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { changeCandidacy, getByOwner, getLiveByPubKey } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { appliedTo, description } from './candidacy.ts'

const input = {
  pubKey: optional(field(pubKey)),
  description: optional(description()),
  maxAmount: optional(field(amount, 'most shares the candidacy may hold, in base units; at least its shares')),
  compRate: optional(field(ratio, 'compensation rate, 0 to 1, decimal text')),
}

/**
 * Changes the given members of the sender's candidacy; a given description sets verified N. Source: interface, update;
 * protocol.md §3.
 */
export const updateCandidacy = defineTx({
  operation: 'updateCandidacy',
  method: 'svc_updateCandidacy',
  call: 'stake.validator.update',
  event: 'svc.stake.update',
  doc: "Changes the sender's candidacy; when a description is given, verified becomes N.",
  input,
  gas: (params) => params.updateCandidacy,
  execute: executeUpdate,
})

function executeUpdate({ state, block, sender }: TxContext, message: MessageOf<typeof input>): TxError | Effects {
  const candidacy = allowed(getByOwner(state, sender), 'update')
  if (isError(candidacy)) return candidacy
  const key = message.pubKey === undefined ? candidacy.pubKey : pubKeyOf(message.pubKey)
  if (key !== candidacy.pubKey && getLiveByPubKey(state, key) !== undefined) return stakeErrors.pubKeyDeclared
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
      const { description: given, compRate } = message
      const changes = {
        pubKey: key,
        maxShares,
        shares: candidacy.shares + missing,
        compRate: compRate === undefined ? candidacy.compRate : (parseRatio(compRate) as Ratio),
        name: given?.name ?? candidacy.name,
        website: given?.website ?? candidacy.website,
        location: given?.location ?? candidacy.location,
        email: given?.email ?? candidacy.email,
        profile: given?.profile ?? candidacy.profile,
        verified: given === undefined && candidacy.verified,
      }
      changeCandidacy(state, candidacy, changes, block.time)
      return appliedTo({ ownerAddress: sender, pubKey: key })
    },
  }
}
