/**
 * `make bench ARGS="…"`: our application side by side with CometBFT's own kvstore and a chain of cosmos-sdk. Without
 * flags every part, five rounds.
 *   --quick          three short rounds, under 3 minutes on a quiet machine
 *   --short          what `make test` runs: two loads, half a minute
 *   --json           prints the goals as JSON instead of tables
 *   --write          puts the tables into docs/performance.md
 *   --rounds N       how many rounds
 *   --only a,b       of transfers, mix, threads, gateway, states, replay
 *   --peers a,b      of kvstore, signatures, sdk
 *   --profile DIR    writes a CPU profile of every run of our application into DIR
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePorts } from '../test/e2e/support/processes.ts'
import type { Context } from './context.ts'
import { measureGateway } from './gateway.ts'
import { startGenerator } from './generatorProcess.ts'
import { goalsOf } from './goals.ts'
import type { Span } from './load/job.ts'
import { findPrograms, type Peer, PEERS } from './peers.ts'
import { provePeers } from './proof.ts'
import { measureReplay } from './replay.ts'
import { goalTable, loadTable, machine, stateTable, writeDoc } from './report.ts'
import { measureStates, type StateCost, type StateKind } from './states.ts'
import type { AppKind } from './node.ts'
import { measureThreads, threadTable } from './threads.ts'
import { BLOCK_LOAD, measureMix, measurePeers, measureTransfers, TRANSFER_LOADS } from './transactions.ts'

type Part = 'transfers' | 'mix' | 'threads' | 'gateway' | 'states' | 'replay'

interface Plan {
  readonly parts: readonly Part[]
  readonly peers: readonly Peer[]
  readonly rounds: number
  readonly span: Span
  readonly states: readonly (readonly [StateKind, number])[]
  readonly transfers: Parameters<typeof measureTransfers>[1]
}

const [SATURATED, CLOSED] = TRANSFER_LOADS as [(typeof TRANSFER_LOADS)[number], (typeof TRANSFER_LOADS)[number]]
const ALL_LOADS = [...TRANSFER_LOADS, BLOCK_LOAD]

const PLANS: Readonly<Record<'full' | 'quick' | 'short', Plan>> = {
  full: {
    parts: ['transfers', 'mix', 'threads', 'gateway', 'states', 'replay'],
    peers: PEERS,
    rounds: 5,
    span: { warmUpMs: 2000, measuredMs: 6000 },
    transfers: [
      ['kvInProcess', ALL_LOADS],
      ['kvSocket', ALL_LOADS],
      ['verifier', ALL_LOADS],
      ['svcd', ALL_LOADS],
    ],
    states: [
      ['accounts', 1000],
      ['accounts', 1_000_000],
      ['candidacies', 100],
      ['candidacies', 100_000],
      ['proposals', 10],
      ['proposals', 1000],
    ],
  },
  quick: {
    parts: ['transfers', 'gateway', 'states'],
    // Neither the build of cosmos-sdk nor its blocks of several seconds fit into three minutes.
    peers: ['kvstore'],
    rounds: 3,
    span: { warmUpMs: 800, measuredMs: 1300 },
    transfers: [
      ['kvSocket', TRANSFER_LOADS],
      ['svcd', TRANSFER_LOADS],
    ],
    states: [['accounts', 1000]],
  },
  short: {
    parts: ['transfers', 'states'],
    peers: ['kvstore'],
    rounds: 2,
    span: { warmUpMs: 700, measuredMs: 1500 },
    transfers: [
      ['kvSocket', [SATURATED, CLOSED]],
      ['svcd', [SATURATED, CLOSED]],
    ],
    states: [['accounts', 1000]],
  },
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    peers: { type: 'string' },
    profile: { type: 'string' },
  },
})
const plan = PLANS[values.short ? 'short' : values.quick ? 'quick' : 'full']
const parts: readonly string[] = values.only?.split(',') ?? plan.parts
const peers = (values.peers?.split(',') ?? plan.peers) as readonly Peer[]
const unknown = peers.find((one) => !PEERS.includes(one))
if (unknown !== undefined) throw new Error(`--peers: expected some of ${PEERS.join(', ')}, got ${unknown}`)

const PEER_OF: Readonly<Record<AppKind, Peer | undefined>> = {
  kvInProcess: 'kvstore',
  kvSocket: 'kvstore',
  verifier: 'signatures',
  sdk: 'sdk',
  svcd: undefined,
}

/** The transfers beside those peers that were asked for; none when the only one is cosmos-sdk, which has a load of its own. */
const planned = (transfers: Plan['transfers']): Plan['transfers'] => {
  const asked = transfers.filter(([app]) => PEER_OF[app] === undefined || peers.includes(PEER_OF[app]))
  return asked.every(([app]) => app === 'svcd') && peers.includes('sdk') ? [] : asked
}

/** Runs the parts that were asked for and prints what they came to. */
async function bench(context: Context, leftOut: readonly string[]): Promise<void> {
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const { samples, rounds, programs } = context
  let states: readonly StateCost[] = []
  if (programs.sdk !== undefined) await provePeers(context)
  if (parts.includes('transfers')) await measureTransfers(context, planned(plan.transfers), flags)
  if (parts.includes('transfers') && programs.sdk !== undefined) await measurePeers(context, flags)
  if (parts.includes('mix')) await measureMix(context)
  const threads = parts.includes('threads') ? await measureThreads(context) : []
  if (parts.includes('gateway')) await measureGateway(context)
  if (parts.includes('states')) states = await measureStates(context, plan.states)
  if (parts.includes('replay')) await measureReplay(context)
  const goals = goalsOf(samples, states)
  const intro = `${machine(programs)}; ${rounds} interleaved rounds, medians.`
  const tables = [
    intro,
    ...leftOut,
    goalTable(goals),
    ...(samples.length > 0 ? [loadTable(samples)] : []),
    ...(threads.length > 0 ? [threadTable(threads)] : []),
    ...(states.length > 0 ? [stateTable(states)] : []),
  ].join('\n\n')
  const failed = [...samples, ...threads].reduce((sum, one) => sum + one.failed, 0)
  process.stdout.write(values.json ? JSON.stringify({ goals, failed }) : `\n${tables}\n`)
  if (values.write) writeDoc(tables, goals)
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
const needsSdk = parts.includes('transfers') || parts.includes('threads')
const { programs, leftOut } = await findPrograms(needsSdk ? peers : peers.filter((one) => one !== 'sdk'), say)
for (const line of leftOut) say(line)
const [generator, beside] = [startGenerator(), startGenerator()]
const root = mkdtempSync(join(tmpdir(), 'svcd-bench-'))
try {
  const rounds = Number(values.rounds ?? plan.rounds)
  const newFolder = (): string => mkdtempSync(join(root, 'run-'))
  await bench({ programs, generator, beside, rounds, span: plan.span, samples: [], say, newFolder, freePorts }, leftOut)
} finally {
  generator.close()
  beside.close()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}
