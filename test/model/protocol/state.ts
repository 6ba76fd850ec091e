import { encode, fieldsOf, type Message } from './wire.ts'
import { addressOf, printRatio } from './values.ts'

/** Addresses are lower-case text, keys and proposal ids hex, amounts base units, ratios × 10^18, times Unix seconds. */
export interface Candidacy {
  readonly id: number
  pubKey: string
  ownerAddress: string
  shares: bigint
  maxShares: bigint
  compRate: bigint
  /** Of the shares, what others delegated (D), and the units that it is divided into (U). */
  delegated: bigint
  delegationUnits: bigint
  /** Counts from 0: a pool that ended is followed by another one. */
  pool: number
  /** How many delegations the pool has. */
  delegators: number
  /** A raise of the commission that waits, and the height from which it is in force; both 0 when none waits. */
  nextCompRate: bigint
  nextCompRateHeight: number
  readonly description: Record<string, string>
  verified: boolean
  active: boolean
  withdrawn: boolean
  readonly blockHeight: number
  readonly createdAt: number
  updatedAt: number
}

/** What a candidacy holds of delegations before the first one. */
export const NO_DELEGATIONS = {
  delegated: 0n,
  delegationUnits: 0n,
  pool: 0,
  delegators: 0,
  nextCompRate: 0n,
  nextCompRateHeight: 0,
} as const

export interface Proposal {
  readonly id: string
  readonly type: 'change_param' | 'deploy_libeni' | 'retire_program' | 'transfer_fund'
  readonly proposer: string
  readonly candidacyId: number
  readonly blockHeight: number
  readonly place: number
  readonly expireBlockHeight: number
  readonly expireTimestamp: number
  readonly createdAt: number
  result: '' | 'Approved' | 'Rejected' | 'Expired'
  resultMsg: string
  resultBlockHeight: number
  resultAt: number
  pending: boolean
  tally: Tally
  /** The fields of its type: name, value, version, fileUrl … */
  readonly detail: Message
  readonly transfer?: { readonly from: string; readonly to: string; readonly amount: bigint }
  escrow: bigint
  status: string
}

export interface Tally {
  readonly yes: number
  readonly no: number
  readonly total: number
}

export interface SetMember {
  readonly pubKey: string
  readonly candidacyId: number
  readonly power: number
  proven: boolean
}

export interface Unbonding {
  readonly number: number
  readonly candidacyId: number
  readonly ownerAddress: string
  readonly pubKey: string
  amount: bigint
  readonly heightMade: number
  readonly heightPaid: number
}

export interface Delegation {
  readonly candidacyId: number
  readonly pool: number
  readonly delegator: string
  units: bigint
  delegateAmount: bigint
  withdrawAmount: bigint
  readonly createdAt: number
  updatedAt: number
}

/** What delegators took back in one step of the chain. `pool`: 0 but for a closing batch, where it is that pool + 1. */
export interface Batch {
  readonly candidacyId: number
  readonly number: number
  amount: bigint
  units: bigint
  readonly heightMade: number
  readonly heightPaid: number
  closed: boolean
  readonly pool: number
}

export interface Claim {
  readonly candidacyId: number
  readonly number: number
  readonly delegator: string
  units: bigint
}

export interface AccountUpdate {
  readonly id: number
  readonly candidacyId: number
  readonly fromAddress: string
  readonly toAddress: string
  status: 'PENDING' | 'COMPLETED' | 'REPLACED' | 'CANCELLED'
}

export interface State {
  accounts: Map<string, { balance: bigint; nonce: number }>
  candidacies: Candidacy[]
  validatorKeys: { pubKey: string; firstHeight: number; candidacyId: number; lastHeight: number }[]
  validatorSet: SetMember[]
  absences: Map<number, number>
  unbondings: Unbonding[]
  delegations: Delegation[]
  batches: Batch[]
  claims: Claim[]
  accountUpdates: AccountUpdate[]
  /** The height of the last removal for misbehaviour by candidacy id. */
  misbehaviours: Map<number, number>
  proposals: Proposal[]
  votes: { proposalId: string; candidacyId: number; voter: string; answer: string; blockHeight: number }[]
  params: { name: string; height: number; value: string }[]
  totals: { genesisSupply: bigint; minted: bigint; burned: bigint }
  counters: {
    nextCandidacyId: number
    nextUnbondingNumber: number
    nextRequestId: number
    programVersion: number
  }
  chain: {
    readonly chainId: string
    readonly initialHeight: number
    readonly evidenceMaxBytes: number
    readonly defaultMaxAmount: bigint
    readonly defaultCompRate: bigint
    readonly foundationAddress: string
    readonly maxAbsentBlocks: number
    readonly slashRatio: bigint
    lastHeight: number
    lastTimeMs: number
  }
}

/**
 * Rules that the model can be told to get wrong, so that a test sees that the comparison finds each of them. The model
 * of a real comparison has none.
 */
export const ALTERATIONS = [
  'the fee is burned',
  'a tie in the order of candidacies goes to the later one',
  'the self-stake rounds down',
  'a slash rounds up',
  'who was absent is paid too',
  'unbonding is paid a block later',
  'a key that joins counts at once',
  'an approved parameter is in force at once',
  'no key is held back',
  'a signature of an earlier period proves a key',
  'a set of little power stays closed',
  'who is not proven may propose',
  'a candidacy of little power has as many places as others',
  'the units of a delegation round up',
  'the units of a withdrawal round down',
  'a withdrawal leaves any rest',
  'a raise of the commission counts at once',
  'a batch that was slashed stays open',
  'claims are paid without a bound',
] as const
export type Alteration = (typeof ALTERATIONS)[number]

/** The block that rules look at. */
export interface Block {
  readonly height: number
  readonly timeMs: number
  /** Whole seconds. */
  readonly time: number
  readonly altered?: Alteration | undefined
  /** Rules that seldom decide anything, by their names, each time that they did. */
  readonly met: string[]
}

export const blockAt = (height: number, timeMs: number, altered?: Alteration): Block => ({
  height,
  timeMs,
  time: Math.floor(timeMs / 1000),
  altered,
  met: [],
})

/** Texts in order, by their keys. */
export type Attributes = Readonly<Record<string, string>>
export type Event = readonly [type: string, attributes: Attributes]

export const supplyOf = ({ totals }: State): bigint => totals.genesisSupply + totals.minted - totals.burned

export function accountOf(state: State, address: string): { balance: bigint; nonce: number } {
  const account = state.accounts.get(address) ?? { balance: 0n, nonce: 0 }
  state.accounts.set(address, account)
  return account
}

export const balanceOf = (state: State, address: string): bigint => state.accounts.get(address)?.balance ?? 0n

export function pay(state: State, address: string, amount: bigint): void {
  accountOf(state, address).balance += amount
}

export const recordOf = (state: State, owner: string): Candidacy | undefined =>
  state.candidacies.find(({ ownerAddress }) => ownerAddress === owner)

export function liveOf(state: State, owner: string): Candidacy | undefined {
  const record = recordOf(state, owner)
  return record?.withdrawn === false ? record : undefined
}

export const candidacyById = (state: State, wanted: number): Candidacy | undefined =>
  state.candidacies.find(({ id }) => id === wanted)

export const isDeclared = (state: State, key: string): boolean =>
  state.candidacies.some(({ pubKey, withdrawn }) => pubKey === key && !withdrawn)

/** The latest row of a key in validator_keys, by first height. */
export const latestRowOf = (state: State, key: string): State['validatorKeys'][number] | undefined =>
  state.validatorKeys.filter(({ pubKey }) => pubKey === key).sort((a, b) => b.firstHeight - a.firstHeight)[0]

/** Whether a key is held back from an address. Source: protocol.md §3. */
export function isHeldBack(state: State, key: string, sender: string): boolean {
  const row = latestRowOf(state, key)
  return row !== undefined && candidacyById(state, row.candidacyId)?.ownerAddress !== sender
}

/** To whom a key belonged at a height of CometBFT's set; looked for by its address. */
export const candidacyIdOfKey = (state: State, address: string, height: number): number | undefined =>
  state.validatorKeys.find(
    ({ pubKey, firstHeight, lastHeight }) =>
      addressOf(pubKey) === address && firstHeight <= height && (lastHeight === 0 || height <= lastHeight),
  )?.candidacyId

/** The text of a parameter in force in the block of this height. */
export function paramOf(state: State, name: string, height: number): string {
  const [first, ...rest] = state.params.filter((row) => row.name === name && row.height <= height)
  if (first === undefined) throw new Error(`no parameter ${name}`)
  return rest.reduce((newest, row) => (row.height > newest.height ? row : newest), first).value
}

export const numberParam = (state: State, name: string, height: number): number => Number(paramOf(state, name, height))

// The keys of rows, as the comments of proto/svc/state.proto tell them.
const u64 = (value: number): string => BigInt(value).toString(16).padStart(16, '0')
const text = (value: string): string => `${Buffer.from(value).toString('hex')}00`
const address = (value: string): string => value.slice(2)
// Zero is the empty text.
const amount = (value: bigint): string => (value === 0n ? '' : value.toString())
const ratio = (value: bigint): string => (value === 0n ? '' : printRatio(value))

/** What a proposal's row holds of its type. */
function detailOf({ detail, transfer, escrow, status }: Proposal): Message {
  if (transfer === undefined) return { ...detail, escrow: amount(escrow), status }
  const { from, to } = transfer
  return {
    ...detail,
    transferFrom: address(from),
    transferTo: address(to),
    amount: amount(transfer.amount),
    escrow: amount(escrow),
  }
}

function* listRows(state: State): Generator<readonly [key: string, message: string, row: Message]> {
  for (const [of, { balance, nonce }] of state.accounts)
    yield [`01${address(of)}`, 'Account', { balance: amount(balance), nonce }]
  for (const { id, description, ...one } of state.candidacies) {
    const { shares, maxShares, compRate, delegated, delegationUnits, nextCompRate, ownerAddress } = one
    const money = {
      shares: amount(shares),
      maxShares: amount(maxShares),
      compRate: ratio(compRate),
      delegated: amount(delegated),
      delegationUnits: amount(delegationUnits),
      nextCompRate: ratio(nextCompRate),
    }
    yield [`02${u64(id)}`, 'Candidacy', { ...one, ...description, ...money, ownerAddress: address(ownerAddress) }]
  }
  for (const { pubKey, firstHeight, ...row } of state.validatorKeys)
    yield [`03${pubKey}${u64(firstHeight)}`, 'ValidatorKey', row]
  for (const { pubKey, ...row } of state.validatorSet) yield [`04${pubKey}`, 'SetMember', row]
  for (const [id, count] of state.absences) yield [`05${u64(id)}`, 'Absence', { count }]
  for (const { number, ...row } of state.unbondings) {
    const owner = address(row.ownerAddress)
    yield [`06${u64(number)}`, 'Unbonding', { ...row, ownerAddress: owner, amount: amount(row.amount) }]
  }
  for (const { candidacyId, pool, delegator, ...row } of state.delegations) {
    const { units, delegateAmount, withdrawAmount } = row
    const money = {
      units: amount(units),
      delegateAmount: amount(delegateAmount),
      withdrawAmount: amount(withdrawAmount),
    }
    yield [`09${u64(candidacyId)}${u64(pool)}${address(delegator)}`, 'Delegation', { ...row, ...money }]
  }
  for (const { candidacyId, number, ...row } of state.batches) {
    const money = { amount: amount(row.amount), units: amount(row.units) }
    yield [`0a${u64(candidacyId)}${u64(number)}`, 'Batch', { ...row, ...money }]
  }
  for (const { candidacyId, number, delegator, units } of state.claims)
    yield [`0b${u64(candidacyId)}${u64(number)}${address(delegator)}`, 'Claim', { units: amount(units) }]
  for (const { id, fromAddress, toAddress, ...row } of state.accountUpdates) {
    const between = { fromAddress: address(fromAddress), toAddress: address(toAddress) }
    yield [`07${u64(id)}`, 'AccountUpdate', { ...row, ...between }]
  }
  for (const [id, removedHeight] of state.misbehaviours) yield [`08${u64(id)}`, 'Misbehaviour', { removedHeight }]
  for (const one of state.proposals) {
    const { id, tally, transfer: _transfer, detail: _detail, escrow: _escrow, status: _status, ...row } = one
    const { yes: yesPower, no: noPower, total: totalPower } = tally
    const proposer = address(one.proposer)
    yield [`10${id}`, 'Proposal', { ...row, proposer, yesPower, noPower, totalPower, ...detailOf(one) }]
  }
  for (const { proposalId, candidacyId, voter, ...row } of state.votes)
    yield [`11${proposalId}${u64(candidacyId)}`, 'Vote', { ...row, voter: address(voter) }]
  for (const { name, height, value } of state.params) yield [`18${text(name)}${u64(height)}`, 'Param', { value }]
  const { genesisSupply, minted, burned } = state.totals
  const totals = { genesisSupply: amount(genesisSupply), minted: amount(minted), burned: amount(burned) }
  yield ['20', 'Totals', totals]
  yield ['21', 'Counters', state.counters]
  const { chain } = state
  const money = { defaultMaxAmount: amount(chain.defaultMaxAmount), defaultCompRate: ratio(chain.defaultCompRate) }
  const foundationAddress = address(chain.foundationAddress)
  yield ['22', 'Chain', { ...chain, ...money, foundationAddress, slashRatio: ratio(chain.slashRatio) }]
}

/** Each row's bytes by its key, both in hex. A row that holds only default values does not exist. */
export function rowsOf(state: State): Map<string, string> {
  const rows = new Map<string, string>()
  for (const [key, message, row] of listRows(state)) {
    const bytes = encode(`svc.state.${message}`, row)
    if (bytes !== '') rows.set(key, bytes)
  }
  return rows
}

const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['01 Account', '02 Candidacy', '03 ValidatorKey', '04 SetMember', '05 Absence', '06 Unbonding', '07 AccountUpdate'],
    ['09 Delegation', '0a Batch', '0b Claim'],
    ['08 Misbehaviour', '10 Proposal', '11 Vote', '18 Param', '20 Totals', '21 Counters', '22 Chain'],
  ]
    .flat()
    .map((entry) => entry.split(' ') as [string, string]),
)

/** The message of the row with this key; throws for a key of no table. */
export function messageOfRow(key: string): string {
  const name = `svc.state.${NAMES[key.slice(0, 2)]}`
  fieldsOf(name)
  return name
}
