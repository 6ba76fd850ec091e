import { defineQuery } from '../../define.ts'
import { pageOf } from '../../page.ts'
import { listLive } from '../keeper.ts'
import { makeSet } from '../validatorSet.ts'
import { printValidator } from './printValidator.ts'

/** All live candidacies in rank order. Source: interface, list; protocol.md §8. */
export const queryValidators = defineQuery({
  path: '/stake/validators',
  doc: 'All current validators and candidates in rank order; `?limit=` and `?offset=` cut a page.',
  run: ({ state, height, params }, _args, options) => {
    if (height === 0) return { data: [] }
    const { powerCap } = makeSet(state, params())
    return pageOf(listLive(state), options, (candidacy, rank) => printValidator(state, candidacy, powerCap, rank))
  },
})
