import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import BigNumber from 'bignumber.js'
import { PORTS } from '../../base/ports.ts'
import { findCometBft } from '../../comet/find.ts'
import { startCometBft, tryPort } from '../../comet/process.ts'
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
import { createGatewayClient, type GatewayClient } from '../gatewayClient.ts'
import {
  type Configure,
  type FlagsOf,
  homeOption,
  option,
  osOption,
  programVersionOption,
  withOptions,
} from '../options.ts'
import { say } from '../output.ts'
import { stopSignal } from '../runtime.ts'
import { chooseOs, type Endpoint, isOn, parseBlockTime, parseEndpoint, parseWhole, printEndpoint } from '../settings.ts'
import { openLog } from '../telemetry.ts'

const options = [
  homeOption,
  option('--gateway <host:port>', 'where the gateway listens', {
    env: 'SVCD_GATEWAY',
    parse: parseEndpoint,
    fallback: `127.0.0.1:${PORTS.gateway}`,
  }),
  option('--rpc <host:port>', "where CometBFT's RPC listens", {
    env: 'SVCD_RPC',
    parse: parseEndpoint,
    fallback: `127.0.0.1:${PORTS.rpc}`,
  }),
  option('--p2p <host:port>', 'where CometBFT listens for peers', {
    env: 'SVCD_P2P',
    parse: parseEndpoint,
    fallback: `127.0.0.1:${PORTS.p2p}`,
  }),
  option('--block-time <time>', 'time from block to block, such as 300ms', {
    env: 'SVCD_BLOCK_TIME',
    parse: parseBlockTime,
    fallback: '1s',
  }),
  osOption,
  option(
    '--validators <count>',
    `number of validators, 1 to ${DEVNET_ACCOUNTS}; the ports of each are 10 above those of the one before`,
    { env: 'SVCD_VALIDATORS', parse: parseWhole([1, DEVNET_ACCOUNTS]), fallback: '1' },
  ),
  programVersionOption,
  // Commander would take any value of a variable for a yes, even 0.
  option('--reset', 'start a new chain and remove the old one from the home (env: SVCD_RESET)'),
] as const

type Flags = FlagsOf<typeof options>

const Tokens = BigNumber.clone({ EXPONENTIAL_AT: 1e9 })

/** Throws a UserError when the port is in use, so that a command finds out before it starts anything. */
export async function assertFree({ host, port }: Endpoint, what: string, flag: string): Promise<void> {
  await tryPort(host, port).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new UserError(
      code === 'EADDRINUSE'
        ? `port ${port} (${what}) is in use, perhaps by another devnet. Choose another one with ${flag} HOST:PORT`
        : `cannot listen on ${host}:${port} (${what}): ${message}. Choose another address with ${flag} HOST:PORT`,
    )
  })
}

const roleOf = (account: number, validators: number): string =>
  account === 0 ? '  validator and foundation' : account < validators ? '  validator' : ''

/** How long the first block, and then the gateway, may take before the start counts as failed, in ms. */
const START_MS_MAX = 60_000

/** Waits until the gateway accepts transactions: there is a block, and the node has caught up with its peers. */
async function untilReady({ readiness }: GatewayClient): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  for (;;) {
    const { ready, reason } = await readiness()
    if (ready === true) return
    if (Date.now() > deadline) throw new UserError(`the chain was not ready within ${START_MS_MAX / 1000} s: ${reason}`)
    await sleep(100)
  }
}

/** Waits until the gateway accepts transactions, then prints the accounts and the addresses. */
async function printReady(gateway: GatewayClient, nodes: readonly DevnetNode[], signers: readonly Signer[]) {
  await untilReady(gateway)
  say('\naccounts (balance in tokens)')
  for (const [index, { address }] of signers.entries()) {
    const units = (await gateway.call('svc_getBalance', [address])) as string
    say(`  (${index}) ${address}  ${new Tokens(units).shiftedBy(-18).toFixed()}${roleOf(index, nodes.length)}`)
  }
  say(`  mnemonic: ${PUBLIC_MNEMONIC}  (m/44'/1'/i'/0'/0')`)
  say('  WARNING: these keys are public. Whatever they hold on any chain belongs to everybody.\n')
  for (const { home, rpc } of nodes) {
    say(`home          ${home}`)
    say(`CometBFT RPC  http://${printEndpoint(rpc)}`)
  }
  say(`gateway       ${gateway.url}\n`)
  say(`devnet ready: gateway ${gateway.url}`)
}

/**
 * The callers of a devnet are programs on one machine: they share an address, and may open a connection for each call.
 */
const DEVNET_LIMITS = { connections: 4000, connectionsOfAddress: 4000, callsPerSecond: 5000 }

/** Starts the applications. One that is a block behind executes the program version before the accepted one. */
async function startApps(
  validators: readonly Validator[],
  nodes: readonly DevnetNode[],
  os: string,
  accepted?: number,
) {
  const homes = nodes.map(({ home }) => home)
  const versions = accepted === undefined ? [] : programVersionsOf(homes, accepted)
  await allDone(
    validators.map(async (own, at) => {
      const { name, home, abci } = nodes[at] as DevnetNode
      const version = versions[at]
      if (version !== accepted)
        say(
          `${name} is one block behind. It executes version ${version} until it has that block; then run this command again`,
        )
      const log = join(home, 'logs', 'app.log')
      const args = ['--home', home, '--abci', abci, '--os', os, '--log-file', log]
      if (version !== undefined) args.push('--accept-program-version', String(version))
      own.app = await startApp(args)
    }),
  )
}

async function startParts(flags: Flags, nodes: readonly DevnetNode[], parts: Parts): Promise<void> {
  const { home, blockTime } = flags
  const os = chooseOs(home, flags.os, say)
  const { path: program, version, source } = await findCometBft({ onProgress: say })
  say(`CometBFT ${version} (${source === 'path' ? 'from PATH' : source})`)
  writeDevnetHomes(nodes, blockTime)
  const validators: Validator[] = nodes.map(({ name }) => ({ name: nodes.length === 1 ? undefined : name }))
  parts.validators = validators
  await startApps(validators, nodes, os, flags.acceptProgramVersion)
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
  const signers = devnetSigners()
  const gateway = await startGateway({
    node: urls[0] as string,
    ...flags.gateway,
    signers,
    publicKeys: true,
    limits: DEVNET_LIMITS,
    logger: openLog(join(home, 'logs', 'gateway.log'), false),
    stalledAfterMs: stalledAfterMs([blockTime]),
  })
  parts.gateway = gateway
  await whileAllRun(parts, () => printReady(createGatewayClient(gateway.url), nodes, signers))
}

/** The exit status of the devnet when a part has ended, and the line to print: 0 when the program was retired, else 1. */
function outcomeOf({ part, how = 'stopped', status, line }: PartEnd) {
  return { status, line: status === 0 ? line : `${part} ${how}${line === '' ? '' : `: ${line}`}; stopping the rest` }
}

/**
 * Runs the validators, each a CometBFT with its application, and the gateway, until it is asked to stop or one part
 * ends, which ends the others. Resolves with the exit status. Throws user errors, and then leaves nothing running.
 */
async function runDevnet(flags: Flags): Promise<number> {
  const { home, validators } = flags
  const reset = flags.reset === true || isOn(process.env['SVCD_RESET'])
  assertDevnetHome(home)
  if (!reset) assertValidators(home, validators)
  closeHome(home, say)
  await assertFree(flags.gateway, 'gateway', '--gateway')
  const nodes = devnetNodes(flags)
  for (const { rpc, p2p } of nodes) {
    await assertFree(rpc, 'CometBFT RPC', '--rpc')
    await assertFree(p2p, 'CometBFT p2p', '--p2p')
  }
  const lock = takeDevnetLock(home)
  const parts: Parts = { validators: [] }
  const stopped = stopSignal().then(() => ({ status: 0, line: 'stopping …' }))
  try {
    if (reset) resetHome(home)
    const run = startParts(flags, nodes, parts)
      .then(() => firstEnd(parts))
      .then(outcomeOf)
    const { status, line } = await Promise.race([stopped, run])
    say(line)
    return status
  } finally {
    await stopParts(parts)
    lock.close()
  }
}

/** Configures `svcd devnet`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd devnet --block-time 300ms --gateway 127.0.0.1:9545', options).action(
    async (flags: Flags) => {
      process.exitCode = await runDevnet(flags)
    },
  )
}
