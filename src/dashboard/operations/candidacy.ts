import { parseRatio } from '../../base/amount.ts'
import { missingStakeOf, selfStakeOf } from '../../modules/shownRules.ts'
import { formatCount } from '../format.ts'
import type { Facts, Stake } from '../wallet/facts.ts'
import { type FieldText, tokens } from './operation.ts'

/** The ratio of max_shares that an owner stakes. */
const ratioOf = ({ self_staking_ratio: text }: Facts['params']): bigint => parseRatio(text) ?? 0n

/** The stake that an owner has to bring for so many max_shares. */
export const selfStake = (maxShares: bigint, params: Facts['params']): bigint => selfStakeOf(maxShares, ratioOf(params))

/** What an owner has to add to its own shares for so many max_shares. */
export const missingStake = (maxShares: bigint, ownShares: bigint, params: Facts['params']): bigint =>
  missingStakeOf(maxShares, ownShares, ratioOf(params))

/** The owner's part of the candidacy of who signs: ` with 5 token of shares`. */
export const withShares = ({ candidacy }: Facts): string =>
  candidacy === undefined
    ? ''
    : ` with ${tokens(candidacy.stake.self_shares)} of ${candidacy.stake.delegators === 0 ? 'shares' : 'your own shares'}`

/** Whether a new commission waits: it rises while others have staked. Source: protocol.md §12. */
export const isRaiseThatWaits = (compRate: string, { delegators, comp_rate: today }: Stake): boolean =>
  delegators > 0 && (parseRatio(compRate) ?? 0n) > (parseRatio(today) ?? 0n)

/** Those who have staked with a candidacy: `one account has`, `3 accounts have`. */
export const accountsHave = (count: number): string =>
  count === 1 ? 'one account has' : `${formatCount(count)} accounts have`

export const candidacyFields: Readonly<Record<'pubKey' | 'description' | 'maxAmount' | 'compRate', FieldText>> = {
  pubKey: {
    label: "Public key of the validator's node",
    hint: 'base64 of 32 bytes, as svcd init or cometbft show-validator prints it',
  },
  description: {
    label: 'Description',
    inner: { name: 'Name', website: 'Website', location: 'Location', email: 'Email', profile: 'Profile' },
  },
  maxAmount: {
    label: 'Max shares',
    hint: 'in tokens; you stake a part of it, which the parameter self_staking_ratio sets',
  },
  compRate: {
    label: 'Commission',
    hint: 'a number from 0 to 1: with 0.5 you keep 50 % of what the stakes of others earn',
  },
}
