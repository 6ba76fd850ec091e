import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Amount, maxOf, TOKEN } from '../../base/amount.ts'
import { writeWhole } from '../../base/writeWhole.ts'
import { isMnemonic, MNEMONIC_FORM, PUBLIC_MNEMONIC, seedsOfMnemonic } from '../../keys/mnemonic.ts'
import { GENESIS_SUPPLY_MAX } from '../../modules/genesis.ts'
import { canonicalText, PARAMETERS } from '../../modules/params/definitions.ts'
import { amount } from '../../values/number.ts'
import { type Signer, signerOfSeed } from '../../tx/sign.ts'
import { AMOUNT_FORMS, parseAmount } from '../amounts.ts'
import { UserError } from '../../node/errors.ts'
import { chainIdOf, type GenesisOwner, newAppState, readGenesisFile } from '../../node/homes.ts'
import { type FlagsOf, option } from '../options.ts'
import { parseWhole } from '../../node/settings.ts'

/** The chain id of a devnet that is given none. */
export const DEVNET_CHAIN_ID = 'svcd-devnet'

/** How many accounts a devnet has unless it is told otherwise. */
export const DEVNET_ACCOUNTS = 10

/** The most accounts of a devnet. */
export const DEVNET_ACCOUNTS_MAX = 1000

/** The most validators of a devnet. */
export const DEVNET_VALIDATORS_MAX = 10

/** What `--fast` sets: points and payouts are reached within seconds. In blocks. */
const FAST_PARAMS: Readonly<Record<string, string>> = { unstake_wait_period: '20', proposal_expire_period: '20' }

/** The signers of a mnemonic's first accounts; by default those of every devnet, whose keys anybody has. */
export const devnetSigners = (mnemonic = PUBLIC_MNEMONIC, count = DEVNET_ACCOUNTS): readonly Signer[] =>
  seedsOfMnemonic(mnemonic, count).map(signerOfSeed)

/** What makes the chain of a devnet what it is. It is kept in the home, and holds no secret. */
export interface DevnetChain {
  readonly chainId: string
  readonly accounts: number
  /** The address of the mnemonic's first account. */
  readonly firstAddress: string
  /** Of each account at the start, in base units. */
  readonly balance: string
  /** Parameters that differ from their defaults, in canonical text. */
  readonly params: Readonly<Record<string, string>>
  /** The path of the genesis file from which the chain starts. */
  readonly genesis?: string | undefined
}

function parseBalance(text: string, flag: string): string {
  const units = BigInt(parseAmount(text, flag))
  if (units <= GENESIS_SUPPLY_MAX) return units.toString()
  throw new UserError(`${flag}: expected at most ${GENESIS_SUPPLY_MAX} base units, got ${JSON.stringify(text)}`)
}

function parseChainId(text: string, flag: string): string {
  if (/^[\x21-\x7e]{1,50}$/.test(text)) return text
  throw new UserError(
    `${flag}: expected 1 to 50 printable ASCII characters without spaces, got ${JSON.stringify(text)}`,
  )
}

/** Reads `name=value` by the rules of the parameter. Throws a UserError that names the flag. */
function parseParam(text: string, flag: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(text) ?? []
  const type = PARAMETERS.get(name)?.type
  if (type === undefined) {
    throw new UserError(
      `${flag}: expected NAME=VALUE with one of ${[...PARAMETERS.keys()].join(', ')}, got ${JSON.stringify(text)}`,
    )
  }
  const canonical = canonicalText(type, value)
  if ('why' in canonical) throw new UserError(`${flag} ${name}: ${canonical.why}`)
  return [name, canonical.text]
}

function parseMnemonic(text: string, flag: string): string {
  const words = text.trim().replace(/\s+/g, ' ')
  if (!isMnemonic(words)) throw new UserError(`${flag}: expected ${MNEMONIC_FORM}`)
  return words
}

/** The options that choose the chain of a devnet. All but the mnemonic count only when the chain is new. */
export const chainOptions = [
  option('--accounts <count>', `number of funded accounts, 1 to ${DEVNET_ACCOUNTS_MAX} (default: ${DEVNET_ACCOUNTS})`, {
    env: 'SVCD_ACCOUNTS',
    parse: parseWhole([1, DEVNET_ACCOUNTS_MAX]),
  }),
  option('--balance <amount>', `balance of each account at the start, ${AMOUNT_FORMS} (default: 100000token)`, {
    env: 'SVCD_BALANCE',
    parse: parseBalance,
  }),
  option(
    '--mnemonic <words>',
    'mnemonic of the accounts (default: the public one of every devnet). Other programs can read an argument, so give ' +
      'a private one in the variable; the gateway then signs only with --auth-token-file',
    { env: 'SVCD_MNEMONIC', parse: parseMnemonic },
  ),
  option('--chain-id <id>', `name of the chain (default: ${DEVNET_CHAIN_ID})`, {
    env: 'SVCD_CHAIN_ID',
    parse: parseChainId,
  }),
  option(
    '--genesis <file>',
    'start from the app_state of this genesis file, such as one of svcd export; the validators of the devnet take the ' +
      'places of those with the most stake',
    { parse: (text) => resolve(text) },
  ),
  option('--param <name=value...>', 'system parameters of the new chain, such as gas_price=0', { parse: parseParam }),
  option(
    '--fast',
    `set unstake_wait_period and proposal_expire_period to ${FAST_PARAMS['unstake_wait_period']} blocks instead of 60480`,
  ),
] as const

type ChainFlags = FlagsOf<typeof chainOptions>

const recordOf = (home: string): string => join(home, 'config', 'devnet.json')

const defaults = (): DevnetChain => ({
  chainId: DEVNET_CHAIN_ID,
  accounts: DEVNET_ACCOUNTS,
  firstAddress: devnetSigners(PUBLIC_MNEMONIC, 1)[0]?.address ?? '',
  balance: (100_000n * TOKEN).toString(),
  params: {},
})

/** Reads what the devnet in a home was created with. Throws a UserError when the file is damaged. */
export function recordedChain(home: string): DevnetChain {
  const path = recordOf(home)
  if (!existsSync(path)) return defaults()
  try {
    return { ...defaults(), ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<DevnetChain>) }
  } catch {
    throw new UserError(`${path}: expected JSON. Start a new chain with --reset`)
  }
}

/** Writes what the devnet in a home is created with. */
export function recordChain(home: string, chain: DevnetChain): void {
  writeWhole(recordOf(home), `${JSON.stringify(chain, undefined, 2)}\n`)
}

const FLAG_OF = {
  chainId: '--chain-id',
  accounts: '--accounts',
  firstAddress: '--mnemonic',
  balance: '--balance',
  params: '--param',
  genesis: '--genesis',
} as const satisfies Record<keyof DevnetChain, string>

/**
 * The chain of a devnet: what the flags say, else what the home was created with, else the defaults. Throws a UserError
 * when the home has a chain that was created differently, because nothing of that can change in a chain.
 */
export function chooseChain(home: string, flags: ChainFlags, isNew: boolean): DevnetChain {
  const { accounts, balance, mnemonic = PUBLIC_MNEMONIC, chainId, genesis } = flags
  const params =
    flags.param === undefined && flags.fast !== true
      ? undefined
      : { ...(flags.fast === true ? FAST_PARAMS : {}), ...Object.fromEntries(flags.param ?? []) }
  const firstAddress = devnetSigners(mnemonic, 1)[0]?.address
  const given = Object.fromEntries(
    Object.entries({ chainId, accounts, firstAddress, balance, params, genesis }).filter(
      ([, one]) => one !== undefined,
    ),
  ) as Partial<DevnetChain>
  if (isNew) return { ...defaults(), ...given }
  const held = recordedChain(home)
  const sorted = (one: unknown): string =>
    JSON.stringify(typeof one === 'object' ? Object.entries(one as object).sort() : one)
  for (const name of Object.keys(given) as (keyof DevnetChain)[]) {
    if (sorted(given[name]) === sorted(held[name])) continue
    const flag = FLAG_OF[name]
    throw new UserError(
      name === 'firstAddress'
        ? `--mnemonic: the devnet in ${home} was created with another one, whose first account is ${held[name]}. ` +
            'Give that one, or start a new chain with --reset'
        : `${flag}: the devnet in ${home} was created with ${JSON.stringify(held[name] ?? 'none')}. ` +
            'Leave the flag out, or start a new chain with --reset',
    )
  }
  return held
}

/** True when the home holds no chain yet. */
export const hasNoChain = (home: string): boolean => chainIdOf(home) === undefined

interface AppState {
  readonly accounts?: readonly { readonly address: string; readonly balance: string }[]
  readonly candidacies?: readonly { readonly shares: string; readonly max_shares: string; readonly pub_key: string }[]
  readonly params?: Readonly<Record<string, unknown>>
}

const unitsOf = (text: unknown): Amount => amount.parse(String(text)) ?? 0n

/**
 * The app_state of a genesis file for other validators: the candidacies with the most shares get their keys, and when
 * there are more candidacies, max_vals keeps the others out of the validator set, since nobody runs their nodes. Each of
 * the first ones then gets one base unit: the chain ranks equal shares by their keys, and another's could come first.
 */
function adoptState({ candidacies = [], ...state }: AppState, owners: readonly GenesisOwner[]): AppState {
  const sharesOf = (at: number): Amount => unitsOf(candidacies[at]?.shares)
  const ranked = candidacies.map((_, at) => at).sort((a, b) => (sharesOf(a) > sharesOf(b) ? -1 : 1))
  const ours = new Map(ranked.slice(0, owners.length).map((at, rank) => [at, owners[rank]?.pubKey]))
  const adopted = candidacies.map((one, at) => ({ ...one, pub_key: ours.get(at) ?? one.pub_key }))
  if (candidacies.length <= owners.length) return { ...state, candidacies: adopted }
  const raised = adopted.map((one, at) => {
    if (!ours.has(at)) return one
    const shares = sharesOf(at) + 1n
    return { ...one, shares: `${shares}`, max_shares: `${maxOf(unitsOf(one.max_shares), shares)}` }
  })
  return { ...state, candidacies: raised, params: { ...state.params, max_vals: owners.length } }
}

/** Reads the app_state of a genesis file. Throws a UserError that names the file. */
function readAppState(path: string, validators: number): AppState {
  if (!existsSync(path)) throw new UserError(`--genesis: ${path} does not exist`)
  const state = (readGenesisFile(path).appState ?? {}) as AppState
  const held = Array.isArray(state.candidacies) ? state.candidacies.length : 0
  if (held >= validators) return state
  throw new UserError(`${path}: expected a candidacy for each of ${validators} validators in app_state, got ${held}`)
}

interface NewState {
  readonly chain: DevnetChain
  readonly accounts: readonly string[]
  readonly validators: number
  /** A state that is taken over as it is. */
  readonly stateFile: string | undefined
}

/**
 * Returns a function that makes the app_state of a new chain for its validators. The mnemonic's accounts that a genesis
 * file does not have get the balance, those that a state does not have get none. Throws a UserError that names the file.
 */
export function appStateOf(settings: NewState): (owners: readonly GenesisOwner[]) => object {
  const { chain, accounts, validators, stateFile } = settings
  const { balance, genesis } = chain
  const params = Object.fromEntries(
    Object.entries(chain.params).map(([name, text]) => [
      name,
      PARAMETERS.get(name)?.type.sqlType === 'INTEGER' ? Number(text) : text,
    ]),
  )
  const path = stateFile ?? genesis
  if (path === undefined) return (owners) => ({ ...newAppState(owners, accounts, BigInt(balance)), params })
  const state = readAppState(path, validators)
  const known = new Set(state.accounts?.map(({ address }) => address.toLowerCase()))
  const added = stateFile === undefined ? accounts.filter((address) => !known.has(address)) : []
  return (owners) => {
    const adopted = adoptState(state, owners)
    return {
      ...adopted,
      accounts: [...(adopted.accounts ?? []), ...added.map((address) => ({ address, balance }))],
      params: { ...adopted.params, ...params },
    }
  }
}
