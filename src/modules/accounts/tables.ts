import { stateCodec } from '../../codec/state.ts'
import { address, amount, u64 } from '../../store/columns.ts'
import { table } from '../../store/table.ts'

/** Balances in base units, and how many transactions each account made. */
export const accounts = table('accounts', {
  tag: 0x01,
  key: { address },
  row: { balance: amount, nonce: u64 },
  message: stateCodec('svc.state.Account'),
})

/** Hashed tables of this module. */
export const accountsTables = [accounts] as const
