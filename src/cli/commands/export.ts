import type { Address } from '../../values/address.ts'
import { maxOf, minOf, printRatio, TOKEN } from '../../base/amount.ts'
import { printPubKey } from '../../values/pubKey.ts'
import { genesisJson } from '../../comet/home.ts'
import { accounts } from '../../modules/accounts/keeper.ts'
import { getChain, programVersion, supplyOf } from '../../modules/chain/keeper.ts'
import { applyGenesis, type Genesis, readGenesis } from '../../modules/genesis.ts'
import { proposals } from '../../modules/governance/tables.ts'
import type { Params } from '../../modules/params/definitions.ts'
import { paramsInForce, printParams } from '../../modules/params/keeper.ts'
import type { ValidatorUpdate } from '../../modules/stake/block.ts'
import { listDelegations, payoutsOf, worthOf } from '../../modules/delegation/keeper.ts'
import { compRateAt, listSet } from '../../modules/stake/keeper.ts'
import { batches } from '../../modules/delegation/tables.ts'
import { accountUpdates, candidacies, type Candidacy, isEligible, unbondings } from '../../modules/stake/tables.ts'
import { createOverlay, type StateReader } from '../../store/index.ts'
import { UserError } from '../../node/errors.ts'
import { genesisTimeNow, needState } from '../../node/homes.ts'
import { commonOptions, type Configure, type FlagsOf, option, withOptions } from '../options.ts'
import { note, say, writeResult } from '../output.ts'
import { readVerifiedState } from '../../node/stateFile.ts'

/** A state as the genesis of a new chain. */
export interface ExportedState {
  /** The `app_state` of genesis.json. It was checked that a chain can start from it. */
  readonly appState: object
  readonly validators: readonly { readonly pubKey: string; readonly power: number }[]
  /** The supply in base units, which is unchanged. */
  readonly supply: bigint
  /** What is not carried over, one line each. */
  readonly notCarriedOver: readonly string[]
}

/** A candidacy as genesis holds it, and what it cannot hold of it. */
interface Carried {
  readonly candidacy: Candidacy
  readonly shares: bigint
  readonly maxShares: bigint
  readonly delegations: readonly Worth[]
  /** Delegations below 1 token, which genesis cannot hold. */
  readonly left: readonly Worth[]
}

interface Worth {
  readonly delegator: Address
  readonly amount: bigint
}

/**
 * A candidacy with its delegations, each rounded down; what is below 1 token is left out, and so are shares of the owner
 * above max_shares. Delegations may pass max_shares by their awards: then it rises with them.
 */
function carry(state: StateReader, candidacy: Candidacy): Carried {
  const worth = worthOfAll(state, candidacy)
  const delegations = worth.filter(({ amount }) => amount >= TOKEN)
  const left = worth.filter(({ amount }) => amount < TOKEN)
  const delegated = sumOf(delegations)
  const maxShares = maxOf(candidacy.maxShares, delegated)
  const self = candidacy.shares - sumOf(worth)
  return { candidacy, delegations, left, maxShares, shares: delegated + minOf(self, maxShares - delegated) }
}

const sumOf = (items: readonly Worth[]): bigint => items.reduce((sum, { amount }) => sum + amount, 0n)

const worthOfAll = (state: StateReader, candidacy: Candidacy): readonly Worth[] =>
  [...listDelegations(state, candidacy)].map(({ delegator, units }) => ({
    delegator,
    amount: worthOf(units, candidacy),
  }))

/**
 * Sorts candidacies as the new chain ranks them. All of them are declared in its block 0, so with equal shares the
 * smaller key comes first (protocol.md §4.1).
 */
function byRank(a: Carried, b: Carried): number {
  if (a.shares !== b.shares) return a.shares > b.shares ? -1 : 1
  return a.candidacy.pubKey < b.candidacy.pubKey ? -1 : 1
}

/**
 * The candidacies of the new chain in its rank order: the eligible ones, except those that would be in its first
 * validator set with a key that has not signed. Keys of genesis count as proven, so such a key could keep the new chain
 * from ever making a block (protocol.md §4.4).
 */
function carriedCandidacies(state: StateReader, { maxVals }: Pick<Params, 'maxVals'>): readonly Carried[] {
  const proven = new Set(listSet(state).flatMap((member) => (member.proven ? member.pubKey : [])))
  const carried: Carried[] = []
  let first = 0
  const eligible = [...state.scan(candidacies)].filter(isEligible).map((candidacy) => carry(state, candidacy))
  for (const one of eligible.filter(({ shares }) => shares >= TOKEN).sort(byRank)) {
    if (first < maxVals && !proven.has(one.candidacy.pubKey)) continue
    first++
    carried.push(one)
  }
  return carried
}

/**
 * Every balance, including what genesis cannot hold elsewhere: escrow, what unbonds, and the shares and delegations that
 * are not carried over.
 */
function balancesOf(state: StateReader, carried: ReadonlyMap<number, Carried>): Map<Address, bigint> {
  const balances = new Map<Address, bigint>()
  const add = (address: Address, units: bigint): void => {
    if (units > 0n) balances.set(address, (balances.get(address) ?? 0n) + units)
  }
  for (const { address, balance } of state.scan(accounts)) add(address, balance)
  for (const { ownerAddress, amount } of state.scan(unbondings)) add(ownerAddress, amount)
  for (const batch of state.scan(batches))
    for (const { delegator, paid } of payoutsOf(state, batch)) add(delegator, paid)
  for (const { transferFrom, escrow } of state.scan(proposals)) if (transferFrom !== '') add(transferFrom, escrow)
  for (const candidacy of state.scan(candidacies)) {
    const { shares, left } = carried.get(candidacy.id) ?? { shares: 0n, left: worthOfAll(state, candidacy) }
    for (const { delegator, amount } of left) add(delegator, amount)
    add(candidacy.ownerAddress, candidacy.shares - shares - sumOf(left))
  }
  return balances
}

function notCarriedOver(state: StateReader, carried: ReadonlyMap<number, Carried>): readonly string[] {
  const left = [...state.scan(candidacies)].filter(({ id }) => !carried.has(id))
  const eligible = left.filter(isEligible).length
  return [
    'nonces: every account starts at 0',
    `proposals and their votes: ${state.count(proposals)}; what they hold in escrow is back in the payers' balances`,
    `candidacies that are withdrawn, deactivated or below 1 token: ${left.length - eligible}, paid into balances`,
    `candidacies of the first ranks whose key has not signed a block yet: ${eligible}, paid into balances`,
    `unbonding entries: ${state.count(unbondings)}, paid into their owners' balances; shares above max_shares too`,
    `delegations that unbond, in ${state.count(batches)} batches, and those below 1 token: paid into their delegators' balances`,
    `account update requests: ${state.count(accountUpdates)}`,
    'the verified mark, dates and block heights of candidacies; absences and misbehaviours; blocks and transactions',
    `the counter of retired programs: ${programVersion(state)} here, 1 in the new chain`,
    'raises of comp_rate that wait; what a delegator put in and took out',
    'parameters of earlier heights, and what governance has approved for later ones',
  ]
}

/**
 * The validator set that the new chain's InitChain returns. It may differ from the set last sent, whose members may no
 * longer be eligible (protocol.md §4.4).
 */
function firstSetOf(genesis: Genesis): readonly ValidatorUpdate[] {
  const start = { chainId: '', initialHeight: 1, evidenceMaxBytes: 0, timeMs: 0, time: 0 }
  return applyGenesis(createOverlay(), genesis, start)
}

function candidacyJson({ candidacy, shares, maxShares, delegations }: Carried, height: number): object {
  const { name, website, location, email, profile } = candidacy
  return {
    owner: candidacy.ownerAddress,
    pub_key: printPubKey(candidacy.pubKey),
    shares: shares.toString(),
    max_shares: maxShares.toString(),
    comp_rate: printRatio(compRateAt(candidacy, height)),
    description: { name, website, location, email, profile },
    ...(delegations.length > 0 && {
      delegations: delegations.map(({ delegator, amount }) => ({ delegator, amount: amount.toString() })),
    }),
  }
}

/**
 * Turns the state at `height` into genesis: balances, the parameters in force in the next block, constants, and
 * candidacies in the new chain's rank order. The supply stays the same, and a chain that starts from it exports the
 * same bytes. Throws a GenesisError when no chain could start from it, for example because no eligible validator has
 * signed.
 */
export function exportState(state: StateReader, height: number): ExportedState {
  const chain = getChain(state)
  const carried = carriedCandidacies(state, paramsInForce(state, height + 1))
  const byId = new Map(carried.map((one) => [one.candidacy.id, one]))
  const appState = {
    accounts: [...balancesOf(state, byId)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, balance]) => ({ address, balance: balance.toString() })),
    params: printParams(state, height + 1),
    stake: {
      default_max_amount: chain.defaultMaxAmount.toString(),
      default_comp_rate: printRatio(chain.defaultCompRate),
      foundation_address: chain.foundationAddress,
      max_absent_blocks: chain.maxAbsentBlocks,
      slash_ratio: printRatio(chain.slashRatio),
    },
    candidacies: carried.map((one) => candidacyJson(one, height + 1)),
  }
  return {
    appState,
    validators: firstSetOf(readGenesis(appState)).map(({ pubKey, power }) => ({ pubKey: printPubKey(pubKey), power })),
    supply: supplyOf(state),
    notCarriedOver: notCarriedOver(state, byId),
  }
}

const options = [
  ...commonOptions,
  option('--chain-id <id>', 'name of the new chain, which must differ from the old one', { isRequired: true }),
  option('--output <file>', 'write to this file (default: stdout)'),
  option('--genesis-time <time>', 'start time of the new chain, such as 2026-11-20T10:00:00Z (default: now)'),
] as const

async function run({ home, chainId, output, genesisTime }: FlagsOf<typeof options>): Promise<void> {
  const path = needState(home)
  const old = readVerifiedState(path, (state) => {
    if (state.height() === 0) throw new UserError(`${path}: no block has been committed yet`)
    return { height: state.height(), chainId: state.chainId(), ...exportState(state, state.height()) }
  })
  // With one chain id, a transaction of either chain could be replayed on the other.
  if (chainId === old.chainId)
    throw new UserError(`--chain-id: expected another id than that of the old chain, got ${chainId}`)
  const text = genesisJson({
    chainId,
    genesisTime: genesisTime ?? genesisTimeNow(),
    appState: old.appState,
    validators: old.validators,
  })
  if (output === undefined) say(text.trimEnd())
  else writeResult(output, text)
  note(
    `the state of ${old.chainId} at height ${old.height}, supply ${old.supply} base units, as the start of ${chainId}`,
  )
  note(['not carried over:', ...old.notCarriedOver].join('\n  '))
}

/** Configures `svcd export`. What is not carried over goes to stderr, so that stdout holds only the genesis file. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd export --chain-id my-chain-2 --output genesis.json', options).action(run)
}
