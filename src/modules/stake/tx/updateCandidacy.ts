import { maxOf, ONE, parseRatio, type Ratio, shareCeil } from '../../../base/amount.ts'
import { pubKeyOf } from '../../../base/pubKey.ts'
import { invalidParameter } from '../../../base/txError.ts'
import { amount, optional, pubKey, ratio } from '../../../tx/members.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { defineTx, isError } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { getByOwner, getLiveByPubKey, putUpdated } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { description } from './description.ts'

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
  input: {
    pubKey: optional(pubKey()),
    description: optional(description()),
    maxAmount: optional(amount('most shares the candidacy may hold, in base units; at least its shares')),
    compRate: optional(ratio(0n, ONE, 'compensation rate, 0 to 1, decimal text')),
  },
  gas: (params) => params.updateCandidacy,
  execute: ({ state, block, sender }, message) => {
    const candidacy = allowed(getByOwner(state, sender), 'update')
    if (isError(candidacy)) return candidacy
    const key = message.pubKey === undefined ? candidacy.pubKey : pubKeyOf(message.pubKey)
    if (key !== candidacy.pubKey && getLiveByPubKey(state, key) !== undefined) return stakeErrors.pubKeyDeclared
    const maxShares = message.maxAmount === undefined ? candidacy.maxShares : BigInt(message.maxAmount)
    if (message.maxAmount !== undefined && maxShares < candidacy.shares) {
      return invalidParameter(
        `maxAmount: expected at least the candidacy's shares ${candidacy.shares}, got ${maxShares}`,
      )
    }
    const missing =
      message.maxAmount === undefined
        ? 0n
        : maxOf(0n, shareCeil(maxShares, block.params.selfStakingRatio) - candidacy.shares)
    return {
      locks: missing,
      apply: () => {
        takeBalance(state, sender, missing)
        const given = message.description
        putUpdated(
          state,
          {
            ...candidacy,
            pubKey: key,
            maxShares,
            shares: candidacy.shares + missing,
            compRate: message.compRate === undefined ? candidacy.compRate : (parseRatio(message.compRate) as Ratio),
            name: given?.name ?? candidacy.name,
            website: given?.website ?? candidacy.website,
            location: given?.location ?? candidacy.location,
            email: given?.email ?? candidacy.email,
            profile: given?.profile ?? candidacy.profile,
            verified: given === undefined && candidacy.verified,
          },
          block.time,
        )
        return {
          attributes: [
            ['owner', sender],
            ['pub_key', key],
          ],
        }
      },
    }
  },
})
