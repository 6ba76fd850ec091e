import type { Misbehavior } from '../../src/abci/types.ts'
import { minOf, TOKEN } from '../../src/base/amount.ts'
import { listLive } from '../../src/modules/stake/keeper.ts'
import { delegations } from '../../src/modules/delegation/tables.ts'
import { candidacies, type Candidacy } from '../../src/modules/stake/tables.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { type Address, addressBytes, addressOfKey } from '../../src/values/address.ts'
import { pubKeyBytes } from '../../src/values/pubKey.ts'
import { account, type TestCandidacy, type TestChain, tokens } from '../support/testChain.ts'
import type { Random } from './traffic.ts'

/** What is delegated and taken back on random chains. */

/** One of these. */
export const pick = <T>(next: Random, values: readonly T[]): T => values[next(values.length)] as T

/** Delegations of genesis: of few that send transactions, or of so many that one block cannot pay all of them. */
export function genesisDelegations(next: Random, accounts: number): NonNullable<TestCandidacy['delegations']> {
  const amount = (): bigint => tokens(1 + next(60)) + BigInt(next(1_000_000_007))
  switch (next(8)) {
    case 0:
    case 1:
    case 2:
      return Array.from({ length: 1 + next(3) }, (_, at) => ({
        delegator: account(accounts - at).address,
        amount: amount(),
      }))
    case 3:
      return Array.from({ length: 250 + next(50) }, (_, at) => ({
        delegator: account(1000 + at).address,
        amount: tokens(1) + BigInt(next(3)),
      }))
    default:
      return []
  }
}

const rowsOf = ({ store }: TestChain, delegator: Address) =>
  [...store.scan(delegations)].filter((row) => row.delegator === delegator)

/** Whoever has delegated something, mostly. `senders`: those who send transactions. */
export function someDelegator(next: Random, { store }: TestChain, senders: readonly Address[]): Address {
  const holders = [...store.scan(delegations)].filter(({ delegator }) => senders.includes(delegator))
  return holders.length === 0 ? pick(next, senders) : pick(next, holders).delegator
}

const anyOwner = (next: Random, candidacy: Candidacy | undefined, accounts: number): Uint8Array =>
  addressBytes(candidacy === undefined || next(15) === 0 ? account(1 + next(accounts)).address : candidacy.ownerAddress)

/** A message of `delegate`, often just at a limit. */
export function randomDelegation(next: Random, chain: TestChain, accounts: number): Record<string, unknown> {
  const candidacy = pick(next, [...listLive(chain.store)])
  const room = candidacy === undefined ? 0n : candidacy.maxShares - candidacy.shares
  const amount = pick(next, [
    tokens(1),
    tokens(1) - 1n,
    tokens(1) + BigInt(next(7)),
    tokens(1 + next(30)) + BigInt(next(1_000_000_007)),
    tokens(1 + next(30)) + BigInt(next(1_000_000_007)),
    tokens(1 + next(300)),
    tokens(30_000),
    room > 0n ? room : 0n,
    room > 0n ? room + 1n : 1n,
    next(9) === 0 ? 10n ** 36n : tokens(2),
  ])
  return {
    validatorAddress: anyOwner(next, candidacy, accounts),
    amount: next(40) === 0 ? pick(next, ['01', '1.5', '', `${10n ** 36n + 1n}`]) : amount.toString(),
  }
}

/** A message of `withdraw`, often of all that the sender has, one unit more or less. */
export function randomWithdrawal(
  next: Random,
  chain: TestChain,
  sender: Signer,
  accounts: number,
): Record<string, unknown> {
  const row = pick(next, rowsOf(chain, sender.address))
  const candidacy = chain.store.get(candidacies, { id: row?.candidacyId ?? 0 })
  const { delegated = 0n, delegationUnits: units = 0n } = candidacy ?? {}
  const worth = row === undefined || units === 0n ? 0n : (minOf(row.units, units) * delegated) / units
  const amount = pick(next, [
    worth,
    worth + 1n,
    worth > 0n ? worth - 1n : 0n,
    worth / 2n,
    worth / 3n,
    1n,
    2n,
    TOKEN + BigInt(next(1_000_000_007)),
    next(3) === 0 ? 0n : worth / 5n,
  ]).toString()
  const whole = { completelyWithdraw: 'Y' }
  const fields = pick(next, [
    { amount },
    { amount },
    { amount },
    { amount },
    { amount, completelyWithdraw: 'N' },
    whole,
    whole,
    whole,
    next(3) === 0
      ? pick(next, [{}, { completelyWithdraw: 'N' }, { ...whole, amount }, { completelyWithdraw: 'y' }])
      : whole,
  ])
  return { validatorAddress: anyOwner(next, candidacy, accounts), ...fields }
}

/** Now and then evidence against somebody to whom others have delegated. */
export function randomOffence(next: Random, { store, height }: TestChain): readonly Misbehavior[] {
  const delegated = [...listLive(store)].filter((candidacy) => candidacy.delegated > 0n)
  if (delegated.length === 0 || next(12) > 0) return []
  const address = addressBytes(addressOfKey(pubKeyBytes(pick(next, delegated).pubKey)))
  return [
    {
      type: 1 + next(2),
      validator: { address, power: 1 },
      height: Math.max(1, height - next(4)),
      time: { seconds: 0, nanos: 0 },
      totalVotingPower: 1,
    },
  ]
}

/** An operation that a sender signs. */
export interface Move {
  readonly signer: Signer
  readonly operation: string
  readonly message: Readonly<Record<string, unknown>>
}

/**
 * In one block: somebody delegates and leaves again, or an owner changes the commission, or withdraws and activates
 * while somebody delegates, so often that the batches of the candidacy are as many as may wait.
 */
export function randomChurn(next: Random, chain: TestChain, signerOf: (address: Address) => Signer): readonly Move[] {
  const live = [...listLive(chain.store)]
  const candidacy = next(2) === 0 ? live[0] : pick(next, live)
  if (candidacy === undefined) return []
  const owner = signerOf(candidacy.ownerAddress)
  const signer = account(7 + next(6))
  const validatorAddress = addressBytes(candidacy.ownerAddress)
  const coming = {
    signer,
    operation: 'delegate',
    message: { validatorAddress, amount: (tokens(1) + BigInt(next(3))).toString() },
  }
  const going = { signer, operation: 'withdraw', message: { validatorAddress, completelyWithdraw: 'Y' } }
  const compRate = pick(next, ['0', '0.1', '0.25', '0.5', '0.75', '1'])
  const commission = { signer: owner, operation: 'updateCandidacy', message: { compRate } }
  if (next(2) > 0) return next(2) === 0 ? [coming, commission] : [commission]
  if (next(3) > 0) return [coming, going]
  const round = [
    coming,
    { signer: owner, operation: 'withdrawCandidacy', message: {} },
    { signer: owner, operation: 'activateCandidacy', message: {} },
  ]
  return Array.from({ length: 1 + next(next(30) === 0 ? 120 : 4) }, () => round).flat()
}
