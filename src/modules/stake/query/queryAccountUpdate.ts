import { show } from '../../../base/json.ts'
import { uint } from '../../../values/number.ts'
import { badArgument, defineQuery } from '../../define.ts'
import { getById } from '../keeper.ts'
import { accountUpdates } from '../tables.ts'

/** One account update request; null when there is none of that id. Source: protocol.md §8. */
export const queryAccountUpdate = defineQuery({
  path: '/stake/account-update/<id>',
  doc: 'An account update request: id, status, from, to, pub_key of the candidacy.',
  run: ({ state }, [text = '']) => {
    const id = uint.parse(text)
    if (id === undefined) return badArgument(`id: expected a decimal integer, got ${show(text)}`)
    const request = state.get(accountUpdates, { id })
    if (request === undefined) return { data: null }
    const { status, fromAddress, toAddress, candidacyId } = request
    return {
      data: { id, status, from: fromAddress, to: toAddress, pub_key: getById(state, candidacyId)?.pubKey ?? null },
    }
  },
})
