import type { ProposalId } from '../../../base/pubKey.ts'
import { proposalId } from '../../../values/key.ts'
import type { StateReader } from '../../../store/state.ts'
import { badArgument, defineQuery, type QueryError } from '../../define.ts'
import { getProposal, listVotes } from '../keeper.ts'
import { tallyOf } from '../tally.ts'
import { printProposal } from './printProposal.ts'

/** The id in a path, URL-safe or standard base64, or why it is none. */
export function readProposalId(text: string): ProposalId | QueryError {
  return (
    proposalId.parse(text) ??
    badArgument(`id: expected URL-safe base64 of 32 bytes, got ${JSON.stringify(text.slice(0, 60))}`)
  )
}

/** Votes in candidacy order. */
export const printVotes = (state: StateReader, id: ProposalId): readonly Record<string, unknown>[] =>
  [...listVotes(state, id)].map(({ voter, answer, blockHeight }) => ({
    Voter: voter,
    Answer: answer,
    BlockHeight: blockHeight,
  }))

/**
 * A proposal with its votes and its tally: the last one once resolved, else as it stands. Source: protocol.md §8, §10.
 */
export const queryProposal = defineQuery({
  path: '/governance/proposal/<id>',
  doc: 'A proposal with Votes and Tally, null when there is none.',
  isList: true,
  run: ({ state }, [text = '']) => {
    const id = readProposalId(text)
    if (typeof id !== 'string') return id
    const proposal = getProposal(state, id)
    if (proposal === undefined) return { data: null }
    const { yes, no, total } =
      proposal.result === ''
        ? tallyOf(state, proposal)
        : { yes: proposal.yesPower, no: proposal.noPower, total: proposal.totalPower }
    return {
      data: {
        ...printProposal(state, proposal),
        Votes: printVotes(state, id),
        Tally: { Yes: yes, No: no, Total: total },
      },
    }
  },
})
