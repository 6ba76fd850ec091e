import { parseRatio, type Ratio, shareCeil, TOKEN } from '../../../base/amount.ts'
import { pubKeyOf } from '../../../base/pubKey.ts'
import { field, type MessageOf, optional } from '../../../tx/fields.ts'
import { pubKey } from '../../../values/key.ts'
import { amount, ratio } from '../../../values/number.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { getChain } from '../../chain/keeper.ts'
import { defineTx, type Outcome, type TxContext } from '../../define.ts'
import { stakeErrors } from '../errors.ts'
import { createCandidacy, dropWithdrawn, getLiveByOwner, isKeyTaken } from '../keeper.ts'
import { appliedTo, description } from './candidacy.ts'

const input = {
  pubKey: field(pubKey),
  description: optional(description()),
  maxAmount: optional(
    field(
      amount,
      'most shares the candidacy may hold, in base units; the sender stakes self_staking_ratio of them. Without it 10,000 tokens',
    ),
  ),
  compRate: optional(field(ratio, 'compensation rate, 0 to 1, decimal text')),
}

/** Source: interface, declare; protocol.md §3. */
export const declareCandidacy = defineTx({
  operation: 'declareCandidacy',
  call: 'stake.validator.declare',
  event: 'svc.stake.declare',
  doc:
    'Declares a candidacy: the sender becomes the validator account, which pays, and stakes 10 % of maxAmount ' +
    '(self_staking_ratio): 1,000 tokens by default.',
  input,
  gas: (params) => params.declareCandidacy,
  execute: executeDeclare,
})

function executeDeclare({ state, block, sender }: TxContext, message: MessageOf<typeof input>): Outcome {
  const key = pubKeyOf(message.pubKey)
  if (isKeyTaken(state, key, sender)) return stakeErrors.pubKeyDeclared
  if (getLiveByOwner(state, sender) !== undefined) return stakeErrors.addressDeclared
  const { defaultMaxAmount, defaultCompRate } = getChain(state)
  const maxShares = message.maxAmount === undefined ? defaultMaxAmount : BigInt(message.maxAmount)
  const selfStake = shareCeil(maxShares, block.params.selfStakingRatio)
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
        compRate: message.compRate === undefined ? defaultCompRate : (parseRatio(message.compRate) as Ratio),
        ...{ name: '', website: '', location: '', email: '', profile: '', ...message.description },
        blockHeight: block.height,
        createdAt: block.time,
      }
      createCandidacy(state, candidacy)
      return appliedTo(candidacy)
    },
  }
}
