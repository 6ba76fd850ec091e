import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stopChild } from '../../base/stopChild.ts'
import type { CometProcess } from '../../comet/process.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { UserError } from '../../node/errors.ts'
import { spawnSvcd } from './child.ts'

/** The application of a validator, in a process of its own. */
type AppProcess = ReturnType<typeof startApp>

/**
 * Why the application ended, from what it printed: the line for the user, or else the first line of what Node says of an
 * error that nobody caught. A signal from outside says nothing else.
 */
function reasonOfApp(output: string, code: number | null, signal: NodeJS.Signals | null): string {
  const lines = output.trim().split('\n')
  const forUser = lines.findLast((line) => /^svcd: (?!warning: )/.test(line))?.replace('svcd: ', '')
  const uncaught = lines.find((line) => /^(?:Uncaught )?\w*Error\b.*: |^FATAL ERROR: /.test(line))
  if (signal !== null && uncaught === undefined) return `ended by ${signal}`
  return forUser ?? uncaught ?? (lines.at(-1) || (code === 0 ? 'it was asked to stop' : `exit status ${code}`))
}

/** Starts `svcd start`, which can be stopped before it listens, too. */
export function startApp(args: readonly string[]) {
  const { child, output, started, ended } = spawnSvcd(['start', ...args])
  const saysRetired = (): boolean => /^program \d+ retired/m.test(output())
  const exited = ended.then(({ code, signal }) => ({
    isRetired: code === 0 && saysRetired(),
    reason: reasonOfApp(output(), code, signal),
  }))
  return {
    /** Resolves when it listens. Rejects with a UserError that quotes its output when it ends before. */
    listens: async (): Promise<void> => {
      if ((await started) === undefined) throw new UserError(`the application did not start: ${(await exited).reason}`)
    },
    /** Resolves when it has ended. It ends by itself with status 0 when its program is retired, and says so. */
    exited,
    /** True once it has said that its program is retired, and is about to end. */
    saysRetired,
    /** Lets it propose blocks up to this height at once. Those above wait for a transaction. */
    openTo: (height: number): void => void child.send({ openTo: height }, () => undefined),
    stop: (): Promise<void> => stopChild(child, exited),
  }
}

/**
 * The programs of a validator that have been started. `name`: undefined if it is the only validator. `logs`: the folder
 * of their logs.
 */
export interface Validator {
  readonly name: string | undefined
  readonly logs: string
  app?: AppProcess
  node?: CometProcess
}

/** The parts of a devnet that have been started. */
export interface Parts {
  validators: readonly Validator[]
  gateway?: Gateway
  /** How long CometBFT gets to end, in ms. It does not end while it waits for the application to propose a block. */
  nodeGraceMs?: number
}

/** Stops the gateway, then CometBFT, then the applications, so that no part waits for one that is gone. */
export async function stopParts({ validators, gateway, nodeGraceMs }: Parts): Promise<void> {
  await gateway?.close()
  await Promise.all(validators.map(({ node }) => node?.stop(nodeGraceMs)))
  await Promise.all(validators.map(({ app }) => app?.stop()))
}

/** Waits for all steps, so that everything that was started is known. Then throws the error of the first that failed. */
export async function allDone(steps: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
}

/** The part that ended. `how`: default `stopped`. `isRetired`: its program's time was over. `log`: its log file. */
export interface PartEnd {
  readonly part: string
  readonly how?: string
  readonly isRetired?: boolean
  readonly reason: string
  readonly log: string
}

// An application that ends within this time after CometBFT, in ms, counts as the cause of both.
const APP_END_MS = 5000

/**
 * The ways in which a validator's parts can end. CometBFT also counts as ended when it runs on without making blocks.
 * Both happen when it loses the application, whose end may be noticed later but is then what counts.
 */
function endOfOne({ name, logs, app, node }: Validator): readonly Promise<PartEnd>[] {
  const of = name === undefined ? '' : ` of ${name}`
  const appEnd = app?.exited.then(
    (end): PartEnd => ({ part: `the application${of}`, log: join(logs, 'app.log'), ...end }),
  )
  const unlessApp = async (end: Pick<PartEnd, 'how' | 'reason'>): Promise<PartEnd> => {
    const own = { part: `CometBFT${of}`, log: join(logs, 'cometbft.log'), ...end }
    const cause = await Promise.race([appEnd, sleep(APP_END_MS, undefined)])
    // When all validators retire at once on a busy machine, closing the files of one can take longer.
    return cause ?? (app?.saysRetired() === true ? appEnd : undefined) ?? own
  }
  const nodeEnd = node?.exited.then(({ reason }) => unlessApp({ reason }))
  const failed = node?.consensusFailed.then((reason) => unlessApp({ how: 'makes no more blocks', reason }))
  return [appEnd, nodeEnd, failed].filter((one) => one !== undefined)
}

const anyEnd = ({ validators }: Parts): Promise<PartEnd> => Promise.race(validators.flatMap(endOfOne))

/** Waits for the first part to end. If its program was retired, the others get time to end in the same block. */
export async function firstEnd(parts: Parts): Promise<PartEnd> {
  const first = await anyEnd(parts)
  if (first.isRetired === true)
    await Promise.race([Promise.all(parts.validators.map(({ app }) => app?.exited)), sleep(APP_END_MS)])
  return first
}

/** How long the end of a part may go unnoticed after the step that failed because of it, in ms. */
const NOTICED_MS = 2000

/** Runs a step of the start. When a part ends meanwhile, that is the error, not the timeout that would follow. */
export async function whileAllRun(parts: Parts, step: () => Promise<void>): Promise<void> {
  const ended = firstEnd(parts).then(({ part, how = 'stopped', reason, log }) => {
    throw new UserError(`${part} ${how} during the start: ${reason} (log: ${log})`)
  })
  try {
    await Promise.race([step(), ended])
  } catch (error) {
    // The step may have failed because of a part whose end is noticed a moment later.
    const isEnding = await Promise.race([anyEnd(parts).then(() => true), sleep(NOTICED_MS, false)])
    if (isEnding) await ended
    throw error
  }
}
