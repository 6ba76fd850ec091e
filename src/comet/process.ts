import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, readFileSync, renameSync, statSync, type WriteStream } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'smol-toml'
import { CometError, reasonOf } from './errors.ts'
import { homeFiles } from './home.ts'
import { consensusFailureIn, rollbackFailureOf, rolledBackTo } from './messages.ts'
import { dirname } from 'node:path'
import { ensureFolder } from '../base/folder.ts'

/** Tries to listen on `host`:`port` and stops at once. Resolves with the error, or undefined when it worked. */
export const listenError = (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((done) => {
    const server = createServer().once('error', done)
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)))
  })

/** Finds a free port of 127.0.0.1. */
export const freePort = (): Promise<number> =>
  new Promise((done, failed) => {
    const server = createServer()
      .once('error', failed)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        server.close(() => done(port))
      })
  })

/**
 * How the process ended. `wasStopped`: `stop` was called. `lastLines`: the last 20 lines that it printed, for messages.
 */
export type CometExit = {
  code: number | null
  signal: NodeJS.Signals | null
  wasStopped: boolean
  lastLines: readonly string[]
}

/** A running node. */
export type CometProcess = {
  pid: number
  /**
   * Sends SIGTERM, and SIGKILL after `graceMs` (default 10,000). Resolves when the process is gone. May be repeated.
   */
  stop: (graceMs?: number) => Promise<void>
  /** Resolves when the process has ended. Never rejects. */
  exited: Promise<CometExit>
  /**
   * Resolves with the reason when consensus fails: the process runs on, but makes no more blocks. Else stays pending.
   */
  consensusFailed: Promise<string>
}

/** `program`: the path of CometBFT. `onLine` receives each line that it prints. */
type RunOptions = {
  program: string
  args: readonly string[]
  logFile: string
  onLine?: (line: string) => void
  onExit?: (exit: CometExit) => void
}

/** Like RunOptions. `logFile`: default `<home>/logs/cometbft.log`. */
export type CometProcessOptions = Omit<RunOptions, 'args' | 'logFile'> & { home: string; logFile?: string }

const GRACE_MS = 10_000
const LAST_LINES = 20

/**
 * Two nodes with one key would sign twice. A process left over from an earlier run is found by the port that it holds.
 */
const checkPorts = async (home: string): Promise<void> => {
  const path = homeFiles(home).config
  let config: { rpc?: { laddr?: unknown }; p2p?: { laddr?: unknown } }
  try {
    config = parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CometError(`cannot read ${path}: ${reasonOf(error)}`)
  }
  for (const [name, section] of [
    ['rpc', config.rpc],
    ['p2p', config.p2p],
  ] as const) {
    const [, host, port] = /^tcp:\/\/(.*):(\d+)$/.exec(String(section?.laddr)) ?? []
    if (host === undefined || (await listenError(host.replace(/^\[|\]$/g, ''), Number(port)))?.code !== 'EADDRINUSE')
      continue
    throw new CometError(
      `port ${port} (CometBFT ${name}) is in use. Another node may be running, perhaps one left over in ${home}: ` +
        'stop it, or choose another port',
    )
  }
}

/**
 * Runs a command of CometBFT in a process group of its own, so that Ctrl-C in a terminal reaches only this program,
 * which then stops it in order. It is killed when this program exits; if this program is killed itself, CometBFT dies
 * of the broken pipe with its next log line. Its output goes to the log file, at most 100 MiB in two files. Throws a
 * CometError when the program cannot be started.
 */
export const runCometBft = async ({
  program,
  args,
  logFile,
  onLine = () => {},
  onExit = () => {},
}: RunOptions): Promise<CometProcess> => {
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const log = openLogFile(logFile)
  const lastLines: string[] = []
  const consensusFailed = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => log.write(chunk))
    createInterface({ input: stream }).on('line', (line) => {
      lastLines.push(line)
      if (lastLines.length > LAST_LINES) lastLines.shift()
      const failure = consensusFailureIn(line)
      if (failure !== undefined) consensusFailed.resolve(failure)
      onLine(line)
    })
  }
  const kill = (signal: NodeJS.Signals) => child.kill(signal)
  const killAtExit = () => kill('SIGKILL')
  let wasStopped = false
  const exited = new Promise<CometExit>((done) => {
    child.once('close', (code, signal) => {
      process.off('exit', killAtExit)
      log.close()
      const exit = { code, signal, wasStopped, lastLines }
      onExit(exit)
      done(exit)
    })
  })
  const pid = await new Promise<number>((started, failed) => {
    child.once('spawn', () => started(child.pid as number))
    child.once('error', (error) => failed(new CometError(`cannot start CometBFT at ${program}: ${reasonOf(error)}`)))
  })
  process.once('exit', killAtExit)
  const stop = async (graceMs = GRACE_MS) => {
    wasStopped = true
    kill('SIGTERM')
    const waiting = new AbortController()
    const late = sleep(graceMs, undefined, { signal: waiting.signal }).then(
      () => kill('SIGKILL'),
      () => {},
    )
    await Promise.race([exited, late])
    waiting.abort()
    await exited
  }
  return { pid, stop, exited, consensusFailed: consensusFailed.promise }
}

/**
 * Starts the node of `home` with `runCometBft`. Also throws a CometError when one of its ports is in use, or when the
 * home has no config.
 */
export const startCometBft = async ({
  home,
  logFile = homeFiles(home).log,
  ...options
}: CometProcessOptions): Promise<CometProcess> => {
  await checkPorts(home)
  return await runCometBft({ ...options, logFile, args: ['node', '--home', home] })
}

/** The height of CometBFT's state, and the app hash after that block in upper-case hex. */
export type CometHead = { height: number; appHash: string }

const ROLLBACK_MS_MAX = 60_000

/**
 * Takes the state of a stopped CometBFT back by one height and returns where it then stands. Its blocks stay. If the
 * newest block is not in its state, as after a rollback, nothing changes, so a second call does the same as one. Throws
 * a CometError when the node is running, has only one block, or cannot be read. Blocks this thread until the program
 * ends.
 */
export const rollbackCometBft = (program: string, home: string): CometHead => {
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

/** A log that is kept in at most two files of `bytesMax` each: the current one and `<path>.1`. */
export type LogFile = { write: (chunk: Uint8Array) => void; close: () => void }

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * Opens `path` for appending and creates its folder if it is missing. A file that grows beyond `bytesMax` is renamed to
 * `<path>.1`, and a new one begins. Write errors are not reported, so that a full disk costs log lines and nothing
 * else.
 */
export const openLogFile = (path: string, bytesMax = 50 * 1024 * 1024): LogFile => {
  ensureFolder(dirname(path))
  let bytes = sizeOf(path)
  let stream: WriteStream | undefined
  const open = () => {
    if (bytes >= bytesMax) {
      stream?.end()
      renameSync(path, `${path}.1`)
      bytes = 0
      stream = undefined
    }
    if (stream === undefined) {
      stream = createWriteStream(path, { flags: 'a' })
      stream.on('error', () => {})
    }
    return stream
  }
  open()
  return {
    write: (chunk) => {
      open().write(chunk)
      bytes += chunk.length
    },
    close: () => stream?.end(),
  }
}
