import { divFloor, minOf, TOKEN } from '../../../base/amount.ts'
import type { State } from '../../../store/state.ts'
import { addBalance } from '../../accounts/keeper.ts'
import { addMinted, getChain, supplyOf } from '../../chain/keeper.ts'
import type { Block } from '../../define.ts'
import { candidacies, isEligible } from '../tables.ts'
import { type CommitVote, liveVoter } from './commit.ts'

/** Nothing is minted once supply reaches this. Source: protocol.md §4. */
export const SUPPLY_MINTED_MAX = 9n * 10n ** 15n * TOKEN

const MS_A_YEAR = 31_536_000_000n
const BLOCK_MS_MAX = 10_000

/**
 * EndBlock (c): mints the block's award and shares it by power among the members of the last commit that signed and
 * whose candidacy is eligible now; each part rounds down and the rest is not minted. A part fills shares up to
 * max_shares, then the owner's balance. Bound: the size of the last commit. Source: protocol.md §5.
 */
export function payAward(state: State, block: Block, votes: readonly CommitVote[]): void {
  const supply = supplyOf(state)
  const total = votes.reduce((sum, { power }) => sum + BigInt(power), 0n)
  if (total === 0n || supply >= SUPPLY_MINTED_MAX) return
  const elapsedMs = Math.max(0, Math.min(block.timeMs - getChain(state).lastTimeMs, BLOCK_MS_MAX))
  const award = divFloor(supply * BigInt(block.params.inflationRate) * BigInt(elapsedMs), 100n * MS_A_YEAR)
  for (const vote of votes) {
    const candidacy = vote.signed ? liveVoter(state, vote, block.height - 1) : undefined
    if (candidacy === undefined || !isEligible(candidacy)) continue
    const part = divFloor(award * BigInt(vote.power), total)
    const toShares = minOf(part, candidacy.maxShares - candidacy.shares)
    state.put(candidacies, { ...candidacy, shares: candidacy.shares + toShares })
    addBalance(state, candidacy.ownerAddress, part - toShares)
    addMinted(state, part)
  }
}
