import { SVC_TRANSFER } from './gateway.ts'
import { NETWORK_SATURATED } from './network.ts'
import { REPLAY } from './replay.ts'
import { type Figure, medianFigure, ratioOf, type Sample } from './sample.ts'
import type { StateCost, StateKind } from './states.ts'
import { medianOf } from './stats.ts'
import { MIX_LOAD, SUBJECTS } from './transactions.ts'

/** A ratio that is held to a goal. NaN where it was not measured. */
export interface Goal {
  readonly name: string
  readonly value: number
  readonly goal: number
  /** Which side of the goal is good. */
  readonly wanted: 'at least' | 'at most'
  readonly unit?: string
}

/** True when the value is within `slack` times of its goal: 1 is the goal itself, 2 half of it or twice as much. */
export const isWithin = ({ value, goal, wanted }: Goal, slack = 1): boolean =>
  wanted === 'at least' ? value * slack >= goal : value <= goal * slack

/** The two goals that README names. */
export const SDK_GOAL = 'saturated transfers ÷ cosmos-sdk'
export const KVSTORE_GOAL = 'saturated transfers ÷ Go kvstore over the socket'

function costOf(
  states: readonly StateCost[],
  kind: StateKind,
  size: number,
  figure: keyof StateCost['rounds'][number],
): readonly number[] {
  return (
    states.find((one) => one.kind === kind && one.size === size)?.rounds.map((one) => one[figure] ?? Number.NaN) ?? []
  )
}

/** How many times as much a figure is on the large state as on the small one: the median of the rounds. */
function grownIn(
  states: readonly StateCost[],
  kind: StateKind,
  [small, large]: readonly [number, number],
  figure: 'txUs' | 'blockMs' | 'emptyBlockMs',
): number {
  const base = costOf(states, kind, small, figure)
  return medianOf(costOf(states, kind, large, figure).map((cost, round) => cost / (base[round] as number)))
}

/** How many times the CPU of a transfer a transaction of this state takes: the median of the rounds. */
function ofTransfers(states: readonly StateCost[], kind: StateKind, size: number): number {
  const transfers = costOf(states, kind, size, 'transferUs')
  return medianOf(costOf(states, kind, size, 'txUs').map((cost, round) => cost / (transfers[round] as number)))
}

/** Makes the goals of one side: what is compared, the goal, what this run came to, and the unit of what is no ratio. */
const goal =
  (wanted: Goal['wanted']) =>
  (name: string, aimed: number, value: number, unit?: string): Goal => ({
    name,
    value,
    goal: aimed,
    wanted,
    ...(unit === undefined ? {} : { unit }),
  })
const [atLeast, atMost] = [goal('at least'), goal('at most')]

const stakingGoals = (samples: readonly Sample[], states: readonly StateCost[]): readonly Goal[] => [
  atLeast(
    'mix of staking ÷ cosmos-sdk',
    8,
    ratioOf(samples, 'perSecond', [MIX_LOAD[0], SUBJECTS.svcd], [MIX_LOAD[0], SUBJECTS.sdk]),
  ),
  atMost(
    'a block of 1,000 delegations with 1,000,000 delegations ÷ 1,000',
    1.5,
    grownIn(states, 'delegations', [1000, 1_000_000], 'blockMs'),
  ),
  atMost(
    'an empty block of 200 validators with 1,000,000 delegations ÷ none',
    1.1,
    grownIn(states, 'delegations', [0, 1_000_000], 'emptyBlockMs'),
  ),
  atMost('CPU of a delegation ÷ of a transfer', 2, ofTransfers(states, 'delegations', 1000)),
  atMost('CPU of a vote ÷ of a transfer, 200 validators, 100 open proposals', 1.5, ofTransfers(states, 'votes', 100)),
]

/** How many times faster than the first check a recheck is: the median of the rounds. */
function fasterRecheck(states: readonly StateCost[]): number {
  const rechecks = costOf(states, 'accounts', 1000, 'recheckMs')
  return medianOf(
    costOf(states, 'accounts', 1000, 'firstCheckMs').map((first, round) => first / (rechecks[round] as number)),
  )
}

/** The goals that were set for this project, with what this run came to. */
export function goalsOf(samples: readonly Sample[], states: readonly StateCost[]): readonly Goal[] {
  const ofPeer = (load: string, figure: Figure = 'perSecond'): number =>
    ratioOf(samples, figure, [load, SUBJECTS.svcd], [load, SUBJECTS.kvSocket])
  /** Of one load, on one subject and on another. */
  const ratio = (load: string, subject: string, base: string): number =>
    ratioOf(samples, 'perSecond', [load, subject], [load, base])
  return [
    ...stakingGoals(samples, states),
    atLeast(SDK_GOAL, 11, ratio('saturated, 1,024 accounts', SUBJECTS.svcd, SUBJECTS.sdk)),
    atMost(
      'CPU of the application for a transfer, saturated',
      90,
      medianFigure(samples, 'saturated', SUBJECTS.svcd, 'appUs'),
      'µs',
    ),
    atLeast('rate with 1,000,000 accounts ÷ 1,000', 0.7, 1 / grownIn(states, 'accounts', [1000, 1_000_000], 'txUs')),
    atMost(
      'resident memory with 1,000,000 accounts',
      400,
      medianOf(costOf(states, 'accounts', 1_000_000, 'rssMb')),
      'MB',
    ),
    atLeast(
      'svc_transfer with 64 senders ÷ the same senders without a gateway',
      0.9,
      ratio(SVC_TRANSFER, 'gateway', 'no gateway'),
    ),
    atLeast(
      'committed transactions with 500 queries a second ÷ without',
      0.92,
      ratio('saturated, 200 candidacies', '500 queries/s', 'no queries'),
    ),
    atLeast(KVSTORE_GOAL, 0.62, ofPeer('saturated')),
    atLeast('closed loop of 64 ÷ Go kvstore over the socket', 0.8, ofPeer('closed loop, 64 senders')),
    atLeast('closed loop of 256 ÷ Go kvstore over the socket', 0.6, ofPeer('closed loop, 256 senders')),
    atMost('p99 to commit at 1,000 tx/s ÷ Go kvstore', 1.5, ofPeer('open loop, 1,000 tx/s', 'p99Ms')),
    atLeast('svc_queryValidator ÷ abci_query', 0.8, ratio('one validator of 200', 'gateway', 'abci_query')),
    atMost('a block with 100,000 candidacies ÷ 100', 1.2, grownIn(states, 'candidacies', [100, 100_000], 'blockMs')),
    atMost('a block with 1,000 open proposals ÷ 10', 1.3, grownIn(states, 'proposals', [10, 1000], 'blockMs')),
    atLeast('recheck of 5,000 transactions: times faster than the first check', 10, fasterRecheck(states)),
    atLeast('four validators ÷ Go kvstore over the socket', 0.5, ofPeer(NETWORK_SATURATED)),
    atLeast('replay of transfers ÷ Go kvstore over the socket', 0.25, ofPeer(REPLAY)),
  ]
}
