import { join } from 'node:path'
import BigNumber from 'bignumber.js'
import { PORTS } from '../../base/ports.ts'
import { findCometBft } from '../../comet/find.ts'
import { startCometBft } from '../../comet/process.ts'
import { openNodeRpc, waitForNode } from '../../comet/rpc.ts'
import { startGateway } from '../../gateway/gateway.ts'
import { stalledAfterMs } from '../../gateway/health.ts'
import { PUBLIC_MNEMONIC } from '../../keys/mnemonic.ts'
import type { Signer } from '../../tx/sign.ts'
import {
  assertDevnetHome,
  assertValidators,
  DEVNET_ACCOUNTS,
  type DevnetNode,
  devnetNodes,
  devnetSigners,
  writeDevnetHomes,
  resetHome,
  takeDevnetLock,
  programVersionsOf,
} from '../devnet/home.ts'
import {
  allDone,
  type PartEnd,
  firstEnd,
  type Parts,
  startApp,
  stopParts,
  type Validator,
  whileAllRun,
} from '../devnet/processes.ts'
import { UserError } from '../errors.ts'
import { closeHome } from '../homes.ts'
import { type Configure, example } from '../options.ts'
import { say } from '../output.ts'
import {
  assertFree,
  chooseOs,
  type Endpoint,
  homeOf,
  isOn,
  parseBlockTime,
  parseEndpoint,
  parseOs,
  parseProgramVersion,
  parseWhole,
  printEndpoint,
} from '../settings.ts'
import { openLog } from '../telemetry.ts'

/** Options of `runDevnet`. */
export interface DevnetOptions {
  readonly home: string
  readonly gateway: Endpoint
  /** 1 to DEVNET_ACCOUNTS. */
  readonly validators: number
  /** Where the first validator listens. */
  readonly rpc: Endpoint
  readonly p2p: Endpoint
  readonly blockTimeMs: number
  readonly os?: string | undefined
  readonly reset: boolean
  /** The program version that the applications execute instead of their own. */
  readonly acceptProgramVersion?: number | undefined
}

const Tokens = BigNumber.clone({ EXPONENTIAL_AT: 1e9 })

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error !== undefined) throw new UserError(`${method}: ${error.message}`)
  return result
}

const roleOf = (account: number, validators: number): string =>
  account === 0 ? '  validator and foundation' : account < validators ? '  validator' : ''

const READY_MS_MAX = 60_000

/** Waits until the gateway accepts transactions: there is a block, and the node has caught up with its peers. */
async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX
  for (;;) {
    const answer = await fetch(`${url}/readyz`)
    if (answer.ok) return
    const { reason } = (await answer.json()) as { reason: string }
    if (Date.now() > deadline) throw new UserError(`the chain was not ready within ${READY_MS_MAX / 1000} s: ${reason}`)
    await new Promise((done) => setTimeout(done, 100))
  }
}

/** Waits until the gateway accepts transactions, then prints the accounts and the addresses. */
export async function printReady(
  url: string,
  nodes: readonly DevnetNode[],
  signers: readonly Signer[],
  say: (line: string) => void,
): Promise<void> {
  await untilReady(url)
  say('')
  say('accounts (balance in tokens)')
  for (const [index, { address }] of signers.entries()) {
    const units = (await call(url, 'svc_getBalance', [address])) as string
    say(`  (${index}) ${address}  ${new Tokens(units).shiftedBy(-18).toFixed()}${roleOf(index, nodes.length)}`)
  }
  say(`  mnemonic: ${PUBLIC_MNEMONIC}  (m/44'/1'/i'/0'/0')`)
  say('  WARNING: these keys are public. Whatever they hold on any chain belongs to everybody.')
  say('')
  for (const { home, rpc } of nodes) {
    say(`home          ${home}`)
    say(`CometBFT RPC  http://${printEndpoint(rpc)}`)
  }
  say(`gateway       ${url}`)
  say('')
  say(`devnet ready: gateway ${url}`)
}

/** How long the first block may take before the start counts as failed, in ms. */
const START_MS_MAX = 60_000

/**
 * The callers of a devnet are programs on one machine: they share an address, and may open a connection for each call.
 */
const DEVNET_LIMITS = { connections: 4000, connectionsOfAddress: 4000, callsPerSecond: 5000 }

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
  writeDevnetHomes(nodes, blockTimeMs)
  const validators: Validator[] = nodes.map(({ name }) => ({ name: nodes.length === 1 ? undefined : name }))
  parts.validators = validators
  const versions =
    accepted === undefined
      ? []
      : programVersionsOf(
          nodes.map((node) => node.home),
          accepted,
        )
  await allDone(
    validators.map(async (own, at) => {
      const { name, home: ownHome, abci } = nodes[at] as DevnetNode
      const version = versions[at]
      if (version !== accepted)
        say(
          `${name} is one block behind. It executes version ${version} until it has that block; then run this command again`,
        )
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

/**
 * The exit status of the devnet when a part has ended, and the line to print: 0 when the program was retired, else 1.
 */
function outcomeOf({ part, how = 'stopped', status, line }: PartEnd): {
  readonly status: number
  readonly line: string
} {
  return { status, line: status === 0 ? line : `${part} ${how}${line === '' ? '' : `: ${line}`}; stopping the rest` }
}

/**
 * Runs the validators, each a CometBFT with its application, and the gateway, until Ctrl-C, SIGTERM or the end of one
 * part, which ends the others. Resolves with the exit status. Throws user errors, and then leaves nothing running.
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
        .then(outcomeOf),
    ])
    say(line)
    return status
  } finally {
    await stopParts(parts)
    lock.close()
  }
}

interface Flags {
  readonly home?: string
  readonly gateway: string
  readonly rpc: string
  readonly p2p: string
  readonly os?: string
  readonly reset?: boolean
  readonly blockTime: string
  readonly validators: string
  readonly acceptProgramVersion?: string
}

/** Configures `svcd devnet`. */
export const configure: Configure = (command, finish) => {
  const { env } = process
  example(command, 'svcd devnet --block-time 300ms --gateway 127.0.0.1:9545')
    .option('--home <dir>', 'home folder of the chain (SVCD_HOME; default ~/.svcd)', env['SVCD_HOME'])
    .option(
      '--gateway <host:port>',
      'where the gateway listens (SVCD_GATEWAY)',
      env['SVCD_GATEWAY'] ?? `127.0.0.1:${PORTS.gateway}`,
    )
    .option('--rpc <host:port>', "where CometBFT's RPC listens (SVCD_RPC)", env['SVCD_RPC'] ?? `127.0.0.1:${PORTS.rpc}`)
    .option(
      '--p2p <host:port>',
      'where CometBFT listens for peers (SVCD_P2P)',
      env['SVCD_P2P'] ?? `127.0.0.1:${PORTS.p2p}`,
    )
    .option(
      '--block-time <time>',
      'time from block to block, such as 300ms (SVCD_BLOCK_TIME)',
      env['SVCD_BLOCK_TIME'] ?? '1s',
    )
    .option(
      '--os <name>',
      'use libraries for ubuntu or centos (SVCD_OS; default: that of this machine)',
      env['SVCD_OS'],
    )
    .option(
      '--validators <count>',
      'number of validators, 1 to 10; the ports of each are 10 above those of the one before (SVCD_VALIDATORS)',
      env['SVCD_VALIDATORS'] ?? '1',
    )
    .option('--accept-program-version <number>', 'declare this build the successor that executes this program version')
    .option('--reset', 'start a new chain and remove the old one from the home (SVCD_RESET)', isOn(env['SVCD_RESET']))
    .action(async (flags: Flags) => {
      const { acceptProgramVersion: accepted } = flags
      const home = homeOf(flags.home)
      finish(
        await runDevnet(
          {
            home,
            gateway: parseEndpoint(flags.gateway, '--gateway'),
            rpc: parseEndpoint(flags.rpc, '--rpc'),
            p2p: parseEndpoint(flags.p2p, '--p2p'),
            blockTimeMs: parseBlockTime(flags.blockTime),
            os: flags.os === undefined ? undefined : parseOs(flags.os),
            reset: flags.reset === true,
            validators: parseWhole(flags.validators, '--validators', [1, DEVNET_ACCOUNTS]),
            acceptProgramVersion: accepted === undefined ? undefined : parseProgramVersion(accepted),
          },
          say,
        ),
      )
    })
}
