import type { StateReader } from '../../../store/state.ts'
import type { QueryContext } from '../../define.ts'
import { listLive, listSet } from '../keeper.ts'
import { candidacies, type Candidacy } from '../tables.ts'
import { makeSet } from '../validatorSet.ts'

/** Ranks that are kept; of a candidacy behind them the keys before it are counted. */
const RANKS_KEPT = 256

/** Where a candidacy stands. */
export interface Standing {
  /** The most voting power of one candidacy, in whole tokens. */
  readonly powerCap: number
  /** The place among the live candidacies, from 0; -1 for a withdrawn record. */
  readonly rank: number
  /** In the validator set as last sent. */
  readonly isInSet: boolean
}

/** What is the same for every candidacy of one head. Bound: max_vals and RANKS_KEPT rows. */
interface Whole {
  readonly powerCap: number
  readonly inSet: ReadonlySet<number>
  readonly ranks: ReadonlyMap<number, number>
}

function firstRanks(state: StateReader): ReadonlyMap<number, number> {
  const ranks = new Map<number, number>()
  for (const { id } of listLive(state)) {
    ranks.set(id, ranks.size)
    if (ranks.size === RANKS_KEPT) break
  }
  return ranks
}

function wholeOf({ state, params, once }: QueryContext): Whole {
  return once('stake', () => ({
    powerCap: makeSet(state, params()).powerCap,
    inSet: new Set(listSet(state).map(({ candidacyId }) => candidacyId)),
    ranks: firstRanks(state),
  }))
}

/**
 * Where `candidacy` stands at the head. `knownRank`: its place, when a walk through all live ones has come to it;
 * without it, the keys before it are counted where its rank is not kept. Source: protocol.md §4.
 */
export function standingOf(context: QueryContext, candidacy: Candidacy, knownRank?: number): Standing {
  const { powerCap, inSet, ranks } = wholeOf(context)
  const rank = candidacy.withdrawn
    ? -1
    : (knownRank ?? ranks.get(candidacy.id) ?? context.state.rank(candidacies, 'byRank', candidacy))
  return { powerCap, rank, isInSet: inSet.has(candidacy.id) }
}
