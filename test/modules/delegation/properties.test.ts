import { expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { ONE } from '../../../src/base/amount.ts'
import { accounts } from '../../../src/modules/accounts/keeper.ts'
import { batches, claims, delegations } from '../../../src/modules/delegation/tables.ts'
import { candidacies, unbondings } from '../../../src/modules/stake/tables.ts'
import type { StateReader } from '../../../src/store/state.ts'
import { anySeed } from '../../support/campaign.ts'
import { evidence, account, nodeKey, TestChain, tokens } from '../../support/testChain.ts'
import { bytesOf, eventsOf, recordOf } from '../support.ts'

// What must hold of delegations whatever happens, on random chains. DELEGATION_OPERATIONS says how many operations.

const seed = anySeed()
const operations = Number(process.env['DELEGATION_OPERATIONS'] ?? 3_000)
/** Operations of one chain. */
const CHAIN = 250
jest.setTimeout(3_600_000)

const VALIDATORS = 3
const DELEGATORS = [11, 12, 13, 14, 15, 16].map(account)
/** Who takes candidacies over: nobody delegates from it. */
const heirOf = (validator: number): number => 20 + validator

const validator = fc.integer({ min: 1, max: VALIDATORS })
const who = fc.integer({ min: 0, max: DELEGATORS.length - 1 })
const amount = fc.oneof(
  fc.bigInt({ min: ONE, max: ONE + 3n }),
  fc.bigInt({ min: ONE, max: tokens(1_000) }),
  // As much as a chain can hold: 10^15 tokens are its supply at most.
  fc.bigInt({ min: ONE, max: tokens(10n ** 13n) }),
)
/** What part of a delegation is taken back, in millionths; or all but so many units; or all. */
const part = fc.oneof(
  fc.record({ millionths: fc.integer({ min: 1, max: 1_000_000 }) }),
  fc.record({ left: fc.bigInt({ min: 0n, max: 3n }) }),
  fc.record({ units: fc.bigInt({ min: 1n, max: 3n }) }),
  fc.constant('all' as const),
)

const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('delegate' as const), who, validator, amount }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), who, validator, part }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('atOnce' as const), who, validator, amount }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('award' as const), seconds: fc.integer({ min: 1, max: 10 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('slash' as const), validator }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), validator }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('handOver' as const), validator }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('commission' as const),
      validator,
      rate: fc.constantFrom('0', '0.3', '1'),
    }),
  },
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

/** Base units by address: balance, own stake, what delegations are worth, and what is on its way back. */
function wealthOf(state: StateReader): Map<string, bigint> {
  const wealth = new Map<string, bigint>()
  const add = (address: string, units: bigint): void => void wealth.set(address, (wealth.get(address) ?? 0n) + units)
  for (const { address, balance } of state.scan(accounts)) add(address, balance)
  for (const { ownerAddress, amount: units } of state.scan(unbondings)) add(ownerAddress, units)
  for (const { ownerAddress, shares, delegated } of state.scan(candidacies)) add(ownerAddress, shares - delegated)
  for (const row of state.scan(delegations)) {
    const closing = [...state.scan(batches)].find(
      ({ candidacyId, pool }) => candidacyId === row.candidacyId && pool === row.pool + 1,
    )
    const candidacy = state.get(candidacies, { id: row.candidacyId })
    if (closing !== undefined) add(row.delegator, (row.units * closing.amount) / closing.units)
    else if (candidacy?.pool === row.pool)
      add(row.delegator, (row.units * candidacy.delegated) / candidacy.delegationUnits)
  }
  for (const { candidacyId, number, delegator, units } of state.scan(claims)) {
    const batch = state.get(batches, { candidacyId, number })
    if (batch !== undefined) add(delegator, (units * batch.amount) / batch.units)
  }
  return wealth
}

const sum = (units: readonly bigint[]): bigint => units.reduce((total, one) => total + one, 0n)

/** Totals of a candidacy and of its batches are those of their rows. */
function checkTotals(state: StateReader): void {
  for (const { id, pool, shares, delegated, delegationUnits, delegators } of state.scan(candidacies)) {
    const rows = [...state.scan(delegations)].filter((row) => row.candidacyId === id && row.pool === pool)
    expect([rows.length, sum(rows.map(({ units }) => units))]).toEqual([delegators, delegationUnits])
    expect([delegated <= shares, delegated === 0n]).toEqual([true, delegationUnits === 0n])
  }
  for (const { candidacyId, number, units, pool } of state.scan(batches)) {
    const rows =
      pool === 0
        ? [...state.scan(claims)].filter((row) => row.candidacyId === candidacyId && row.number === number)
        : [...state.scan(delegations)].filter((row) => row.candidacyId === candidacyId && row.pool === pool - 1)
    expect(sum(rows.map((row) => row.units))).toBe(units)
  }
}

class Chain {
  readonly chain = new TestChain()
  /** The numbers of the accounts that own the candidacies. */
  private readonly owners = new Map<number, number>()
  readonly met = new Map<string, number>()

  constructor(slashRatio: string, wait: number) {
    for (let number = 1; number <= VALIDATORS; number++) this.owners.set(number, number)
    const own = tokens(10n ** 13n)
    this.chain.init({
      accounts: [
        ...DELEGATORS.map(({ address }) => ({ address, balance: own * 5n })),
        ...[1, 2, 3, 9].flatMap((number) =>
          [number, heirOf(number)].map((one) => ({ address: account(one).address, balance: own })),
        ),
      ],
      candidacies: [
        ...[1, 2, 3].map((number) => ({
          owner: account(number),
          key: nodeKey(number),
          shares: tokens(number === 1 ? 1 : 10n ** 6n),
          maxShares: 10n ** 36n,
        })),
        // Stays in the set when all others are slashed.
        { owner: account(9), key: nodeKey(9), shares: own },
      ],
      params: {
        gas_price: 0,
        inflation_rate: 100,
        self_staking_ratio: '0.000000000000000001',
        unstake_wait_period: wait,
      },
      stake: { slash_ratio: slashRatio },
    })
    this.chain.block()
  }

  private ownerOf(number: number) {
    return account(this.owners.get(number) as number)
  }

  /** One block without time, so without an award; returns what it paid out and whether each transaction succeeded. */
  private block(
    txs: readonly { by: ReturnType<typeof account>; operation: string; message: Readonly<Record<string, unknown>> }[],
    misbehavior: ReturnType<typeof evidence>[] = [],
  ): { paidOut: boolean; codes: number[] } {
    const nonces = new Map<string, number>()
    const bytes = txs.map(({ by, operation, message }) => {
      const nonce = nonces.get(by.address) ?? this.chain.nonceOf(by)
      nonces.set(by.address, nonce + 1)
      return this.chain.tx(by, operation, message, nonce)
    })
    const { response, results } = this.chain.block({ txs: bytes, misbehavior, seconds: 0 })
    for (const [at, { operation }] of txs.entries()) {
      const what = `${operation} ${results[at]?.code ?? 0}`
      this.met.set(what, (this.met.get(what) ?? 0) + 1)
    }
    checkTotals(this.chain.store)
    return {
      paidOut: eventsOf(response).some((text) => text.startsWith('svc.stake.unbonded')),
      codes: results.map(({ code = 0 }) => code),
    }
  }

  /** What of `before` nobody but `movers` may have lost. */
  private expectNoLoss(before: ReadonlyMap<string, bigint>, movers: readonly string[]): void {
    const after = wealthOf(this.chain.store)
    const losers = [...before].filter(([address, units]) => (after.get(address) ?? 0n) < units)
    expect(losers.filter(([address]) => !movers.includes(address))).toEqual([])
  }

  /** The sender of delegations and withdrawals gains nothing, and loses less than the worth of a unit at each of them. */
  private expectOwnLoss(before: ReadonlyMap<string, bigint>, address: string, price: bigint, paidOut: boolean): void {
    const lost = (before.get(address) ?? 0n) - (wealthOf(this.chain.store).get(address) ?? 0n)
    if (!paidOut) expect(lost >= 0n).toBe(true)
    expect(lost <= 2n * (price + 2n)).toBe(true)
  }

  private deal(by: ReturnType<typeof account>, number: number, txs: readonly (readonly [string, object])[]): number[] {
    const { store } = this.chain
    const before = wealthOf(store)
    const owner = this.ownerOf(number)
    const { delegated, delegationUnits } = recordOf(this.chain, owner)
    const price = delegationUnits === 0n ? 1n : delegated / delegationUnits
    const { paidOut, codes } = this.block(
      txs.map(([operation, fields]) => ({
        by,
        operation,
        message: { validatorAddress: bytesOf(owner), ...fields },
      })),
    )
    this.expectNoLoss(before, [by.address])
    this.expectOwnLoss(before, by.address, price, paidOut)
    return codes
  }

  private withdrawal(by: ReturnType<typeof account>, number: number, of: object | 'all'): object {
    if (of === 'all') return { completelyWithdraw: 'Y' }
    const { id, pool, delegated, delegationUnits } = recordOf(this.chain, this.ownerOf(number))
    const row = this.chain.store.get(delegations, { candidacyId: id, pool, delegator: by.address })
    const worth = row === undefined ? 0n : (row.units * delegated) / delegationUnits
    const { millionths, left, units } = of as { millionths?: number; left?: bigint; units?: bigint }
    const taken = units ?? (left === undefined ? (worth * BigInt(millionths ?? 0)) / 1_000_000n : worth - left)
    return { amount: (taken < 0n ? 0n : taken).toString() }
  }

  run(one: Move): void {
    const { chain } = this
    switch (one.kind) {
      case 'delegate':
        this.deal(DELEGATORS[one.who] as never, one.validator, [['delegate', { amount: one.amount.toString() }]])
        return
      case 'withdraw': {
        const by = DELEGATORS[one.who] as ReturnType<typeof account>
        this.deal(by, one.validator, [['withdraw', this.withdrawal(by, one.validator, one.part)]])
        return
      }
      case 'atOnce':
        this.deal(DELEGATORS[one.who] as never, one.validator, [
          ['delegate', { amount: one.amount.toString() }],
          ['withdraw', { completelyWithdraw: 'Y' }],
        ])
        return
      case 'award': {
        const before = wealthOf(chain.store)
        chain.block({ seconds: one.seconds })
        checkTotals(chain.store)
        this.expectNoLoss(before, [])
        return
      }
      case 'slash':
        this.block([], [evidence(one.validator, chain.height)])
        this.block([{ by: this.ownerOf(one.validator), operation: 'activateCandidacy', message: {} }])
        return
      case 'end': {
        const before = wealthOf(chain.store)
        const by = this.ownerOf(one.validator)
        this.block(['withdrawCandidacy', 'activateCandidacy'].map((operation) => ({ by, operation, message: {} })))
        this.expectNoLoss(before, [])
        return
      }
      case 'handOver': {
        const before = wealthOf(chain.store)
        const [from, to] = [this.owners.get(one.validator), heirOf(one.validator)] as [number, number]
        const next = from === to ? one.validator : to
        const asked = chain.deliver(account(from), 'updateCandidacyAccount', {
          newCandidateAccount: bytesOf(account(next)),
        })
        const id = Number(new TextDecoder().decode(asked.data))
        const { codes } = this.block([
          { by: account(next), operation: 'acceptCandidacyAccountUpdate', message: { accountUpdateRequestId: id } },
        ])
        if (codes[0] === 0) this.owners.set(one.validator, next)
        this.expectNoLoss(before, [])
        return
      }
      case 'commission':
        this.block([{ by: this.ownerOf(one.validator), operation: 'updateCandidacy', message: { compRate: one.rate } }])
    }
  }
}

const settings = `SEED=${seed} DELEGATION_OPERATIONS=${operations}`

test(`delegations: nothing is lost, nobody gains by coming and going or pays for another: ${settings}`, () => {
  const met = new Map<string, number>()
  fc.assert(
    fc.property(
      fc.constantFrom('0.05', '0.333333333333333333', '0.999999999999999999', '1'),
      fc.constantFrom(1, 5, 200),
      fc.array(move, { minLength: CHAIN, maxLength: CHAIN }),
      (slashRatio, wait, moves) => {
        const chain = new Chain(slashRatio, wait)
        for (const one of moves) chain.run(one)
        for (const [what, count] of chain.met) met.set(what, (met.get(what) ?? 0) + count)
      },
    ),
    { seed, numRuns: Math.max(1, Math.ceil(operations / CHAIN)), endOnFailure: operations > 10_000 },
  )
  process.stdout.write(
    `${[...met]
      .map(([what, count]) => `${what}: ${count}`)
      .sort()
      .join(', ')}\n`,
  )
  for (const operation of [
    'delegate',
    'withdraw',
    'withdrawCandidacy',
    'acceptCandidacyAccountUpdate',
    'updateCandidacy',
  ])
    expect(met.get(`${operation} 0`) ?? 0).toBeGreaterThan(0)
})
