import { stateCodec } from '../../codec/state.ts'
import { address } from '../../values/account.ts'
import { amount, uint } from '../../values/number.ts'
import { table } from '../../store/table.ts'

/** Balances in base units, and how many transactions each account made. */
export const accounts = table('accounts', {
  tag: 0x01,
  key: { address },
  row: { balance: amount, nonce: uint },
  message: stateCodec('svc.state.Account'),
})

/** Hashed tables of this module. */
export const accountsTables = [accounts] as const
