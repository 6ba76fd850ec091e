import { readFileSync } from 'node:fs'
import { ONE, TOKEN } from '../../src/base/amount.ts'
import type { Signer } from '../../src/tx/sign.ts'

import { evidence, account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { conformanceChain, NOBODY, succeed } from './support.ts'

type Members = Readonly<Record<string, unknown>>

/** A transaction that a row of protocol.md §12, Operations, refuses. */
export interface Refusal {
  readonly name: string
  readonly operation: 'delegate' | 'withdraw'
  /** Of the rules in the cell, counted from 0. */
  readonly rule: number
  /** The chain on which it is refused; by default that of the conformance tests. */
  readonly on?: () => TestChain
  readonly sender?: Signer
  readonly members: Members
}

/** Who delegates in these tests, to the owner of the third candidacy. */
export const delegator = account(5)
export const validator = account(3)
const validatorAddress = validator.address

/** Tokens as the interface takes an amount. */
export const amountOf = (count: number): string => String(tokens(count))
const ONE_TOKEN = amountOf(1)

/** An account delegates tokens to the validator. */
export const stakeTokens = (chain: TestChain, count: number, by = delegator): void =>
  void succeed(chain, by, 'svc_delegate', { validatorAddress, amount: amountOf(count) })

/** The conformance chain, after this account has delegated so many tokens. */
export function chainWith(count: number, params: Members = {}): TestChain {
  const chain = conformanceChain(params)
  stakeTokens(chain, count)
  return chain
}

/** A chain on which 100 batches wait: each end of the candidacy leaves one. */
function withManyBatches(): TestChain {
  const chain = conformanceChain()
  for (let batch = 0; batch < 100; batch++) {
    stakeTokens(chain, 1)
    succeed(chain, validator, 'svc_withdrawCandidacy')
    succeed(chain, validator, 'svc_activateCandidacy')
  }
  return chain
}

/** A pool of more units than tokens: a slash has left next to nothing of what they were worth. */
function withCheapUnits(): TestChain {
  const chain = new TestChain()
  const nearlyAll = `0.${'9'.repeat(18)}`
  chain.init({
    accounts: [account(1), delegator].map(({ address }) => ({ address, balance: tokens(10_000) })),
    candidacies: [account(1), validator].map((owner, at) => ({
      owner,
      key: nodeKey(2 * at + 1),
      shares: tokens(1000),
    })),
    params: { stake_limit: '1', gas_price: 0 },
    stake: { slash_ratio: nearlyAll },
  })
  chain.block()
  stakeTokens(chain, 1)
  chain.block({ misbehavior: [evidence(3, chain.height)] })
  return chain
}

/** Every refusal of the two operations, in the order of the table. */
export const refusals: readonly Refusal[] = [
  {
    name: 'nobody has a candidacy there',
    operation: 'delegate',
    rule: 0,
    members: { validatorAddress: NOBODY, amount: ONE_TOKEN },
  },
  {
    name: 'the candidacy is withdrawn',
    operation: 'delegate',
    rule: 0,
    on: () => {
      const chain = conformanceChain()
      succeed(chain, validator, 'svc_withdrawCandidacy')
      return chain
    },
    members: { validatorAddress, amount: ONE_TOKEN },
  },
  {
    name: 'the sender owns it, whatever the amount',
    operation: 'delegate',
    rule: 1,
    sender: validator,
    members: { validatorAddress, amount: 0 },
  },
  { name: 'below 1 token', operation: 'delegate', rule: 2, members: { validatorAddress, amount: String(TOKEN - 1n) } },
  {
    name: 'above max_shares, which comes before the balance',
    operation: 'delegate',
    rule: 3,
    members: { validatorAddress, amount: amountOf(140_000) },
  },
  {
    name: '100 batches wait',
    operation: 'delegate',
    rule: 4,
    on: withManyBatches,
    members: { validatorAddress, amount: ONE_TOKEN },
  },
  // That an amount buys no unit has no row: since what stays of a delegation is at least 1 token, no unit gets so dear.
  {
    name: 'the pool would have more than 10^36 units',
    operation: 'delegate',
    rule: 5,
    on: withCheapUnits,
    members: { validatorAddress, amount: amountOf(5) },
  },
  { name: 'neither is given', operation: 'withdraw', rule: 0, on: () => chainWith(2), members: { validatorAddress } },
  {
    name: 'both are given',
    operation: 'withdraw',
    rule: 0,
    on: () => chainWith(2),
    members: { validatorAddress, amount: 1, completelyWithdraw: 'Y' },
  },
  {
    name: 'completelyWithdraw N counts as not given',
    operation: 'withdraw',
    rule: 0,
    on: () => chainWith(2),
    members: { validatorAddress, completelyWithdraw: 'N' },
  },
  {
    name: 'nobody has a record there',
    operation: 'withdraw',
    rule: 1,
    members: { validatorAddress: NOBODY, completelyWithdraw: 'Y' },
  },
  {
    name: 'an account that has not delegated',
    operation: 'withdraw',
    rule: 2,
    members: { validatorAddress, completelyWithdraw: 'Y' },
  },
  {
    name: 'the pool has ended with the candidacy',
    operation: 'withdraw',
    rule: 2,
    on: () => {
      const chain = chainWith(2)
      succeed(chain, validator, 'svc_withdrawCandidacy')
      return chain
    },
    members: { validatorAddress, completelyWithdraw: 'Y' },
  },
  {
    name: 'an amount of 0',
    operation: 'withdraw',
    rule: 3,
    on: () => chainWith(2),
    members: { validatorAddress, amount: 0 },
  },
  {
    name: 'more than the delegation is worth',
    operation: 'withdraw',
    rule: 3,
    on: () => chainWith(2),
    members: { validatorAddress, amount: amountOf(3) },
  },
]

/** A rule of a cell: code and log; a log that ends with … is the beginning of one. */
interface Rule {
  readonly code: number
  readonly log: string
}

/** The rules of protocol.md §12, Operations, by operation. */
export function rulesOfTable(): Readonly<Record<string, readonly Rule[]>> {
  const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('\n## 12. Delegation\n')
  const rows = [...section.matchAll(/^\| (delegate|withdraw) `[^|]*\| ([^|]*) \|/gm)]
  return Object.fromEntries(
    rows.map(([, operation = '', rules = '']) => [
      operation,
      [...rules.matchAll(/: (\d+) `([^`]+)`/g)].map(([, code, log = '']) => ({ code: Number(code), log })),
    ]),
  )
}

/** What an account's delegation to a validator is worth, from the query of all of them. */
export const sharesOf = (chain: TestChain, of: Signer): { readonly shares: bigint; readonly units: bigint } => {
  const rows = chain.query(`/stake/delegations/${validatorAddress}`) as readonly Record<string, string>[]
  const { shares = '0', units = '0' } = rows.find((row) => row['delegator_address'] === of.address) ?? {}
  return { shares: BigInt(shares), units: BigInt(units) }
}

/** The part of an award that is the pool's. Source: protocol.md §12, Awards. */
export const poolPart = (award: bigint, delegated: bigint, shares: bigint, compRate: bigint): bigint =>
  (award * delegated * (ONE - compRate)) / (shares * ONE)
