import { ONE, parseRatio, type Ratio, shareCeil, TOKEN } from '../../../base/amount.ts'
import { pubKeyOf } from '../../../base/pubKey.ts'
import { amount, optional, pubKey, ratio } from '../../../tx/members.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { getChain, takeNumber } from '../../chain/keeper.ts'
import { defineTx } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { dropWithdrawn, getLiveByOwner, getLiveByPubKey } from '../keeper.ts'
import { candidacies } from '../tables.ts'
import { description } from './description.ts'

/**
 * Declares a candidacy for `pubKey`; the sender becomes its owner and stakes for it. Source: interface, declare;
 * protocol.md §3.
 */
export const declareCandidacy = defineTx({
  operation: 'declareCandidacy',
  method: 'svc_declareCandidacy',
  call: 'stake.validator.declare',
  event: 'svc.stake.declare',
  doc: 'Declares a candidacy: the sender becomes the validator account, which stakes and pays.',
  input: {
    pubKey: pubKey(),
    description: optional(description()),
    maxAmount: optional(amount('most shares the candidacy may hold, in base units')),
    compRate: optional(ratio(0n, ONE, 'compensation rate, 0 to 1, decimal text')),
  },
  gas: (params) => params.declareCandidacy,
  execute: ({ state, block, sender }, message) => {
    const key = pubKeyOf(message.pubKey)
    if (getLiveByPubKey(state, key) !== undefined) return stakeErrors.pubKeyDeclared
    if (getLiveByOwner(state, sender) !== undefined) return stakeErrors.addressDeclared
    const constants = getChain(state)
    const maxShares = message.maxAmount === undefined ? constants.defaultMaxAmount : BigInt(message.maxAmount)
    const selfStake = shareCeil(maxShares, block.params.selfStakingRatio)
    if (selfStake < TOKEN) return stakeErrors.insufficientBondShares
    return {
      locks: selfStake,
      apply: () => {
        dropWithdrawn(state, sender)
        takeBalance(state, sender, selfStake)
        const given = message.description
        state.put(candidacies, {
          id: takeNumber(state, 'nextCandidacyId'),
          pubKey: key,
          ownerAddress: sender,
          shares: selfStake,
          maxShares,
          compRate:
            message.compRate === undefined ? constants.defaultCompRate : (parseRatio(message.compRate) as Ratio),
          name: given?.name ?? '',
          website: given?.website ?? '',
          location: given?.location ?? '',
          email: given?.email ?? '',
          profile: given?.profile ?? '',
          verified: false,
          active: true,
          withdrawn: false,
          blockHeight: block.height,
          createdAt: block.time,
          updatedAt: block.time,
        })
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
