import { defineQuery } from '../../define.ts'
import { pageOf } from '../../page.ts'
import { listLive, listSet } from '../keeper.ts'
import { makeSet } from '../validatorSet.ts'
import { printValidator } from './printValidator.ts'

/** All live candidacies in rank order. Source: interface, list; protocol.md §8. */
export const queryValidators = defineQuery({
  path: '/stake/validators',
  doc: 'All current validators and candidates in rank order; `?limit=` and `?offset=` cut a page.',
  run: ({ state, height, params }, _args, options) => {
    if (height === 0) return { data: [] }
    const { powerCap } = makeSet(state, params())
    const inSet = new Set(listSet(state).map(({ candidacyId }) => candidacyId))
    return pageOf(listLive(state), options, (candidacy, rank) =>
      printValidator(candidacy, { powerCap, rank, isInSet: inSet.has(candidacy.id) }))
  },
})
