import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CometProcess } from '../../comet/process.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { UserError } from '../errors.ts'
import { SVCD_WORDS } from '../services.ts'

/** The application of a validator, in a process of its own. */
type AppProcess = Awaited<ReturnType<typeof startApp>>

/**
 * Starts `svcd start` and waits until it listens. It has a process group of its own, so that Ctrl-C reaches only this
 * program, and it ends with this program, when the channel between the two closes. Throws a UserError that quotes its
 * output when it does not start.
 */
export async function startApp(args: readonly string[]) {
  const [program = '', ...words] = SVCD_WORDS
  const child = spawn(program, [...words, 'start', ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000)
    })
  }
  const lastLine = (): string => {
    const line = output.trim().split('\n').at(-1) ?? ''
    return line.replace(/^svcd: /, '')
  }
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
    /** Resolves when it has ended. `line` is the last line that it printed. */
    exited,
    stop: async (): Promise<void> => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(timer)
    },
  }
}

/** The programs of a validator that have been started. `name`: undefined if it is the only validator. */
export interface Validator {
  readonly name: string | undefined
  app?: AppProcess
  node?: CometProcess
}

/** The parts of a devnet that have been started. */
export interface Parts {
  validators: readonly Validator[]
  gateway?: Gateway
}

/** Stops the gateway, then CometBFT, then the applications, so that no part waits for one that is gone. */
export async function stopParts({ validators, gateway }: Parts): Promise<void> {
  await gateway?.close()
  await Promise.all(validators.map(({ node }) => node?.stop()))
  await Promise.all(validators.map(({ app }) => app?.stop()))
}

/** Waits for all steps, so that everything that was started is known. Then throws the error of the first that failed. */
export async function allDone(steps: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
}

/** The part that ended, its exit status and the last line that it printed. `how`: default `stopped`. */
export interface PartEnd {
  readonly part: string
  readonly how?: string
  readonly status: number
  readonly line: string
}

// An application that ends within this time after CometBFT, in ms, counts as the cause of both.
const APP_END_MS = 1000

/**
 * The ways in which a validator's parts can end. CometBFT also counts as ended when it runs on without making blocks.
 * Both happen when it loses the application, whose end may be noticed later but is then what counts.
 */
function endOfOne({ name, app, node }: Validator): readonly Promise<PartEnd>[] {
  const of = name === undefined ? '' : ` of ${name}`
  const appEnd = app?.exited.then(({ status, line }): PartEnd => ({ part: `the application${of}`, status, line }))
  const unlessApp = async (end: Omit<PartEnd, 'part' | 'status'>): Promise<PartEnd> =>
    (await Promise.race([appEnd, sleep(APP_END_MS, undefined)])) ?? { part: `CometBFT${of}`, status: 1, ...end }
  const nodeEnd = node?.exited.then(({ lastLines }) => unlessApp({ line: lastLines.at(-1) ?? '' }))
  const failed = node?.consensusFailed.then((line) => unlessApp({ how: 'makes no more blocks', line }))
  return [appEnd, nodeEnd, failed].filter((one) => one !== undefined)
}

const anyEnd = ({ validators }: Parts): Promise<PartEnd> => Promise.race(validators.flatMap(endOfOne))

/** Waits for the first part to end. If its program was retired, the others get 5 s to end in the same block. */
export async function firstEnd(parts: Parts): Promise<PartEnd> {
  const first = await anyEnd(parts)
  if (first.status === 0) await Promise.race([Promise.all(parts.validators.map(({ app }) => app?.exited)), sleep(5000)])
  return first
}

/** Runs a step of the start. When a part ends meanwhile, that is the error, not the timeout that would follow. */
export async function whileAllRun(parts: Parts, step: () => Promise<void>): Promise<void> {
  const ended = firstEnd(parts).then(({ part, how = 'stopped', line }) => {
    throw new UserError(`${part} ${how} during the start${line === '' ? '' : `: ${line}`}`)
  })
  try {
    await Promise.race([step(), ended])
  } catch (error) {
    // The step may have failed because of a part whose end is noticed a moment later.
    const isEnding = await Promise.race([anyEnd(parts).then(() => true), sleep(2 * APP_END_MS, false)])
    if (isEnding) await ended
    throw error
  }
}
