import type { State } from '../../../store/state.ts'
import { getChain } from '../../chain/keeper.ts'
import type { Block, ChainEvent } from '../../define.ts'
import { putUpdated } from '../keeper.ts'
import { absences, candidacies, type Candidacy, isEligible } from '../tables.ts'
import { compareBytes } from '../../../base/bytes.ts'
import { type CommitVote, isOnlyEligible, liveVoter } from './commit.ts'

const rankKey = (candidacy: Candidacy): Uint8Array => candidacies.indexes.byRank(candidacy) as Uint8Array

interface Attendance {
  readonly candidacy: Candidacy
  readonly signed: boolean
}

/** Who of the live candidacies in a commit signed it. One whose new key joins beside the old one signed with either. */
function signedBy(state: State, commitHeight: number, votes: readonly CommitVote[]): ReadonlyMap<number, Attendance> {
  const seen = new Map<number, Attendance>()
  for (const vote of votes) {
    const candidacy = liveVoter(state, vote, commitHeight)
    if (candidacy !== undefined)
      seen.set(candidacy.id, { candidacy, signed: vote.signed || seen.get(candidacy.id)?.signed === true })
  }
  return seen
}

/** Counts one commit; returns the candidacies that have now missed too many in a row. */
function count(
  state: State,
  commitHeight: number,
  votes: readonly CommitVote[],
  absentBlocksMax: number,
): readonly Candidacy[] {
  const over: Candidacy[] = []
  for (const { candidacy, signed } of signedBy(state, commitHeight, votes).values()) {
    const key = { candidacyId: candidacy.id }
    if (signed) state.remove(absences, key)
    else if (candidacy.active) {
      const missed = (state.get(absences, key)?.count ?? 0) + 1
      state.put(absences, { ...key, count: missed })
      if (missed >= absentBlocksMax) over.push(candidacy)
    }
  }
  return over
}

/**
 * EndBlock (b): a candidacy absent from max_absent_blocks commits in a row becomes inactive: of the eligible ones the
 * last in rank first, then the others in their order. The only eligible one stays and goes on counting. Bound: the size
 * of the last commit. Source: protocol.md §5.
 */
export function removeAbsent(state: State, block: Block, votes: readonly CommitVote[]): readonly ChainEvent[] {
  const over = count(state, block.height - 1, votes, getChain(state).maxAbsentBlocks)
  const ranked = [...over].sort((a, b) => compareBytes(rankKey(a), rankKey(b)))
  const events: ChainEvent[] = []
  for (const candidacy of [...ranked.filter(isEligible).reverse(), ...ranked.filter((one) => !isEligible(one))]) {
    if (isOnlyEligible(state, candidacy)) continue
    putUpdated(state, { ...candidacy, active: false }, block.time)
    state.remove(absences, { candidacyId: candidacy.id })
    events.push({
      type: 'svc.stake.removed',
      attributes: [
        ['owner', candidacy.ownerAddress],
        ['reason', 'absence'],
      ],
    })
  }
  return events
}
