import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { chainIdOf } from '../../src/node/homes.ts'
import { homeFiles, readNodeId } from '../../src/comet/home.ts'
import { checkDisk } from '../e2e/support/crash.ts'
import { heightOrZero, makeNetwork, type NetworkNode, startNode } from '../e2e/support/network.ts'
import { committedBlocks } from '../e2e/support/replay.ts'
import { appLogOf, makeJoiner, setKeeping } from '../e2e/support/stateSync.ts'
import { buildStranger } from '../p2p/build.ts'
import { type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { FORGERIES } from './forgeries.ts'
import { inFolder, stopAndCompare, until } from './network.ts'
import { envOf } from './trait.ts'

const VALIDATORS = 4
const SNAPSHOT_INTERVAL = 20
/** A joining node asks each of its two honest peers for 20 at once, and others for the rest. */
const BLOCKS = 100
const BLOCK_TIME = '100ms'
/**
 * CometBFT asks anew for a block after 30 s at most. 0.38 may also stand still for longer (see forgedBlocks); then
 * an operator starts it again.
 */
const STILL_MS_MAX = 75_000
const RESTARTS_MAX = 2
/** Whom a joining node asks first is chance. */
const TRIES_MAX = 5

/** CometBFT tries the latest format first, and so never that one. */
const OFFERED = Object.keys(FORGERIES).filter((kind) => kind !== 'format 0')

/** A chain that nodes join. The last two of its validators lie about their snapshots. */
interface Net {
  readonly folder: string
  readonly nodes: readonly NetworkNode[]
  /** The file that names the lie. */
  readonly lie: string
  joiners: number
  /** How often a joining node stood still and was started again. */
  restarts: number
}

const withNet = <T>(use: (net: Net) => Promise<T>): Promise<T> =>
  inFolder(async (folder) => {
    const lie = join(folder, 'lie')
    writeFileSync(lie, OFFERED[0] as string)
    const nodes = await makeNetwork(join(folder, 'net'), VALIDATORS, BLOCK_TIME)
    // One honest node offers snapshots, so that a lie that two tell comes first.
    for (const [at, node] of nodes.entries()) setKeeping(node, at === 1 ? 0 : SNAPSHOT_INTERVAL)
    const running = await Promise.all(
      nodes.map((node, at) => startNode(node, [], undefined, at < 2 ? {} : { env: envOf({ offers: lie }) })),
    )
    const [honest] = nodes as [NetworkNode]
    await until(
      () => `block ${BLOCKS}`,
      async () => (await heightOrZero(honest)) >= BLOCKS,
    )
    const result = await use({ folder, nodes, lie, joiners: 0, restarts: 0 })
    await stopAndCompare(running, nodes)
    return result
  })

/** Waits until a node has this height. False when it stands still before. */
async function reaches(node: NetworkNode, goal: number): Promise<boolean> {
  let [head, movedAtMs] = [0, performance.now()]
  for (; head < goal; await sleep(100)) {
    const height = await heightOrZero(node)
    if (height > head) [head, movedAtMs] = [height, performance.now()]
    if (performance.now() - movedAtMs > STILL_MS_MAX) return false
  }
  return true
}

/**
 * Lets a node join until it has the head. Its app hashes are then those of an honest node. Returns it. `lie`: begins
 * before the node does; what it returns ends it, before the node is stopped.
 */
async function joinNet(
  net: Net,
  peers: readonly NetworkNode[],
  isStateSynced: boolean,
  lie: (joiner: NetworkNode) => () => Promise<void> = () => async () => undefined,
): Promise<NetworkNode> {
  const [honest] = net.nodes as [NetworkNode]
  const joiner = await makeJoiner(join(net.folder, `joiner${net.joiners++}`), peers, isStateSynced)
  const head = await heightOrZero(honest)
  const endLie = lie(joiner)
  for (let starts = 1; ; starts++) {
    const running = await startNode(joiner)
    const isThere = await reaches(joiner, head)
    await endLie()
    need((await running.end('SIGTERM')) === 0, () => 'the joining application did not end in order')
    if (isThere) break
    need(starts <= RESTARTS_MAX, () => `${joiner.home} stands still before height ${head}`)
    net.restarts += 1
  }
  const hashes = new Map(committedBlocks(honest.home).map(({ height, hash }) => [height, hash]))
  for (const { height, hash } of committedBlocks(joiner.home))
    need(hashes.get(height) === hash, () => `height ${height}: the joining node has another app hash`)
  checkDisk(joiner)
  return joiner
}

const REFUSALS = ['a snapshot was refused', 'a snapshot is no state of this chain']

/** One node joins while two of four validators tell this lie. Returns how many offers it refused. */
async function joinThroughOffers(net: Net, kind: string): Promise<number> {
  writeFileSync(net.lie, kind)
  for (let tries = 1; ; tries++) {
    const joiner = await joinNet(net, net.nodes, true)
    const log = appLogOf(joiner)
    need(
      log.some(({ msg }) => msg === 'the state was restored from a snapshot'),
      () => 'nothing was restored',
    )
    const refused = log.filter(({ msg }) => REFUSALS.includes(msg)).length
    if (refused > 0 || tries === TRIES_MAX) return refused
  }
}

/** Nodes join by state sync, `rounds` for each lie. */
export function offersForReal(rounds: number): Promise<CampaignReport> {
  const about = {
    name: 'forged snapshots, to nodes that join',
    target: 'each is refused, and the node gets to the head from an honest peer',
    seed: undefined,
  }
  return campaignReport(about, (told) =>
    withNet(async (net) => {
      let refused = 0
      for (let round = 0; round < rounds; round++)
        for (const kind of OFFERED) {
          const seen = await joinThroughOffers(net, kind)
          need(seen > 0, () => `${kind}: no offer was refused in ${TRIES_MAX} nodes`)
          refused += seen
          told.ran++
        }
      return `${net.joiners} nodes joined with the chain's app hashes, and refused ${refused} offers of ${OFFERED.length} kinds`
    }),
  )
}

/** What a forger of blocks says at its end: how many blocks it was asked for, and how many of its connections ended. */
interface Served {
  readonly served: number
  readonly lost: number
}

const p2pPortOf = ({ home }: NetworkNode): string =>
  /\[p2p\][^[]*?laddr = "tcp:\/\/[^"]*:(\d+)"/.exec(readFileSync(homeFiles(home).config, 'utf8'))?.[1] ?? ''

/** One node joins by all blocks while a forger serves it such blocks. */
async function joinThroughBlocks(net: Net, program: string, kind: string): Promise<Served> {
  const [honest] = net.nodes as [NetworkNode]
  let forger: ChildProcess | undefined
  let served: Served = { served: 0, lost: 0 }
  try {
    await joinNet(net, net.nodes.slice(0, 2), false, (joiner) => {
      const address = `${readNodeId(joiner.home)}@127.0.0.1:${p2pPortOf(joiner)}`
      const args = [address, chainIdOf(honest.home) as string, honest.rpc, kind]
      const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
      const said = text(child.stdout)
      forger = child
      return async () => {
        child.stdin.end()
        served = JSON.parse(await said) as Served
      }
    })
  } finally {
    forger?.kill()
  }
  return served
}

/** Forgeries that are no block: the node may keep such a peer. */
const NO_BLOCK = /^no block/

/** What no node may drop a peer for: it shows that forgers are dropped for what they forge. */
const CONTROL = 'nothing forged'

/** Nodes join until one has asked a forger of this kind for a block. Returns what that one asked for. */
async function askForger(net: Net, program: string, kind: string): Promise<Served> {
  for (let tries = 1; ; tries++) {
    const seen = await joinThroughBlocks(net, program, kind)
    if (seen.served > 0) return seen
    need(tries < TRIES_MAX, () => `${kind}: no block was asked for by ${TRIES_MAX} nodes`)
  }
}

/**
 * Nodes join by block sync, `rounds` for each kind of forged block. A node that has dropped a forger waits up to 30 s
 * for a block that another peer has sent already: CometBFT 0.38 asks that peer once more only when its timer
 * (blocksync/pool.go, requestRetrySeconds) ends, and never if the timer ended before.
 */
export function forgedBlocks(rounds: number): Promise<CampaignReport> {
  const about = {
    name: 'forged blocks, to nodes that join',
    target: 'each is refused, its sender is dropped, and the node gets to the head from honest peers',
    seed: undefined,
  }
  return campaignReport(about, (told) =>
    withNet(async (net) => {
      const program = buildStranger('forger', net.folder)
      const all = JSON.parse(execFileSync(program, { encoding: 'utf8' })) as readonly string[]
      const total = { served: 0, lost: 0 }
      for (let round = 0; round < rounds; round++)
        for (const kind of all) {
          const { served, lost } = await askForger(net, program, kind)
          if (kind === CONTROL) need(lost === 0, () => 'a peer that forges nothing was dropped')
          else if (!NO_BLOCK.test(kind)) need(lost > 0, () => `${kind}: ${served} blocks, and the peer was not dropped`)
          total.served += served
          total.lost += lost
          told.ran++
        }
      return (
        `${net.joiners} nodes joined with the chain's app hashes; they asked forgers of ${all.length - 1} kinds for ` +
        `${total.served} blocks, and dropped ${total.lost} of them; ${net.restarts} stood still and were started again`
      )
    }),
  )
}
