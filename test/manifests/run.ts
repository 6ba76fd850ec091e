import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { snapshotsOf, statePathOf } from '../../src/node/homes.ts'
import { readState } from '../../src/node/stateFile.ts'
import { readValidatorKey } from '../../src/comet/home.ts'
import { listSnapshots } from '../../src/store/snapshot/folder.ts'
import { troubleIn } from '../e2e/support/crash.ts'
import { compareDatabases } from '../e2e/support/replay.ts'
import { supplyGap } from '../support/conservation.ts'
import { Broken, need } from '../support/campaign.ts'
import type { Links } from './links.ts'
import { checkAcknowledged, type Load, startLoad } from './load.ts'
import { describePerturbation, type Manifest, type Perturbation, quorumOf, VALIDATORS } from './manifest.ts'
import { type Faults, type ManifestNetwork, startManifest } from './network.ts'
import { earliestOf, needAnswer, type Watch, watchNodes } from './watch.ts'

/** How manifests are run. */
export interface RunOptions {
  /** An empty or new folder. */
  readonly output: string
  readonly links: Links
  /** The path of a release of CometBFT. */
  readonly programOf: (version: string) => string
  readonly faults?: Faults
  /** Told of each step. */
  readonly say?: (line: string) => void
}

/** What one manifest showed. */
export interface Outcome {
  /** From the beginning of healing until every node has a new block; in order. */
  readonly recoveries: readonly { readonly ms: number; readonly halted: boolean }[]
  readonly acknowledged: number
  /** How many heights had their headers compared. */
  readonly compared: number
  /** How many nodes had removed blocks at the end, and how many held a snapshot. */
  readonly pruned: number
  readonly withSnapshots: number
  /** How many packets were lost on purpose. */
  readonly lost: number
}

/** How long anything is waited for: a machine may have other things to do. */
const WAIT_MS_MAX = 180_000
const PAUSE_MS = 50
const LOGS_READ_EVERY_MS = 2_000
/** While a network halts it is watched for so many times as long as a block takes. */
const HALTED_BLOCKS = 6
/** From one node to another goes each of proposal, prevote and precommit. */
const WAYS_OF_BLOCK = 3
/** What goes on has so many more blocks during a perturbation. */
const NEW_BLOCKS = 2

/** A network under load, and what is known of it. */
interface Stage {
  readonly manifest: Manifest
  readonly network: ManifestNetwork
  readonly watch: Watch
  readonly load: Load
}

/** Waits until it holds. Throws Broken after WAIT_MS_MAX, and when something else is wrong before. */
async function waitFor(
  { network, watch }: Pick<Stage, 'network' | 'watch'>,
  what: string,
  holds: () => boolean,
): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX
  for (let readMs = performance.now(); !holds(); await sleep(PAUSE_MS)) {
    const failure = watch.failure()
    if (failure !== undefined) throw failure
    const nowMs = performance.now()
    const isLate = nowMs > endMs
    if (!isLate && nowMs < readMs + LOGS_READ_EVERY_MS) continue
    readMs = nowMs
    const dead = network.findDead()
    need(dead === undefined, () => `a program of node ${dead} has ended`)
    for (const [at, node] of network.nodes.entries()) {
      const trouble = troubleIn(node)
      need(trouble === undefined, () => `node ${at}: ${trouble}`)
    }
    need(!isLate, () => `no ${what} within ${WAIT_MS_MAX / 1000} s: the heights are ${watch.heights().join(', ')}`)
  }
}

/** While victims are away: those who still reach each other go on, and nobody else gets further than the block under way. */
async function hold(stage: Stage, perturbation: Perturbation): Promise<void> {
  const { manifest, watch } = stage
  const { kind, victims, holdMs } = perturbation
  const begunMs = performance.now()
  const before = await watch.askHighest(kind === 'disconnect' ? [] : victims)
  const going = quorumOf(manifest, victims)
  const latencyMs = Math.max(0, ...manifest.latencyMs.values())
  const haltedMs = HALTED_BLOCKS * (manifest.blockTimeMs + WAYS_OF_BLOCK * latencyMs)
  const lastMs = begunMs + (going.length > 0 ? holdMs : Math.max(holdMs, haltedMs))
  await waitFor(stage, `${NEW_BLOCKS} blocks without ${victims.join(' and ')}`, () => {
    const now = watch.heights()
    for (const [at, height] of now.entries())
      need(
        going.includes(at) || height <= before + 1,
        () => `node ${at} came from height ${before} to ${height} without a quorum`,
      )
    const isGoing = going.every((at) => (now[at] as number) >= before + NEW_BLOCKS)
    return isGoing && performance.now() >= lastMs
  })
}

/** The set at the lowest of the nodes' heights has the validators of genesis, the same on every node. */
async function checkValidators({ network: { nodes }, watch }: Stage): Promise<void> {
  const height = Math.min(...watch.heights())
  const keys = nodes.slice(0, VALIDATORS).map(({ home }) => readValidatorKey(home).pubKey)
  const sets = await Promise.all(
    nodes.map(async (node) => {
      const { validators } = await needAnswer<{ validators: readonly { pub_key: { value: string } }[] }>(
        node,
        `/validators?height=${height}&per_page=100`,
      )
      const held = validators.map((one) => one.pub_key.value)
      need(held.sort().join() === keys.sort().join(), () => `height ${height}: the validators are ${held.join(', ')}`)
      return JSON.stringify(validators)
    }),
  )
  need(new Set(sets).size === 1, () => `height ${height}: the nodes have different validators: ${sets.join(' ')}`)
}

/** Nothing was made or lost in the state of any node. */
function checkSupply({ network: { nodes } }: Stage): void {
  for (const [at, { home }] of nodes.entries()) {
    const gap = readState(statePathOf(home), supplyGap)
    need(gap === 0n, () => `the balances of node ${at} do not add up, by ${gap}`)
  }
}

/** Everything that nodes tell is the same, and has what was acknowledged. `since`: how much of that was checked before. */
async function check(stage: Stage, since: readonly number[]): Promise<void> {
  const { network, watch, load } = stage
  const told = load.acknowledged.flatMap((list, at) => list.slice(since[at] ?? 0))
  const last = Math.max(0, ...told.map(({ height }) => height))
  await waitFor(stage, `block ${last} on all nodes`, () => Math.min(...watch.heights()) >= last)
  await watch.readHeaders()
  await checkValidators(stage)
  checkSupply(stage)
  await Promise.all(network.nodes.map((node) => checkAcknowledged(node, told, new Map())))
}

const counts = ({ acknowledged }: Load): readonly number[] => acknowledged.map(({ length }) => length)

async function whatIsKept({ manifest, network: { nodes } }: Stage): Promise<Pick<Outcome, 'pruned' | 'withSnapshots'>> {
  const first = await Promise.all(nodes.map(earliestOf))
  return {
    pruned: first.filter((height) => height > manifest.initialHeight).length,
    withSnapshots: nodes.filter(({ home }) => listSnapshots(snapshotsOf(home)).length > 0).length,
  }
}

/** One perturbation, from its beginning until everything is as it should be. Returns how long the recovery took. */
async function perturb(stage: Stage, perturbation: Perturbation): Promise<{ ms: number; halted: boolean }> {
  const { manifest, network, watch, load } = stage
  const since = counts(load)
  await network.begin(perturbation)
  await hold(stage, perturbation)
  const begunMs = performance.now()
  await network.heal(perturbation)
  const target = Math.max(...watch.heights()) + 1
  await waitFor(stage, `block ${target} on all nodes`, () => Math.min(...watch.heights()) >= target)
  const ms = performance.now() - begunMs
  const served = counts(load)
  await waitFor(stage, 'transaction through each gateway', () =>
    counts(load).every((count, at) => count > (served[at] as number)),
  )
  await check(stage, since)
  return { ms, halted: quorumOf(manifest, perturbation.victims).length === 0 }
}

/**
 * Runs a manifest: all its perturbations, one after the other, under load. Throws Broken with the first thing that is not
 * as it has to be. Nothing is left running.
 */
export async function runManifest(
  manifest: Manifest,
  { output, links, programOf, faults, say = () => undefined }: RunOptions,
): Promise<Outcome> {
  const network = await startManifest(join(output, 'net'), manifest, links, programOf, faults)
  const watch = watchNodes(network.nodes)
  let load: Load | undefined
  try {
    const first = manifest.initialHeight + 1
    await waitFor({ network, watch }, `block ${first} on all nodes`, () => Math.min(...watch.heights()) >= first)
    load = await startLoad(network.nodes)
    const stage = { manifest, network, watch, load }
    const recoveries: Outcome['recoveries'][0][] = []
    for (const perturbation of manifest.perturbations) {
      const recovery = await perturb(stage, perturbation).catch((error: Error) => {
        throw new Broken(`${describePerturbation(perturbation)}: ${error.message}`)
      })
      say(`  ${describePerturbation(perturbation)}: back after ${(recovery.ms / 1000).toFixed(1)} s`)
      recoveries.push(recovery)
    }
    await load.stop()
    await load.checkAccounts()
    await check(stage, [])
    const kept = await whatIsKept(stage)
    await load.close()
    await watch.stop()
    const failure = watch.failure()
    if (failure !== undefined) throw failure
    const lost = await network.stop()
    compareDatabases(network.nodes)
    const acknowledged = counts(load).reduce((sum, count) => sum + count, 0)
    return { recoveries, acknowledged, compared: watch.compared(), lost, ...kept }
  } finally {
    // What is paused has to end before those who ask it give up.
    await network.close()
    await watch.stop()
    await load?.close()
  }
}
