import { defineQuery } from '../../define.ts'
import { printVotes, readProposalId } from './queryProposal.ts'

/** Votes on a proposal; an unknown one has none. Source: protocol.md §8. */
export const queryVotes = defineQuery({
  path: '/governance/votes/<id>',
  doc: 'Votes on a proposal: Voter, Answer, BlockHeight.',
  isList: true,
  run: ({ state }, [text = '']) => {
    const id = readProposalId(text)
    return typeof id === 'string' ? { data: printVotes(state, id) } : id
  },
})
