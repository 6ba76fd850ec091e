import { readFileSync, writeFileSync } from 'node:fs'
import { startDelay } from '../../bench/delay.ts'
import { homeFiles, readNodeId } from '../../src/comet/home.ts'
import {
  endNetwork,
  makeNetwork,
  type NetworkNode,
  type NodePlace,
  type RunningNode,
  setCometConfig,
  startNode,
} from '../e2e/support/network.ts'
import { allGone, freePorts, isRunning } from '../e2e/support/processes.ts'
import { Broken } from '../support/campaign.ts'
import type { Links } from './links.ts'
import { arePeers, type Manifest, type NodePlan, pairOf, type Perturbation, VALIDATORS } from './manifest.ts'

/** What a test does wrong on purpose, to see that the campaign finds it. */
export interface Faults {
  /** The last validator begins with a base unit more than the others. */
  readonly hasOtherGenesis?: boolean
  /** Nodes are not paused. */
  readonly pausesNothing?: boolean
}

/** A network of a manifest that runs. */
export interface ManifestNetwork {
  readonly nodes: readonly NetworkNode[]
  /** Lets it happen to its victims. Resolves when they are away. */
  readonly begin: (perturbation: Perturbation) => Promise<void>
  /** Ends that. Resolves when their programs run again. */
  readonly heal: (perturbation: Perturbation) => Promise<void>
  /** A node with a program that has ended by itself. */
  readonly findDead: () => number | undefined
  /** Stops all nodes in order. Resolves with how many packets were lost. Throws when one does not end with status 0. */
  readonly stop: () => Promise<number>
  /** Ends whatever is left. */
  readonly close: () => Promise<void>
}

/** So many blocks are kept for evidence, which would hold up pruning. */
const UNSTAKE_WAIT_PERIOD = 5
/** Nobody is put out of the set for being away. */
const ABSENT_BLOCKS_MAX = 1_000_000
/** CometBFT may hang when its application was killed; then it is killed, too. */
const ORPHAN_MS_MAX = 10_000

interface GenesisJson {
  initial_height: string
  readonly app_state: { accounts: { balance: string }[]; stake: object; params?: object }
}

/** Gives all homes the genesis of the manifest. */
function writeGenesis(nodes: readonly NetworkNode[], { initialHeight }: Manifest, faults: Faults): void {
  for (const [at, { home }] of nodes.entries()) {
    const path = homeFiles(home).genesis
    const genesis = JSON.parse(readFileSync(path, 'utf8')) as GenesisJson
    genesis.initial_height = String(initialHeight)
    genesis.app_state.params = { ...genesis.app_state.params, unstake_wait_period: UNSTAKE_WAIT_PERIOD }
    Object.assign(genesis.app_state.stake, { max_absent_blocks: ABSENT_BLOCKS_MAX })
    const last = genesis.app_state.accounts.at(-1)
    if (faults.hasOtherGenesis === true && at === VALIDATORS - 1 && last !== undefined)
      last.balance = String(BigInt(last.balance) + 1n)
    writeFileSync(path, JSON.stringify(genesis, undefined, 2))
  }
}

const p2pPortOf = ({ rpc }: NetworkNode): number => Number(new URL(rpc).port) - 1

/** The addresses at which a node dials its peers, one list a node. Starts the proxies that delay them. */
async function peersOf(
  nodes: readonly NetworkNode[],
  manifest: Manifest,
  { places, hub }: Links,
  closers: (() => void)[],
): Promise<readonly (readonly string[])[]> {
  const dial = async (from: number, to: number): Promise<string> => {
    const node = nodes[to] as NetworkNode
    const far = { host: places[to]?.host ?? '', port: p2pPortOf(node) }
    const delayMs = manifest.latencyMs.get(pairOf(from, to))
    if (delayMs === undefined) return `${readNodeId(node.home)}@${far.host}:${far.port}`
    const [port = 0] = await freePorts(1)
    const delay = await startDelay({ host: hub, port }, far, delayMs)
    closers.push(delay.close)
    return `${readNodeId(node.home)}@${hub}:${port}`
  }
  return Promise.all(
    nodes.map((_, from) =>
      Promise.all(nodes.flatMap((_node, to) => (arePeers(manifest, from, to) ? [dial(from, to)] : []))),
    ),
  )
}

async function writeHomes(
  output: string,
  manifest: Manifest,
  links: Links,
  closers: (() => void)[],
): Promise<readonly NetworkNode[]> {
  const { nodes: plans, topology, latencyMs, blockTimeMs } = manifest
  const hosts = plans.map((_, at) => links.places[at]?.host ?? '')
  const made = await makeNetwork(output, VALIDATORS, `${blockTimeMs}ms`, plans.length - VALIDATORS, [
    '--host',
    hosts.join(','),
  ])
  const peers = await peersOf(made, manifest, links, closers)
  return made.map((node, at) => {
    const { control } = links.places[at] as Links['places'][0]
    const { port } = new URL(node.rpc)
    setCometConfig(node, {
      'rpc.laddr': `tcp://${control}:${port}`,
      'p2p.persistent_peers': peers[at]?.join(','),
      // Addresses that peers tell would lead around the line, or around the delay.
      'p2p.pex': topology === 'mesh' && latencyMs.size === 0,
    })
    return { ...node, rpc: `http://${control}:${port}` }
  })
}

const argsOf = ({ verifyThreads, keepBlocks, snapshotInterval }: NodePlan): readonly string[] => [
  '--verify-threads',
  String(verifyThreads),
  '--keep-blocks',
  String(keepBlocks),
  '--snapshot-interval',
  String(snapshotInterval),
]

async function placesOf(manifest: Manifest, { places }: Links): Promise<readonly NodePlace[]> {
  return Promise.all(
    manifest.nodes.map(async ({ abci }, at) => {
      const { within, control, controller } = places[at] as Links['places'][0]
      if (abci === 'unix') return { within }
      const [application = 0, recorder = 0] = await freePorts(2)
      return {
        within,
        abci: { application: { host: control, port: application }, recorder: { host: controller, port: recorder } },
      }
    }),
  )
}

/** What happens to a node, and how it is undone. */
function perturber(start: (at: number) => Promise<void>, running: RunningNode[], links: Links, faults: Faults) {
  const signal = (at: number, name: NodeJS.Signals): void => {
    for (const pid of running[at]?.pids ?? []) if (faults.pausesNothing !== true) process.kill(pid, name)
  }
  const kill = async (node: RunningNode, { part }: Perturbation): Promise<void> => {
    const [cometbft, application] = node.pids
    if (part === 'both') return void (await node.end('SIGKILL'))
    process.kill(part === 'cometbft' ? cometbft : application, 'SIGKILL')
    if (part === 'cometbft') return allGone([cometbft])
    await allGone([cometbft], ORPHAN_MS_MAX).catch(() => undefined)
    await node.end('SIGKILL')
  }
  const setLink = (at: number, isUp: boolean): void => {
    if (links.setLink === undefined) throw new Error('nodes without links cannot be disconnected')
    links.setLink(at, isUp)
  }
  return {
    begin: async (perturbation: Perturbation, at: number): Promise<void> => {
      const node = running[at] as RunningNode
      if (perturbation.kind === 'disconnect') return setLink(at, false)
      if (perturbation.kind === 'pause') return signal(at, 'SIGSTOP')
      if (perturbation.kind === 'kill') return kill(node, perturbation)
      const status = await node.end('SIGTERM')
      if (status !== 0) throw new Broken(`the application of node ${at} ended with ${status} on SIGTERM`)
    },
    heal: async ({ kind, part }: Perturbation, at: number): Promise<void> => {
      if (kind === 'disconnect') return setLink(at, true)
      if (kind === 'pause') return signal(at, 'SIGCONT')
      if (kind === 'kill' && part === 'cometbft') return running[at]?.startCometBft()
      await start(at)
    },
  }
}

/** Makes the homes of a manifest below `output`, and starts them. Resolves when all applications listen. */
export async function startManifest(
  output: string,
  manifest: Manifest,
  links: Links,
  programOf: (version: string) => string,
  faults: Faults = {},
): Promise<ManifestNetwork> {
  const closers: (() => void)[] = []
  const running: RunningNode[] = []
  const down = new Set<number>()
  const close = async (): Promise<void> => {
    try {
      await endNetwork()
    } finally {
      for (const end of closers) end()
      for (const at of manifest.nodes.keys()) links.setLink?.(at, true)
      links.setLoss?.(0)
    }
  }
  try {
    const nodes = await writeHomes(output, manifest, links, closers)
    writeGenesis(nodes, manifest, faults)
    const places = await placesOf(manifest, links)
    links.setLoss?.(manifest.loss)
    const start = async (at: number): Promise<void> => {
      const plan = manifest.nodes[at] as NodePlan
      running[at] = await startNode(nodes[at] as NetworkNode, argsOf(plan), programOf(plan.comet), places[at])
    }
    await Promise.all(nodes.map((_, at) => start(at)))
    const { begin, heal } = perturber(start, running, links, faults)
    return {
      nodes,
      begin: async (perturbation) => {
        for (const at of perturbation.victims) down.add(at)
        await Promise.all(perturbation.victims.map((at) => begin(perturbation, at)))
      },
      heal: async (perturbation) => {
        await Promise.all(perturbation.victims.map((at) => heal(perturbation, at)))
        for (const at of perturbation.victims) down.delete(at)
      },
      findDead: () => {
        const at = running.findIndex(({ pids }, node) => !down.has(node) && !pids.every(isRunning))
        return at < 0 ? undefined : at
      },
      stop: async () => {
        const statuses = await Promise.all(running.map((one) => one.end('SIGTERM')))
        if (statuses.some((status) => status !== 0)) throw new Broken(`the nodes ended with ${statuses.join(', ')}`)
        return links.setLoss?.(0) ?? 0
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
