import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { freePorts } from './processes.ts'

const root = join(import.meta.dirname, '../../..')
const ANSWER_MS = 300_000

/** Puts this checkout's `@svcd/abci` where programs in `folder` find it. */
export function linkPackage(folder: string): void {
  const installed = join(folder, 'node_modules/@svcd/abci')
  mkdirSync(installed, { recursive: true })
  const manifest = { name: '@svcd/abci', version: '0.0.0', type: 'module', exports: './index.js' }
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
  const source = pathToFileURL(join(root, 'src/abci/index.ts')).href
  writeFileSync(join(installed, 'index.js'), `export * from '${source}'\n`)
}

/** Writes the programs of the examples into `folder`, and the quick start of README. */
export function writeExamples(folder: string): void {
  for (const name of ['kvstore', 'counter', 'mempool'])
    copyFileSync(join(root, 'examples', name, `${name}.ts`), join(folder, `${name}.mts`))
  const [, quickStart = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'src/abci/README.md'), 'utf8')) ?? []
  // The examples take their address from the command line, the quick start has it in the code.
  writeFileSync(join(folder, 'quickStart.mts'), quickStart.replace("'tcp://127.0.0.1:26658'", "process.argv[2] ?? ''"))
}

export interface Started {
  readonly child: ChildProcess
  stop(): Promise<void>
}

/** Starts a program, whose standard output is read. */
export function startProgram(
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
  cwd?: string,
): Started & { readonly output: Readable } {
  const env = { ...process.env, ...more, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' }
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env, cwd })
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { child, stop, output: child.stdout as Readable }
}

/** Starts a program of `writeExamples` and resolves when it listens. It runs in `cwd`, by default an empty folder. */
export async function startExample(
  folder: string,
  name: string,
  address: string,
  node = process.execPath,
  extension = '.mts',
  cwd = mkdtempSync(join(folder, 'run-')),
): Promise<Started> {
  const { output, ...program } = startProgram(node, [join(folder, `${name}${extension}`), address], {}, cwd)
  const lines = createInterface({ input: output })
  const [line] = await Promise.race([once(lines, 'line'), once(program.child, 'exit')])
  if (line !== `listening on ${address}`) throw new Error(`${name}: ${line}`)
  return program
}

/** What abci-cli prints for a program of `writeExamples`; in its lines after `> ` it is what they were asked. */
export const transcriptOf = (name: string): string =>
  readFileSync(join(root, `test/vectors/abci-cli/${name}.txt`), 'utf8')

/** What abci-cli prints for the commands of a transcript, which are its lines that begin with `> `. */
export async function replay(cli: string, address: string, transcript: string): Promise<string> {
  const args = ['--address', address, '--log_level=none', '--verbose', 'batch']
  const running = promisify(execFile)(cli, args, { timeout: ANSWER_MS })
  running.child.stdin?.end(transcript.match(/(?<=^> ).*\n/gm)?.join(''))
  const { stdout } = await running
  return stdout
}

/** A CometBFT node in `home`, which `cometbft init` has filled. */
export interface Node extends Started {
  /** Calls a method of its RPC, such as `status` or `broadcast_tx_sync?tx="a=b"`. */
  ask<T>(path: string): Promise<T>
}

/**
 * Settings with which a node in `home` makes blocks quickly, waits for that of a transaction, and is reached at free
 * ports. Returns its RPC address.
 */
export async function configure(home: string): Promise<string> {
  const [rpc, p2p] = await freePorts(2)
  const file = join(home, 'config/config.toml')
  const settings = readFileSync(file, 'utf8')
    .replace('tcp://127.0.0.1:26657', `tcp://127.0.0.1:${rpc}`)
    .replace('tcp://0.0.0.0:26656', `tcp://127.0.0.1:${p2p}`)
    .replace(/^timeout_commit = .*/m, 'timeout_commit = "50ms"')
    .replace(/^timeout_broadcast_tx_commit = .*/m, 'timeout_broadcast_tx_commit = "300s"')
  writeFileSync(file, settings)
  return `http://127.0.0.1:${rpc}`
}

/** Starts the node in `home`, with settings such as CMT_MEMPOOL_TYPE, and resolves when it has a block since it started. */
export async function startNode(
  program: string,
  home: string,
  rpc: string,
  address: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<Node> {
  const { output, ...node } = startProgram(program, ['start', '--home', home, '--proxy_app', address], settings)
  let log = ''
  const ready = new Promise<void>((resolve) => {
    node.child.once('exit', () => resolve())
    output.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000)
      if (log.includes('committed state')) resolve()
    })
  })
  const ask = async <T>(path: string): Promise<T> => {
    if (node.child.exitCode !== null) throw new Error(`the node has stopped:\n${log}`)
    const answer = (await (await fetch(`${rpc}/${path}`)).json()) as { result: T; error?: { data?: string } }
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error.data}`)
    return answer.result
  }
  await ready
  if (node.child.exitCode !== null) throw new Error(`the node has stopped:\n${log}`)
  return { ...node, ask }
}
