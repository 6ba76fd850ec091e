/**
 * `make bench ARGS="…"`: our application side by side with CometBFT's own kvstore and a chain of cosmos-sdk. Without
 * flags every part but growth10m, five rounds. A part that fails is named above the tables, and the exit status is 1.
 *   --quick          three short rounds, less than three minutes on a quiet machine
 *   --short          what `make test` runs: two loads, half a minute
 *   --json           prints the goals as JSON instead of tables
 *   --write          puts the tables into docs/performance.md and docs/performance-figures.md
 *   --rounds N       how many rounds
 *   --only a,b       of transfers, mix, histories, threads, verify, gateway, network, states, statesync, replay, growth10m
 *   --peers a,b      of kvstore, signatures, sdk
 *   --profile DIR    writes a CPU profile of every run of our application into DIR: transfers, mix and replay
 */
import { freePorts } from '../test/e2e/support/processes.ts'
import { tempFolder } from '../test/support/tempFolder.ts'
import type { Context } from './context.ts'
import { measureGateway } from './gateway.ts'
import { historyTable, measureHistories } from './histories.ts'
import { startGenerator } from './generatorProcess.ts'
import { goalsOf } from './goals.ts'
import type { Span } from './load/job.ts'
import { measureNetwork } from './network.ts'
import { findPrograms, type Peer, PEERS } from './peers.ts'
import { provePeers } from './proof.ts'
import { measureReplay } from './replay.ts'
import { goalTable, loadTable, machine, stateTable, writeDoc } from './report.ts'
import type { Sample } from './sample.ts'
import { measureStateSync, stateSyncTable, type SyncCost } from './statesync.ts'
import { measureStates, type StateCost, type StateKind } from './states.ts'
import type { AppKind } from './node.ts'
import { measureThreads, threadTable } from './threads.ts'
import { BLOCK_LOAD, measureMix, measurePeers, measureTransfers, TRANSFER_LOADS } from './transactions.ts'
import { measureVerifyThreads, type ThreadCost, verifyThreadTable } from './verifyThreads.ts'
import { namesIn, programArgs } from '../tools/testing/programArgs.ts'

/** In the order in which they run. */
const PARTS = [
  'transfers',
  'mix',
  'histories',
  'threads',
  'verify',
  'gateway',
  'network',
  'states',
  'statesync',
  'replay',
  'growth10m',
] as const
type Part = (typeof PARTS)[number]

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
    parts: PARTS.filter((part) => part !== 'growth10m'),
    peers: PEERS,
    rounds: 5,
    span: { warmUpMs: 1500, measuredMs: 4000 },
    transfers: [
      ['kvInProcess', [SATURATED, CLOSED]],
      ['kvSocket', ALL_LOADS],
      ['verifier', [SATURATED, CLOSED]],
      ['svcd', ALL_LOADS],
    ],
    states: [
      ['accounts', 1000],
      ['accounts', 1_000_000],
      ['candidacies', 100],
      ['candidacies', 100_000],
      ['proposals', 10],
      ['proposals', 1000],
      ['delegations', 0],
      ['delegations', 1000],
      ['delegations', 1_000_000],
      ['votes', 100],
      ['ed25519', 1000],
      ['eip712', 1000],
      ['twoOfThree', 1000],
    ],
  },
  quick: {
    parts: ['transfers', 'gateway', 'states'],
    // Neither the build of cosmos-sdk nor its blocks of several seconds fit into three minutes.
    peers: ['kvstore'],
    rounds: 3,
    span: { warmUpMs: 800, measuredMs: 1300 },
    // In so short a time the p99 of an open loop says nothing, and a second closed loop does not fit in.
    transfers: [
      ['kvSocket', [SATURATED, CLOSED]],
      ['svcd', [SATURATED, CLOSED]],
    ],
    states: [['accounts', 1000]],
  },
  short: {
    parts: ['transfers', 'states'],
    peers: ['kvstore'],
    rounds: 1,
    span: { warmUpMs: 700, measuredMs: 1500 },
    transfers: [
      ['kvSocket', [SATURATED, CLOSED]],
      ['svcd', [SATURATED, CLOSED]],
    ],
    states: [['accounts', 1000]],
  },
}

const { values } = programArgs({
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

const parts = namesIn('--only', values.only ?? plan.parts.join(), PARTS)
const peers = namesIn('--peers', values.peers ?? plan.peers.join(), PEERS)

const PEER_OF: Readonly<Record<AppKind, Peer | undefined>> = {
  kvInProcess: 'kvstore',
  kvSocket: 'kvstore',
  verifier: 'signatures',
  sdk: 'sdk',
  svcd: undefined,
}

const profileFlags = (): readonly string[] =>
  values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]

/** The transfers to measure for the chosen peers. There are none when cosmos-sdk is the only peer, because it has its own loads. */
const planned = (transfers: Plan['transfers']): Plan['transfers'] => {
  const asked = transfers.filter(([app]) => PEER_OF[app] === undefined || peers.includes(PEER_OF[app]))
  return asked.every(([app]) => app === 'svcd') && peers.includes('sdk') ? [] : asked
}

/** What the parts find beside samples. */
interface Tables {
  histories: readonly Sample[]
  threads: readonly Sample[]
  verify: readonly ThreadCost[]
  states: readonly StateCost[]
  stateSync: readonly SyncCost[]
}

/** How each part is measured. */
const MEASURES: Readonly<Record<Part, (context: Context, tables: Tables) => Promise<void>>> = {
  transfers: async (context) => {
    const flags = profileFlags()
    await measureTransfers(context, planned(plan.transfers), flags)
    if (context.programs.sdk === undefined) return
    await provePeers(context)
    await measurePeers(context, flags)
  },
  mix: (context) => measureMix(context, profileFlags()),
  histories: async (context, tables) => {
    tables.histories = await measureHistories(context)
  },
  threads: async (context, tables) => {
    tables.threads = await measureThreads(context)
  },
  verify: async (context, tables) => {
    tables.verify = await measureVerifyThreads(context)
  },
  gateway: measureGateway,
  network: measureNetwork,
  states: async (context, tables) => {
    tables.states = [...tables.states, ...(await measureStates(context, plan.states))]
  },
  statesync: async (context, tables) => {
    for (const kind of ['accounts', 'delegations'] as const)
      tables.stateSync = [...tables.stateSync, await measureStateSync(context, kind)]
  },
  replay: (context) => measureReplay(context, profileFlags()),
  growth10m: async (context, tables) => {
    const grown = await measureStates({ ...context, rounds: 1 }, [['accounts', 10_000_000]])
    tables.states = [...tables.states, ...grown]
  },
}

/** Runs the parts that were asked for and prints what they came to. A part that fails does not take the others with it. */
async function bench(context: Context, leftOut: readonly string[]): Promise<void> {
  const { samples, rounds, programs, say } = context
  const tables: Tables = { histories: [], threads: [], verify: [], states: [], stateSync: [] }
  const missing = [...leftOut]
  for (const part of PARTS.filter((one) => parts.includes(one))) {
    const beganMs = performance.now()
    try {
      await MEASURES[part](context, tables)
    } catch (error) {
      missing.push(`The part ${part} failed: ${error instanceof Error ? error.message : String(error)}`)
      process.exitCode = 1
    }
    say(`${part}: ${Math.round((performance.now() - beganMs) / 1000)} s`)
  }
  const goals = goalsOf(samples, tables.states)
  const ranOn = `${machine(programs)}; ${rounds} interleaved rounds, medians.`
  const texts = [
    ...missing,
    goalTable(goals),
    ...(samples.length > 0 ? [loadTable(samples)] : []),
    ...(tables.histories.length > 0 ? [historyTable(tables.histories)] : []),
    ...(tables.threads.length > 0 ? [threadTable(tables.threads)] : []),
    ...(tables.verify.length > 0 ? [verifyThreadTable(tables.verify)] : []),
    ...(tables.states.length > 0 ? [stateTable(tables.states)] : []),
    ...(tables.stateSync.length > 0 ? [stateSyncTable(tables.stateSync)] : []),
  ]
  const failed = [
    ...samples,
    ...tables.histories,
    ...tables.threads,
    ...tables.verify.map(({ sample }) => sample),
  ].reduce((sum, one) => sum + one.failed, 0)
  process.stdout.write(values.json ? JSON.stringify({ goals, failed }) : `\n${[ranOn, ...texts].join('\n\n')}\n`)
  if (values.write) writeDoc(ranOn, texts, goals)
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
const needsSdk = (['transfers', 'mix', 'threads'] as const).some((part) => parts.includes(part))
const { programs, leftOut } = await findPrograms(needsSdk ? peers : peers.filter((one) => one !== 'sdk'), say)
for (const line of leftOut) say(line)
const [generator, beside] = [startGenerator(), startGenerator()]
const folder = tempFolder('bench')
try {
  const rounds = Number(values.rounds ?? plan.rounds)
  const newFolder = (): string => tempFolder('run', folder.path).path
  await bench({ programs, generator, beside, rounds, span: plan.span, samples: [], say, newFolder, freePorts }, leftOut)
} finally {
  generator.close()
  beside.close()
  folder.remove()
}
