import { invalidParameter } from '../../../base/txError.ts'
import { field, type ValuesOf } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { amount } from '../../../values/number.ts'
import { limited } from '../../../values/valueType.ts'
import { defineTx, type Outcome, type TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { moveBalance } from '../keeper.ts'

/** Gas of a transfer. Source: protocol.md §2, Gas and fees. */
export const TRANSFER_GAS = 21_000

const input = {
  to: field(address),
  value: field(limited(amount, { isPositive: true }), 'amount above 0, in base units'),
}

const event = defineEvent({
  type: 'svc.accounts.transfer',
  attributes: ['to', 'value'],
  doc: 'Base units moved from the sender to another account.',
})

/** Source: protocol.md §3, transfer [ext]. */
export const transfer = defineTx({
  operation: 'transfer',
  call: 'transfer',
  event,
  doc: 'Moves base units from the sender to another account.',
  input,
  gas: () => TRANSFER_GAS,
  execute: executeTransfer,
})

function executeTransfer({ state, sender }: TxContext, { to, value }: ValuesOf<typeof input>): Outcome<typeof event> {
  if (value === 0n) return invalidParameter('value: expected more than 0, got 0')
  return {
    locks: value,
    apply: () => {
      moveBalance(state, sender, to, value)
      return { attributes: { to, value: value.toString() }, accounts: [to] }
    },
  }
}
