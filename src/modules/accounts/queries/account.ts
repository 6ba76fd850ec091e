import { field } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { amount, uint } from '../../../values/number.ts'
import { record } from '../../../values/shape.ts'
import { defineQuery } from '../../query.ts'
import { getAccount } from '../keeper.ts'

/** Balance and nonce of an account; an unknown one has "0" and 0. Source: protocol.md §8. */
export const queryAccount = defineQuery({
  path: '/accounts/<address>',
  doc: 'Balance in base units and nonce of an account.',
  input: { address: field(address) },
  result: record('Account', { address, balance: amount, nonce: uint }),
  run: ({ state }, { address: account }) => getAccount(state, account),
})
