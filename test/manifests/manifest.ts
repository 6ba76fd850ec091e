import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { random } from '../chain/support.ts'

/** What is done to a node, and undone again. */
export const KINDS = ['disconnect', 'pause', 'kill', 'restart'] as const
/** One of these. */
export type Kind = (typeof KINDS)[number]

/** Which of the two programs of a node is killed. */
export type Part = 'both' | 'application' | 'cometbft'

/** A node of a network. */
export interface NodePlan {
  /** The release of its CometBFT. */
  readonly comet: string
  /** How CometBFT reaches the application. */
  readonly abci: 'unix' | 'tcp'
  readonly verifyThreads: number
  /** `--keep-blocks`: 0 for all. */
  readonly keepBlocks: number
  /** `--snapshot-interval`: 0 for none. */
  readonly snapshotInterval: number
}

/** Something that happens to one node, or to two at once. */
export interface Perturbation {
  readonly kind: Kind
  /** Of the nodes, from 0; validators come first. */
  readonly victims: readonly number[]
  readonly part: Part
  /** How long it lasts at least. */
  readonly holdMs: number
}

/** A network and what happens to it. */
export interface Manifest {
  readonly seed: number
  /** VALIDATORS of them, and then perhaps a full node. */
  readonly nodes: readonly NodePlan[]
  /** Who has whom as persistent peers: all each other, or each only its neighbours. */
  readonly topology: 'mesh' | 'line'
  readonly initialHeight: number
  readonly blockTimeMs: number
  /** From a node to another, in each direction; of each pair, by their indices. Empty: no delay. */
  readonly latencyMs: ReadonlyMap<string, number>
  /** Of the packets that reach a node, in percent. */
  readonly loss: number
  readonly perturbations: readonly Perturbation[]
}

/** How many nodes sign. All have the same power. */
export const VALIDATORS = 4

/** What there is to draw from. */
export interface Limits {
  /** False: no disconnect, because nodes without a network namespace have no link of their own. */
  readonly hasLinks: boolean
  /** Releases of CometBFT. */
  readonly versions: readonly string[]
}

const LATENCY_MS = [50, 300] as const
const LOSS_PERCENT = 2
const HOLD_MS = [1_000, 6_000] as const

/** A network's pair as a key of `latencyMs`. */
export const pairOf = (one: number, other: number): string => `${Math.min(one, other)}-${Math.max(one, other)}`

/** True when two nodes have each other as peers. */
export const arePeers = ({ topology }: Pick<Manifest, 'topology'>, one: number, other: number): boolean =>
  one !== other && (topology === 'mesh' || Math.abs(one - other) === 1)

/** Draws the manifest of a seed: the same one each time, on machines with the same limits. */
export function drawManifest(seed: number, { hasLinks, versions }: Limits): Manifest {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T
  const within = ([low, high]: readonly [number, number]): number => low + next(high - low + 1)
  const topology = next(3) === 0 ? 'line' : 'mesh'
  const isMixed = next(2) === 0
  const hasFull = next(3) === 0
  const nodes = Array.from({ length: VALIDATORS + (hasFull ? 1 : 0) }, (_, at): NodePlan => {
    const keepBlocks = pick([0, 20, 50])
    return {
      comet: isMixed ? pick(versions) : COMETBFT_VERSION,
      abci: pick(['unix', 'tcp']),
      verifyThreads: pick([0, 2]),
      // Whoever was away needs a peer that has the blocks it missed: the first node, and in a line each neighbour.
      keepBlocks: at === 0 || topology === 'line' ? 0 : keepBlocks,
      snapshotInterval: pick([0, 7, 25]),
    }
  })
  const weather = next(4)
  const latencyMs = new Map<string, number>()
  if (weather === 0)
    for (const [one] of nodes.entries())
      for (let other = 0; other < one; other++) latencyMs.set(pairOf(one, other), within(LATENCY_MS))
  const kinds = KINDS.filter((kind) => hasLinks || kind !== 'disconnect')
  const left: Kind[] = []
  const perturbations = Array.from({ length: 2 + next(3) }, (): Perturbation => {
    if (left.length === 0) left.push(...kinds)
    const [kind] = left.splice(next(left.length), 1) as [Kind]
    const first = next(nodes.length)
    const second = (first + 1 + next(VALIDATORS - 1)) % VALIDATORS
    const isPair = first < VALIDATORS && next(3) === 0
    return {
      kind,
      victims: isPair ? [first, second].sort((a, b) => a - b) : [first],
      part: pick(['both', 'application', 'cometbft']),
      holdMs: within(HOLD_MS),
    }
  })
  return {
    seed,
    nodes,
    topology,
    initialHeight: pick([1, 1000]),
    blockTimeMs: pick([200, 500]),
    latencyMs,
    loss: weather === 1 ? LOSS_PERCENT : 0,
    perturbations,
  }
}

/**
 * The nodes that go on while `down` are away: those who still reach validators with more than two thirds of the power.
 * None: the chain halts.
 */
export function quorumOf(manifest: Pick<Manifest, 'nodes' | 'topology'>, down: readonly number[]): readonly number[] {
  const up = manifest.nodes.flatMap((_, at) => (down.includes(at) ? [] : [at]))
  const reached = (from: number, seen = new Set([from])): ReadonlySet<number> => {
    for (const to of up) if (!seen.has(to) && arePeers(manifest, from, to)) reached(to, seen.add(to))
    return seen
  }
  return up.filter((from) => [...reached(from)].filter((at) => at < VALIDATORS).length * 3 > VALIDATORS * 2)
}

const timesIn = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** What happens, for people. */
export const describePerturbation = ({ kind, part, victims, holdMs }: Perturbation): string =>
  `${kind}${kind === 'kill' && part !== 'both' ? ` ${part} of` : ''} ${victims.join(' and ')} for ${timesIn(holdMs)}`

/** A manifest in one line. */
export function describeManifest({ nodes, topology, latencyMs, ...manifest }: Manifest): string {
  const versions = [...new Set(nodes.map(({ comet }) => comet))].sort().join(', ')
  const delays = [...latencyMs.values()]
  return [
    `seed ${manifest.seed}: ${topology} of ${VALIDATORS}${nodes.length > VALIDATORS ? ' and a full node' : ''}`,
    `CometBFT ${versions}`,
    `from height ${manifest.initialHeight}`,
    `blocks of ${manifest.blockTimeMs} ms`,
    ...(delays.length > 0 ? [`${Math.min(...delays)} to ${Math.max(...delays)} ms of latency`] : []),
    ...(manifest.loss > 0 ? [`${manifest.loss} % loss`] : []),
    manifest.perturbations.map(describePerturbation).join(', '),
  ].join('; ')
}
