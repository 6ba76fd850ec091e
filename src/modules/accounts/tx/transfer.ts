import { invalidParameter } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { amount } from '../../../values/number.ts'
import { limited } from '../../../values/valueType.ts'
import { defineTx } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { moveBalance } from '../keeper.ts'

/** Gas of a transfer. Source: protocol.md §2, Gas and fees. */
export const TRANSFER_GAS = 21_000

/** Source: protocol.md §3, transfer [ext]. */
export const transfer = defineTx({
  operation: 'transfer',
  call: 'transfer',
  event: defineEvent({
    type: 'svc.accounts.transfer',
    attributes: ['to', 'value'],
    doc: 'Base units moved from the sender to another account.',
  }),
  doc: 'Moves base units from the sender to another account.',
  input: {
    to: field(address),
    value: field(limited(amount, { isPositive: true }), 'amount above 0, in base units'),
  },
  gas: () => TRANSFER_GAS,
  execute: ({ state, sender }, { to, value }) => {
    if (value === 0n) return invalidParameter('value: expected more than 0, got 0')
    return {
      locks: value,
      apply: () => {
        moveBalance(state, sender, to, value)
        return { attributes: { to, value: value.toString() }, accounts: [to] }
      },
    }
  },
})
