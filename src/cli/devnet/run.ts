import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCometBft } from '../../comet/find.ts'
import { type CometProcess, startCometBft } from '../../comet/process.ts'
import { openNodeRpc, waitForNode } from '../../comet/rpc.ts'
import { type Gateway, startGateway } from '../../gateway/gateway.ts'
import { stalledAfterMs } from '../../gateway/health.ts'
import { chooseOs } from '../config.ts'
import { closeHome } from '../homeMode.ts'
import { openLog } from '../log.ts'
import { assertFree, printEndpoint } from '../settings.ts'
import { UserError } from '../userError.ts'
import { type AppProcess, startApp } from './appProcess.ts'
import { devnetSigners } from './genesis.ts'
import { assertDevnetHome, assertValidators, resetHome, takeDevnetLock } from './home.ts'
import { type DevnetNode, devnetNodes, makeDevnetHomes } from './nodes.ts'
import type { DevnetOptions } from './options.ts'
import { versionsOf } from './program.ts'
import { printReady } from './welcome.ts'

/** How long the first block may take before the start counts as failed. */
const START_MS_MAX = 60_000

/**
 * A devnet's callers are programs of one machine: they share one address, and may open a connection for each of many
 * calls.
 */
const DEVNET_LIMITS = { connections: 4000, connectionsOfAddress: 4000, callsPerSecond: 5000 }

/** One validator's programs, as far as they were started. `name`: undefined when there is but one validator. */
interface Validator {
  readonly name: string | undefined
  app?: AppProcess
  node?: CometProcess
}

/** The parts that run; each knows how to stop. */
interface Parts {
  validators: readonly Validator[]
  gateway?: Gateway
}

/** In this order nothing waits for a part that is gone: no new transactions, no new blocks, then the state. */
async function stopParts({ validators, gateway }: Parts): Promise<void> {
  await gateway?.close()
  await Promise.all(validators.map(({ node }) => node?.stop()))
  await Promise.all(validators.map(({ app }) => app?.stop()))
}

/** All steps to their end, so that whatever was started is known; then throws what the first failed one threw. */
async function allDone(steps: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
}

async function startParts(
  options: DevnetOptions,
  nodes: readonly DevnetNode[],
  parts: Parts,
  say: (line: string) => void,
): Promise<void> {
  const { home, gateway, blockTimeMs, acceptProgramVersion: accepted } = options
  const os = chooseOs(home, options.os, say)
  const { path: program, version, source } = await findCometBft({ onProgress: say })
  say(`CometBFT ${version} (${source === 'path' ? 'from PATH' : source})`)
  makeDevnetHomes(nodes, blockTimeMs)
  const validators: Validator[] = nodes.map(({ name }) => ({ name: nodes.length === 1 ? undefined : name }))
  parts.validators = validators
  const versions =
    accepted === undefined
      ? []
      : versionsOf(
          nodes.map((node) => node.home),
          accepted,
        )
  await allDone(
    validators.map(async (own, at) => {
      const { name, home: ownHome, abci } = nodes[at] as DevnetNode
      const version = versions[at]
      if (version !== accepted)
        say(`${name} is a block behind: it executes version ${version} until it has that block; then start once more`)
      const flags = version === undefined ? [] : ['--accept-program-version', String(version)]
      own.app = await startApp([
        '--home',
        ownHome,
        '--abci',
        abci,
        '--os',
        os,
        '--log-file',
        join(ownHome, 'logs', 'app.log'),
        ...flags,
      ])
    }),
  )
  await allDone(
    validators.map(async (own, at) => {
      own.node = await startCometBft({ program, home: (nodes[at] as DevnetNode).home })
    }),
  )
  const urls = nodes.map(({ rpc }) => `http://${printEndpoint(rpc)}`)
  await whileAllRun(parts, () =>
    allDone(
      urls.map(async (url) => {
        const node = openNodeRpc(url)
        await waitForNode(node, START_MS_MAX)
        await node.close()
      }),
    ),
  )
  const logger = openLog(join(home, 'logs', 'gateway.log'), false)
  const signers = devnetSigners()
  const served = await startGateway({
    node: urls[0] as string,
    ...gateway,
    signers,
    publicKeys: true,
    limits: DEVNET_LIMITS,
    logger,
    stalledAfterMs: stalledAfterMs([blockTimeMs]),
  })
  parts.gateway = served
  await whileAllRun(parts, () => printReady(served.url, nodes, signers, say))
}

/** Which part ended, with what status, and the last it said. `how`: "stopped" unless given. */
interface End {
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
async function firstEnd(parts: Parts): Promise<End> {
  const first = await anyEnd(parts)
  if (first.status === 0)
    await Promise.race([Promise.all(parts.validators.map(({ app }) => app?.exited)), sleep(RETIRE_MS, undefined)])
  return first
}

/**
 * Runs a step of the start. A part that ends meanwhile is what the person should hear of, not the time-out that would
 * follow.
 */
async function whileAllRun(parts: Parts, step: () => Promise<void>): Promise<void> {
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

/**
 * What the devnet ends with when a part has ended, and the line that says so: 0 when the program was retired, else 1.
 */
function endOf({ part, how = 'stopped', status, line }: End): { readonly status: number; readonly line: string } {
  return { status, line: status === 0 ? line : `${part} ${how}${line === '' ? '' : `: ${line}`}; stopping the rest` }
}

/**
 * The validators, each a CometBFT with its application, and the gateway on this machine, until Ctrl-C, SIGTERM, or the
 * end of one part, which ends the others. Resolves with the exit status. Throws user errors; then nothing is left
 * running.
 */
export async function runDevnet(options: DevnetOptions, say: (line: string) => void): Promise<number> {
  assertDevnetHome(options.home)
  if (!options.reset) assertValidators(options.home, options.validators)
  closeHome(options.home, say)
  await assertFree(options.gateway, 'gateway', '--gateway')
  const nodes = devnetNodes(options)
  for (const { rpc, p2p } of nodes) {
    await assertFree(rpc, 'CometBFT RPC', '--rpc')
    await assertFree(p2p, 'CometBFT p2p', '--p2p')
  }
  const lock = takeDevnetLock(options.home)
  const parts: Parts = { validators: [] }
  const asked = new Promise<{ status: number; line: string }>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => done({ status: 0, line: 'stopping …' }))
  })
  try {
    if (options.reset) resetHome(options.home)
    const { status, line } = await Promise.race([
      asked,
      startParts(options, nodes, parts, say)
        .then(() => firstEnd(parts))
        .then(endOf),
    ])
    say(line)
    return status
  } finally {
    await stopParts(parts)
    lock.close()
  }
}
