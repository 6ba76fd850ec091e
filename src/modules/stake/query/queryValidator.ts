import { parseAddress } from '../../../base/address.ts'
import { badArgument, defineQuery } from '../../define.ts'
import { getByOwner, isInSet, rankOf } from '../keeper.ts'
import { makeSet } from '../validatorSet.ts'
import { printValidator } from './printValidator.ts'

/** The record of an address, withdrawn or live; null when there is none. Source: interface, query; protocol.md §3, §8. */
export const queryValidator = defineQuery({
  path: '/stake/validator/<address>',
  doc: 'The candidacy of an address, null when there is none.',
  run: ({ state, height, params }, [text = '']) => {
    const owner = parseAddress(text)
    if (owner === undefined) return badArgument(`address: expected 0x and 40 hex digits, got ${JSON.stringify(text)}`)
    const candidacy = height === 0 ? undefined : getByOwner(state, owner)
    if (candidacy === undefined) return { data: null }
    const { powerCap } = makeSet(state, params())
    return { data: printValidator(candidacy, { powerCap, rank: rankOf(state, candidacy), isInSet: isInSet(state, candidacy.id) }) }
  },
})
