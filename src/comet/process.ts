import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { stopChild } from '../base/stopChild.ts'
import { type LogLevel, type LogSettings, openLogFile } from '../base/logFile.ts'
import { CometError, reasonOf } from './errors.ts'
import { goMaxProcs } from './goMaxProcs.ts'
import { homeFiles, listenAddresses } from './home.ts'
import { consensusFailureIn, fatalErrorIn, isInfo, lastErrorIn, rollbackFailureOf, rolledBackTo } from './messages.ts'

/** Listens on `host`:`port`, where 0 is any free port, and stops at once. Resolves with the port. */
export const tryPort = (host: string, port: number): Promise<number> =>
  new Promise((done, failed) => {
    const server = createServer().once('error', failed)
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address() as AddressInfo
      server.close(() => done(address.port))
    })
  })

const CONNECT_MS = 1000

/** Connects to `host`:`port` and hangs up. Resolves with why it could not; undefined when it could. */
export async function tryConnection(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const socket = createConnection({ host, port })
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) })
  return await connected
    .then(() => undefined)
    .catch((error: Error) => error)
    .finally(() => socket.destroy())
}

/**
 * Says how a port is in use that nobody can listen on (EADDRINUSE): `byServer`, or what to do about it when no server has
 * it. Then the system has given the port to an outgoing connection, of any program, as its own end.
 */
export async function describeUse(host: string, port: number, byServer = 'is in use'): Promise<string> {
  if ((await tryConnection(host, port))?.code !== 'ECONNREFUSED') return byServer
  return (
    'is in use, not by a server but by an outgoing connection, to which the system gave it. Wait until that connection has ' +
    `ended. To keep the port for servers, run sysctl -w net.ipv4.ip_local_reserved_ports=${port}`
  )
}

/** A CometBFT command to run: its path, its arguments, and where its output goes. `onLine` is called with each line. */
type RunOptions = {
  program: string
  args: readonly string[]
  logFile: string
  env?: NodeJS.ProcessEnv
  onLine?: (line: string) => void
}

const LAST_LINES = 20

/**
 * Two nodes with one key would sign twice. A process left over from an earlier run is found by the port that it holds.
 */
const checkPorts = async (home: string): Promise<void> => {
  for (const [name, { host, port }] of Object.entries(listenAddresses(home))) {
    await tryPort(host, port).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return
      const byServer = `is in use. Another node may be running, perhaps one left over in ${home}: stop it, or choose another port`
      throw new CometError(`port ${port} (CometBFT ${name}) ${await describeUse(host, port, byServer)}`)
    })
  }
}

/**
 * Why CometBFT ended. `fatal`: what Go or its command said. CometBFT logs much while it stops, so an error that it
 * logged is the reason only when nothing else is known.
 */
const endReason = (
  code: number | null,
  signal: string | null,
  fatal: string | undefined,
  lastLines: readonly string[],
) => {
  if (signal !== null) return `ended by ${signal}`
  const last = lastLines.at(-1)
  const status = code === 0 ? 'it was asked to stop' : `exit status ${code}`
  return fatal ?? lastErrorIn(lastLines) ?? (last === undefined || isInfo(last) ? status : last)
}

/**
 * Runs a command of CometBFT in a process group of its own, so that Ctrl-C in a terminal reaches only this program,
 * which then stops it in order. It is killed when this program exits; if this program is killed itself, CometBFT dies
 * of the broken pipe with its next log line. Its output goes to the log file, whose size is bounded. Throws a
 * CometError when the program cannot be started.
 */
export const runCometBft = async ({ program, args, logFile, env = process.env, onLine }: RunOptions) => {
  const log = openLogFile(logFile)
  const child = spawn(program, args, { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const lastLines: string[] = []
  let fatal: string | undefined
  const consensusFailed = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', log)
    createInterface({ input: stream }).on('line', (line) => {
      onLine?.(line)
      lastLines.push(line)
      if (lastLines.length > LAST_LINES) lastLines.shift()
      // Go prints the stacks of all goroutines after the line that tells the reason.
      fatal ??= fatalErrorIn(line)
      const failure = consensusFailureIn(line)
      if (failure !== undefined) consensusFailed.resolve(failure)
    })
  }
  const killAtExit = () => child.kill('SIGKILL')
  const exited = new Promise<{ lastLines: readonly string[]; reason: string }>((done) => {
    child.once('close', (code, signal) => {
      process.off('exit', killAtExit)
      done({ lastLines, reason: endReason(code, signal, fatal, lastLines) })
    })
  })
  const pid = await new Promise<number>((started, failed) => {
    child.once('spawn', () => started(child.pid as number))
    child.once('error', (error) => failed(new CometError(`cannot start CometBFT at ${program}: ${reasonOf(error)}`)))
  })
  process.once('exit', killAtExit)
  return {
    pid,
    /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the process is gone. May be repeated. */
    stop: (graceMs?: number): Promise<void> => stopChild(child, exited, graceMs),
    /** Resolves when the process has ended, with the reason and the last 20 lines that it printed. Never rejects. */
    exited,
    /**
     * Resolves with the reason when consensus fails: the process runs on, but makes no more blocks. Else stays pending.
     */
    consensusFailed: consensusFailed.promise,
  }
}

/** A running CometBFT. */
export type CometProcess = Awaited<ReturnType<typeof runCometBft>>

type StartOptions = LogSettings & { program: string; home: string; env?: NodeJS.ProcessEnv }

/**
 * CometBFT's levels for ours. It has no `warn`. Consensus and the indexer log six lines a block, of which only errors
 * matter. The line of `state` for each block stays at every level, because `svcd doctor` reads in it that blocks are
 * made again.
 */
const COMET_LOG_LEVELS: Readonly<Record<LogLevel, string>> = {
  debug: 'debug',
  info: 'consensus:error,txindex:error,*:info',
  warn: 'state:info,*:error',
  error: 'state:info,*:error',
}

/**
 * Starts the node of `home` with `runCometBft`. Also throws a CometError when one of its ports is in use, or when the
 * home has no config. Source of GOMAXPROCS: goMaxProcs.ts.
 */
export const startCometBft = async (options: StartOptions): Promise<CometProcess> => {
  const { program, home, logLevel, logFormat, env: given = process.env } = options
  await checkPorts(home)
  const threads = goMaxProcs(given)
  const env = {
    ...given,
    ...(threads !== undefined && { GOMAXPROCS: threads }),
    ...(logLevel !== undefined && { CMT_LOG_LEVEL: COMET_LOG_LEVELS[logLevel] }),
    ...(logFormat !== undefined && { CMT_LOG_FORMAT: logFormat === 'json' ? 'json' : 'plain' }),
  }
  return await runCometBft({ program, args: ['node', '--home', home], logFile: homeFiles(home).log, env })
}

const ROLLBACK_MS_MAX = 60_000

/**
 * Takes the state of a stopped CometBFT back by one height and returns where it then stands: its height, and the app
 * hash after that block in upper-case hex. Its blocks stay. If the newest block is not in its state, as after a
 * rollback, nothing changes, so a second call does the same as one. Throws a CometError when the node is running, has
 * only one block, or cannot be read. Blocks this thread until the program ends.
 */
export const rollbackCometBft = (program: string, home: string): { height: number; appHash: string } => {
  let stdout: string
  try {
    stdout = execFileSync(program, ['rollback', '--home', home], {
      encoding: 'utf8',
      timeout: ROLLBACK_MS_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string }
    throw new CometError(`CometBFT in ${home} was not rolled back: ${rollbackFailureOf(stderr) ?? reasonOf(error)}`)
  }
  const head = rolledBackTo(stdout)
  if (head !== undefined) return head
  throw new CometError(
    `cometbft rollback printed ${JSON.stringify(stdout.slice(0, 200))}, which svcd does not understand`,
  )
}
