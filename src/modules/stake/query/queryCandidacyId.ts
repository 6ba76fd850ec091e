import { parseAddress } from '../../../base/address.ts'
import { show } from '../../../base/json.ts'
import { badArgument, defineQuery } from '../../define.ts'
import { getByOwner } from '../keeper.ts'

/** Under which id `/store/candidacies` has the record of an address; null when it has none. Source: protocol.md §8. */
export const queryCandidacyId = defineQuery({
  path: '/stake/candidacy-id/<address>',
  doc: 'The id of the candidacy of an address, null when there is none.',
  run: ({ state }, [text = '']) => {
    const owner = parseAddress(text)
    if (owner === undefined) return badArgument(`address: expected 0x and 40 hex digits, got ${show(text)}`)
    return { data: getByOwner(state, owner)?.id ?? null }
  },
})
