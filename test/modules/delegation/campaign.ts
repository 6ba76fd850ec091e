/**
 * What holds of random delegations over the real state machine, block by block: `make delegation` (docs/reliability.md).
 *
 * Every operation of a delegator stands alone in a block that mints nothing and slashes nobody, so that whatever changes
 * by it is its own doing. Awards, slashes, the ends of candidacies and payouts come in the blocks between.
 */
import fc from 'fast-check'
import { AMOUNT_MAX } from '../../../src/base/amount.ts'
import { accounts } from '../../../src/modules/accounts/keeper.ts'
import { payoutsOf, worthOf } from '../../../src/modules/delegation/keeper.ts'
import { batches, delegations } from '../../../src/modules/delegation/tables.ts'
import { getById, selfShares } from '../../../src/modules/stake/keeper.ts'
import { candidacies } from '../../../src/modules/stake/tables.ts'
import { type Address, addressBytes } from '../../../src/values/address.ts'
import type { CampaignOptions, CampaignReport } from '../../support/campaign.ts'
import { account, evidence, nodeKey, TestChain, tokens } from '../../support/testChain.ts'

const OWNERS = [1, 2, 3].map(account)
const DELEGATORS = [4, 5, 6].map(account)
const START = tokens(10n ** 12n)
/** Steps of one chain. */
const STEPS = 100

/** How much of what an account has of a pool a withdrawal takes. */
type Part = 'all' | 'one' | number

/** One step of a random run. `by` and `to` are numbers of a delegator and of an owner. */
type Step =
  | { readonly kind: 'delegate' | 'return'; readonly by: number; readonly to: number; readonly amount: bigint }
  | { readonly kind: 'withdraw'; readonly by: number; readonly to: number; readonly part: Part }
  | { readonly kind: 'award'; readonly blocks: number }
  | { readonly kind: 'slash' | 'end'; readonly to: number }
  | { readonly kind: 'commission'; readonly to: number; readonly rate: string }

const by = fc.nat(DELEGATORS.length - 1)
const to = fc.nat(OWNERS.length - 1)
// Much of what can go wrong goes wrong at the least amount, and just above it.
const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 3n }).map((more) => tokens(1) + more),
  fc.bigInt({ min: tokens(1), max: tokens(500) }),
  fc.bigInt({ min: tokens(1), max: tokens(10n ** 11n) }),
)
const part = fc.oneof(fc.constant<Part>('all'), fc.constant<Part>('one'), fc.double({ min: 0, max: 1, noNaN: true }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('delegate' as const), by, to, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('return' as const), by, to, amount }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), by, to, part }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('award' as const), blocks: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('slash' as const, 'end' as const), to }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('commission' as const), to, rate: fc.constantFrom('0', '0.3', '1') }),
  },
)

/** What differs from one chain to the next. */
interface Genesis {
  readonly slash_ratio: string
  readonly inflation_rate: number
  readonly unstake_wait_period: number
}

const genesis: fc.Arbitrary<Genesis> = fc.record({
  slash_ratio: fc.constantFrom('0.05', '0.333333333333333333', '0.999999999999999999', '1'),
  inflation_rate: fc.constantFrom(8, 100),
  unstake_wait_period: fc.constantFrom(1, 5, 200),
})

/** What somebody has, by what it is: each thing that nobody else's operation may lower. */
type Holdings = ReadonlyMap<string, bigint>

/** What everybody has: balances, the worth of each delegation, what each unbonding pays, and the owners' own parts. */
function holdingsOf(chain: TestChain): Map<Address, Map<string, bigint>> {
  const { store } = chain
  const found = new Map<Address, Map<string, bigint>>()
  const add = (whose: Address, what: string, units: bigint): void => {
    const things = found.get(whose) ?? new Map<string, bigint>()
    found.set(whose, things.set(what, (things.get(what) ?? 0n) + units))
  }
  for (const { address } of [...OWNERS, ...DELEGATORS])
    add(address, 'cash', store.get(accounts, { address })?.balance ?? 0n)
  for (const { ownerAddress, id, ...sums } of store.scan(candidacies))
    add(ownerAddress, `the shares of ${id}`, selfShares(sums))
  for (const { delegator, candidacyId, pool, units } of store.scan(delegations)) {
    const candidacy = getById(store, candidacyId)
    if (candidacy?.pool === pool) add(delegator, `its part of ${candidacyId}`, worthOf(units, candidacy))
  }
  // What is due becomes cash in the block.
  for (const batch of store.scan(batches))
    for (const { delegator, paid } of payoutsOf(store, batch)) add(delegator, 'cash', paid)
  return found
}

const sumOf = (things: Holdings): bigint => [...things.values()].reduce((sum, units) => sum + units, 0n)

/** What a faulty chain would do otherwise, so that a test sees the campaign fail. */
export interface Faults {
  /** What an account has after its own operation. */
  readonly own?: (units: bigint) => bigint
  /** What others have after it. */
  readonly others?: (units: bigint) => bigint
}

/** What one run of steps did. */
interface Run {
  readonly chain: TestChain
  readonly faults: Faults
  readonly met: Map<string, number>
}

/** A step of a delegator. */
type Move = Extract<Step, { readonly by: number }>

/**
 * Runs an operation of a delegator alone; throws when it gains by it or loses more than rounding takes, or when somebody
 * else loses.
 */
function judge({ chain, faults, met }: Run, { kind, by: who, to: owner }: Move, txs: readonly Uint8Array[]): void {
  const sender = DELEGATORS[who] as (typeof DELEGATORS)[number]
  const { delegated = 0n, delegationUnits = 0n } = getById(chain.store, owner + 1) ?? {}
  // At each of at most two operations less than a unit of the pool is lost, and less than a base unit of its worth.
  const lossMax = 2n * ((delegationUnits === 0n ? 1n : delegated / delegationUnits) + 2n)
  const before = holdingsOf(chain)
  const { results } = chain.block({ txs, seconds: 0 })
  const after = holdingsOf(chain)
  for (const { code = 0 } of results) met.set(`${kind} ${code}`, (met.get(`${kind} ${code}`) ?? 0) + 1)
  for (const [whose, things] of before) {
    if (whose === sender.address) continue
    for (const [what, units] of things) {
      const now = after.get(whose)?.get(what) ?? 0n
      const left = faults.others?.(now) ?? now
      if (left < units)
        throw new Error(`${kind} of ${sender.address}: ${whose} had ${units} of ${what}, and has ${left}`)
    }
  }
  const [had, has] = [before, after].map((all) => sumOf(all.get(sender.address) ?? new Map())) as [bigint, bigint]
  const gained = (faults.own?.(has) ?? has) - had
  if (gained > 0n) throw new Error(`${kind} of ${sender.address}: it had ${had}, and has ${gained} more`)
  if (-gained > lossMax) throw new Error(`${kind} of ${sender.address}: it had ${had}, and lost ${-gained}`)
}

/** Base units of a part of what an account has of a pool; undefined for all of it. */
function amountOf(chain: TestChain, who: number, owner: number, taken: Part): bigint | undefined {
  if (taken === 'all') return undefined
  if (taken === 'one') return 1n
  const all =
    holdingsOf(chain)
      .get(DELEGATORS[who]?.address as Address)
      ?.get(`its part of ${owner + 1}`) ?? 0n
  return (all * BigInt(Math.floor(taken * 1e9))) / 1_000_000_000n
}

function perform(run: Run, one: Step): void {
  const { chain } = run
  const owner = 'to' in one ? (OWNERS[one.to] as (typeof OWNERS)[number]) : account(1)
  const validatorAddress = addressBytes(owner.address)
  const of = (who: number, operation: string, message: Readonly<Record<string, unknown>>, later = 0): Uint8Array => {
    const sender = DELEGATORS[who] as (typeof DELEGATORS)[number]
    return chain.tx(sender, operation, { validatorAddress, ...message }, chain.nonceOf(sender) + later)
  }
  switch (one.kind) {
    case 'delegate':
      return judge(run, one, [of(one.by, 'delegate', { amount: String(one.amount) })])
    case 'return':
      return judge(run, one, [
        of(one.by, 'delegate', { amount: String(one.amount) }),
        of(one.by, 'withdraw', { completelyWithdraw: 'Y' }, 1),
      ])
    case 'withdraw': {
      const taken = amountOf(chain, one.by, one.to, one.part)
      const message = taken === undefined ? { completelyWithdraw: 'Y' } : { amount: String(taken) }
      return judge(run, one, [of(one.by, 'withdraw', message)])
    }
    case 'award':
      for (let at = 0; at < one.blocks; at++) chain.block({ seconds: 10 })
      return
    case 'slash':
      chain.block({
        misbehavior: [evidence(one.to + 1, chain.height)],
        txs: [chain.tx(owner, 'activateCandidacy', {})],
      })
      return
    case 'end':
      chain.block({
        txs: ['withdrawCandidacy', 'activateCandidacy'].map((operation, at) =>
          chain.tx(owner, operation, {}, chain.nonceOf(owner) + at),
        ),
      })
      return
    case 'commission':
      chain.block({ txs: [chain.tx(owner, 'updateCandidacy', { compRate: one.rate })] })
  }
}

/** Runs the steps on a new chain, whose every block conserves the supply to the unit; throws where a property breaks. */
function runSteps(steps: readonly Step[], given: Genesis, faults: Faults, met: Run['met']): void {
  const { slash_ratio, ...params } = given
  const chain = new TestChain()
  chain.init({
    accounts: [...OWNERS, ...DELEGATORS].map(({ address }) => ({ address, balance: START })),
    // The first one is never slashed, so that the set is never empty.
    candidacies: OWNERS.map((owner, at) => ({
      owner,
      key: nodeKey(at + 1),
      shares: tokens(at === 0 ? 100_000 : 3),
      maxShares: AMOUNT_MAX,
    })),
    // The self-stake is 1 token, whatever others may add to it.
    params: { gas_price: 0, stake_limit: '1', self_staking_ratio: '0.000000000000000001', ...params },
    stake: { slash_ratio },
  })
  chain.block()
  const run = { chain, faults, met }
  for (const one of steps) if (!(one.kind === 'slash' && one.to === 0)) perform(run, one)
}

/** The campaign: so many operations on chains of STEPS each. `met` counts what the operations came to, by kind and code. */
export function delegationProperties(
  { count, seed }: CampaignOptions,
  faults: Faults = {},
  met: Map<string, number> = new Map(),
): CampaignReport {
  const property = fc.property(
    fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }),
    genesis,
    (steps, given) => runSteps(steps, given, faults, met),
  )
  const checked = fc.check(property, { seed, numRuns: Math.max(1, Math.ceil(count / STEPS)) })
  const broken = checked.failed
    ? `${(checked.errorInstance as Error).message} after ${fc.stringify(checked.counterexample)}`
    : undefined
  const delegated = met.get('delegate 0') ?? 0
  const withdrawn = met.get('withdraw 0') ?? 0
  return {
    name: 'delegation',
    target:
      "supply is exact to the unit, nobody gains by delegating and withdrawing, and nobody's operation lowers what another has",
    ran: checked.numRuns * STEPS,
    seed,
    result:
      broken ??
      `held in every block; ${delegated.toLocaleString('en')} delegations and ${withdrawn.toLocaleString('en')} withdrawals succeeded`,
    passed: broken === undefined,
  }
}
