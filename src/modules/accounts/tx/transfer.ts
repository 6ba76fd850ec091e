import { addressOf } from '../../../base/address.ts'
import { invalidParameter } from '../../../base/txError.ts'
import { field, type MessageOf } from '../../../tx/fields.ts'
import { address } from '../../../values/account.ts'
import { amount } from '../../../values/number.ts'
import { limited } from '../../../values/valueType.ts'
import { defineTx, type Outcome, type TxContext } from '../../define.ts'
import { moveBalance } from '../keeper.ts'

/** Gas of a transfer. Source: protocol.md §2, Gas and fees. */
export const TRANSFER_GAS = 21_000

const input = {
  to: field(address),
  value: field(limited(amount, { isPositive: true }), 'amount above 0, in base units'),
}

/** Source: protocol.md §3, transfer [ext]. */
export const transfer = defineTx({
  operation: 'transfer',
  call: 'transfer',
  event: 'svc.accounts.transfer',
  doc: 'Moves base units from the sender to another account.',
  input,
  gas: () => TRANSFER_GAS,
  execute: executeTransfer,
})

function executeTransfer({ state, sender }: TxContext, message: MessageOf<typeof input>): Outcome {
  const to = addressOf(message.to)
  const value = BigInt(message.value)
  if (value === 0n) return invalidParameter('value: expected more than 0, got 0')
  return {
    locks: value,
    apply: () => {
      moveBalance(state, sender, to, value)
      return { attributes: { to, value: value.toString() }, accounts: [to] }
    },
  }
}
