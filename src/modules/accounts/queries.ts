import { parseAddress } from '../../base/address.ts'
import { show } from '../../base/json.ts'
import { badArgument, defineQuery } from '../define.ts'
import { getAccount } from './keeper.ts'

/** Balance and nonce of an account; an unknown one has "0" and 0. Source: protocol.md §8. */
export const queryAccount = defineQuery({
  path: '/accounts/<address>',
  doc: 'Balance (base units, decimal text) and nonce of an account.',
  run: ({ state }, [text = '']) => {
    const address = parseAddress(text)
    if (address === undefined) return badArgument(`address: expected 0x and 40 hex digits, got ${show(text)}`)
    const { balance, nonce } = getAccount(state, address)
    return { data: { address, balance: balance.toString(), nonce } }
  },
})
