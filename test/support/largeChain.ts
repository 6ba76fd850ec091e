/**
 * A devnet as large as the page has to bear: up to hundreds of candidacies of every kind, and proposals that are open and
 * ended. Tests, pictures and benchmarks of the page grow theirs here.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import type { Devnet, DevnetOptions } from '../../src/cli/devnet/startDevnet.ts'
import { Svc } from '../../src/client/index.ts'

export interface LargeChain {
  readonly candidacies: number
  readonly proposals: number
  /** How many of the candidacies have a running node: those with the most shares; 1 unless given. */
  readonly nodes?: number
  /** Accounts of a token each, beside those that act. */
  readonly accounts?: number
}

/** The first candidacies, in the order of their shares, belong to as many accounts of the devnet. */
const OWNERS = 20

/** Accounts of the devnet, behind the owners, that own no candidacy and have staked with some. */
const HOLDERS = 4

/** The most places that a validator set can have. */
const PLACES_MAX = 200

/** Owners who have deactivated their candidacies. */
const INACTIVE = [8, 12, 16]

const TOKEN = 10n ** 18n
const unitsOf = (tokens: number): bigint => BigInt(Math.round(tokens)) * TOKEN
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
const addressAt = (name: string, at: number): string => `0x${hashOf(`${name} ${at}`).toString('hex').slice(0, 40)}`

/** Names that look like others, turn the text around them, cannot be broken into lines, or cannot be seen. */
export const HOSTILE_NAMES: readonly string[] = [
  '\u202Eedon dnegeL\u2066',
  'Old Harbour\u200B\u00A0node',
  'W'.repeat(128),
  '<img src=x onerror="globalThis.hacked=1">{{7*7}}',
  '\u3164\u2800\u200D',
  'e\u0301\u0323\u0330\u034B'.repeat(12),
  '\u05E0\u05DE\u05DC \u0628\u0646\u062F\u0631 123',
  '\u{1F9FF}'.repeat(32),
]

const FIRST_WORDS = ['Old', 'North', 'Quiet', 'Red', 'Salt', 'Iron', 'High', 'Far', 'Low', 'Green', 'Stone', 'Late']
const LAST_WORDS = ['Harbour', 'Lights', 'Kiln', 'Meridian', 'Orchard', 'Ferry', 'Mill', 'Observatory', 'Bridge']
const PLACES = ['Lisbon', 'Tromsø', 'Kyoto', 'Quito', 'Nairobi', 'Ulaanbaatar']

/** What candidacy `at` says of itself: every seventh says nothing, some deceive. */
function descriptionOf(at: number): Readonly<Record<string, string>> {
  if (at % 7 === 6) return {}
  const hostile = at % 7 === 4 ? HOSTILE_NAMES[Math.floor(at / 7) % HOSTILE_NAMES.length] : undefined
  const named = `${FIRST_WORDS[at % FIRST_WORDS.length]} ${LAST_WORDS[Math.floor(at / 2) % LAST_WORDS.length]}`
  return {
    name: hostile ?? (at < 108 ? named : `${named} ${Math.floor(at / 108) + 1}`),
    location: PLACES[at % PLACES.length] as string,
    ...(at % 3 === 0 ? { website: `https://validator-${at}.example/${'about-us/'.repeat(at % 20)}` } : {}),
    ...(at % 5 === 0
      ? { profile: 'A candidacy with as much to say of itself as people write. '.repeat(1 + (at % 9)) }
      : {}),
  }
}

/**
 * Shares in tokens, the most first. Whenever it is the turn of a candidacy without a node to propose, the chain waits. So a
 * node that is alone has forty times what all others have together, and several have four times that.
 */
function sharesOf({ candidacies, nodes = 1 }: LargeChain): readonly number[] {
  const others = Array.from({ length: candidacies - nodes }, (_, at) => 400_000 / (at + 3))
  const weights = Array.from({ length: nodes }, (_, at) => 1 / (at + 1))
  const whole = weights.reduce((sum, one) => sum + one, 0)
  const held = 1_000_000 + (nodes === 1 ? 40 : 4) * others.reduce((sum, one) => sum + one, 0)
  return [...weights.map((one) => (held * one) / whole), ...others]
}

/** Who has staked with candidacy `at`: with every third somebody, and with the first so many that they fill pages. */
function delegationsOf(at: number, shares: number, holders: readonly string[]): readonly object[] {
  if (at % 3 !== 0) return []
  const count = at === 0 ? 45 : 1 + (at % 5)
  return Array.from({ length: count }, (_, one) => ({
    delegator: one === 0 ? holders[at % holders.length] : addressAt(`delegator of ${at}`, one),
    amount: unitsOf(Math.max(1, shares / (4 * count) - one)).toString(),
  }))
}

function appStateOf(chain: LargeChain): object {
  const signers = devnetSigners(undefined, OWNERS + HOLDERS).map(({ address }) => address)
  return {
    stake: { max_absent_blocks: 1_000_000, foundation_address: signers[0] },
    accounts: Array.from({ length: chain.accounts ?? 0 }, (_, at) => ({
      address: addressAt('account', at),
      balance: TOKEN.toString(),
    })),
    candidacies: sharesOf(chain).map((shares, at) => ({
      owner: at < OWNERS ? signers[at] : addressAt('owner', at),
      pub_key: hashOf(`key ${at}`).toString('base64'),
      shares: unitsOf(shares).toString(),
      max_shares: unitsOf(shares * (1 + (at % 4))).toString(),
      comp_rate: `0.${at % 4}5`,
      description: descriptionOf(at),
      delegations: delegationsOf(at, shares, signers.slice(OWNERS)),
    })),
  }
}

/** Writes the genesis of a chain into `folder`; returns how a devnet is started with it. */
export function largeChainOptions(folder: string, chain: LargeChain): DevnetOptions {
  const { candidacies, nodes = 1 } = chain
  const genesis = join(folder, `genesis-${candidacies}-${nodes}.json`)
  const head = { genesis_time: '2026-11-20T00:00:00Z', chain_id: 'large', initial_height: '1', app_hash: '' }
  writeFileSync(genesis, JSON.stringify({ ...head, app_state: appStateOf(chain) }))
  return {
    genesis,
    accounts: OWNERS + HOLDERS,
    // Without a limit on the stake that counts, those who run nodes have the power to make blocks.
    params: { stake_limit: '1', max_vals: Math.min(PLACES_MAX, Math.max(4, candidacies)) },
    validators: nodes,
    // Blocks on demand would wait ten minutes for a candidacy without a node.
    blockTime: nodes === 1 ? '200ms' : '500ms',
  }
}

/** Proposals that stay open, if there are more of them. */
const OPEN = 12

/** Proposals that are made at a time: the chain gives a validator 20 places for those that are open. */
const ROUND = 10

/** Far enough that one is proposed before its end on a busy machine. */
const EXPIRES_IN_BLOCKS = 25

const REASONS = [
  'Three more have asked to join.',
  '',
  'Fees were set when blocks were full. They are a tenth full now, and people who vote pay too. '.repeat(20),
  '\u202EDlrow eht ot\u2069 <script>globalThis.hacked=1</script>',
  'M'.repeat(2_000),
]

const VALUES: readonly (readonly [name: string, value: string])[] = [
  ['gas_price', '1500000000'],
  ['inflation_rate', '11'],
  ['max_vals', '199'],
  ['self_staking_ratio', '0.2'],
  ['unstake_wait_period', '2000'],
]

/** What becomes of the ended proposals: the last of each round expires. */
const outcomeOf = (at: number): 'Approved' | 'Rejected' | 'Expired' =>
  at % ROUND === ROUND - 1 ? 'Expired' : at % 3 === 1 ? 'Rejected' : 'Approved'

/** One of the proposals, whose kind is chosen by `at`, which ends at a height if that is given; resolves with its id. */
async function propose(svc: Svc, from: string, at: number, end: number | undefined): Promise<string> {
  const { governance } = svc.async
  const common = { from, reason: REASONS[at % REASONS.length] as string }
  const expiring = { ...common, ...(end === undefined ? {} : { expireBlockHeight: end }) }
  const forBoth = (one: unknown): string => JSON.stringify({ ubuntu: one, centos: one })
  const send = () => {
    if (at % 10 === 3) {
      const transferTo = addressAt('payee', at)
      return governance.proposeTransferFund({ ...expiring, transferFrom: from, transferTo, amount: TOKEN })
    }
    if (at % 10 === 7) {
      return governance.proposeDeployLibEni({
        ...common,
        ...(end === undefined ? {} : { deployBlockHeight: end }),
        name: `library_${at}`,
        version: 'v1.0.0',
        fileUrl: forBoth([`http://127.0.0.1:9/library-${at}.so`]),
        md5: forBoth('0'.repeat(32)),
      })
    }
    const [name, value] = VALUES[at % VALUES.length] as (typeof VALUES)[number]
    return governance.proposeChangeParam({ ...expiring, name, value })
  }
  return (await send()).deliver_tx.data as string
}

/**
 * Makes what genesis cannot: some candidacies become inactive, and there are proposals, of which the last OPEN are open.
 * While it waits for blocks, it makes payments.
 */
export async function growLargeChain(
  { url, accounts }: Pick<Devnet, 'url' | 'accounts'>,
  { candidacies, proposals, nodes = 1 }: LargeChain,
): Promise<void> {
  const svc = new Svc(url)
  for (const { privateKey } of accounts) svc.accounts.add(privateKey)
  const ownerAt = (at: number): string => accounts[at]?.address as string
  const { blockNumber, governance, stake, transfer } = svc.async
  const passTo = async (height: number): Promise<void> => {
    for (let value = 1n; (await blockNumber()) < height; value++)
      await transfer({ from: ownerAt(OWNERS), to: ownerAt(OWNERS + 1), value: value * TOKEN })
  }
  // Two thirds of the power belong to these.
  const deciding = Array.from({ length: Math.ceil((nodes * 2) / 3) }, (_, at) => ownerAt(at))
  const others = Math.min(3, candidacies - nodes)
  // Those with little power have one place each.
  const proposerOf = (at: number): string => ownerAt(at % ROUND < Math.min(4, candidacies) ? at % ROUND : 0)
  const make = async (at: number, voters: readonly string[], answer: 'Y' | 'N', end?: number): Promise<void> => {
    const proposalId = await propose(svc, proposerOf(at), at, end)
    for (const from of voters) await governance.vote({ from, proposalId, answer })
  }

  for (const at of INACTIVE.filter((one) => one < candidacies)) await stake.validator.deactivate({ from: ownerAt(at) })
  const ended = Math.max(0, proposals - OPEN)
  let last = 0
  for (let made = 0; made < ended; made += ROUND) {
    last = (await blockNumber()) + EXPIRES_IN_BLOCKS
    const round = Array.from({ length: Math.min(ROUND, ended - made) }, (_, index) => made + index)
    await Promise.all(
      round.map((at) => {
        const outcome = outcomeOf(at)
        return outcome === 'Expired' ? make(at, [], 'Y', last) : make(at, deciding, outcome === 'Approved' ? 'Y' : 'N')
      }),
    )
  }
  await passTo(last)
  // Some of the open ones have a few votes.
  const open = Array.from({ length: proposals - ended }, (_, index) => ended + index)
  await Promise.all(
    open.map((at) =>
      make(at, others > 0 && at % 2 === 0 ? [ownerAt(nodes + (at % others))] : [], at % 4 === 0 ? 'Y' : 'N'),
    ),
  )
  if (ended > 0) {
    const { data } = await stake.validator.query(ownerAt(0))
    const preservedValidators = data?.pub_key.value as string
    await governance.proposeRetireProgram({ from: ownerAt(0), preservedValidators, reason: 'A new release is out.' })
  }
}
