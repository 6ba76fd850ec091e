import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packagedFolders, programFile } from '../../base/cometbftPackage.ts'
import { stopChild } from '../../base/stopChild.ts'
import { writeInOneStep } from '../../base/writeWhole.ts'

/**
 * The settings of a node.
 * @example const options: NodeOptions = { home: 'data', proxyApp: 'tcp://127.0.0.1:26658', join: 'http://10.0.0.1:26657' }
 */
export interface NodeOptions {
  /** The folder of the node's configuration and data, which `cometbft init` makes when it is not there. */
  readonly home: string
  /** The address on which the application listens. */
  readonly proxyApp: string
  /** The id of a new chain; by default one that CometBFT invents. */
  readonly chainId?: string
  /** The port of the RPC on 127.0.0.1; that of peers is one below. Default: 26657. */
  readonly port?: number
  /**
   * The RPC address of a node, `http://host:port`, whose chain this one joins: with its genesis file, as its peer and from
   * one of its snapshots. It is trusted for the newest header. It has to answer when the home is made, and may be away later.
   */
  readonly join?: string | undefined
  /**
   * Settings of CometBFT as environment variables, such as CMT_P2P_LADDR, beside those of this process. They win over the ones
   * above. Default: those of this process.
   */
  readonly env?: NodeJS.ProcessEnv
  /** The program. Default: that of `@svcd/cometbft-<platform>`, or the `cometbft` on PATH. */
  readonly program?: string
}

/**
 * A CometBFT node that runs.
 * @example process.once('SIGTERM', () => node.stop())
 */
export interface CometNode {
  /** Resolves with the exit status when the node has ended by itself or by `stop`; null for a signal. */
  readonly ended: Promise<number | null>
  /** Ends the node with SIGTERM, after 10 s with SIGKILL, and resolves when it has ended. Stop it before the application's server. */
  stop(): Promise<void>
}

const LOG_LEVEL = 'state:info,statesync:info,*:error'

/** The program that npm has installed for this machine, or the one on PATH. */
function findProgram(): string {
  const [folder] = packagedFolders([resolve('package.json'), import.meta.url])
  return folder === undefined ? 'cometbft' : join(folder, programFile())
}

interface Answers {
  readonly genesis: { readonly genesis: object }
  readonly status: {
    readonly node_info: { readonly id: string; readonly listen_addr: string }
    readonly sync_info: { readonly latest_block_height: string; readonly latest_block_hash: string }
  }
}

/** How long a peer may take for an answer, in ms. A genesis file has up to 16 MB; CometBFT sends no larger one. */
const ANSWER_MS: Readonly<Record<keyof Answers, number>> = { genesis: 120_000, status: 10_000 }

interface RpcAnswer<Result> {
  readonly result?: Result
  readonly error?: { readonly message?: string; readonly data?: string }
}

async function ask<M extends keyof Answers>(rpc: string, method: M): Promise<Answers[M]> {
  const response = await fetch(`${rpc}/${method}`, { signal: AbortSignal.timeout(ANSWER_MS[method]) })
  const { result, error } = (await response.json()) as RpcAnswer<Answers[M]>
  if (result !== undefined) return result
  throw new Error(`${rpc}/${method}: ${error?.data ?? error?.message ?? `HTTP status ${response.status}`}`)
}

/** The settings with which CometBFT joins the chain of the node at `rpc`. */
async function joinSettings(rpc: string): Promise<NodeJS.ProcessEnv> {
  const { node_info, sync_info } = await ask(rpc, 'status')
  const port = /:(\d+)$/.exec(node_info.listen_addr)?.[1]
  // They go into config.toml.
  if (!/^[0-9a-f]+$/.test(node_info.id) || port === undefined)
    throw new Error(`${rpc}/status: expected the id and the address of a node`)
  return {
    CMT_P2P_PERSISTENT_PEERS: `${node_info.id}@${new URL(rpc).hostname}:${port}`,
    CMT_STATESYNC_ENABLE: 'true',
    CMT_STATESYNC_DISCOVERY_TIME: '5s',
    // CometBFT wants two of them, to compare their headers.
    CMT_STATESYNC_RPC_SERVERS: `${rpc},${rpc}`,
    CMT_STATESYNC_TRUST_HEIGHT: sync_info.latest_block_height,
    CMT_STATESYNC_TRUST_HASH: sync_info.latest_block_hash,
  }
}

function edit(file: string, change: (text: string) => string): void {
  writeInOneStep(file, change(readFileSync(file, 'utf8')))
}

const GENESIS = 'config/genesis.json'
const genesisOf = (home: string): string => join(home, GENESIS)

/** What `init` makes, but for the genesis file. It keeps what is there, and not all of it is written in one step. */
const MADE = [
  'config/config.toml',
  'config/node_key.json',
  'config/priv_validator_key.json',
  'data/priv_validator_state.json',
]

/** The file that is there while a home is made, so an interrupted one is made again. It names what was not there before. */
const markOf = (home: string): string => join(home, 'unfinished')

/** Creates a home. The peer is asked first: a node whose home lacks the peer's genesis file would start a new chain. */
async function makeHome(
  { home, chainId, join: peer }: NodeOptions,
  settings: NodeJS.ProcessEnv,
  program: string,
): Promise<void> {
  const joined = peer === undefined ? undefined : await ask(peer, 'genesis')
  const [mark, config] = [markOf(home), join(home, 'config', 'config.toml')]
  mkdirSync(home, { recursive: true, mode: 0o700 })
  if (!existsSync(mark)) writeFileSync(mark, MADE.filter((path) => !existsSync(join(home, path))).join('\n'))
  // An interrupted `init` may have left parts of them. What somebody put there stays.
  const left = readFileSync(mark, 'utf8')
    .split('\n')
    .filter((path) => MADE.includes(path))
  for (const path of [...left, GENESIS]) rmSync(join(home, path), { force: true })
  execFileSync(program, ['init', '--home', home], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (joined !== undefined) {
    const peers = `persistent_peers = "${settings['CMT_P2P_PERSISTENT_PEERS']}"`
    edit(config, (toml) => toml.replace(/^persistent_peers = .*$/m, peers))
    edit(genesisOf(home), () => JSON.stringify(joined.genesis))
  } else if (chainId !== undefined)
    edit(genesisOf(home), (genesis) => JSON.stringify({ ...JSON.parse(genesis), chain_id: chainId }))
  rmSync(mark)
}

/**
 * Starts a CometBFT node beside an application, and makes its home the first time: that of a chain of its own with one
 * validator, or of the chain that it joins. A home that is there stays as it is, and starts also while its peer is away.
 * The node prints to this process's output. Suits development, tests and small networks; for more, write config.toml
 * yourself. Rejects when there is no CometBFT, and the first time also when `init` fails or the peer does not answer.
 * @example const node = await startNode({ home: 'data', proxyApp: server.address, chainId: 'my-chain' })
 */
export async function startNode(options: NodeOptions): Promise<CometNode> {
  const { home, proxyApp, port = 26_657, join: peer, env = process.env, program = findProgram() } = options
  const isNew = !existsSync(genesisOf(home)) || existsSync(markOf(home))
  // Later the peer is in config.toml too. What else it says only a node without blocks needs.
  const joining =
    peer === undefined ? {} : await joinSettings(peer).catch((error) => (isNew ? Promise.reject(error) : {}))
  if (isNew) await makeHome(options, joining, program)
  const settings = {
    ...process.env,
    CMT_RPC_LADDR: `tcp://127.0.0.1:${port}`,
    CMT_P2P_LADDR: `tcp://127.0.0.1:${port - 1}`,
    CMT_LOG_LEVEL: LOG_LEVEL,
    ...joining,
    ...env,
  }
  const child = spawn(program, ['start', '--home', home, '--proxy_app', proxyApp], { stdio: 'inherit', env: settings })
  await once(child, 'spawn')
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  return {
    ended,
    // CometBFT does not always end when it is asked in the middle of a block.
    stop: () => stopChild(child, ended),
  }
}
