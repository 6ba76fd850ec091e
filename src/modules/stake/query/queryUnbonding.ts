import { addressBytes, parseAddress } from '../../../base/address.ts'
import { show } from '../../../base/json.ts'
import { badArgument, defineQuery } from '../../define.ts'
import { unbondings } from '../tables.ts'
import { pageOf } from '../../page.ts'
import { printPubKey } from './printValidator.ts'

const NO_OPTIONS = new Map<string, string>()

/** What still unbonds for an address, in the order it was made. Source: protocol.md §8, §10. */
export const queryUnbonding = defineQuery({
  path: '/stake/unbonding/<address>',
  doc: 'Unbonding entries of an address: amount, pub_key, completion_height.',
  isList: true,
  run: ({ state }, [text = '']) => {
    const owner = parseAddress(text)
    if (owner === undefined) return badArgument(`address: expected 0x and 40 hex digits, got ${show(text)}`)
    const entries = state.scan(unbondings, { index: 'byOwner', prefix: addressBytes(owner) })
    return pageOf(entries, NO_OPTIONS, (entry) => ({
      amount: entry.amount.toString(),
      pub_key: printPubKey(entry.pubKey),
      completion_height: entry.heightPaid,
    }))
  },
})
