import type { Address } from '../../base/address.ts'
import type { Amount } from '../../base/amount.ts'
import type { State, StateReader } from '../../store/state.ts'
import type { RowOf } from '../../store/table.ts'
import { accounts } from './tables.ts'

/** One account; an unknown one has nothing. */
export function getAccount(state: StateReader, address: Address): RowOf<typeof accounts> {
  return state.get(accounts, { address }) ?? { address, balance: 0n, nonce: 0 }
}

/** Balance in base units. */
export const balanceOf = (state: StateReader, address: Address): Amount => getAccount(state, address).balance

/** Transactions the account made, which is the nonce of its next one. */
export const nonceOf = (state: StateReader, address: Address): number => getAccount(state, address).nonce

/** Counts one transaction more. */
export function useNonce(state: State, address: Address): void {
  const account = getAccount(state, address)
  state.put(accounts, { address, balance: account.balance, nonce: account.nonce + 1 })
}

/** Adds to a balance. */
export function addBalance(state: State, address: Address, amount: Amount): void {
  const account = getAccount(state, address)
  state.put(accounts, { address, balance: account.balance + amount, nonce: account.nonce })
}

/** Takes from a balance. A balance that does not cover it is a bug: the caller's rules come first. */
export function takeBalance(state: State, address: Address, amount: Amount): void {
  const account = getAccount(state, address)
  if (account.balance < amount) throw new Error(`accounts: ${address} has ${account.balance}, not ${amount}`)
  state.put(accounts, { address, balance: account.balance - amount, nonce: account.nonce })
}

/**
 * Counts one transaction more of `sender` and moves its fee to `to`. The balance covers it: the kernel's rules come
 * first.
 */
export function payFee(state: State, sender: Address, to: Address, fee: Amount): void {
  const account = getAccount(state, sender)
  if (account.balance < fee) throw new Error(`accounts: ${sender} has ${account.balance}, not the fee ${fee}`)
  state.put(accounts, { address: sender, balance: account.balance - fee, nonce: account.nonce + 1 })
  addBalance(state, to, fee)
}

/** Moves units from one balance to another. */
export function moveBalance(state: State, from: Address, to: Address, amount: Amount): void {
  takeBalance(state, from, amount)
  addBalance(state, to, amount)
}
