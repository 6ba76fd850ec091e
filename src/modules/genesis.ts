import { type Address, address, addressOrNone } from '../values/address.ts'
import { parseRatio, type Ratio, TOKEN } from '../base/amount.ts'
import { cut, isObject, show, UNKNOWN_NAME_LENGTH_MAX } from '../base/json.ts'
import { printPubKey, pubKey } from '../values/pubKey.ts'
import type { State } from '../store/state.ts'
import { amount, integerOf, ratio } from '../values/number.ts'
import { textOf } from '../values/text.ts'
import type { ValueType } from '../values/valueType.ts'
import { addBalance } from './accounts/keeper.ts'
import { type ChainRow, putGenesis } from './chain/keeper.ts'
import type { Block } from './define.ts'
import { canonicalText, PARAMETERS } from './params/definitions.ts'
import { paramsInForce, putParam } from './params/keeper.ts'
import { sendFirstSet, type ValidatorUpdate } from './stake/block.ts'
import { startPool } from './delegation/keeper.ts'
import { createCandidacy, type NewCandidacy } from './stake/keeper.ts'
import { DESCRIPTION_BYTES_MAX } from './stake/tx/candidacy.ts'
import { SET_POWER_MIN, powerInAll } from './stake/validatorSet.ts'

/** A genesis file that no chain can start from. The message names the member, the limit and what was given. */
export class GenesisError extends Error {
  override readonly name = 'GenesisError'
}

/** `app_state` of genesis.json, read. Source: protocol.md §4, InitChain. */
export interface Genesis {
  readonly accounts: readonly { readonly address: Address; readonly balance: bigint }[]
  /** Canonical text of each of the eleven parameters. */
  readonly params: ReadonlyMap<string, string>
  readonly stake: Pick<
    ChainRow,
    'defaultMaxAmount' | 'defaultCompRate' | 'foundationAddress' | 'maxAbsentBlocks' | 'slashRatio'
  >
  /** Their shares, in which what is delegated is, are beside the balances. */
  readonly candidacies: readonly (Omit<NewCandidacy, 'blockHeight' | 'createdAt'> & {
    readonly delegations: readonly GenesisDelegation[]
  })[]
}

interface GenesisDelegation {
  readonly delegator: Address
  readonly amount: bigint
}

/** Most units that genesis may make: 10^15 tokens. */
export const GENESIS_SUPPLY_MAX = 10n ** 15n * TOKEN

type Json = Readonly<Record<string, unknown>>

function refuse(member: string, expected: string, given: unknown): never {
  throw new GenesisError(`genesis app_state: ${member}: expected ${expected}, got ${show(given)}`)
}

/** The members of an object; JSON null is not given (protocol.md §1). */
function object(value: unknown, member: string, members: readonly string[]): Json {
  if (!isObject(value)) refuse(member, 'an object', value)
  const given: Record<string, unknown> = {}
  // biome-ignore lint/plugin: the order decides only which unknown member the message names
  for (const [name, held] of Object.entries(value)) {
    if (!members.includes(name))
      refuse(`${member}.${cut(name, UNKNOWN_NAME_LENGTH_MAX)}`, `one of ${members.join(', ')}`, held)
    if (held !== null) given[name] = held
  }
  return given
}

function list(value: unknown, member: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(member, 'an array', value)
}

/** The value of `type` in JSON; refuses what is none. */
function read<T>(type: ValueType<T>, json: unknown, member: string): T {
  const refused = (): never => refuse(member, type.exactForm, json)
  const wire = type.fromJson(json, refused)
  return type.check(wire) === undefined ? type.fromWire(wire) : refused()
}

function readParams(value: unknown): ReadonlyMap<string, string> {
  const given = object(value ?? {}, 'params', [...PARAMETERS.keys()])
  const texts = new Map<string, string>()
  for (const [name, { type, fallback }] of PARAMETERS) {
    const isInteger = type.sqlType === 'INTEGER'
    const json = given[name] ?? (isInteger ? Number(fallback) : fallback)
    const isGiven = isInteger ? Number.isSafeInteger(json) : typeof json === 'string'
    if (!isGiven) refuse(`params.${name}`, isInteger ? 'an integer' : 'text', json)
    const canonical = canonicalText(type, String(json))
    if ('why' in canonical) throw new GenesisError(`genesis app_state: params.${name}: ${canonical.why}`)
    texts.set(name, canonical.text)
  }
  return texts
}

const MAX_ABSENT_BLOCKS = integerOf(1, 10 ** 6)
/** The `max_shares` of a candidacy that names none, where genesis names no other. */
export const MAX_AMOUNT_DEFAULT = 10_000n * TOKEN
const STAKE = ['default_max_amount', 'default_comp_rate', 'foundation_address', 'max_absent_blocks', 'slash_ratio']

function readStake(value: unknown): Genesis['stake'] {
  const given = object(value ?? {}, 'stake', STAKE)
  const {
    default_max_amount: maxAmount = MAX_AMOUNT_DEFAULT.toString(),
    default_comp_rate: compRate = '0.5',
    foundation_address: foundation = '',
    max_absent_blocks: maxAbsentBlocks = 120,
    slash_ratio: slashRatio = '0.05',
  } = given
  const defaultMaxAmount = read(amount, maxAmount, 'stake.default_max_amount')
  if (defaultMaxAmount < TOKEN) refuse('stake.default_max_amount', `at least 1 token (${TOKEN})`, maxAmount)
  if (typeof maxAbsentBlocks === 'string')
    refuse('stake.max_absent_blocks', MAX_ABSENT_BLOCKS.exactForm, maxAbsentBlocks)
  return {
    defaultMaxAmount,
    defaultCompRate: read(ratio, compRate, 'stake.default_comp_rate'),
    maxAbsentBlocks: read(MAX_ABSENT_BLOCKS, maxAbsentBlocks, 'stake.max_absent_blocks'),
    foundationAddress: read(addressOrNone, foundation, 'stake.foundation_address'),
    slashRatio: read(ratio, slashRatio, 'stake.slash_ratio'),
  }
}

type Description = Record<keyof typeof DESCRIPTION_BYTES_MAX, string>

function readDescription(value: unknown, member: string): Description {
  const names = ['name', 'website', 'location', 'email', 'profile'] as const
  const given = object(value ?? {}, member, names)
  const texts = names.map((name) => {
    const text = read(textOf(DESCRIPTION_BYTES_MAX[name]), given[name] ?? '', `${member}.${name}`)
    return [name, text] as const
  })
  return Object.fromEntries(texts) as Description
}

function readDelegations(value: unknown, member: string, shares: bigint): readonly GenesisDelegation[] {
  const delegations = list(value ?? [], member).map((one, at) => {
    const given = object(one, `${member}[${at}]`, ['delegator', 'amount'])
    const units = read(amount, given['amount'], `${member}[${at}].amount`)
    if (units < TOKEN) refuse(`${member}[${at}].amount`, `at least 1 token (${TOKEN})`, given['amount'])
    return { delegator: read(address, given['delegator'], `${member}[${at}].delegator`), amount: units }
  })
  unique(delegations, `${member} delegator`, ({ delegator }) => delegator)
  const sum = delegations.reduce((total, { amount: units }) => total + units, 0n)
  if (sum > shares) refuse(member, `amounts of at most the shares ${shares} in all`, sum.toString())
  return delegations
}

const CANDIDACY = ['owner', 'pub_key', 'shares', 'max_shares', 'comp_rate', 'description', 'delegations']

function readCandidacy(value: unknown, member: string, defaultCompRate: Ratio): Genesis['candidacies'][number] {
  const given = object(value, member, CANDIDACY)
  const shares = read(amount, given['shares'], `${member}.shares`)
  const maxShares = read(amount, given['max_shares'], `${member}.max_shares`)
  if (shares < TOKEN || shares > maxShares) {
    refuse(`${member}.shares`, `at least 1 token (${TOKEN}) and at most max_shares ${maxShares}`, given['shares'])
  }
  return {
    ownerAddress: read(address, given['owner'], `${member}.owner`),
    pubKey: read(pubKey, given['pub_key'], `${member}.pub_key`),
    shares,
    maxShares,
    compRate:
      given['comp_rate'] === undefined ? defaultCompRate : read(ratio, given['comp_rate'], `${member}.comp_rate`),
    ...readDescription(given['description'], `${member}.description`),
    delegations: readDelegations(given['delegations'], `${member}.delegations`, shares),
  }
}

function unique<T>(items: readonly T[], member: string, nameOf: (item: T) => string): void {
  const seen = new Set<string>()
  for (const name of items.map(nameOf)) {
    if (seen.has(name)) refuse(member, 'each once', name)
    seen.add(name)
  }
}

/** With less power no key could ever join. Source: protocol.md §4. */
function assertPower({ params, candidacies }: Pick<Genesis, 'params' | 'candidacies'>): void {
  const inOrder = [...candidacies].sort((a, b) => (a.shares < b.shares ? 1 : a.shares > b.shares ? -1 : 0))
  const maxVals = Number(params.get('max_vals'))
  const power = powerInAll(inOrder, { maxVals, stakeLimit: parseRatio(params.get('stake_limit') as string) as Ratio })
  if (power >= SET_POWER_MIN) return
  refuse(
    'candidacies',
    `a voting power of at least ${SET_POWER_MIN} in all (one for each token of shares that counts)`,
    power,
  )
}

/** Reads `app_state`. Throws a GenesisError that names the member. Source: protocol.md §4, InitChain. */
export function readGenesis(appState: unknown): Genesis {
  const given = object(appState, 'app_state', ['accounts', 'params', 'stake', 'candidacies'])
  const accounts = list(given['accounts'] ?? [], 'accounts').map((value, at) => {
    const account = object(value, `accounts[${at}]`, ['address', 'balance'])
    const balance = read(amount, account['balance'], `accounts[${at}].balance`)
    return { address: read(address, account['address'], `accounts[${at}].address`), balance }
  })
  const stake = readStake(given['stake'])
  const candidacies = list(given['candidacies'] ?? [], 'candidacies').map((value, at) =>
    readCandidacy(value, `candidacies[${at}]`, stake.defaultCompRate),
  )
  unique(accounts, 'accounts address', (account) => account.address)
  unique(candidacies, 'candidacies owner', ({ ownerAddress }) => ownerAddress)
  unique(candidacies, 'candidacies pub_key', (candidacy) => printPubKey(candidacy.pubKey))
  if (candidacies.length === 0) refuse('candidacies', 'at least one eligible candidacy', candidacies)
  const genesis = { accounts, params: readParams(given['params']), stake, candidacies }
  assertPower(genesis)
  const supply = supplyOf(genesis)
  if (supply > GENESIS_SUPPLY_MAX) {
    refuse('accounts and candidacies', `a supply of at most ${GENESIS_SUPPLY_MAX} base units`, supply.toString())
  }
  return genesis
}

const supplyOf = ({ accounts, candidacies }: Pick<Genesis, 'accounts' | 'candidacies'>): bigint =>
  accounts.reduce((sum, { balance }) => sum + balance, 0n) + candidacies.reduce((sum, { shares }) => sum + shares, 0n)

/** What InitChain says beside `app_state`: the time of genesis too. */
export type ChainStart = Pick<ChainRow, 'chainId' | 'initialHeight' | 'evidenceMaxBytes'> &
  Pick<Block, 'timeMs' | 'time'>

/** Writes the state that genesis makes; returns the validator set for CometBFT. Source: protocol.md §4, InitChain. */
export function applyGenesis(state: State, genesis: Genesis, start: ChainStart): readonly ValidatorUpdate[] {
  const { chainId, initialHeight, evidenceMaxBytes, timeMs, time } = start
  putGenesis(state, { chainId, initialHeight, evidenceMaxBytes, ...genesis.stake }, timeMs, supplyOf(genesis))
  for (const [name, value] of genesis.params) putParam(state, name, 0, value)
  for (const account of genesis.accounts) addBalance(state, account.address, account.balance)
  for (const { delegations, ...given } of genesis.candidacies) {
    const candidacy = createCandidacy(state, { ...given, blockHeight: 0, createdAt: time })
    startPool(state, candidacy, delegations, time)
  }
  const block: Block = { chainId, height: initialHeight, timeMs, time, params: paramsInForce(state, initialHeight) }
  return sendFirstSet(state, block)
}
