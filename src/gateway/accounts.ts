import type { Address } from '../base/address.ts'

/** What the gateway knows of an account while calls of it are under way. */
export interface Account {
  /** The nonce after the last one that the node accepted; undefined when it must be read again. */
  next: number | undefined
  /** Nonces that the node accepted and that are in no block yet. */
  readonly outstanding: Set<number>
  /** Runs jobs one after the other, in the order of the calls. */
  readonly inTurn: <T>(job: () => Promise<T>) => Promise<T>
}

/** The accounts with calls under way; one without is forgotten, so the map is as large as the calls are many. */
export interface Accounts {
  /** Runs `work`, which keeps the account known until it ends. Its part before the first await runs at once. */
  readonly use: <T>(address: Address, work: (account: Account) => Promise<T>) => Promise<T>
  /** The first nonce that no transaction known here has; 0 when none is known. */
  readonly nextNonce: (address: Address) => number
}

/** The larger of `next` and what follows the outstanding nonces; 0 when nothing is known. */
export function nextKnown({ next, outstanding }: Account): number {
  let known = next ?? 0
  if (next === undefined) for (const nonce of outstanding) known = Math.max(known, nonce + 1)
  return known
}

function makeAccount(): Account {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    next: undefined, outstanding: new Set(),
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
  const use: Accounts['use'] = async (address, work) => {
    const entry = known.get(address) ?? { account: makeAccount(), users: 0 }
    known.set(address, entry)
    entry.users += 1
    try {
      return await work(entry.account)
    } finally {
      entry.users -= 1
      if (entry.users === 0) known.delete(address)
    }
  }
  return {
    use,
    nextNonce: (address) => {
      const entry = known.get(address)
      return entry === undefined ? 0 : nextKnown(entry.account)
    },
  }
}
