import { getDelegation, worthOf } from '../../../src/modules/delegation/keeper.ts'
import { batches, type Batch, claims } from '../../../src/modules/delegation/tables.ts'
import type { ExecTxResult } from '../../../src/abci/types.ts'
import type { Signer } from '../../../src/tx/sign.ts'
import type { TestBlockResult, TestChain, TestGenesis } from '../../support/testChain.ts'
import { bytesOf, done, recordOf, startChain } from '../support.ts'

/** Nothing is minted, nothing costs, and what is withdrawn waits 100 blocks: the rows hold what the operations did. */
export const QUIET = { inflation_rate: 0, gas_price: 0, stake_limit: '1', unstake_wait_period: 100 }

/** A chain after its first block, as `startChain` makes it, with these parameters in place of some of QUIET. */
export const start = (
  shares: readonly number[] = [1000, 500],
  { params = {}, ...genesis }: Partial<TestGenesis> = {},
): TestChain => startChain(shares, { params: { ...QUIET, ...params }, ...genesis })

/** The message of a delegation of base units. */
export const delegation = (owner: Signer, amount: bigint): Readonly<Record<string, unknown>> => ({
  validatorAddress: bytesOf(owner),
  amount: String(amount),
})

/** The message of a withdrawal: of everything unless an amount is given. */
export const withdrawal = (owner: Signer, amount?: bigint): Readonly<Record<string, unknown>> => ({
  validatorAddress: bytesOf(owner),
  ...(amount === undefined ? { completelyWithdraw: 'Y' } : { amount: String(amount) }),
})

/** Delegates in its own block and checks that it succeeds. */
export const delegate = (chain: TestChain, from: Signer, owner: Signer, amount: bigint): ExecTxResult =>
  done(chain, from, 'delegate', delegation(owner, amount))

/** Withdraws in its own block and checks that it succeeds. */
export const withdraw = (chain: TestChain, from: Signer, owner: Signer, amount?: bigint): ExecTxResult =>
  done(chain, from, 'withdraw', withdrawal(owner, amount))

/** What an account's delegation to a candidacy is worth; 0 when it has none in the pool. */
export function worthIn(chain: TestChain, of: Signer, owner: Signer): bigint {
  const candidacy = recordOf(chain, owner)
  return worthOf(getDelegation(chain.store, candidacy, of.address)?.units ?? 0n, candidacy)
}

/** Every batch, by candidacy and number. */
export const batchesOf = (chain: TestChain): readonly Batch[] => [...chain.store.scan(batches)]

/** How many rows of claims wait. */
export const claimCount = (chain: TestChain): number => chain.store.count(claims)

/** What a block paid out, as `<account> <amount>`, in its order. */
export const payoutsIn = ({ response: { events = [] } }: TestBlockResult): readonly string[] =>
  events
    .filter(({ type }) => type === 'svc.stake.unbonded')
    .map(({ attributes = [] }) => attributes.map(({ value }) => value).join(' '))
