import type { Address } from '../base/address.ts'
import { NONCES_KEPT } from './limits.ts'

/** What the gateway knows of an account while calls of it are under way. */
export interface Account {
  /** The nonce after the last one that the node accepted; undefined when it must be read again. */
  next: number | undefined
  /** `next` of its last call, to be tried once: the node says so when others have used the account since. */
  guess: number | undefined
  /** Nonces that the node accepted and that are in no block yet. */
  readonly outstanding: Set<number>
  /** Runs jobs one after the other, in the order of the calls. */
  readonly inTurn: <T>(job: () => Promise<T>) => Promise<T>
}

/** The accounts with calls under way. Of one without, the next nonce is kept as a guess, NONCES_KEPT of them. */
export interface Accounts {
  /** Runs `work`, which keeps the account known until it ends. Its part before the first await runs at once. */
  readonly use: <T>(address: Address, work: (account: Account) => Promise<T>) => Promise<T>
  /** How many calls of the account are under way. */
  readonly underWay: (address: Address) => number
  /** The first nonce that no transaction known here has; 0 when none is known. */
  readonly nextNonce: (address: Address) => number
}

/** The larger of `next` and what follows the outstanding nonces; 0 when nothing is known. */
export function nextKnown({ next, outstanding }: Account): number {
  let known = next ?? 0
  if (next === undefined) for (const nonce of outstanding) known = Math.max(known, nonce + 1)
  return known
}

function makeAccount(guess: number | undefined): Account {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    next: undefined,
    guess,
    outstanding: new Set(),
    inTurn: (job) => {
      const turn = tail.then(job)
      tail = turn.catch(() => undefined)
      return turn
    },
  }
}

/** No account known. */
export function makeAccounts(): Accounts {
  const known = new Map<Address, { readonly account: Account; users: number }>()
  const guesses = new Map<Address, number>()
  const forget = (address: Address, { next, guess }: Account): void => {
    const kept = next ?? guess
    known.delete(address)
    guesses.delete(address)
    if (kept !== undefined) guesses.set(address, kept)
    const [oldest] = guesses.keys()
    if (guesses.size > NONCES_KEPT && oldest !== undefined) guesses.delete(oldest)
  }
  const use: Accounts['use'] = async (address, work) => {
    const entry = known.get(address) ?? { account: makeAccount(guesses.get(address)), users: 0 }
    known.set(address, entry)
    entry.users += 1
    try {
      return await work(entry.account)
    } finally {
      entry.users -= 1
      if (entry.users === 0) forget(address, entry.account)
    }
  }
  return {
    use,
    underWay: (address) => known.get(address)?.users ?? 0,
    nextNonce: (address) => {
      const entry = known.get(address)
      return entry === undefined ? 0 : nextKnown(entry.account)
    },
  }
}
