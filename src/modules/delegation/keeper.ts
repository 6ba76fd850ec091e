import { type Amount, divCeil, divFloor } from '../../base/amount.ts'
import { concat, u64be } from '../../base/bytes.ts'
import type { State, StateReader } from '../../store/state.ts'
import type { RowOf } from '../../store/table.ts'
import { type Address, addressBytes } from '../../values/address.ts'
import type { Block } from '../define.ts'
import { batchHeights } from '../shownRules.ts'
import { changeShares } from '../stake/keeper.ts'
import type { Candidacy } from '../stake/tables.ts'
import { type Batch, batches, batchNumbers, claims, numberBatches, type Delegation, delegations } from './tables.ts'

/** What a candidacy's row says of its pool. */
export type Pool = Pick<Candidacy, 'id' | 'delegated' | 'delegationUnits' | 'pool' | 'delegators'>

// Units

/** What units of a pool are worth, rounded down. */
export const worthOf = (units: Amount, { delegated, delegationUnits }: Omit<Pool, 'id'>): Amount =>
  delegationUnits === 0n ? 0n : divFloor(units * delegated, delegationUnits)

/** The units that an amount buys, rounded down: one for one in a pool that begins. */
export const unitsBought = (amount: Amount, { delegated, delegationUnits }: Pool): Amount =>
  delegationUnits === 0n ? amount : divFloor(amount * delegationUnits, delegated)

/** The units that an amount costs who takes it out of a pool that has some, rounded up. */
export const unitsSold = (amount: Amount, { delegated, delegationUnits }: Pool): Amount =>
  divCeil(amount * delegationUnits, delegated)

/** What becomes of the pool's columns when all of it is gone: the next pool begins. */
export const poolOver = ({ delegationUnits, pool }: Pool): Partial<Pool> =>
  delegationUnits === 0n ? {} : { delegated: 0n, delegationUnits: 0n, delegators: 0, pool: pool + 1 }

// Delegations

/** An amount, and the units that it buys or that it is paid for. */
interface Bought {
  readonly amount: Amount
  readonly units: Amount
}

/** What an account has of a candidacy's pool. */
export const getDelegation = (state: StateReader, { id, pool }: Pool, delegator: Address): Delegation | undefined =>
  state.get(delegations, { candidacyId: id, pool, delegator })

/** The delegations of a candidacy's pool, by delegator. Bound: all of them; for queries. */
export const listDelegations = (state: StateReader, { id, pool }: Pick<Pool, 'id' | 'pool'>): Iterable<Delegation> =>
  state.scan(delegations, { prefix: concat(u64be(id), u64be(pool)) })

/** Writes the delegations of genesis, which are within the shares: each unit is one base unit. */
export function startPool(
  state: State,
  candidacy: Candidacy,
  given: readonly { readonly delegator: Address; readonly amount: Amount }[],
  time: number,
): void {
  const delegated = given.reduce((sum, { amount }) => sum + amount, 0n)
  for (const { delegator, amount } of given)
    putDelegation(state, { candidacyId: candidacy.id, pool: 0, delegator }, { amount, units: amount }, time)
  const { shares } = candidacy
  changeShares(state, candidacy, { shares, delegated, delegationUnits: delegated, delegators: given.length })
}

/** Adds to what an account has of a pool; returns true when it had nothing of it. */
function putDelegation(
  state: State,
  key: Pick<Delegation, 'candidacyId' | 'pool' | 'delegator'>,
  { amount, units }: Bought,
  time: number,
): boolean {
  const before = state.get(delegations, key)
  state.put(delegations, {
    ...key,
    units: (before?.units ?? 0n) + units,
    delegateAmount: (before?.delegateAmount ?? 0n) + amount,
    withdrawAmount: before?.withdrawAmount ?? 0n,
    createdAt: before?.createdAt ?? time,
    updatedAt: time,
  })
  return before === undefined
}

/** Adds `amount`, which buys `units`, to what an account has of a candidacy's pool. */
export function addDelegation(
  state: State,
  candidacy: Candidacy,
  delegator: Address,
  { amount, units }: Bought,
  time: number,
): void {
  const { id: candidacyId, shares, delegated, delegationUnits, pool, delegators } = candidacy
  const isNew = putDelegation(state, { candidacyId, pool, delegator }, { amount, units }, time)
  changeShares(state, candidacy, {
    shares: shares + amount,
    delegated: delegated + amount,
    delegationUnits: delegationUnits + units,
    delegators: isNew ? delegators + 1 : delegators,
  })
}

/** Takes `units`, for `amount`, from a delegation; the amount begins to unbond. */
export function takeDelegation(
  state: State,
  candidacy: Candidacy,
  delegation: Delegation,
  { amount, units }: Bought,
  block: Block,
): void {
  const left = delegation.units - units
  if (left === 0n) state.remove(delegations, delegation)
  else {
    const withdrawAmount = delegation.withdrawAmount + amount
    state.put(delegations, { ...delegation, units: left, withdrawAmount, updatedAt: block.time })
  }
  changeShares(state, candidacy, {
    shares: candidacy.shares - amount,
    delegated: candidacy.delegated - amount,
    delegationUnits: candidacy.delegationUnits - units,
    delegators: left === 0n ? candidacy.delegators - 1 : candidacy.delegators,
  })
  if (amount > 0n) joinBatch(state, candidacy.id, delegation.delegator, amount, block)
}

/**
 * The oldest row of an account that is worth nothing: of a pool that a slash ended. Bound: the account's rows of one
 * candidacy, one for each slash to nothing, and the candidacy's batches.
 */
export function worthlessDelegation(
  state: StateReader,
  { id, pool }: Pool,
  delegator: Address,
): Delegation | undefined {
  const prefix = concat(addressBytes(delegator), u64be(id))
  const older = [...state.scan(delegations, { index: 'byDelegator', prefix })].filter((row) => row.pool < pool)
  if (older.length === 0) return undefined
  const closing = closingBatches(state, id)
  return older.find((row) => !closing.has(row.pool))
}

/** The closing batches of a candidacy, by the pools whose delegations wait in them. Bound: its batches. */
const closingBatches = (state: StateReader, candidacyId: number): ReadonlyMap<number, Batch> =>
  new Map([...listBatches(state, candidacyId)].flatMap((batch) => (batch.pool === 0 ? [] : [[batch.pool - 1, batch]])))

/** Removes a row that is worth nothing. */
export function dropDelegation(state: State, delegation: Delegation): void {
  state.remove(delegations, delegation)
}

// Batches

/** With so many batches a candidacy takes no more delegations, so that a slash has a bound. Source: protocol.md §12. */
export const BATCHES_MAX = 100

/** Claims that one block pays. Source: protocol.md §12. */
export const CLAIMS_PAID_MAX = 256

/** The batches of a candidacy, by number. Bound: about BATCHES_MAX. */
export const listBatches = (state: StateReader, candidacyId: number): Iterable<Batch> =>
  state.scan(batches, { prefix: u64be(candidacyId) })

const numbersOf = (state: StateReader, candidacyId: number): RowOf<typeof batchNumbers> =>
  state.get(batchNumbers, { candidacyId }) as RowOf<typeof batchNumbers>

const newestBatch = (state: StateReader, candidacyId: number): Batch | undefined =>
  state.get(batches, { candidacyId, number: numbersOf(state, candidacyId).newest })

/** True when a candidacy has BATCHES_MAX batches or more. */
export const hasTooManyBatches = (state: StateReader, candidacyId: number): boolean =>
  numbersOf(state, candidacyId).count >= BATCHES_MAX

/** Writes a batch, which may be new. */
function putBatch(state: State, batch: Batch): void {
  state.put(batches, batch)
  const { candidacyId, number } = batch
  const { newest, count } = numbersOf(state, candidacyId)
  if (number > newest) state.put(batchNumbers, { candidacyId, newest: number, count: count + 1 })
}

function removeBatch(state: State, batch: Batch): void {
  state.remove(batches, batch)
  state.put(batchNumbers, numberBatches(state, batch.candidacyId))
}

/** Base units of a candidacy that wait in batches. */
export const pendingInBatches = (state: StateReader, candidacyId: number): Amount =>
  [...listBatches(state, candidacyId)].reduce((sum, { amount }) => sum + amount, 0n)

function joinBatch(state: State, candidacyId: number, delegator: Address, amount: Amount, block: Block): void {
  const { height, params } = block
  const { heightMade, heightPaid } = batchHeights(height, params.unstakeWaitPeriod)
  const newest = newestBatch(state, candidacyId)
  const isOpen = newest?.closed === false && newest.heightMade === heightMade && newest.heightPaid === heightPaid
  const batch = isOpen ? newest : { ...emptyBatch(candidacyId, newest), heightMade, heightPaid }
  putBatch(state, { ...batch, amount: batch.amount + amount, units: batch.units + amount })
  const key = { candidacyId, number: batch.number, delegator }
  state.put(claims, { ...key, units: (state.get(claims, key)?.units ?? 0n) + amount })
}

const emptyBatch = (candidacyId: number, newest: Batch | undefined) => ({
  candidacyId,
  number: (newest?.number ?? 0) + 1,
  amount: 0n,
  units: 0n,
  closed: false,
  pool: 0,
})

/** At the end of a candidacy its whole pool becomes one batch, whose claims its delegations are: nothing walks them. */
export function startClosingBatch(state: State, { id, delegated, delegationUnits, pool }: Pool, block: Block): void {
  if (delegationUnits === 0n) return
  putBatch(state, {
    ...emptyBatch(id, newestBatch(state, id)),
    amount: delegated,
    units: delegationUnits,
    heightMade: block.height,
    heightPaid: block.height + block.params.unstakeWaitPeriod,
    closed: true,
    pool: pool + 1,
  })
}

/** A slash leaves `amount` of a batch, which takes no more: who withdraws later shares no slash of before. */
export function closeBatch(state: State, batch: Batch, amount: Amount): void {
  state.put(batches, { ...batch, amount, closed: true })
}

/** What of a batch belongs to a delegator. */
interface Claim {
  readonly delegator: Address
  readonly units: Amount
  /** Removes the row of the claim. */
  readonly drop: (state: State) => void
}

/** The claims of a batch, by delegator. */
function* claimsOf(state: StateReader, { candidacyId, number, pool }: Batch): Iterable<Claim> {
  if (pool > 0) {
    for (const row of listDelegations(state, { id: candidacyId, pool: pool - 1 }))
      yield { ...row, drop: (to) => to.remove(delegations, row) }
    return
  }
  for (const row of state.scan(claims, { prefix: concat(u64be(candidacyId), u64be(number)) }))
    yield { ...row, drop: (to) => to.remove(claims, row) }
}

/** What a claim is paid, and what it leaves of the batch. */
interface Payout extends Claim {
  readonly paid: Amount
  readonly rest: Batch
}

/** What each claim of a batch is paid, by delegator: its part of what is left, rounded down, so that the last takes the rest. */
export function* payoutsOf(state: StateReader, batch: Batch): Iterable<Payout> {
  let rest = batch
  for (const claim of claimsOf(state, batch)) {
    const paid = divFloor(claim.units * rest.amount, rest.units)
    rest = { ...rest, amount: rest.amount - paid, units: rest.units - claim.units }
    yield { ...claim, paid, rest }
  }
}

/** Pays claims of the batches whose height is reached, CLAIMS_PAID_MAX at most; the rest is for the next blocks. */
export function payClaims(state: State, height: number, pay: (delegator: Address, amount: Amount) => void): void {
  let left = CLAIMS_PAID_MAX
  for (const batch of state.scan(batches, { index: 'byHeightPaid', before: u64be(height + 1) })) {
    if (left === 0) return
    let after = batch
    for (const { delegator, paid, rest, drop } of payoutsOf(state, batch)) {
      drop(state)
      pay(delegator, paid)
      after = rest
      if (--left === 0) break
    }
    if (after.units === 0n) removeBatch(state, batch)
    else state.put(batches, after)
  }
}

// What an account has

/** What an account has of one candidacy. */
export interface Stake {
  readonly candidacyId: number
  /** Its rows of the pool, and of pools that a slash ended. */
  readonly rows: readonly Delegation[]
  /** What is on its way back, by batch. */
  readonly pending: readonly Pick<Batch, 'amount' | 'heightPaid'>[]
}

/**
 * What an account has, by candidacy: delegations, and what unbonds. Bound: the account's rows and claims, and the batches
 * of the candidacies of its rows; for queries.
 */
export function* listStakesOf(state: StateReader, delegator: Address): Iterable<Stake> {
  const prefix = addressBytes(delegator)
  const all = Map.groupBy(
    [
      ...state.scan(delegations, { index: 'byDelegator', prefix }),
      ...state.scan(claims, { index: 'byDelegator', prefix }),
    ],
    ({ candidacyId }) => candidacyId,
  )
  for (const candidacyId of [...all.keys()].sort((a, b) => a - b)) {
    const rows: Delegation[] = []
    const pending: Pick<Batch, 'number' | 'amount' | 'heightPaid'>[] = []
    const closing = closingBatches(state, candidacyId)
    for (const one of all.get(candidacyId) ?? []) {
      const batch = 'pool' in one ? closing.get(one.pool) : state.get(batches, one)
      if (batch !== undefined) {
        const { number, heightPaid, amount, units } = batch
        pending.push({ number, heightPaid, amount: divFloor(one.units * amount, units) })
      } else if ('pool' in one) rows.push(one)
    }
    yield { candidacyId, rows, pending: pending.sort((a, b) => a.number - b.number) }
  }
}
