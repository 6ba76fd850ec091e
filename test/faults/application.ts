import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { toHex } from '../../src/base/bytes.ts'
import type { Snapshot } from '../../src/store/snapshot/format.ts'
import { SNAPSHOT_FORMAT, snapshotHash } from '../../src/store/snapshot/format.ts'
import { connectPeer, type Peer, requestFrame } from '../abci/peer.ts'
import { script } from '../chain/support.ts'
import { Broken, need } from '../support/campaign.ts'
import { blockAt, HEAD, hashAt } from './chain.ts'
import { FAULT_VARIABLE, type Fault } from './fault.ts'

const SVCD = fileURLToPath(new URL('../../src/cli/svcd.js', import.meta.url))
const PRELOAD = new URL('./preload.ts', import.meta.url).href
const RUN_MS_MAX = 600_000

/** A snapshot and its chunks, as a peer offers them. */
export interface OfferedSnapshot {
  readonly snapshot: Snapshot
  readonly chunks: readonly Uint8Array[]
}

export interface RunOptions {
  readonly home: string
  readonly fault?: Fault
  /** The last block that it is given; the head by default. */
  readonly until?: number
  /** How it is ended after that. */
  readonly end?: 'SIGTERM' | 'SIGKILL'
  /** A program that runs it, with its arguments. */
  readonly under?: readonly string[]
  readonly flags?: readonly string[]
  /** The pause after each block. */
  readonly pauseMs?: number
  /** Called with its process before each Commit is sent; what it returns is called when it was sent. */
  readonly onCommit?: (pid: number) => () => void
  /** What it is offered when it has no state, in place of InitChain. */
  readonly restore?: OfferedSnapshot
}

export interface Run {
  /** True when it was given all blocks and answered for all. */
  readonly isComplete: boolean
  /** The height that it told when it started; undefined when it never answered. */
  readonly startedAt: number | undefined
  /** The last block whose Commit it answered; 0 for none. */
  readonly acknowledged: number
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

type Ask = (kind: string, request?: object) => Promise<Readonly<Record<string, unknown>>>

function asker(peer: Peer): Ask {
  let asked = 0
  return async (kind, request) => {
    peer.send(requestFrame(kind, request))
    asked++
    const { kind: answered, value } = (await peer.until(asked))[asked - 1] ?? { kind: 'nothing', value: {} }
    need(answered === kind, () => `${kind} is answered with ${answered} ${JSON.stringify(value)}`)
    return value
  }
}

async function offer(ask: Ask, { snapshot: { metadata, metadataBytes }, chunks }: OfferedSnapshot): Promise<number> {
  const { height, appHash } = metadata
  const hash = snapshotHash(metadataBytes)
  const told = { height, format: SNAPSHOT_FORMAT, chunks: chunks.length, hash, metadata: metadataBytes }
  const { result } = await ask('offerSnapshot', { snapshot: told, appHash })
  need(result === 1, () => `an honest snapshot is refused with ${String(result)}`)
  for (const [index, chunk] of chunks.entries()) {
    const applied = await ask('applySnapshotChunk', { index, chunk, sender: 'peer' })
    need(applied['result'] === 1, () => `chunk ${index} is refused with ${String(applied['result'])}`)
  }
  return height
}

type Progress = { -readonly [Name in 'isComplete' | 'startedAt' | 'acknowledged']: Run[Name] }

/** What a node does: Info, InitChain or a snapshot when there is no state, then each block above it. */
async function drive(peer: Peer, pid: number, options: RunOptions, progress: Progress): Promise<void> {
  const { until = HEAD, pauseMs = 0, onCommit, restore } = options
  const ask = asker(peer)
  const info = await ask('info', { version: '' })
  let height = Number(info['lastBlockHeight'] ?? 0)
  progress.startedAt = height
  if (height === 0 && restore !== undefined) height = await offer(ask, restore)
  else if (height === 0) await ask('initChain', script().init)
  while (height < until) {
    height++
    const { appHash } = await ask('finalizeBlock', blockAt(height))
    need(toHex(appHash as Uint8Array) === hashAt(height), () => `FinalizeBlock ${height} has another app hash`)
    const onSent = onCommit?.(pid)
    const committed = ask('commit')
    onSent?.()
    await committed
    progress.acknowledged = height
    if (pauseMs > 0) await sleep(pauseMs)
  }
  progress.isComplete = true
}

/** Those that run. They end with this process, which has other reasons to end than that it is done. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const { pid = 0 } of running) signalGroup(pid, 'SIGKILL')
})

function start({ home, fault = {}, under = [], flags = [] }: RunOptions): ChildProcess {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--import', PRELOAD, SVCD, 'start']
  const args = ['--home', home, '--abci', `unix://${home}.sock`, '--os', 'centos', '--log-file', `${home}.log`]
  const interval = flags.includes('--snapshot-interval') ? [] : ['--snapshot-interval', '0']
  const [program = '', ...rest] = [...under, ...node, ...args, ...interval, ...flags]
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // A group of its own, which a program in front of it is in as well.
    env: { ...process.env, NODE_OPTIONS: '', [FAULT_VARIABLE]: JSON.stringify(fault) },
  })
  running.add(child)
  return child.once('close', () => running.delete(child))
}

/** Sends a signal to a program and to what it runs. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return // It never started, and 0 is the group of this process.
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}

async function connectTo(home: string, hasEnded: () => boolean): Promise<Peer | undefined> {
  while (!hasEnded()) {
    try {
      return await connectPeer(`unix://${home}.sock`)
    } catch {
      await sleep(5)
    }
  }
  return undefined
}

/**
 * Runs `svcd start` on a home and is its node, until it has ended. Throws Broken for a wrong answer, and when it does
 * not end by itself or by `end`.
 */
export async function runApplication(options: RunOptions): Promise<Run> {
  const child = start(options)
  const { pid = 0 } = child
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (data: Buffer) => {
      output[name] += data.toString()
    })
  const ended = new Promise<Pick<Run, 'status' | 'signal'>>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ status, signal }))
  })
  let hasEnded = false
  const noteEnd = (): void => {
    hasEnded = true
  }
  void ended.then(noteEnd, noteEnd)
  const progress: Progress = { isComplete: false, startedAt: undefined, acknowledged: 0 }
  let why = ''
  const deadline = setTimeout(() => {
    why = `it still runs after ${RUN_MS_MAX} ms: ${why}`
    signalGroup(pid, 'SIGKILL')
  }, RUN_MS_MAX)
  const peer = await connectTo(options.home, () => hasEnded)
  try {
    if (peer !== undefined) await drive(peer, pid, options, progress)
    signalGroup(pid, options.end ?? 'SIGTERM')
  } catch (error) {
    why += String(error)
    if (error instanceof Broken) {
      signalGroup(pid, 'SIGKILL')
      throw error
    }
  } finally {
    await ended
    clearTimeout(deadline)
    peer?.socket.destroy()
  }
  need(!why.startsWith('it still runs'), () => why)
  return { ...progress, ...(await ended), ...output }
}
