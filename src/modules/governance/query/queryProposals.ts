import { defineQuery } from '../../define.ts'
import { pageOf } from '../../page.ts'
import { listProposals } from '../keeper.ts'
import { printProposal } from './printProposal.ts'

/** All proposals by block, then place in the block. Source: interface, listProposals; protocol.md §6, §8. */
export const queryProposals = defineQuery({
  path: '/governance/proposals',
  doc: 'All proposals, the oldest first; `?limit=` and `?offset=` cut a page.',
  isList: true,
  run: ({ state }, _args, options) =>
    pageOf(listProposals(state), options, (proposal) => printProposal(state, proposal)),
})
