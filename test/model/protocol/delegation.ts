import { type Call, charge, checkBytes, type Concerned, type Done, INVALID, need, type Operation } from './operation.ts'
import {
  type Batch,
  type Block,
  type Candidacy,
  type Delegation,
  type Event,
  liveOf,
  numberParam,
  pay,
  recordOf,
  type State,
} from './state.ts'
import { parseAmount, quotientUp, TOKEN } from './values.ts'
import type { Message } from './wire.ts'

/** Delegation. Source: protocol.md §12, whose tables and rules the functions follow line by line. */

const UNITS_MAX = 10n ** 36n
const BATCHES_MAX = 100
const CLAIMS_MAX = 256
const STEPS = 64

/** The owner's part S of the shares. */
export const ownPart = ({ shares, delegated }: Candidacy): bigint => shares - delegated

/** floor(units × D / U): what units of the pool are worth. */
export const worth = ({ delegated, delegationUnits }: Candidacy, units: bigint): bigint =>
  delegationUnits === 0n ? 0n : (units * delegated) / delegationUnits

/** The commission in force in the block of this height. Source: §12, comp_rate. */
export const rateInForce = (candidacy: Candidacy, height: number): bigint =>
  candidacy.nextCompRateHeight > 0 && height >= candidacy.nextCompRateHeight
    ? candidacy.nextCompRate
    : candidacy.compRate

const delegationOf = (state: State, id: number, pool: number, delegator: string): Delegation | undefined =>
  state.delegations.find((row) => row.candidacyId === id && row.pool === pool && row.delegator === delegator)

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** What a batch still owes to whom, by delegator. The claims of a closing batch are the delegations of its pool. */
export function claimsOf(state: State, { candidacyId, number, pool }: Batch): { delegator: string; units: bigint }[] {
  const rows =
    pool > 0
      ? state.delegations.filter((row) => row.candidacyId === candidacyId && row.pool === pool - 1)
      : state.claims.filter((row) => row.candidacyId === candidacyId && row.number === number)
  return rows.map(({ delegator, units }) => ({ delegator, units })).sort((a, b) => byText(a.delegator, b.delegator))
}

export const batchesOf = (state: State, id: number): Batch[] =>
  state.batches.filter(({ candidacyId }) => candidacyId === id).sort((a, b) => a.number - b.number)

/** Whether a closing batch will pay a row. */
export const isClosing = (state: State, { candidacyId, pool }: Delegation): boolean =>
  state.batches.some((batch) => batch.candidacyId === candidacyId && batch.pool === pool + 1)

/** The oldest row of a pool of which a slash took everything. Source: §12, Slash. */
const worthlessRow = (state: State, { id, pool }: Candidacy, delegator: string): Delegation | undefined =>
  state.delegations
    .filter((row) => row.candidacyId === id && row.delegator === delegator && row.pool < pool && !isClosing(state, row))
    .sort((a, b) => a.pool - b.pool)[0]

const removeDelegation = (state: State, gone: Delegation): void => {
  state.delegations = state.delegations.filter((row) => row !== gone)
}

const addressIn = (message: Message): string => `0x${message['validatorAddress']}`

const done = (candidacy: Candidacy, amount: bigint): Done => {
  const owner: Concerned = { account: candidacy.ownerAddress, validator: true }
  return { ids: { owner: candidacy.ownerAddress, amount: String(amount) }, concerned: [owner] }
}

function delegate(call: Call): Done {
  const { state, block, sender, message } = call
  const amount = BigInt(message['amount'] as string)
  const candidacy = liveOf(state, addressIn(message))
  need(candidacy !== undefined, 5, 'Validator does not exist for that address')
  need(candidacy.ownerAddress !== sender, 21, 'Bad request')
  need(amount >= TOKEN, 20, `${INVALID}amount: `)
  need(candidacy.shares + amount <= candidacy.maxShares, 21, 'Validator has reached its max amount')
  const isFull = batchesOf(state, candidacy.id).length >= BATCHES_MAX
  if (isFull) block.met.push('as many batches wait as may')
  need(!isFull, 21, 'Too many unbonding batches')
  const { delegated, delegationUnits } = candidacy
  const rises = block.altered === 'the units of a delegation round up' ? quotientUp : quotientDown
  const units = delegationUnits === 0n ? amount : rises(amount, delegationUnits, delegated)
  const fits = units > 0n && delegationUnits + units <= UNITS_MAX
  if (!fits) block.met.push('a delegation has no unit or too many of them')
  need(fits, 20, `${INVALID}amount: `)
  charge(call, amount)

  pay(state, sender, -amount)
  candidacy.delegated += amount
  candidacy.delegationUnits += units
  candidacy.shares += amount
  const row = delegationOf(state, candidacy.id, candidacy.pool, sender)
  if (row !== undefined) {
    row.units += units
    row.delegateAmount += amount
    row.updatedAt = block.time
  } else {
    state.delegations.push({
      candidacyId: candidacy.id,
      pool: candidacy.pool,
      delegator: sender,
      units,
      delegateAmount: amount,
      withdrawAmount: 0n,
      createdAt: block.time,
      updatedAt: block.time,
    })
    candidacy.delegators++
  }
  return done(candidacy, amount)
}

const quotientDown = (amount: bigint, factor: bigint, divisor: bigint): bigint => (amount * factor) / divisor

function undelegate(call: Call): Done {
  const { state, block, sender, message } = call
  const { amount: text, completelyWithdraw } = message as { amount?: string; completelyWithdraw?: string }
  const isWhole = completelyWithdraw === 'Y'
  need((text === undefined) === isWhole, 20, `${INVALID}amount or completelyWithdraw`)
  const candidacy = recordOf(state, addressIn(message))
  need(candidacy !== undefined, 5, 'Validator does not exist for that address')
  const row = delegationOf(state, candidacy.id, candidacy.pool, sender)
  if (row === undefined) {
    const old = isWhole ? worthlessRow(state, candidacy, sender) : undefined
    need(old !== undefined, 21, 'No delegation')
    charge(call)
    block.met.push('a worthless delegation is removed')
    removeDelegation(state, old)
    return done(candidacy, 0n)
  }
  const { delegated, delegationUnits } = candidacy
  const whole = worth(candidacy, row.units)
  let [paid, units] = [whole, row.units]
  if (text !== undefined) {
    const amount = BigInt(text)
    need(amount > 0n && amount <= whole, 21, 'Invalid withdrawal amount')
    const rises = block.altered === 'the units of a withdrawal round down' ? quotientDown : quotientUp
    const taken = rises(amount, delegationUnits, delegated)
    const isTooSmall = whole - amount < TOKEN && block.altered !== 'a withdrawal leaves any rest'
    if (taken < row.units && !isTooSmall) [paid, units] = [amount, taken]
    else if (paid > amount) block.met.push('a withdrawal of all units pays more than was asked')
  }
  charge(call)

  candidacy.delegated -= paid
  candidacy.shares -= paid
  candidacy.delegationUnits -= units
  row.units -= units
  row.withdrawAmount += paid
  row.updatedAt = block.time
  if (row.units === 0n) {
    removeDelegation(state, row)
    candidacy.delegators--
  }
  unbond(state, block, candidacy, sender, paid)
  return done(candidacy, paid)
}

const waitOf = (state: State, block: Block): number => numberParam(state, 'unstake_wait_period', block.height)

function addBatch(state: State, id: number, batch: Omit<Batch, 'candidacyId' | 'number'>): Batch {
  const last = batchesOf(state, id).at(-1)?.number ?? 0
  const made = { candidacyId: id, number: last + 1, ...batch }
  state.batches.push(made)
  return made
}

/** Puts an amount into the batch of its time. Source: §12, Unbonding in batches. */
function unbond(state: State, block: Block, { id }: Candidacy, delegator: string, amount: bigint): void {
  if (amount === 0n) return
  const wait = waitOf(state, block)
  const step = Math.max(1, Math.ceil(wait / STEPS))
  const heightMade = Math.ceil(block.height / step) * step
  const heightPaid = heightMade + wait
  const newest = batchesOf(state, id).at(-1)
  const fits = newest?.closed === false && newest.heightMade === heightMade && newest.heightPaid === heightPaid
  const batch =
    fits === true
      ? (newest as Batch)
      : addBatch(state, id, { amount: 0n, units: 0n, heightMade, heightPaid, closed: false, pool: 0 })
  if (step > 1 && fits === true) block.met.push('a batch of several blocks')
  batch.amount += amount
  batch.units += amount
  const claim = state.claims.find(
    (row) => row.candidacyId === id && row.number === batch.number && row.delegator === delegator,
  )
  if (claim !== undefined) claim.units += amount
  else state.claims.push({ candidacyId: id, number: batch.number, delegator, units: amount })
}

/** An empty pool takes the place of the one that there was. */
function nextPool(candidacy: Candidacy): void {
  Object.assign(candidacy, { delegated: 0n, delegationUnits: 0n, delegators: 0, pool: candidacy.pool + 1 })
}

/** The delegations of a candidacy that withdraws become one closing batch. Source: §12, withdraw. */
export function closePool(state: State, block: Block, candidacy: Candidacy): void {
  const { delegated, delegationUnits, pool } = candidacy
  if (delegationUnits === 0n) return
  addBatch(state, candidacy.id, {
    amount: delegated,
    units: delegationUnits,
    heightMade: block.height,
    heightPaid: block.height + waitOf(state, block),
    closed: true,
    pool: pool + 1,
  })
  nextPool(candidacy)
}

/** Cuts what was delegated to a candidacy that misbehaved. `cut` burns and returns the rest. Source: §12, Slash. */
export function slashDelegations(
  state: State,
  block: Block,
  { id, candidacy, offence }: { id: number; candidacy: Candidacy | undefined; offence: number },
  cut: (amount: bigint) => bigint,
): void {
  if (candidacy !== undefined && candidacy.delegationUnits > 0n) {
    const left = cut(candidacy.delegated)
    candidacy.shares -= candidacy.delegated - left
    candidacy.delegated = left
    block.met.push('delegations are slashed')
    if (left === 0n) {
      nextPool(candidacy)
      block.met.push('a slash ends a pool')
    }
  }
  for (const batch of batchesOf(state, id)) {
    if (batch.heightMade < offence - 1) continue
    batch.amount = cut(batch.amount)
    batch.closed = block.altered !== 'a batch that was slashed stays open'
    block.met.push('a batch is slashed')
  }
}

/** Adds a member's part of the award to what was delegated, and returns the owner's part of it. Source: §12, Award. */
export function awardDelegators(candidacy: Candidacy, { height, altered, met }: Block, part: bigint): bigint {
  const { shares, delegated } = candidacy
  if (delegated === 0n) return part
  const rate = altered === 'a raise of the commission counts at once' ? latestRate(candidacy) : undefined
  const kept = rate ?? rateInForce(candidacy, height)
  const added = (part * delegated * (TOKEN - kept)) / (shares * TOKEN)
  candidacy.delegated += added
  candidacy.shares += added
  if (candidacy.shares > candidacy.maxShares) met.push('delegations pass max_shares')
  if (added > 0n && kept !== candidacy.compRate) met.push('a raise of the commission is in force')
  return part - added
}

const latestRate = ({ compRate, nextCompRate, nextCompRateHeight }: Candidacy): bigint =>
  nextCompRateHeight > 0 ? nextCompRate : compRate

/** Source: §12, comp_rate. */
export function setCompRate(state: State, block: Block, candidacy: Candidacy, rate: bigint): void {
  const inForce = rateInForce(candidacy, block.height)
  const waits = candidacy.delegationUnits > 0n && rate > inForce
  Object.assign(
    candidacy,
    waits
      ? { compRate: inForce, nextCompRate: rate, nextCompRateHeight: block.height + waitOf(state, block) }
      : { compRate: rate, nextCompRate: 0n, nextCompRateHeight: 0 },
  )
  if (waits) block.met.push('a raise of the commission waits')
}

function removeClaim(state: State, { candidacyId, number, pool }: Batch, delegator: string): void {
  if (pool === 0)
    state.claims = state.claims.filter(
      (row) => row.candidacyId !== candidacyId || row.number !== number || row.delegator !== delegator,
    )
  else
    state.delegations = state.delegations.filter(
      (row) => row.candidacyId !== candidacyId || row.pool !== pool - 1 || row.delegator !== delegator,
    )
}

/** EndBlock (d), behind the unbonding entries. Source: §12, Payout. */
export function payBatches(state: State, { height, altered, met }: Block, events: Event[]): void {
  const due = state.batches
    .filter(({ heightPaid }) => heightPaid <= height)
    .sort((a, b) => a.heightPaid - b.heightPaid || a.candidacyId - b.candidacyId || a.number - b.number)
  let left = altered === 'claims are paid without a bound' ? Infinity : CLAIMS_MAX
  for (const batch of due) {
    for (const { delegator, units } of claimsOf(state, batch)) {
      if (left-- <= 0) {
        met.push('claims wait for the next block')
        return
      }
      const amount = (units * batch.amount) / batch.units
      pay(state, delegator, amount)
      events.push(['svc.stake.unbonded', { owner: delegator, amount: String(amount) }])
      batch.amount -= amount
      batch.units -= units
      removeClaim(state, batch, delegator)
    }
    if (batch.units !== 0n) throw new Error('a batch has units that nobody claims')
    state.batches = state.batches.filter((one) => one !== batch)
  }
}

const checkAmount = ({ amount }: Message): void =>
  need(amount === undefined || parseAmount(amount as string) !== undefined, 20, INVALID)

export const delegationOperations: Readonly<Record<string, Operation>> = {
  delegate: {
    event: 'svc.stake.delegate',
    gas: 63_000,
    check: (message) => {
      checkBytes(message, 'validatorAddress', 20)
      checkAmount(message)
    },
    run: delegate,
  },
  withdraw: {
    event: 'svc.stake.undelegate',
    gas: 63_000,
    check: (message) => {
      checkBytes(message, 'validatorAddress', 20)
      checkAmount(message)
      need(/^[YN]$/.test((message['completelyWithdraw'] as string | undefined) ?? 'N'), 20, INVALID)
    },
    run: undelegate,
  },
}
