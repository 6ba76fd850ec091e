import { type Address, address, addressBytes, addressOfKey } from '../../values/address.ts'
import { AMOUNT_MAX, TOKEN } from '../../base/amount.ts'
import { concat, fromHex, u64be } from '../../base/bytes.ts'
import { pubKey, pubKeyBytes } from '../../values/pubKey.ts'
import { stateCodec } from '../../codec/state.ts'
import { amount, ratio, uint } from '../../values/number.ts'
import { enumOf, flag, text } from '../../values/text.ts'
import { type StateReader, take } from '../../store/state.ts'
import { derivedTable, type RowOf, table } from '../../store/table.ts'

interface Eligibility {
  readonly shares: bigint
  readonly active: boolean
  readonly withdrawn: boolean
}

/** True while a candidacy may be in the set: live, active, at least 1 token of shares. Source: protocol.md, Words. */
export const isEligible = ({ shares, active, withdrawn }: Eligibility): boolean =>
  !withdrawn && active && shares >= TOKEN

/** First byte of the rank index: eligible candidacies before the others that are live. */
export const ELIGIBLE = Uint8Array.of(0)
const NOT_ELIGIBLE = Uint8Array.of(1)

// 16 bytes hold AMOUNT_MAX; shares descend, so what is left to AMOUNT_MAX ascends.
const descending = (shares: bigint): Uint8Array =>
  fromHex((AMOUNT_MAX - shares).toString(16).padStart(32, '0')) as Uint8Array

/**
 * What delegators have of a candidacy; all of it is 0 while nobody has delegated. Of `shares`, `delegated` belongs to
 * them, in proportion to the units that each has. A raise of the commission waits in `nextCompRate`. Source: protocol.md
 * §12.
 */
const poolColumns = {
  delegated: amount,
  delegationUnits: amount,
  pool: uint,
  delegators: uint,
  nextCompRate: ratio,
  nextCompRateHeight: uint,
} as const

/** Candidacies, at most one an address, withdrawn ones too. Index byRank: the order of protocol.md §4.1 and §4.3. */
export const candidacies = table('candidacies', {
  tag: 0x02,
  key: { id: uint },
  row: {
    pubKey,
    ownerAddress: address,
    shares: amount,
    maxShares: amount,
    compRate: ratio,
    name: text,
    website: text,
    location: text,
    email: text,
    profile: text,
    verified: flag,
    active: flag,
    withdrawn: flag,
    blockHeight: uint,
    createdAt: uint,
    updatedAt: uint,
    ...poolColumns,
  },
  message: stateCodec('svc.state.Candidacy'),
  indexes: {
    byOwner: (row) => addressBytes(row.ownerAddress),
    livePubKey: (row) => (row.withdrawn ? undefined : pubKeyBytes(row.pubKey)),
    byRank: (row) =>
      row.withdrawn
        ? undefined
        : concat(
            isEligible(row) ? ELIGIBLE : NOT_ELIGIBLE,
            descending(row.shares),
            u64be(row.blockHeight),
            pubKeyBytes(row.pubKey),
          ),
  },
})

/** Whose a key was at which heights of CometBFT's set; lastHeight 0 while it is in the set. Source: protocol.md §3. */
export const validatorKeys = table('validator_keys', {
  tag: 0x03,
  key: { pubKey, firstHeight: uint },
  row: { candidacyId: uint, lastHeight: uint },
  message: stateCodec('svc.state.ValidatorKey'),
  indexes: {
    byAddress: (row) => concat(addressBytes(addressOfKey(pubKeyBytes(row.pubKey))), u64be(row.firstHeight)),
    byLastHeight: (row) => (row.lastHeight === 0 ? undefined : u64be(row.lastHeight)),
  },
})

/** One period in which a candidacy had a key in CometBFT's set. */
export type KeyPeriod = RowOf<typeof validatorKeys>

/** The periods of a validator key by its address, the newest first; with `upTo` those that began up to that height. */
export function periodsOf(state: StateReader, validator: Address, upTo?: number): Iterable<KeyPeriod> {
  const prefix = addressBytes(validator)
  const before = upTo === undefined ? {} : { before: concat(prefix, u64be(upTo + 1)) }
  return state.scan(validatorKeys, { index: 'byAddress', prefix, ...before, reverse: true })
}

/** How many periods of a key are in memory: the last commit is in one of the newest three, as one begins two blocks ahead. */
export const NEWEST_PERIODS = 4

/** The newest periods of a validator key, by its address. */
export const newestOf = (state: StateReader, validator: Address) => ({
  validator,
  periods: take(periodsOf(state, validator), NEWEST_PERIODS),
})

/** `newestOf` each address, in memory: a block asks for those of every member of the last commit. */
export const newestPeriods = derivedTable('newest_periods', {
  tag: 0xf5,
  key: { validator: address },
  derive: (state, { validator }) => newestOf(state, validator),
  // A period has four columns, one of them a text of 64 letters.
  sizeOf: ({ periods }) => 8 * periods.length,
})

/**
 * The validator set as last sent to CometBFT. Powers are whole tokens. A candidacy has two members while a new key of
 * it joins beside the old one. Source: protocol.md §4.4.
 */
export const setMembers = table('validator_set', {
  tag: 0x04,
  key: { pubKey },
  row: { candidacyId: uint, power: uint, proven: flag },
  message: stateCodec('svc.state.SetMember'),
  indexes: { byCandidacy: (row) => concat(u64be(row.candidacyId), pubKeyBytes(row.pubKey)) },
})

/** One member of the validator set. */
export type SetMember = RowOf<typeof setMembers>

/** What the members of a validator set count for in governance. */
export interface VotingPowers {
  /** Whole tokens by candidacy id; a candidacy of several keys has the power of all of them. */
  readonly byCandidacy: ReadonlyMap<number, number>
  /** Whole tokens of the whole set. */
  readonly total: number
}

/** Sums the powers of a set by candidacy. */
export function powersOf(members: Iterable<SetMember>): VotingPowers {
  const byCandidacy = new Map<number, number>()
  let total = 0
  for (const { candidacyId, power } of members) {
    byCandidacy.set(candidacyId, (byCandidacy.get(candidacyId) ?? 0) + power)
    total += power
  }
  return { byCandidacy, total }
}

/** The powers of `validator_set`, in memory: every vote asks for all of them. */
export const votingPowers = derivedTable('voting_powers', {
  tag: 0xf2,
  key: {},
  derive: (state) => powersOf(state.scan(setMembers)),
  sizeOf: ({ byCandidacy }) => byCandidacy.size,
})

/** Commits in a row that a candidacy did not sign. */
export const absences = table('absences', {
  tag: 0x05,
  key: { candidacyId: uint },
  row: { count: uint },
  message: stateCodec('svc.state.Absence'),
})

/** Shares on their way back to a balance. Numbered over the chain's life, never merged. */
export const unbondings = table('unbondings', {
  tag: 0x06,
  key: { number: uint },
  row: { candidacyId: uint, ownerAddress: address, pubKey, amount, heightMade: uint, heightPaid: uint },
  message: stateCodec('svc.state.Unbonding'),
  indexes: {
    byCandidacy: (row) => concat(u64be(row.candidacyId), u64be(row.number)),
    byOwner: (row) => concat(addressBytes(row.ownerAddress), u64be(row.number)),
    byHeightPaid: (row) => concat(u64be(row.heightPaid), u64be(row.number)),
  },
})

/** One unbonding entry. */
export type Unbonding = RowOf<typeof unbondings>

/** What became of a request to bind a candidacy to another address. */
export const accountUpdateStatus = enumOf('PENDING', 'COMPLETED', 'REPLACED', 'CANCELLED')

/** Account update requests: PENDING, COMPLETED, REPLACED or CANCELLED. At most one PENDING a candidacy. */
export const accountUpdates = table('account_updates', {
  tag: 0x07,
  key: { id: uint },
  row: {
    candidacyId: uint,
    fromAddress: address,
    toAddress: address,
    status: accountUpdateStatus,
  },
  message: stateCodec('svc.state.AccountUpdate'),
  indexes: {
    pendingByCandidacy: (row) => (row.status === 'PENDING' ? u64be(row.candidacyId) : undefined),
    // For queries alone.
    pendingByTarget: (row) =>
      row.status === 'PENDING' ? concat(addressBytes(row.toAddress), u64be(row.id)) : undefined,
  },
})

/** The block that last removed a candidacy for misbehaviour. */
export const misbehaviours = table('misbehaviours', {
  tag: 0x08,
  key: { candidacyId: uint },
  row: { removedHeight: uint },
  message: stateCodec('svc.state.Misbehaviour'),
})

/**
 * The node's own, for the view `validators` only: the power cap of the last validator set in whole tokens, which SQL
 * cannot divide out exactly.
 */
export const powerCap = table('power_cap', {
  tag: 0xf0,
  hashed: false,
  key: { name: text },
  row: { tokens: uint },
})

/** One candidacy. */
export type Candidacy = RowOf<typeof candidacies>

/** Hashed tables of this module, then the node's own. */
export const stakeTables = [
  candidacies,
  validatorKeys,
  setMembers,
  absences,
  unbondings,
  accountUpdates,
  misbehaviours,
  powerCap,
] as const

/**
 * The validators as `svc_queryValidators` shows them, withdrawn ones too. Tokens fit 64 bits: shares are below 10^34
 * units. Source: protocol.md §3, §4.
 */
export const validatorsView = {
  name: 'validators',
  sql: `SELECT c.owner_address, c.pub_key, c.shares,
      CASE WHEN c.withdrawn = 'N' AND c.active = 'Y' AND length(c.shares) > 18
        THEN min(CAST(substr(c.shares, 1, length(c.shares) - 18) AS INTEGER), (SELECT tokens FROM power_cap)) ELSE 0 END AS voting_power,
      c.max_shares,
      CASE WHEN c.next_comp_rate_height > 0 AND c.next_comp_rate_height <= (SELECT last_height FROM chain) THEN c.next_comp_rate
        ELSE c.comp_rate END AS comp_rate,
      c.delegated, c.delegators, c.name, c.website, c.location, c.email, c.profile, c.verified, c.active, c.block_height,
      CASE WHEN r.key IS NULL THEN -1 ELSE row_number() OVER (ORDER BY r.key IS NULL, r.key) - 1 END AS rank,
      CASE WHEN c.withdrawn = 'Y' THEN 'Withdrawn' WHEN c.id IN (SELECT candidacy_id FROM validator_set) THEN 'Validator'
        ELSE 'Candidate' END AS state,
      datetime(c.created_at, 'unixepoch') AS created_at, datetime(c.updated_at, 'unixepoch') AS updated_at, c.id AS candidacy_id
    FROM candidacies c LEFT JOIN ix_candidacies_by_rank r ON r.id = c.id
    ORDER BY r.key IS NULL, r.key`,
} as const
