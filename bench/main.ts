/**
 * `make bench ARGS="…"`: our application side by side with CometBFT's own kvstore. Without flags every part, five
 * rounds.
 *   --quick          three short rounds, under 3 minutes on a quiet machine
 *   --short          what `make test` runs: two loads, half a minute
 *   --json           prints the goals as JSON instead of tables
 *   --write          puts the tables into docs/performance.md
 *   --rounds N       how many rounds
 *   --only a,b       of transfers, mix, gateway, states, replay
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
import { findPrograms } from './peers.ts'
import { measureReplay } from './replay.ts'
import { goalTable, loadTable, machine, stateTable, writeDoc } from './report.ts'
import { measureStates, type StateCost, type StateKind } from './states.ts'
import { BLOCK_LOAD, measureMix, measureTransfers, TRANSFER_LOADS } from './transactions.ts'

type Part = 'transfers' | 'mix' | 'gateway' | 'states' | 'replay'

interface Plan {
  readonly parts: readonly Part[]
  readonly rounds: number
  readonly span: Span
  readonly states: readonly (readonly [StateKind, number])[]
  readonly transfers: Parameters<typeof measureTransfers>[1]
}

const [SATURATED, CLOSED] = TRANSFER_LOADS as [(typeof TRANSFER_LOADS)[number], (typeof TRANSFER_LOADS)[number]]
const ALL_LOADS = [...TRANSFER_LOADS, BLOCK_LOAD]

const PLANS: Readonly<Record<'full' | 'quick' | 'short', Plan>> = {
  full: {
    parts: ['transfers', 'mix', 'gateway', 'states', 'replay'],
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
    profile: { type: 'string' },
  },
})
const plan = PLANS[values.short ? 'short' : values.quick ? 'quick' : 'full']
const parts: readonly string[] = values.only?.split(',') ?? plan.parts

/** Runs the parts that were asked for and prints what they came to. */
async function bench(context: Context): Promise<void> {
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const { samples, rounds, programs } = context
  let states: readonly StateCost[] = []
  if (parts.includes('transfers')) await measureTransfers(context, plan.transfers, flags)
  if (parts.includes('mix')) await measureMix(context)
  if (parts.includes('gateway')) await measureGateway(context)
  if (parts.includes('states')) states = await measureStates(context, plan.states)
  if (parts.includes('replay')) await measureReplay(context)
  const goals = goalsOf(samples, states)
  const intro = `${machine(programs.version)}; ${rounds} interleaved rounds, medians.`
  const tables = [
    intro,
    goalTable(goals),
    ...(samples.length > 0 ? [loadTable(samples)] : []),
    ...(states.length > 0 ? [stateTable(states)] : []),
  ].join('\n\n')
  const failed = samples.reduce((sum, one) => sum + one.failed, 0)
  process.stdout.write(values.json ? JSON.stringify({ goals, failed }) : `\n${tables}\n`)
  if (values.write) writeDoc(tables)
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
const programs = await findPrograms(say)
const [generator, beside] = [startGenerator(), startGenerator()]
const root = mkdtempSync(join(tmpdir(), 'svcd-bench-'))
try {
  const rounds = Number(values.rounds ?? plan.rounds)
  const newFolder = (): string => mkdtempSync(join(root, 'run-'))
  await bench({ programs, generator, beside, rounds, span: plan.span, samples: [], say, newFolder, freePorts })
} finally {
  generator.close()
  beside.close()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}
