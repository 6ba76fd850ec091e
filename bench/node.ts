import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goMaxProcs } from '../src/comet/goMaxProcs.ts'
import { homeFiles, writeNodeHome } from '../src/comet/home.ts'
import { type CometProcess, runCometBft, startCometBft } from '../src/comet/process.ts'
import { type NodeRpc, openNodeRpc, waitForNode } from '../src/comet/rpc.ts'
import { setTomlValues } from '../src/comet/config.ts'
import { CHAIN_ID } from './accounts.ts'
import type { Target } from './load/job.ts'
import type { Programs } from './peers.ts'
import { until } from './until.ts'

/**
 * An application that is measured: ours, its signatures alone, CometBFT's kvstore over the socket, the same inside
 * CometBFT, and a chain of cosmos-sdk, which has its own CometBFT inside.
 */
export type AppKind = 'svcd' | 'verifier' | 'kvSocket' | 'kvInProcess' | 'sdk'

/** Settings that every node of a benchmark has, whatever its application. */
export const NODE_SETTINGS = {
  log_level: 'error',
  // Blocks come as fast as they can be made.
  'consensus.timeout_commit': '0s',
  'mempool.recheck': false,
  'mempool.size': 50_000,
  'mempool.cache_size': 100_000,
  'tx_index.indexer': 'null',
} as const

export interface BenchNode extends Target {
  readonly rpc: NodeRpc
  /** Process ids; an application inside CometBFT has none of its own. */
  readonly pids: { readonly app: number | undefined; readonly comet: number }
  /** From the start of the application to its listening, in ms. */
  readonly appStartMs: number
  /** Ends both; the home stays. */
  stop(): Promise<void>
}

/**
 * How a node is started. What is missing of `home` is made: a home that has run goes on, and one that has a genesis
 * keeps it, whatever `appState` is.
 */
export interface NodeOptions {
  readonly programs: Programs
  readonly app: AppKind
  readonly home: string
  readonly ports: readonly [rpc: number, p2p: number]
  readonly appState: (pubKey: string) => object
  /** Flags of the application's Node. */
  readonly nodeFlags?: readonly string[]
  /** More flags of `svcd start`. */
  readonly appFlags?: readonly string[]
  /** Changes to NODE_SETTINGS. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
  /** `GOMAXPROCS` of the node; by default what svcd sets. */
  readonly goMaxProcs?: number | undefined
}

const SVCD = fileURLToPath(new URL('../src/cli/svcd.js', import.meta.url))
const VERIFIER = fileURLToPath(new URL('verifier.ts', import.meta.url))
const LISTEN_MS_MAX = 120_000
const END_MS_MAX = 30_000
const NODE_MS_MAX = 300_000

function makeHome({ home, app, ports: [rpc, p2p], appState, settings }: NodeOptions, abci: string): void {
  const isNew = !existsSync(homeFiles(home).genesis)
  const genesis = { appState: {} as object, genesisTime: '2026-01-01T00:00:00Z' }
  const options = {
    home,
    chainId: CHAIN_ID,
    moniker: 'bench',
    privateNet: true,
    genesis,
    addresses: { rpc: `tcp://127.0.0.1:${rpc}`, p2p: `tcp://127.0.0.1:${p2p}`, abci },
  }
  if (isNew) {
    // The key first: our genesis names it.
    writeNodeHome({ ...options, home, genesis })
    if (app === 'svcd' || app === 'sdk') {
      const path = homeFiles(home).genesis
      const { validators, ...file } = JSON.parse(readFileSync(path, 'utf8')) as {
        validators: { pub_key: { value: string } }[]
      }
      const state = appState(validators[0]?.pub_key.value as string)
      // In cosmos-sdk the staking module alone names them.
      writeFileSync(path, JSON.stringify({ ...file, ...(app === 'svcd' && { validators }), app_state: state }))
    }
  } else writeNodeHome(options)
  const { config } = homeFiles(home)
  writeFileSync(config, setTomlValues(readFileSync(config, 'utf8'), { ...NODE_SETTINGS, ...settings }))
}

async function startApp(
  { programs, app, home, nodeFlags = [], appFlags = [] }: NodeOptions,
  socket: string,
): Promise<ChildProcess | undefined> {
  if (app === 'kvInProcess' || app === 'sdk') return undefined
  const address = `unix://${socket}`
  const commands: Readonly<Record<typeof app, readonly [string, ...string[]]>> = {
    svcd: [process.execPath, ...nodeFlags, SVCD, 'start', '--home', home, '--abci', address, ...appFlags],
    verifier: [process.execPath, VERIFIER, address],
    kvSocket: [programs.abciCli, 'kvstore', '--address', address, '--log_level', 'error'],
  }
  const [program, ...args] = commands[app]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000)
  })
  const killAtExit = (): boolean => child.kill('SIGKILL')
  process.once('exit', killAtExit)
  child.once('exit', () => process.off('exit', killAtExit))
  const why = (): string => `${app} does not listen: ${said}`
  const isListening = (): boolean => {
    if (child.exitCode !== null) throw new Error(why())
    return existsSync(socket)
  }
  await until(isListening, LISTEN_MS_MAX, why, 5)
  return child
}

/** CometBFT, or cosmos-sdk with it inside. No fee is asked for, as of svcd's peers, and the ports of others stay free. */
async function startComet({ programs, app, home, goMaxProcs: threads }: NodeOptions): Promise<CometProcess> {
  const env = { ...process.env, ...(threads !== undefined && { GOMAXPROCS: String(threads) }) }
  if (app !== 'sdk') return await startCometBft({ program: programs.cometbft, home, env })
  const args = ['start', '--home', home, '--minimum-gas-prices', '0stake', '--grpc.enable=false']
  const own = goMaxProcs(env)
  return await runCometBft({
    program: programs.sdk as string,
    args,
    logFile: homeFiles(home).log,
    env: { ...env, ...(own !== undefined && { GOMAXPROCS: own }) },
  })
}

async function endApp(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX)
  await exited
  clearTimeout(timer)
}

/** Starts an application and a CometBFT node on it; resolves when the node has made its first block of this run. */
export async function startNode(options: NodeOptions): Promise<BenchNode> {
  const {
    app,
    home,
    ports: [port],
  } = options
  mkdirSync(home, { recursive: true })
  const socket = join(home, 'abci.sock')
  makeHome(options, app === 'kvInProcess' || app === 'sdk' ? 'kvstore' : `unix://${socket}`)
  const startMs = performance.now()
  const child = await startApp(options, socket)
  const appStartMs = performance.now() - startMs
  const comet = await startComet(options)
  const rpc = openNodeRpc(`http://127.0.0.1:${port}`)
  const stop = async (): Promise<void> => {
    rpc.close()
    await comet.stop()
    await endApp(child)
  }
  const ended = comet.exited.then(({ reason }): never => {
    throw new Error(`${app}: the node ended: ${reason}`)
  })
  const firstBlock = async (): Promise<void> => {
    const { latestHeight } = await waitForNode(rpc, NODE_MS_MAX)
    // An application that writes a large genesis or snapshot does not answer meanwhile.
    const height = (): Promise<number> => rpc.committedHeight().catch(() => latestHeight)
    await until(async () => (await height()) > latestHeight, NODE_MS_MAX, `${app}: no block`)
  }
  ended.catch(() => undefined) // Later it ends because it is stopped.
  try {
    await Promise.race([firstBlock(), ended])
    return { host: '127.0.0.1', port, rpc, pids: { app: child?.pid, comet: comet.pid }, appStartMs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
