import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CometProcess } from '../../comet/process.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { UserError } from '../errors.ts'
import { SVCD_WORDS } from '../services.ts'

/** The application as a process of its own. */
export interface AppProcess {
  readonly pid: number
  readonly stop: () => Promise<void>
  /** How it ended. `line` is the last it said to people. */
  readonly exited: Promise<{ readonly status: number; readonly line: string }>
}

const GRACE_MS = 10_000

/**
 * Starts `svcd start` and waits until it listens. It has a process group of its own, so that Ctrl-C reaches us alone,
 * and it ends when we do: the channel between us closes. Throws a UserError with its own words when it does not come
 * up.
 */
export async function startApp(args: readonly string[]): Promise<AppProcess> {
  const [program = '', ...words] = SVCD_WORDS
  const child = spawn(program, [...words, 'start', ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000)
    })
  }
  const lastLine = (): string =>
    said
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^svcd: /, '') ?? ''
  const exited = new Promise<{ status: number; line: string }>((done) => {
    child.once('close', (code, signal) =>
      done({ status: code ?? 1, line: lastLine() || (signal === null ? '' : `ended by ${signal}`) }),
    )
  })
  const listening = new Promise<true>((done) => child.once('message', () => done(true)))
  if ((await Promise.race([listening, exited])) !== true)
    throw new UserError(`the application did not start: ${lastLine()}`)
  return {
    pid: child.pid as number,
    exited,
    stop: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

/** One validator's programs, as far as they were started. `name`: undefined when there is but one validator. */
export interface Validator {
  readonly name: string | undefined
  app?: AppProcess
  node?: CometProcess
}

/** The parts that run; each knows how to stop. */
export interface Parts {
  validators: readonly Validator[]
  gateway?: Gateway
}

/** In this order nothing waits for a part that is gone: no new transactions, no new blocks, then the state. */
export async function stopParts({ validators, gateway }: Parts): Promise<void> {
  await gateway?.close()
  await Promise.all(validators.map(({ node }) => node?.stop()))
  await Promise.all(validators.map(({ app }) => app?.stop()))
}

/** All steps to their end, so that whatever was started is known; then throws what the first failed one threw. */
export async function allDone(steps: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
}

/** Which part ended, with what status, and the last it said. `how`: "stopped" unless given. */
export interface End {
  readonly part: string
  readonly how?: string
  readonly status: number
  readonly line: string
}

/** How long after CometBFT the application may end and still be what ended it, in ms. */
const APP_END_MS = 1000

/** How long the other applications may take to come to the block in which the program was retired, in ms. */
const RETIRE_MS = 5_000

/**
 * How the parts of a validator end; CometBFT also by living on without making blocks. It does either when it loses the
 * application, and may be seen first: then it is the application.
 */
function endOfOne({ name, app, node }: Validator): readonly Promise<End>[] {
  const of = name === undefined ? '' : ` of ${name}`
  const appEnd = app?.exited.then(({ status, line }): End => ({ part: `the application${of}`, status, line }))
  const unlessApp = async (end: Omit<End, 'part' | 'status'>): Promise<End> =>
    (await Promise.race([appEnd, sleep(APP_END_MS, undefined)])) ?? { part: `CometBFT${of}`, status: 1, ...end }
  const nodeEnd = node?.exited.then(({ lastLines }) => unlessApp({ line: lastLines.at(-1) ?? '' }))
  const failed = node?.consensusFailed.then((line) => unlessApp({ how: 'makes no more blocks', line }))
  return [appEnd, nodeEnd, failed].filter((one) => one !== undefined)
}

const anyEnd = ({ validators }: Parts): Promise<End> => Promise.race(validators.flatMap(endOfOne))

/**
 * The first part that ends. When its program was retired, the other applications end in the same block: they are given
 * time to.
 */
export async function firstEnd(parts: Parts): Promise<End> {
  const first = await anyEnd(parts)
  if (first.status === 0)
    await Promise.race([Promise.all(parts.validators.map(({ app }) => app?.exited)), sleep(RETIRE_MS, undefined)])
  return first
}

/**
 * Runs a step of the start. A part that ends meanwhile is what the person should hear of, not the time-out that would
 * follow.
 */
export async function whileAllRun(parts: Parts, step: () => Promise<void>): Promise<void> {
  const ended = firstEnd(parts).then(({ part, how = 'stopped', line }) => {
    throw new UserError(`${part} ${how} at its start${line === '' ? '' : `: ${line}`}`)
  })
  try {
    await Promise.race([step(), ended])
  } catch (error) {
    // The step may have failed for want of a part whose end is seen a moment later.
    const isEnding = await Promise.race([anyEnd(parts).then(() => true), sleep(2 * APP_END_MS, false)])
    if (isEnding) await ended
    throw error
  }
}
