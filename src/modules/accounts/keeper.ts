import { type Address, address } from '../../values/address.ts'
import type { Amount } from '../../base/amount.ts'
import type { Shortfall } from '../../base/txError.ts'
import { stateCodec } from '../../codec/state.ts'
import type { State, StateReader } from '../../store/state.ts'
import { type RowOf, table } from '../../store/table.ts'
import { amount, uint } from '../../values/number.ts'

/** Balances in base units, and how many transactions each account made. */
export const accounts = table('accounts', {
  tag: 0x01,
  key: { address },
  row: { balance: amount, nonce: uint },
  message: stateCodec('svc.state.Account'),
})

/** One account; an unknown one has nothing. */
export function getAccount(state: StateReader, account: Address): RowOf<typeof accounts> {
  return state.get(accounts, { address: account }) ?? { address: account, balance: 0n, nonce: 0 }
}

/** Balance in base units. */
export const balanceOf = (state: StateReader, account: Address): Amount => getAccount(state, account).balance

/** What a balance lacks of `needed`, in which the `fee` is; undefined when it covers that. */
export function shortfallOf(
  state: StateReader,
  account: Address,
  needed: Amount,
  fee: Amount = 0n,
): Shortfall | undefined {
  const available = balanceOf(state, account)
  if (available >= needed) return undefined
  return { account, needed: String(needed), fee: String(fee), available: String(available) }
}

/** Transactions the account made, which is the nonce of its next one. */
export const nonceOf = (state: StateReader, account: Address): number => getAccount(state, account).nonce

/** Adds to a balance, and to the nonce. Taking more than there is is a bug: the caller's rules come first. */
function change(state: State, account: Address, units: Amount, transactions: number): void {
  const { balance, nonce } = getAccount(state, account)
  if (balance + units < 0n) throw new Error(`accounts: ${account} has ${balance}, not ${-units}`)
  state.put(accounts, { address: account, balance: balance + units, nonce: nonce + transactions })
}

/** Counts one transaction more. */
export const useNonce = (state: State, sender: Address): void => change(state, sender, 0n, 1)

/** Adds to a balance. */
export const addBalance = (state: State, to: Address, units: Amount): void => change(state, to, units, 0)

/** Takes from a balance, which covers it. */
export const takeBalance = (state: State, from: Address, units: Amount): void => change(state, from, -units, 0)

/** Counts one transaction more of `sender` and moves its fee, which the balance covers, to `to`. */
export function payFee(state: State, sender: Address, to: Address, fee: Amount): void {
  change(state, sender, -fee, 1)
  addBalance(state, to, fee)
}

/** Moves units from one balance, which covers them, to another. */
export function moveBalance(state: State, from: Address, to: Address, units: Amount): void {
  takeBalance(state, from, units)
  addBalance(state, to, units)
}
