import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../bench/until.ts'
import { setTomlValues } from '../../../src/comet/config.ts'
import { findCometBft } from '../../../src/comet/find.ts'
import { homeFiles } from '../../../src/comet/home.ts'
import { type AbciRecorder, recordAbci, type SocketAddress } from '../../support/abciRecorder.ts'
import { need } from '../../support/campaign.ts'
import { svcd } from './devnet.ts'
import { allGone, freeBasePort, isRunning } from './processes.ts'

/** One node of a network, as `svcd testnet --json` tells of it. */
export interface NetworkNode {
  readonly home: string
  readonly owner: string
  readonly rpc: string
  readonly gateway: string
}

/** What the application of a node says that it has committed. */
export interface Head {
  readonly height: number
  readonly appHash: string
}

/** How long anything here is waited for: below the time of a test, whose end would not end the waiting. */
const WATCH_MS_MAX = 300_000

/** Every process that `startNode` and `startScript` began; `endNetwork` ends them, and so does the end of this process. */
const children = new Set<ChildProcess>()
const killAll = (): void => {
  for (const child of children) child.kill('SIGKILL')
}

/** What reads the calls of every CometBFT that `startNode` began. */
const recorders = new Set<AbciRecorder>()

/** Where and how the programs of a node run, and how its two parts meet. */
export interface NodePlace {
  /** What replaces itself by the command line that follows, such as `ip netns exec NAME`. */
  readonly within?: readonly string[]
  /** TCP addresses at which the application listens and its recorder does. Default: unix sockets. */
  readonly abci?: { readonly application: TcpAddress; readonly recorder: TcpAddress }
  /** The environment of its application, beside that of these tests. */
  readonly env?: NodeJS.ProcessEnv
}

type TcpAddress = Extract<SocketAddress, { readonly port: number }>

type ScriptOptions = Pick<NodePlace, 'within' | 'env'>

/** Runs a script of a home, with what it prints in `logs`; it has become the program by the time it says anything. */
function startScript(
  home: string,
  script: string,
  args: readonly string[],
  { env = {}, within = [] }: ScriptOptions = {},
): ChildProcess {
  mkdirSync(join(home, 'logs'), { recursive: true })
  const log = openSync(join(home, 'logs', script.replace(/sh$/, 'out.log')), 'a')
  // The channel ends the application should these tests be killed; CometBFT ends with its application.
  const [program = '', ...words] = [...within, join(home, script), ...args]
  const child = spawn(program, words, { stdio: ['ignore', log, log, 'ipc'], env: { ...process.env, ...env } })
  closeSync(log)
  if (children.size === 0) process.once('exit', killAll)
  children.add(child)
  child.once('close', () => {
    children.delete(child)
    if (children.size === 0) process.off('exit', killAll)
  })
  return child
}

/** A node that runs: its application and its CometBFT. */
export type RunningNode = Awaited<ReturnType<typeof startNode>>

/**
 * Makes a network of `count` validators with the public accounts, account i owning the candidacy of node i, and then
 * full nodes. `more`: further arguments of `svcd testnet`.
 */
export async function makeNetwork(
  output: string,
  count: number,
  blockTime = '200ms',
  fullNodes = 0,
  more: readonly string[] = [],
): Promise<readonly NetworkNode[]> {
  const base = await freeBasePort(count + fullNodes)
  const options = `--validators ${count} --full-nodes ${fullNodes} --base-port ${base} --block-time ${blockTime}`
  const made = await svcd(['testnet', ...options.split(' '), '--output', output, '--public-keys', '--json', ...more])
  if (made.status !== 0) throw new Error(`svcd testnet ended with ${made.status}: ${made.stderr}`)
  return (JSON.parse(made.stdout) as { nodes: readonly NetworkNode[] }).nodes
}

/** Sets these values, by their names such as `p2p.pex`, in the config.toml of a home whose CometBFT does not run. */
export function setCometConfig({ home }: Pick<NetworkNode, 'home'>, values: Parameters<typeof setTomlValues>[1]): void {
  const { config } = homeFiles(home)
  writeFileSync(config, setTomlValues(readFileSync(config, 'utf8'), values))
}

/**
 * Starts a node by its scripts, with these arguments more for its application. Resolves when that listens. `program`:
 * its CometBFT. The order of CometBFT's calls is checked when the node or the network ends.
 */
export async function startNode(
  { home }: NetworkNode,
  more: readonly string[] = [],
  program?: string,
  { within = [], abci, env = {} }: NodePlace = {},
) {
  const path = program ?? (await findCometBft()).path
  const listen = abci === undefined ? [] : ['--abci', `tcp://${abci.application.host}:${abci.application.port}`]
  const args = ['--os', 'ubuntu', '--log-file', 'logs/app.log', ...listen, ...more]
  const app = startScript(home, 'app.sh', args, { env, within })
  await new Promise<void>((done, failed) => {
    app.once('message', () => done())
    app.once('close', (status) => failed(new Error(`${home}/app.sh ended with ${status}`)))
  })
  const recorder = await recordAbci(abci?.application ?? { path: join(home, 'abci.sock') }, abci?.recorder)
  recorders.add(recorder)
  const startComet = (): ChildProcess =>
    startScript(home, 'cometbft.sh', ['--proxy_app', recorder.address], { env: { SVCD_COMETBFT: path }, within })
  let node = startComet()
  const pids = (): readonly [cometBft: number, application: number] => [node.pid as number, app.pid as number]
  const closed = new Promise<number | null>((done) => app.once('close', done))
  /**
   * `SIGKILL` for both at once, or an orderly stop: CometBFT first. Resolves when neither runs, with the application's
   * exit status.
   */
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    node.kill(signal)
    if (signal === 'SIGTERM') await allGone([pids()[0]])
    app.kill(signal)
    await allGone(pids())
    await recorder.close()
    return closed
  }
  return {
    get pids() {
      return pids()
    },
    /** What read the calls of its CometBFT. */
    recorder,
    /** The exit status of the application, once it has ended by itself or was ended. */
    ended: closed,
    end,
    /** Starts its CometBFT, which has ended, beside the application, which runs. */
    startCometBft: () => {
      node = startComet()
    },
  }
}

/**
 * Starts the gateway of a node that has blocks; resolves with its process id when it is ready, or else `isUp`. Unless
 * `args` say otherwise it serves however old the head is: on a busy machine there is no block for 10 s now and then.
 */
export async function startNodeGateway(
  node: NetworkNode,
  args: readonly string[] = [],
  isUp = gatewayReady,
): Promise<number> {
  const child = startScript(node.home, 'gateway.sh', ['--stalled-after', '0', ...args])
  const ended = new Promise<never>((_, failed) =>
    child.once('close', (status) => failed(new Error(`${node.home}/gateway.sh ended with ${status}`))),
  )
  await Promise.race([isUp(node), ended])
  return child.pid as number
}

const untilReadyz = ({ gateway }: NetworkNode, says: (status: number) => boolean): Promise<unknown> =>
  until(
    async () => says((await fetch(`${gateway}/readyz`).catch(() => undefined))?.status ?? 0),
    WATCH_MS_MAX,
    () => `the gateway at ${gateway} is not ready`,
    50,
  )

/** Resolves when the gateway of a node, which was started before, is ready. */
export const gatewayReady = (node: NetworkNode): Promise<unknown> => untilReadyz(node, (status) => status === 200)

/** Resolves when it answers, ready or not. */
export const gatewayAnswers = (node: NetworkNode): Promise<unknown> => untilReadyz(node, (status) => status > 0)

/**
 * Kills what is left. Resolves with the programs that still ran. Throws when a CometBFT called its application in an
 * order that the grammar does not have.
 */
export async function endNetwork(): Promise<readonly string[]> {
  const left = [...children].filter(({ pid }) => isRunning(pid as number))
  killAll()
  await allGone(left.map(({ pid }) => pid as number))
  const ended = [...recorders]
  recorders.clear()
  await Promise.all(ended.map((recorder) => recorder.close()))
  return left.map(({ spawnfile }) => spawnfile)
}

/** What CometBFT's RPC answers to a GET. Throws Broken for an error. */
export async function askNode<T>({ rpc }: Pick<NetworkNode, 'rpc'>, path: string): Promise<T> {
  const { result, error } = (await (await fetch(`${rpc}/${path}`)).json()) as { result?: T; error?: object }
  need(result !== undefined, () => `${path}: ${JSON.stringify(error)}`)
  return result
}

/** The JSON that an application's query answers. */
export async function queryNode<T>(node: NetworkNode, path: string): Promise<T> {
  const { response } = await askNode<{ response: { value: string } }>(
    node,
    `abci_query?path=${encodeURIComponent(`"${path}"`)}`,
  )
  return JSON.parse(Buffer.from(response.value, 'base64').toString()) as T
}

/** Head of a node's application; undefined while it does not answer. */
export async function headOf(node: NetworkNode): Promise<Head | undefined> {
  const info = await askNode<{ response: { last_block_height?: string; last_block_app_hash?: string } }>(
    node,
    'abci_info',
  ).catch(() => undefined)
  const { last_block_height: height, last_block_app_hash: appHash = '' } = info?.response ?? {}
  return height === undefined ? undefined : { height: Number(height), appHash }
}

/** The height of a node's application; 0 while it does not answer. */
export const heightOrZero = async (node: NetworkNode): Promise<number> => (await headOf(node))?.height ?? 0

/**
 * Watches the applications until each has told its app hash at `count` heights above `above` that all the others told
 * too. Throws when two told different ones, and when they do not get there.
 */
export async function watchHeads(nodes: readonly NetworkNode[], above: number, count: number): Promise<void> {
  const seen = nodes.map(() => new Map<number, string>())
  let heads: readonly (Head | undefined)[] = []
  const look = async (): Promise<boolean> => {
    heads = await Promise.all(nodes.map(headOf))
    for (const [at, head] of heads.entries())
      if (head !== undefined && head.height > above) seen[at]?.set(head.height, head.appHash)
    const common = [...(seen[0]?.keys() ?? [])].filter((height) => seen.every((one) => one.has(height)))
    for (const height of common) {
      const hashes = new Set(seen.map((one) => one.get(height)))
      need(hashes.size === 1, () => `height ${height}: the nodes tell different app hashes: ${[...hashes].join(', ')}`)
    }
    return common.length >= count
  }
  await until(look, WATCH_MS_MAX, () => `no ${count} heights above ${above} of all: ${JSON.stringify(heads)}`, 40)
}
