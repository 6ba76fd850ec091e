import { parseRatio } from '../../base/amount.ts'
import { missingStakeOf, selfStakeOf } from '../../modules/outflow.ts'
import type { Facts } from '../wallet/facts.ts'
import { type FieldText, tokens } from './operation.ts'

/** The ratio of max_shares that an owner stakes. */
const ratioOf = ({ self_staking_ratio: text }: Facts['params']): bigint => parseRatio(text) ?? 0n

/** The stake that an owner has to bring for so many max_shares. */
export const selfStake = (maxShares: bigint, params: Facts['params']): bigint => selfStakeOf(maxShares, ratioOf(params))

/** What an owner with these shares has to add for so many max_shares. */
export const missingStake = (maxShares: bigint, shares: bigint, params: Facts['params']): bigint =>
  missingStakeOf(maxShares, shares, ratioOf(params))

/** The shares of the candidacy of who signs: ` with 5 token of shares`. */
export const withShares = ({ candidacy }: Facts): string =>
  candidacy === undefined ? '' : ` with ${tokens(candidacy.record.shares)} of shares`

/** The fields of a candidacy. */
export const candidacyFields: Readonly<Record<'pubKey' | 'description' | 'maxAmount' | 'compRate', FieldText>> = {
  pubKey: {
    label: "Public key of the validator's node",
    hint: 'base64 of 32 bytes, as svcd init or cometbft show-validator prints it',
  },
  description: {
    label: 'Description',
    inner: { name: 'Name', website: 'Website', location: 'Location', email: 'Email', profile: 'Profile' },
  },
  maxAmount: { label: 'Max shares', hint: 'in tokens; you stake a part of it that self_staking_ratio sets' },
  compRate: { label: 'Compensation rate', hint: '0 to 1, such as 0.5' },
}
