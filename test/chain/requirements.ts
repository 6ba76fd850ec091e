/**
 * What CometBFT requires of an application (comet:spec/abci/abci++_app_requirements.md), on random chains: `make
 * requirements`. Three replicas execute the same blocks. One proposes, one judges and checks, and one is asked for
 * nothing but the blocks, so that whatever the others were asked may not show. Requirement 1 is about time, which is
 * measured by itself. CONTRIBUTING.md says how to run it.
 */
import {
  type CheckTxResponse,
  type FinalizeBlockResponse,
  type PrepareProposalResponse,
  ProposalStatus,
} from '../../src/abci/types.ts'
import { bytesInBlock } from '../../src/abci/blockBytes.ts'
import { addressBytes } from '../../src/values/address.ts'
import { toHex } from '../../src/base/bytes.ts'
import { type CampaignOptions, type CampaignReport, runCampaigns } from '../support/campaign.ts'
import { account, type TestBlock, TestChain, tokens } from '../support/testChain.ts'
import { type Random, randomAbsent, randomEvidence, randomGenesis, randomTx } from '../sim/traffic.ts'
import { consensusPart, random } from './support.ts'

const nothing = new Uint8Array(0)
const BLOCKS_OF_CHAIN = 60
const MEMPOOLS_OF_BLOCK = 4
/** What `max_tx_bytes` is at most here; the transactions of a mempool have about 200 bytes each. */
const LIMITS: readonly number[] = [0, 1, 500, 2_000, 1_000_000]

/** Codes of transactions that change nothing, not even the nonce. Source: protocol.md §2, checks 1 to 4. */
const NOT_EXECUTED: ReadonlySet<number> = new Set([2, 3, 6])

type Txs = readonly Uint8Array[]

/** What a faulty application may do otherwise, so that a test sees the campaign fail. */
export interface Faults {
  readonly prepare?: (txs: Txs, maxTxBytes: number) => Txs
  readonly accepts?: (txs: Txs, answered: boolean) => boolean
  readonly check?: (tx: Uint8Array, answered: number) => number
  readonly finalize?: (response: FinalizeBlockResponse) => FinalizeBlockResponse
  readonly vote?: (chain: TestChain) => void
}

const prepareOn = (chain: TestChain, txs: Txs, maxTxBytes: number): Txs =>
  (
    chain.app.prepareProposal({
      ...chain.next({ txs }),
      maxTxBytes,
      localLastCommit: { round: 0, votes: [] },
    }) as PrepareProposalResponse
  ).txs ?? []

const accepts = (chain: TestChain, txs: Txs): boolean => chain.propose({ txs }) === ProposalStatus.accept

function extendVotes(chain: TestChain, txs: Txs): void {
  chain.app.extendVote({ ...chain.next({ txs }), proposedLastCommit: chain.lastCommit() })
  chain.app.verifyVoteExtension({
    hash: nothing,
    validatorAddress: nothing,
    height: chain.height + 1,
    voteExtension: nothing,
  })
}

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

const sizeOf = (txs: Txs): number => txs.reduce((sum, { length }) => sum + bytesInBlock(length), 0)

/** How many cases there were for each number, and what broke first. */
class Book {
  readonly ran = new Map<number, number>()
  readonly broken = new Map<number, string>()

  judge(requirement: number, holds: boolean, what: () => string): void {
    this.ran.set(requirement, (this.ran.get(requirement) ?? 0) + 1)
    if (!holds && !this.broken.has(requirement)) this.broken.set(requirement, what())
  }
}

/** The same genesis, and the same blocks. */
interface Replicas {
  readonly proposer: TestChain
  readonly judge: TestChain
  readonly quiet: TestChain
}

/** What the proposal calls of one height show. */
function judgeProposals(
  { proposer, judge }: Replicas,
  pools: readonly Txs[],
  next: Random,
  book: Book,
  faults: Faults,
): void {
  const roots = (): string => [proposer, judge].map(({ store }) => toHex(store.recomputeRoot())).join()
  const before = roots()
  for (const pool of pools) {
    const limit = next(3) === 0 ? Math.max(0, sizeOf(pool) - next(3)) : (LIMITS[next(LIMITS.length)] as number)
    const prepared = prepareOn(proposer, pool, limit)
    const proposed = faults.prepare?.(prepared, limit) ?? prepared
    book.judge(2, sizeOf(proposed) <= limit, () => `${sizeOf(proposed)} bytes of at most ${limit} were proposed`)
    const verdict = (chain: TestChain, txs: Txs): boolean => {
      const answered = accepts(chain, txs)
      return faults.accepts?.(txs, answered) ?? answered
    }
    book.judge(3, verdict(judge, proposed), () => `${proposed.length} transactions of a correct proposer were refused`)
    const verdicts = [verdict(judge, pool), verdict(proposer, pool), verdict(judge, pool)]
    book.judge(4, verdicts[0] === verdicts[2], () => 'one node judged a proposal in two ways')
    book.judge(5, verdicts[0] === verdicts[1], () => 'two nodes judged a proposal differently')
    extendVotes(judge, pool)
    faults.vote?.(judge)
  }
  book.judge(9, roots() === before, () => 'a call before the block changed the state')
}

/** The codes that CheckTx gives on one head are the same on each replica, and no executed transaction is taken again. */
function judgeChecks(
  { proposer, judge }: Replicas,
  fresh: Txs,
  executed: ReadonlySet<Uint8Array>,
  book: Book,
  faults: Faults,
): void {
  const check = (chain: TestChain, tx: Uint8Array): number => {
    const { code = 0 } = chain.app.checkTx({ tx, type: 0 }) as CheckTxResponse
    return faults.check?.(tx, code) ?? code
  }
  for (const tx of fresh) {
    const codes = [check(judge, tx), check(proposer, tx)]
    book.judge(13, codes[0] === codes[1], () => `CheckTx answered ${codes.join(' and ')}`)
  }
  for (const tx of executed)
    book.judge(13, check(judge, tx) !== 0, () => 'CheckTx took a transaction that a block has executed')
}

/** Executes one block on all three, after the first two were told to execute another one. */
function judgeBlock(
  replicas: Replicas,
  block: TestBlock,
  next: Random,
  book: Book,
  faults: Faults,
): FinalizeBlockResponse {
  const { proposer, judge, quiet } = replicas
  if (next(3) === 0) proposer.finalize({ ...block, txs: [...(block.txs ?? [])].reverse() })
  if (next(3) === 0) judge.finalize({ ...block, seconds: (block.seconds ?? 1) + 5 })
  const expected = quiet.block(block).response
  for (const chain of [proposer, judge]) {
    const answered = chain.block(block).response
    const response = faults.finalize?.(answered) ?? answered
    const [mine, theirs] = [response, expected].map((one) => toHex(one.appHash ?? nothing))
    book.judge(11, mine === theirs, () => `height ${chain.height}: the app hashes are ${mine} and ${theirs}`)
    const [own, other] = [response, expected].map((one) => JSON.stringify(consensusPart(one)))
    book.judge(12, own === other, () => `height ${chain.height}: the results differ`)
  }
  return expected
}

function runChain(seed: number, book: Book, isOver: () => boolean, faults: Faults): void {
  const next = random(seed)
  const genesis = randomGenesis(next)
  const [proposer, judge, quiet] = Array.from({ length: 3 }, () => {
    const chain = new TestChain()
    chain.init(genesis)
    return chain
  }) as [TestChain, TestChain, TestChain]
  const replicas = { proposer, judge, quiet }
  const seen: Uint8Array[] = []
  while (quiet.height < BLOCKS_OF_CHAIN && !isOver()) {
    const nonces = new Map<string, number>(
      Array.from({ length: 12 }, (_, at) => [account(at + 1).address, quiet.nonceOf(account(at + 1))]),
    )
    const fresh = Array.from({ length: 1 + next(8) }, () => randomTx(next, quiet, nonces).bytes)
    seen.push(...fresh)
    judgeChecks(replicas, fresh, new Set(), book, faults)
    const pools = Array.from({ length: MEMPOOLS_OF_BLOCK }, () => mempoolOf(next, fresh, seen.slice(-100)))
    if (quiet.height > 0) judgeProposals(replicas, pools, next, book, faults)
    const { txResults = [] } = judgeBlock(
      replicas,
      {
        txs: fresh,
        absent: randomAbsent(next, quiet.sets.get(quiet.height) ?? new Map()),
        misbehavior: randomEvidence(next, quiet.height),
        seconds: 1 + next(12),
      },
      next,
      book,
      faults,
    )
    const executed = fresh.filter((_, at) => !NOT_EXECUTED.has(txResults[at]?.code ?? 0))
    judgeChecks(replicas, [], new Set(executed), book, faults)
  }
}

const TARGETS: Readonly<Record<number, string>> = {
  2: 'what PrepareProposal returns is never larger than max_tx_bytes',
  3: 'what a correct node proposes is accepted by another one',
  4: 'ProcessProposal depends on the block and the committed state only',
  5: 'ProcessProposal answers the same on every node',
  9: 'proposal and vote calls leave the committed state as it was',
  11: 'the state after a block depends on the state before it and the block only',
  12: 'so do the results of its transactions',
  13: 'CheckTx answers the same on every node, and never takes again what a block has executed',
}

/** The requirements that are about results, each with at least `count` cases but those that have one a block. */
export function requirements({ count, seed }: CampaignOptions, faults: Faults = {}): readonly CampaignReport[] {
  const book = new Book()
  const isOver = (): boolean => (book.ran.get(3) ?? 0) >= count || book.broken.size > 0
  for (let at = seed; !isOver(); at++) {
    try {
      runChain(at, book, isOver, faults)
    } catch (thrown) {
      // A node that ends executes no block.
      if (book.broken.size === 0) book.broken.set(11, `seed ${at}: ${String(thrown)}`)
    }
  }
  return Object.entries(TARGETS).map(([number, target]) => {
    const broken = book.broken.get(Number(number))
    return {
      name: `ABCI requirement ${number}`,
      target,
      ran: book.ran.get(Number(number)) ?? 0,
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
    const { length } = prepareOn(chain, pool, 64 * 1024 * 1024)
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
