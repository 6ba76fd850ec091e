import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'smol-toml'
import { CometError, reasonOf } from './errors.ts'
import { homeFiles } from './home.ts'
import { consensusFailureIn, openLogFile } from './log.ts'

/** Why nothing can listen on `host`:`port`, tried and given up at once; undefined when it can. */
export const listenError = (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((done) => {
    const server = createServer().once('error', done)
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)))
  })

/** A port of 127.0.0.1 that nothing listens on. */
export const freePort = (): Promise<number> =>
  new Promise((done, failed) => {
    const server = createServer()
      .once('error', failed)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        server.close(() => done(port))
      })
  })

/** How the node ended. `asked`: `stop` was called. `lastLines`: the last 20 lines it printed, for a message. */
export type CometExit = {
  code: number | null
  signal: NodeJS.Signals | null
  asked: boolean
  lastLines: readonly string[]
}

/** A running node. */
export type CometProcess = {
  pid: number
  /** SIGTERM, and SIGKILL after `graceMs` (default 10,000). Resolves when the process is gone; any number of calls. */
  stop: (graceMs?: number) => Promise<void>
  /** Never rejects. */
  exited: Promise<CometExit>
  /** Resolves with the reason when its consensus fails: it lives on, but makes no more blocks. Stays open otherwise. */
  consensusFailed: Promise<string>
}

/** `program`: path of CometBFT. `onLine` gets each line it prints, `onExit` its end. */
type RunOptions = {
  program: string
  args: readonly string[]
  logFile: string
  onLine?: (line: string) => void
  onExit?: (exit: CometExit) => void
}

/** As RunOptions. `logFile`: default `<home>/logs/cometbft.log`. */
export type CometProcessOptions = Omit<RunOptions, 'args' | 'logFile'> & { home: string; logFile?: string }

const GRACE_MS = 10_000
const LAST_LINES = 20

/** Two nodes with one key would sign twice; an orphan of an earlier run is found by the port it still holds. */
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
      `port ${port} (CometBFT ${name}) is in use: does another node run, perhaps one left over in ${home}? Stop it, or choose another port`,
    )
  }
}

/**
 * Runs a command of CometBFT. It has a process group of its own, so Ctrl-C in a terminal reaches only us and we stop it
 * in order. It does not outlive us: at our exit it is killed, and should we be killed ourselves, it dies of the broken
 * pipe at its next log line. What it prints goes to the log file, at most 100 MiB in two files. Errors: CometError when
 * the program cannot be started.
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
  let asked = false
  const exited = new Promise<CometExit>((done) => {
    child.once('close', (code, signal) => {
      process.off('exit', killAtExit)
      log.close()
      const exit = { code, signal, asked, lastLines }
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
    asked = true
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
 * Starts the node of `home`, as above. Errors: CometError also when one of the home's ports is in use, or the home has
 * no config.
 */
export const startCometBft = async ({
  home,
  logFile = homeFiles(home).log,
  ...options
}: CometProcessOptions): Promise<CometProcess> => {
  await checkPorts(home)
  return await runCometBft({ ...options, logFile, args: ['node', '--home', home] })
}

/** Where CometBFT stands: height of its state, and the app hash after that block as upper-case hex. */
export type CometHead = { height: number; appHash: string }

const ROLLBACK_MS_MAX = 60_000

/**
 * Takes the state of a stopped CometBFT back by one height; its blocks stay. Where its newest block never got into its
 * state, nothing changes: that is what a rollback leaves, so asking twice is the same as asking once. Returns where it
 * stands then. Errors: CometError, when it runs, has no block before its newest, or cannot be read. Waits for the
 * program: nothing else runs meanwhile.
 */
export const rollbackCometBft = (program: string, home: string): CometHead => {
  let told: string
  try {
    told = execFileSync(program, ['rollback', '--home', home], {
      encoding: 'utf8',
      timeout: ROLLBACK_MS_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string }
    const why = /failed to rollback state: .*/.exec(stderr ?? '')?.[0] ?? reasonOf(error)
    const hint = /unavailable/.test(why) ? ' (does it run? stop it first)' : ''
    throw new CometError(`CometBFT of ${home} was not taken back: ${why}${hint}`)
  }
  const [, height, appHash] = /^Rolled back state to height (\d+) and hash ([0-9A-F]*)$/m.exec(told) ?? []
  if (height === undefined || appHash === undefined) {
    throw new CometError(
      `cometbft rollback answered ${JSON.stringify(told.slice(0, 200))}, which this program does not understand`,
    )
  }
  return { height: Number(height), appHash }
}
