import { parseAddress } from '../../../base/address.ts'
import { show } from '../../../base/json.ts'
import { badArgument, defineQuery } from '../../define.ts'
import { getByOwner } from '../keeper.ts'
import { printValidator } from './printValidator.ts'
import { standingOf } from './standing.ts'

/**
 * The record of an address, withdrawn or live; null when there is none. Source: interface, query; protocol.md §3, §8.
 */
export const queryValidator = defineQuery({
  path: '/stake/validator/<address>',
  doc: 'The candidacy of an address, null when there is none.',
  run: (context, [text = '']) => {
    const owner = parseAddress(text)
    if (owner === undefined) return badArgument(`address: expected 0x and 40 hex digits, got ${show(text)}`)
    const candidacy = context.height === 0 ? undefined : getByOwner(context.state, owner)
    return { data: candidacy === undefined ? null : printValidator(candidacy, standingOf(context, candidacy)) }
  },
})
