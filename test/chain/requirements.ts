/**
 * What CometBFT requires of an application (comet:spec/abci/abci++_app_requirements.md), on random chains: `make
 * requirements`. The test chain of src/abci/testing judges; svcd's part is the traffic, and that CheckTx takes no transaction
 * that a block has executed. Requirement 1 is about time, which is measured by itself. CONTRIBUTING.md says how to run it.
 */
import type { Application, CompleteApplication } from '../../src/abci/types.ts'
import {
  createTestChain,
  random,
  type Random,
  type Requirement,
  RequirementError,
} from '../../src/abci/testing/index.ts'
import type { Store } from '../../src/store/store.ts'
import { addressBytes } from '../../src/values/address.ts'
import type { PubKey } from '../../src/values/pubKey.ts'
import { type CampaignOptions, type CampaignReport, runCampaigns } from '../support/campaign.ts'
import { account, appStateOf, CHAIN_ID, GENESIS_TIME, TestChain, tokens } from '../support/testChain.ts'
import { ACCOUNTS, randomAbsent, randomEvidence, randomGenesis, randomTx } from '../sim/traffic.ts'
import { appOn, memory, prepare } from './support.ts'

const nothing = new Uint8Array(0)
const BLOCKS_OF_CHAIN = 60
const MEMPOOLS_OF_BLOCK = 4
/** Validators that run the application, so that two judge what a third one sends; one node more executes only. */
const NODES = 3

/** Codes of transactions that change nothing, not even the nonce. Source: protocol.md §2, checks 1 to 4. */
const NOT_EXECUTED: ReadonlySet<number> = new Set([2, 3, 6])

type Txs = readonly Uint8Array[]

/** What a faulty application does otherwise, so that a test sees the campaign fail. */
export type Fault = (app: CompleteApplication) => Application

/** A mempool: transactions of this block and of others, doubled, out of order, cut, and bytes that are none. */
function mempoolOf(next: Random, fresh: Txs, seen: Txs): Txs {
  const pool = [...fresh]
  for (let more = next(10); more > 0; more--) {
    const other = seen[next(seen.length)] ?? nothing
    pool.splice(next(pool.length + 1), 0, next(6) === 0 ? other.slice(0, next(other.length + 1)) : other)
  }
  for (let swaps = next(4); swaps > 0; swaps--) pool.push(...pool.splice(next(pool.length), 1))
  return pool
}

/** How many cases there were for each requirement, and what broke first. */
interface Cases {
  readonly ran: Map<Requirement, number>
  readonly broken: Map<Requirement, string>
}

const ranOf = ({ ran }: Cases, requirement: Requirement): number => ran.get(requirement) ?? 0

/** One random chain, until `isOver`. */
async function runChain(seed: number, cases: Cases, count: number, fault: Fault): Promise<void> {
  const next = random(seed)
  const stores: Store[] = []
  const genesis = randomGenesis(next)
  const chain = await createTestChain((node) => fault(appOn((stores[node] ??= memory()))), {
    seed,
    nodes: NODES,
    validators: [],
    appState: appStateOf(genesis),
    chainId: CHAIN_ID,
    genesisTime: GENESIS_TIME,
    queries: [{ path: '/stake/validators' }, { path: `/accounts/${account(1).address}` }],
  })
  // What the traffic reads is the state of the node that only executes.
  const view = new TestChain({ store: stores[NODES] as Store })
  const seen: Uint8Array[] = []
  const before = new Map(cases.ran)
  const keep = (): void => {
    for (const [requirement, checked] of chain.checked)
      cases.ran.set(requirement, (before.get(requirement) ?? 0) + checked)
  }
  try {
    while (chain.height < BLOCKS_OF_CHAIN && ranOf(cases, 3) < count) {
      Object.assign(view, { height: chain.height, time: chain.time })
      const nonces = new Map<string, number>(
        Array.from({ length: ACCOUNTS }, (_, at) => [account(at + 1).address, view.nonceOf(account(at + 1))]),
      )
      const fresh = Array.from({ length: 1 + next(8) }, () => randomTx(next, view, nonces).bytes)
      seen.push(...fresh)
      for (const tx of fresh) await chain.send(tx)
      const set = new Map(chain.validators.map(({ key, power }) => [key as PubKey, power]))
      const { results } = await chain.block({
        txs: fresh,
        absent: randomAbsent(next, set),
        misbehavior: randomEvidence(next, chain.height),
        seconds: 1 + next(12),
        mempools: Array.from({ length: MEMPOOLS_OF_BLOCK }, () => mempoolOf(next, fresh, seen.slice(-100))),
      })
      for (const [at, tx] of fresh.entries()) {
        if (NOT_EXECUTED.has(results[at]?.code ?? 0)) continue
        if ((await chain.send(tx)).code === 0)
          throw new RequirementError(13, 'CheckTx took a transaction that a block has executed')
      }
      keep()
    }
  } finally {
    keep()
  }
}

const TARGETS: Readonly<Record<number, string>> = {
  2: 'what PrepareProposal returns is never larger than max_tx_bytes',
  3: 'what a correct node proposes is accepted by another one',
  4: 'ProcessProposal depends on the block and the committed state only',
  5: 'ProcessProposal answers the same on every node',
  6: 'the vote extension of a correct node is accepted by the others',
  7: 'VerifyVoteExtension depends on the extension, the block and the committed state only',
  8: 'VerifyVoteExtension answers the same on every node',
  9: 'proposal and vote calls leave the committed state as it was',
  10: 'the state after a block depends on no vote extension',
  11: 'the state after a block depends on the state before it and the block only, restarts or not',
  12: 'so do the results of its transactions',
  13: 'CheckTx answers the same on every node, and never takes again what a block has executed',
}

/** The requirements that are about results, with at least `count` cases of the third. */
export async function requirements(
  { count, seed }: CampaignOptions,
  fault: Fault = (app) => app,
): Promise<readonly CampaignReport[]> {
  const cases: Cases = { ran: new Map(), broken: new Map() }
  for (let at = seed; ranOf(cases, 3) < count && cases.broken.size === 0; at++) {
    try {
      await runChain(at, cases, count, fault)
    } catch (thrown) {
      // A rule without a number is about what a node does when it starts, stops or executes.
      const requirement = thrown instanceof RequirementError ? thrown.requirement : 11
      cases.broken.set(typeof requirement === 'number' ? requirement : 11, `seed ${at}: ${String(thrown)}`)
    }
  }
  return Object.entries(TARGETS).map(([number, target]) => {
    const requirement = Number(number) as Requirement
    const broken = cases.broken.get(requirement)
    return {
      name: `ABCI requirement ${number}`,
      target,
      ran: ranOf(cases, requirement),
      seed,
      result: broken ?? 'held in every case',
      passed: broken === undefined,
    }
  })
}

const PENDING = 5_000
const PROPOSE_MS_MAX = 300

/** The 99th percentile of PrepareProposal with 5,000 transactions in the mempool, of which a block has room for all. */
export function timeliness({ count, seed }: CampaignOptions): CampaignReport {
  const chain = new TestChain()
  const senders = Array.from({ length: 50 }, (_, at) => account(at + 1))
  chain.init({
    accounts: senders.map(({ address }) => ({ address, balance: tokens(1_000_000) })),
    candidacies: [{ owner: account(1), key: new Uint8Array(32).fill(7), shares: tokens(1000) }],
  })
  chain.block()
  const pool = Array.from({ length: PENDING }, (_, at) =>
    chain.tx(
      senders[at % senders.length] as (typeof senders)[number],
      'transfer',
      { to: addressBytes(account(1 + (at % 7)).address), value: '1' },
      Math.floor(at / senders.length),
    ),
  )
  for (const tx of pool) chain.check(tx)
  const times = Array.from({ length: count }, () => {
    const startedMs = performance.now()
    const { length } = prepare(chain.app, pool, 64 * 1024 * 1024)
    if (length !== PENDING) throw new Error(`${length} of ${PENDING} transactions were proposed`)
    return performance.now() - startedMs
  }).sort((a, b) => a - b)
  const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? 0
  return {
    name: 'ABCI requirement 1',
    target: `p99 of PrepareProposal below ${PROPOSE_MS_MAX} ms with ${PENDING.toLocaleString('en')} pending transactions`,
    ran: count,
    seed,
    result: `p99 ${p99.toFixed(1)} ms`,
    passed: p99 < PROPOSE_MS_MAX,
  }
}

if (import.meta.main)
  await runCampaigns(
    {
      // One case is 5,000 transactions.
      timeliness: ({ count, seed }) => timeliness({ count: Math.ceil(count / 1_000), seed }),
      results: (options) => requirements(options),
    },
    100_000,
  )
