import { expect, test } from '@jest/globals'
import { maxOf, minOf, TOKEN } from '../../src/base/amount.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { pubKeyBytes } from '../../src/values/pubKey.ts'
import { type ExportedState, exportState } from '../../src/cli/commands/export.ts'
import { accounts } from '../../src/modules/accounts/keeper.ts'
import { getChain, getTotals, supplyOf } from '../../src/modules/chain/keeper.ts'
import { proposals } from '../../src/modules/governance/tables.ts'
import { paramsInForce, printParams } from '../../src/modules/params/keeper.ts'
import { listDelegations, payoutsOf, worthOf } from '../../src/modules/delegation/keeper.ts'
import { getByOwner, selfShares } from '../../src/modules/stake/keeper.ts'
import { batches } from '../../src/modules/delegation/tables.ts'
import { candidacies, type Candidacy, isEligible, setMembers, unbondings } from '../../src/modules/stake/tables.ts'
import { powerInAll, SET_POWER_MIN } from '../../src/modules/stake/validatorSet.ts'
import type { Store } from '../../src/store/store.ts'
import { random } from '../chain/support.ts'
import { type Random, randomAbsent, randomEvidence, randomGenesis, randomTx } from '../sim/traffic.ts'
import { TestChain } from '../support/testChain.ts'

/** Random traffic for some blocks. */
function traffic(next: Random, chain: TestChain, blocks: number): void {
  for (let left = blocks; left > 0; left--) {
    const nonces = new Map<string, number>(
      [...chain.store.scan(accounts)].map(({ address, nonce }) => [address, nonce]),
    )
    chain.block({
      txs: Array.from({ length: 1 + next(8) }, () => randomTx(next, chain, nonces).bytes),
      absent: randomAbsent(next, chain.sets.get(chain.height) ?? new Map()),
      misbehavior: randomEvidence(next, chain.height),
      seconds: 1 + next(12),
    })
  }
}

const KEPT = [
  'ownerAddress',
  'pubKey',
  'shares',
  'maxShares',
  'delegated',
  'compRate',
  'name',
  'website',
  'location',
  'email',
  'profile',
] as const
const sum = (worth: readonly (readonly [string, bigint])[]): bigint => worth.reduce((all, [, one]) => all + one, 0n)
/** What each delegation of a candidacy is worth. */
const worths = (store: Store, one: Candidacy) =>
  [...listDelegations(store, one)].map((row) => [row.delegator, worthOf(row.units, one)] as const)
/** A candidacy as genesis can hold it: delegations of at least 1 token, the owner's part within max_shares. */
function keptOf(store: Store, one: Candidacy): Candidacy {
  const worth = worths(store, one)
  const delegated = sum(worth.filter(([, amount]) => amount >= TOKEN))
  const maxShares = maxOf(one.maxShares, delegated)
  return { ...one, maxShares, delegated, shares: delegated + minOf(one.shares - sum(worth), maxShares - delegated) }
}
const kept = (one: Candidacy): object => Object.fromEntries(KEPT.map((column) => [column, one[column]]))
const eligible = (store: Store): Candidacy[] => [...store.scan(candidacies, { index: 'byRank' })].filter(isEligible)
const isProven = (store: Store, { pubKey }: Candidacy): boolean => store.get(setMembers, { pubKey })?.proven === true
/** Those that the new chain gets: whoever would be in its first set has a key that has signed. */
function carriedOver(store: Store, height: number): Candidacy[] {
  const all = eligible(store)
    .map((one) => keptOf(store, one))
    .filter(isEligible)
    .sort((a, b) =>
      a.shares === b.shares
        ? Buffer.compare(pubKeyBytes(a.pubKey), pubKeyBytes(b.pubKey))
        : a.shares > b.shares
          ? -1
          : 1,
    )
  const { maxVals } = paramsInForce(store, height + 1)
  const last = all.filter((one) => isProven(store, one))[maxVals - 1]
  const behind = last === undefined ? all.length : all.indexOf(last)
  return all.filter((one, at) => at > behind || isProven(store, one))
}
const byKey = (a: Candidacy, b: Candidacy): number => (a.pubKey < b.pubKey ? -1 : 1)
const balances = (store: Store): ReadonlyMap<string, bigint> =>
  new Map(
    [...store.scan(accounts)].filter(({ balance }) => balance > 0n).map(({ address, balance }) => [address, balance]),
  )

/** What every address holds when all that genesis has no place for is in the balance of whom it belongs to. */
function holdings(store: Store, height: number): ReadonlyMap<string, bigint> {
  const sums = new Map(balances(store))
  const add = (address: string, amount: bigint): void => {
    if (amount > 0n) sums.set(address, (sums.get(address) ?? 0n) + amount)
  }
  for (const { ownerAddress, amount } of store.scan(unbondings)) add(ownerAddress, amount)
  for (const { transferFrom, escrow } of store.scan(proposals)) add(transferFrom, escrow)
  for (const batch of store.scan(batches))
    for (const { delegator, paid } of payoutsOf(store, batch)) add(delegator, paid)
  const carried = new Set(carriedOver(store, height).map(({ id }) => id))
  for (const one of store.scan(candidacies)) {
    const worth = worths(store, one)
    const isCarried = carried.has(one.id)
    for (const [delegator, amount] of worth) if (!isCarried || amount < TOKEN) add(delegator, amount)
    if (!isCarried) add(one.ownerAddress, one.shares - sum(worth))
    else add(one.ownerAddress, one.shares - sum(worth) - selfShares(keptOf(store, one)))
  }
  return sums
}

/** The chain that an export starts, after its first block, which has no transaction and pays no award. */
function startOf({ appState, validators }: ExportedState): TestChain {
  const chain = new TestChain()
  const answered = chain.init(appState).validators ?? []
  expect(validators).toEqual(
    answered.map(({ pubKey, power }) => ({ pubKey: toBase64(pubKey.ed25519 as Uint8Array), power })),
  )
  chain.block()
  return chain
}

function expectCarried(from: Store, to: Store, height: number): void {
  expect(balances(to)).toEqual(holdings(from, height))
  const carried = carriedOver(from, height)
  expect(eligible(to).sort(byKey).map(kept)).toEqual(carried.sort(byKey).map(kept))
  expect(to.count(candidacies)).toBe(carried.length)
  for (const one of carried) {
    const there = getByOwner(to, one.ownerAddress) as Candidacy
    expect(worths(to, there)).toEqual(
      worths(from, getByOwner(from, one.ownerAddress) as Candidacy).filter(([, amount]) => amount >= TOKEN),
    )
  }
  expect(printParams(to, 1)).toEqual(printParams(from, height + 1))
  const constants = (store: Store): object => {
    const { defaultMaxAmount, defaultCompRate, foundationAddress, maxAbsentBlocks, slashRatio } = getChain(store)
    return { defaultMaxAmount, defaultCompRate, foundationAddress, maxAbsentBlocks, slashRatio }
  }
  expect(constants(to)).toEqual(constants(from))
  expect(getTotals(to)).toEqual({ genesisSupply: supplyOf(from), minted: 0n, burned: 0n })
  // Documented as left behind: nonces, ids, dates, proposals, unbonding, requests.
  expect([...to.scan(accounts)].filter(({ nonce }) => nonce > 0)).toEqual([])
  expect([to.count(proposals), to.count(unbondings)]).toEqual([0, 0])
}

test.each([1, 2, 3, 4])(
  'a chain from the export of a random one has the same holdings and exports the same bytes (seed %i)',
  (seed) => {
    const next = random(seed)
    const chain = new TestChain()
    chain.init(randomGenesis(next))
    let carried = 0
    while (chain.height < 120) {
      traffic(next, chain, 15)
      const { store, height } = chain
      const inOrder = carriedOver(store, height)
      if (inOrder.length === 0) {
        expect(() => exportState(store, height)).toThrow('at least one eligible candidacy')
        continue
      }
      if (powerInAll(inOrder, paramsInForce(store, height + 1)) < SET_POWER_MIN) {
        expect(() => exportState(store, height)).toThrow('a voting power of at least 3')
        continue
      }
      const exported = exportState(store, height)
      const started = startOf(exported)
      expectCarried(store, started.store, height)
      const again = exportState(started.store, started.height)
      expect(JSON.stringify([again.appState, again.validators])).toBe(
        JSON.stringify([exported.appState, exported.validators]),
      )
      traffic(next, started, 3)
      carried++
    }
    expect(carried).toBeGreaterThan(0)
  },
)
