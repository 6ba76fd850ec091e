import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, expect, test } from '@jest/globals'
import type { CompleteApplication, ExecTxResult } from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { type SignaturePool, startSignaturePool } from '../../src/node/signatures/pool.ts'
import { readTx } from '../../src/modules/kernel.ts'
import { closeAll, connectPeer, requestFrame, serve } from '../abci/peer.ts'
import { bytesOf } from '../modules/support.ts'
import { account, CHAIN_ID, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { appOn, memory } from './support.ts'
import { signTransfer } from '../support/signTransfer.ts'

const nothing = new Uint8Array(0)
const BLOCKS = 3
let pool: SignaturePool | undefined
afterEach(async () => {
  await closeAll()
  await pool?.close()
})

const transfer = (sender: number, nonce: number, chainId = CHAIN_ID): Uint8Array =>
  signTransfer(account(sender), nonce, { to: bytesOf(account(sender + 1)), chainId })
const transfers = (from: number, count: number, nonce: number): Uint8Array[] =>
  Array.from({ length: count }, (_, at) => transfer(from + at, nonce))
/** The transaction with another bit in its signature, so that its tail stays. */
const forged = (tx: Uint8Array): Uint8Array =>
  Uint8Array.from(tx, (byte, at) => (at === tx.length - 40 ? byte ^ 1 : byte))

/** Transactions of every fate: accepted, forged, garbage, twice, of a wrong nonce or chain, and larger than a slot. */
const mixOf = (nonce: number): readonly Uint8Array[] => {
  const description = { profile: 'p'.repeat(600) }
  const large = account(1).signTx({ chainId: CHAIN_ID, nonce, operation: 'updateCandidacy', message: { description } })
  const fates: readonly ((sender: number, good: Uint8Array) => readonly Uint8Array[])[] = [
    (_, good) => [good],
    (_, good) => [forged(good), good],
    (_, good) => [good, forged(good)],
    (_, good) => [good, good],
    (sender, good) => [transfer(sender, nonce + 5), good],
    (sender, good) => [transfer(sender, nonce, 'other'), good],
    (sender, good) => [Uint8Array.of(sender, nonce), good],
    (_, good) => [large, good],
  ]
  return Array.from(
    { length: 64 },
    (_, at) => fates[at % fates.length]?.(10 + at, transfer(10 + at, nonce)) ?? [],
  ).flat()
}

type Kind = 'initChain' | 'checkTx' | 'processProposal' | 'finalizeBlock' | 'commit'
type Step = readonly [kind: Kind, request: object]

interface Answer {
  readonly code?: number
  readonly log?: string
  readonly data?: Uint8Array
  readonly status?: number
  readonly appHash?: Uint8Array
  readonly txResults?: readonly ExecTxResult[]
}
/** What of a response must be the same, whoever verified the signatures. */
const essenceOf = ({
  code = 0,
  log = '',
  data = nothing,
  status,
  appHash = nothing,
  txResults = [],
}: Answer): unknown => [
  [code, log, toHex(data), status, toHex(appHash)],
  txResults.map((result) => [result.code ?? 0, result.log ?? '', toHex(result.data ?? nothing), result.gasUsed ?? 0]),
]

/** What a node sends, and the answers of an application that verifies every signature itself. */
const steps: Step[] = []
const expected: unknown[] = []

beforeAll(() => {
  const chain = new TestChain()
  const { app } = chain
  const recorded = (kind: Kind) => (request: never) => {
    const response = app[kind](request)
    steps.push([kind, request])
    // Only 0.37 gets an app hash in the response to Commit.
    expected.push(essenceOf(kind === 'commit' ? {} : (response as Answer)))
    return response
  }
  const kinds = ['initChain', 'checkTx', 'processProposal', 'finalizeBlock', 'commit'] as const
  Object.assign(chain, { app: { ...app, ...Object.fromEntries(kinds.map((kind) => [kind, recorded(kind)])) } })
  chain.init({
    accounts: Array.from({ length: 300 }, (_, at) => ({ address: account(at + 1).address, balance: tokens(100_000) })),
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(1000) }],
  })
  for (let nonce = 0; nonce < BLOCKS; nonce++) {
    const checked = mixOf(nonce)
    const [unchecked, decided] = [transfers(100, 64, nonce), transfers(200, 64, nonce)]
    for (const tx of checked) chain.check(tx)
    expect(chain.propose({ txs: [...unchecked, forged(decided[9] as Uint8Array)] })).toBe(2)
    expect(chain.propose({ txs: unchecked })).toBe(1)
    chain.block({ txs: [...checked, ...decided.slice(0, 9).map(forged), ...unchecked, ...decided] })
  }
  const codes = new Set(steps.map((_, at) => (expected[at] as [[number]])[0][0]))
  expect([...codes].sort()).toEqual([0, 2, 3, 6])
})

/**
 * Sends steps to an application of its own over two connections, as a node does. Returns the answers, and whether the
 * application has used verdicts of threads.
 */
async function play(some: readonly Step[], threads: number) {
  pool = startSignaturePool({ threads, logger: { info: () => {}, error: () => {} } })
  const running = pool
  // Threads take some time to start.
  for (let nonce = 1000; running?.used() === 0; nonce++) {
    const txs = transfers(1, 2, nonce)
    running.handOver(txs)
    await sleep(20)
    for (const tx of txs) readTx(tx, running.isSigned).isSigned()
  }
  const before = running?.used() ?? 0
  const application: CompleteApplication = appOn(memory(), { signatures: running, afterAnswer: setImmediate })
  const server = await serve(application, running === undefined ? {} : { onReadAhead: running.handOver })
  const [mempool, consensus] = [await connectPeer(server.address), await connectPeer(server.address)]
  const answers: unknown[] = []
  for (let at = 0; at < some.length; ) {
    const [kind] = some[at] as Step
    const other = some.findIndex(([next], place) => place > at && (next !== 'checkTx' || kind !== 'checkTx'))
    const end = other === -1 ? some.length : other
    const peer = kind === 'checkTx' ? mempool : consensus
    peer.send(...some.slice(at, end).map((step) => requestFrame(...step)))
    await peer.until(end - at)
    answers.push(...peer.replies.splice(0).map(({ value }) => essenceOf(value)))
    at = end
  }
  return { answers, isHelped: (running?.used() ?? 0) > before }
}

/** Plays steps with two threads until those were in time to help: on a busy machine they may come too late for all. */
async function playHelped(some: readonly Step[], outcomes: readonly unknown[]): Promise<void> {
  for (let wasHelped = false; !wasHelped; ) {
    const { answers, isHelped } = await play(some, 2)
    expect(answers).toEqual(outcomes)
    wasHelped = isHelped
    await closeAll()
    await pool?.close()
    pool = undefined
  }
}

test('threads that verify ahead change no answer, no order and no app hash', async () => {
  expect(await play(steps, 0)).toEqual({ answers: expected, isHelped: false })
  await playHelped(steps, expected)
})

test('blocks whose transactions were never checked come to the same when they are replayed', async () => {
  const isReplayed = ([kind]: Step): boolean => ['initChain', 'finalizeBlock', 'commit'].includes(kind)
  const outcomes = expected.filter((_, at) => isReplayed(steps[at] as Step))
  await playHelped(steps.filter(isReplayed), outcomes)
})
