import { defineQuery } from '../../define.ts'
import { pageOf } from '../../page.ts'
import { listLive } from '../keeper.ts'
import { printValidator } from './printValidator.ts'
import { standingOf } from './standing.ts'

/** All live candidacies in rank order. Source: interface, list; protocol.md §8. */
export const queryValidators = defineQuery({
  path: '/stake/validators',
  doc: 'All current validators and candidates in rank order; `?limit=` and `?offset=` cut a page.',
  isList: true,
  run: (context, _args, options) => {
    const all = context.height === 0 ? [] : listLive(context.state)
    return pageOf(all, options, (candidacy, rank) => printValidator(candidacy, standingOf(context, candidacy, rank)))
  },
})
