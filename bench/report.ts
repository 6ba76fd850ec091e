import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { goMaxProcs } from '../src/comet/goMaxProcs.ts'
import { table } from '../tools/reference/markdown.ts'
import { writeFigures, writePart } from '../tools/reference/writtenPart.ts'
import { type Goal, isWithin, KVSTORE_GOAL, SDK_GOAL } from './goals.ts'
import { TX_BYTES } from './load/pool.ts'
import { type Programs, SDK_COMETBFT_VERSION, SDK_VERSION } from './peers.ts'
import { type Figure, medianFigure, ratioOf, type Sample } from './sample.ts'
import type { InProcess, StateCost } from './states.ts'
import { medianOf } from './stats.ts'
import { SUBJECTS } from './transactions.ts'

/** A number as the tables have it; a dash for what was not measured. */
export const number = (value: number, digits = 0): string =>
  Number.isFinite(value)
    ? value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : '–'

/** The subject that a load's ratios are of. */
const baseOf = (samples: readonly Sample[], load: string): string => {
  const subjects = samples.filter((one) => one.load === load).map((one) => one.subject)
  return (
    [SUBJECTS.kvSocket, SUBJECTS.sdk, 'abci_query', 'no queries'].find((one) => subjects.includes(one)) ??
    subjects[0] ??
    ''
  )
}

/** Every load: medians of the rounds, and of the ratios within each round. */
export function loadTable(samples: readonly Sample[]): string {
  const pairs = [
    ...new Map(samples.map(({ load, subject }) => [`${load}\0${subject}`, [load, subject] as const])).values(),
  ]
  const loads = [...new Set(pairs.map(([load]) => load))]
  const ordered = loads.flatMap((load) => pairs.filter((pair) => pair[0] === load))
  const rows = ordered.map(([load, subject]) => {
    const figure = (name: Figure, digits = 0): string => number(medianFigure(samples, load, subject, name), digits)
    const ratio = ratioOf(samples, 'perSecond', [load, subject], [load, baseOf(samples, load)])
    return [
      load,
      subject,
      number(ratio, 2),
      figure('perSecond'),
      figure('p50Ms', 1),
      figure('p99Ms', 1),
      figure('appUs'),
      figure('cometUs'),
      figure('rssMb'),
      figure('pssMb'),
      figure('failed'),
    ]
  })
  const head = 'load | on | ratio | per second | p50 ms | p99 ms | app µs | CometBFT µs | RSS MB | PSS MB | failed'
  return table(head.split(' | '), rows)
}

/** The application alone, by what its state holds. */
export function stateTable(states: readonly StateCost[]): string {
  const head =
    'state | µs a transaction | block of 1,000, ms | empty block, ms | start, ms | RSS MB | ' +
    'first check of 5,000, ms | recheck, ms | disk, MB | made in, s'
  return table(
    head.split(' | '),
    states.map(({ kind, size, rounds, diskMb, makeMs }) => {
      const of = (name: keyof InProcess, digits = 0): string =>
        number(medianOf(rounds.map((one) => one[name] ?? Number.NaN)), digits)
      return [
        `${number(size)} ${kind}`,
        of('txUs'),
        of('blockMs'),
        of('emptyBlockMs', 1),
        of('openMs'),
        of('rssMb'),
        of('firstCheckMs'),
        of('recheckMs'),
        number(diskMb),
        number(makeMs / 1000, 1),
      ]
    }),
  )
}

/** What was aimed at and what it came to. */
export const goalTable = (goals: readonly Goal[]): string =>
  table(
    ['ratio', 'goal', 'this run', ''],
    goals.map((goal) => [
      goal.name,
      `${goal.wanted} ${number(goal.goal, goal.unit === undefined ? 2 : 0)}${goal.unit === undefined ? '' : ` ${goal.unit}`}`,
      number(goal.value, goal.unit === undefined ? 2 : 0),
      Number.isNaN(goal.value) ? 'not measured' : isWithin(goal) ? 'reached' : 'MISSED',
    ]),
  )

/** One line on the machine and the programs. */
export function machine({ version, sdk }: Programs): string {
  const all = cpus()
  const threads = goMaxProcs(process.env)
  return (
    `${all.length} cores (${all[0]?.model.trim() ?? 'unknown'}), Node ${process.versions.node}, CometBFT ${version}` +
    `${threads === undefined ? '' : ` with GOMAXPROCS=${threads}`}, ` +
    `${sdk === undefined ? '' : `cosmos-sdk ${SDK_VERSION} with CometBFT ${SDK_COMETBFT_VERSION}, `}` +
    `transactions of ${TX_BYTES} bytes`
  )
}

/** README's sentence on speed, from two ratios of the goals. */
export const readmeSentence = (toSdk: string, toKvstore: string): string =>
  `**${toSdk} times** as many transfers as a minimal cosmos-sdk chain, and ${toKvstore} times as many as CometBFT's kvstore`

const DOC = fileURLToPath(new URL('../docs/performance.md', import.meta.url))
const FIGURES = fileURLToPath(new URL('../docs/performance-figures.md', import.meta.url))
const README = fileURLToPath(new URL('../README.md', import.meta.url))

/** How many of the goals, which come in the order of their weight, docs/performance.md shows. */
const GOALS_SHOWN = 10

/**
 * Puts the first goals between the marks of docs/performance.md, all tables between those of docs/performance-figures.md,
 * and the ratios into README's sentence; the text around them is people's. `ranOn`: the machine and the programs.
 */
export function writeDoc(ranOn: string, tables: readonly string[], goals: readonly Goal[]): void {
  writePart(DOC, 'bench', [ranOn, goalTable(goals.slice(0, GOALS_SHOWN))].join('\n\n'))
  writePart(FIGURES, 'bench', [ranOn, ...tables].join('\n\n'))
  const ratioNamed = (name: string): number => goals.find((goal) => goal.name === name)?.value ?? Number.NaN
  const [toSdk, toKvstore] = [ratioNamed(SDK_GOAL), ratioNamed(KVSTORE_GOAL)]
  if (Number.isNaN(toSdk) || Number.isNaN(toKvstore)) return
  writeFigures(README, readmeSentence, [number(toSdk, 2), number(toKvstore, 2)])
}
