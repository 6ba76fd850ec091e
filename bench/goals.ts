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

const stakingGoals = (samples: readonly Sample[], states: readonly StateCost[]): readonly Goal[] => [
  {
    name: 'mix of staking ÷ cosmos-sdk',
    goal: 8,
    wanted: 'at least',
    value: ratioOf(samples, 'perSecond', [MIX_LOAD[0], SUBJECTS.svcd], [MIX_LOAD[0], SUBJECTS.sdk]),
  },
  {
    name: 'a block of 1,000 delegations with 1,000,000 delegations ÷ 1,000',
    goal: 1.5,
    wanted: 'at most',
    value: grownIn(states, 'delegations', [1000, 1_000_000], 'blockMs'),
  },
  {
    name: 'an empty block of 200 validators with 1,000,000 delegations ÷ none',
    goal: 1.1,
    wanted: 'at most',
    value: grownIn(states, 'delegations', [0, 1_000_000], 'emptyBlockMs'),
  },
  {
    name: 'CPU of a delegation ÷ of a transfer',
    goal: 2,
    wanted: 'at most',
    value: ofTransfers(states, 'delegations', 1000),
  },
  {
    name: 'CPU of a vote ÷ of a transfer, 200 validators, 100 open proposals',
    goal: 1.5,
    wanted: 'at most',
    value: ofTransfers(states, 'votes', 100),
  },
]

const accountGoals = (states: readonly StateCost[]): readonly Goal[] => [
  {
    name: 'rate with 1,000,000 accounts ÷ 1,000',
    goal: 0.7,
    wanted: 'at least',
    value: 1 / grownIn(states, 'accounts', [1000, 1_000_000], 'txUs'),
  },
  {
    name: 'resident memory with 1,000,000 accounts',
    goal: 400,
    wanted: 'at most',
    unit: 'MB',
    value: medianOf(costOf(states, 'accounts', 1_000_000, 'rssMb')),
  },
]

/** The goals that were set for this project, with what this run came to. */
export function goalsOf(samples: readonly Sample[], states: readonly StateCost[]): readonly Goal[] {
  const ofPeer = (load: string, figure: Figure = 'perSecond'): number =>
    ratioOf(samples, figure, [load, SUBJECTS.svcd], [load, SUBJECTS.kvSocket])
  const loaded = 'saturated, 200 candidacies'
  return [
    ...stakingGoals(samples, states),
    {
      name: SDK_GOAL,
      value: ratioOf(
        samples,
        'perSecond',
        ['saturated, 1,024 accounts', SUBJECTS.svcd],
        ['saturated, 1,024 accounts', SUBJECTS.sdk],
      ),
      goal: 11,
      wanted: 'at least',
    },
    {
      name: 'CPU of the application for a transfer, saturated',
      value: medianFigure(samples, 'saturated', SUBJECTS.svcd, 'appUs'),
      goal: 90,
      wanted: 'at most',
      unit: 'µs',
    },
    ...accountGoals(states),
    {
      name: 'svc_transfer with 64 senders ÷ the same senders without a gateway',
      goal: 0.9,
      wanted: 'at least',
      value: ratioOf(samples, 'perSecond', [SVC_TRANSFER, 'gateway'], [SVC_TRANSFER, 'no gateway']),
    },
    {
      name: 'committed transactions with 500 queries a second ÷ without',
      goal: 0.92,
      wanted: 'at least',
      value: ratioOf(samples, 'perSecond', [loaded, '500 queries/s'], [loaded, 'no queries']),
    },
    {
      name: KVSTORE_GOAL,
      value: ofPeer('saturated'),
      goal: 0.62,
      wanted: 'at least',
    },
    {
      name: 'closed loop of 64 ÷ Go kvstore over the socket',
      value: ofPeer('closed loop, 64 senders'),
      goal: 0.8,
      wanted: 'at least',
    },
    {
      name: 'closed loop of 256 ÷ Go kvstore over the socket',
      value: ofPeer('closed loop, 256 senders'),
      goal: 0.6,
      wanted: 'at least',
    },
    {
      name: 'p99 to commit at 1,000 tx/s ÷ Go kvstore',
      value: ofPeer('open loop, 1,000 tx/s', 'p99Ms'),
      goal: 1.5,
      wanted: 'at most',
    },
    {
      name: 'svc_queryValidator ÷ abci_query',
      goal: 0.8,
      wanted: 'at least',
      value: ratioOf(samples, 'perSecond', ['one validator of 200', 'gateway'], ['one validator of 200', 'abci_query']),
    },
    {
      name: 'a block with 100,000 candidacies ÷ 100',
      goal: 1.2,
      wanted: 'at most',
      value: grownIn(states, 'candidacies', [100, 100_000], 'blockMs'),
    },
    {
      name: 'a block with 1,000 open proposals ÷ 10',
      goal: 1.3,
      wanted: 'at most',
      value: grownIn(states, 'proposals', [10, 1000], 'blockMs'),
    },
    {
      name: 'recheck of 5,000 transactions: times faster than the first check',
      goal: 10,
      wanted: 'at least',
      value: medianOf(
        costOf(states, 'accounts', 1000, 'firstCheckMs').map(
          (first, round) => first / (costOf(states, 'accounts', 1000, 'recheckMs')[round] as number),
        ),
      ),
    },
    {
      name: 'four validators ÷ Go kvstore over the socket',
      goal: 0.5,
      wanted: 'at least',
      value: ofPeer(NETWORK_SATURATED),
    },
    {
      name: 'replay of transfers ÷ Go kvstore over the socket',
      goal: 0.25,
      wanted: 'at least',
      value: ofPeer(REPLAY),
    },
  ]
}
