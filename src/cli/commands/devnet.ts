import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { PORTS } from '../../base/ports.ts'
import { findCometBft } from '../../comet/find.ts'
import { describeUse, startCometBft, tryPort } from '../../comet/process.ts'
import { openNodeRpc, waitForNode } from '../../comet/rpc.ts'
import { type Gateway, startGateway } from '../../gateway/gateway.ts'
import { stalledAfterMs } from '../../gateway/http/health.ts'
import { DEVNET_STALLED_MS_MIN } from '../../gateway/http/limits.ts'
import { PUBLIC_MNEMONIC } from '../../keys/mnemonic.ts'
import type { Signer } from '../../tx/sign.ts'
import {
  appStateOf,
  chainOptions,
  chooseChain,
  DEVNET_VALIDATORS_MAX,
  type DevnetChain,
  devnetSigners,
  hasNoChain,
  recordChain,
} from '../devnet/chain.ts'
import { type Done, listenForOrders, type PendingOrder, sendOrder } from '../devnet/control.ts'
import {
  acceptReverted,
  assertDevnetHome,
  assertValidators,
  type DevnetNode,
  devnetNodes,
  resetHome,
  programVersionsOf,
  saveState,
  takeDevnetLock,
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
import { assertRoom, assertSnapshot, DEVNET_SNAPSHOTS_MAX, revertTo, takeSnapshot } from '../devnet/snapshots.ts'
import type { Ready } from '../devnet/startDevnet.ts'
import { toTokens } from '../amounts.ts'
import { assertRuns, chainVersionAt } from '../../node/chainVersion.ts'
import { UserError } from '../../node/errors.ts'
import { closeHome, writeNetworkHomes } from '../../node/homes.ts'
import { createGatewayClient, type GatewayClient } from '../gatewayClient.ts'
import {
  commonOptions,
  type Configure,
  type FlagsOf,
  homeOption,
  noPageOption,
  option,
  osOption,
  pageFrom,
  programVersionOption,
  subcommand,
  withOptions,
} from '../options.ts'
import { openLog } from '../../node/log.ts'
import { logFlags, logOptions } from '../logOptions.ts'
import { printAnswer, progressOn, say } from '../output.ts'
import { parentEnd, stopSignal } from '../../node/runtime.ts'
import { programVersionOf } from '../../node/programVersion.ts'
import { firstLine } from '../secrets.ts'
import {
  chooseOs,
  type Endpoint,
  parseBlockTime,
  parseEndpoint,
  parseHeight,
  parseOrigin,
  parseWhole,
  printEndpoint,
} from '../../node/settings.ts'

const options = [
  homeOption,
  option('--gateway <host:port>', 'where the gateway listens', {
    env: 'SVCD_LISTEN',
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
  option(
    '--block-time <time>',
    'time from block to block, such as 300ms; 0 makes a block when there is a transaction',
    {
      env: 'SVCD_BLOCK_TIME',
      parse: (text) => (text === '0' ? 0 : parseBlockTime(text)),
      fallback: '1s',
    },
  ),
  osOption,
  option(
    '--validators <count>',
    `number of validators, 1 to ${DEVNET_VALIDATORS_MAX}; the ports of each are 10 above those of the one before`,
    { env: 'SVCD_VALIDATORS', parse: parseWhole([1, DEVNET_VALIDATORS_MAX]), fallback: '1' },
  ),
  ...chainOptions,
  option(
    '--state <file>',
    'start a new chain from the state in this file, if it exists, and save the state to it when the devnet ends',
    { parse: (text) => resolve(text) },
  ),
  option(
    '--allow-origin <origins...>',
    'origins whose pages may call the gateway, such as https://wallet.example; loopback stands for those of this ' +
      'machine, and * for all (default: loopback)',
    { parse: parseOrigin },
  ),
  option(
    '--auth-token-file <file>',
    'file that holds a token of at least 16 characters; the gateway signs only for callers who send it',
    { env: 'SVCD_AUTH_TOKEN_FILE' },
  ),
  noPageOption,
  programVersionOption,
  ...logOptions,
  option(
    '--reset',
    'start a new chain and remove the old one from the home, but for its keystore and config/svcd.json',
    { env: 'SVCD_RESET' },
  ),
] as const

type Flags = FlagsOf<typeof options>

/** Throws a UserError when the port is in use, so that a command finds out before it starts anything. */
export async function assertFree({ host, port }: Endpoint, what: string, flag: string): Promise<void> {
  await tryPort(host, port).catch(async ({ code, message }: NodeJS.ErrnoException) => {
    const byServer = 'is in use, perhaps by another devnet'
    throw new UserError(
      code === 'EADDRINUSE'
        ? `port ${port} (${what}) ${await describeUse(host, port, byServer)}. Choose another one with ${flag} HOST:PORT`
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
  const deadline = performance.now() + START_MS_MAX
  for (;;) {
    const { ready, reason } = await readiness()
    if (ready === true) return
    if (performance.now() > deadline)
      throw new UserError(`the chain was not ready within ${START_MS_MAX / 1000} s: ${reason}`)
    await sleep(100)
  }
}

/** A client of the devnet's gateway, which serves the page at `pageUrl` if it does. */
type StartedGateway = GatewayClient & Pick<Gateway, 'pageUrl'>

const PRINTED_MAX = 10

async function printReady(gateway: StartedGateway, { flags, chain, nodes, signers }: Setup): Promise<void> {
  say('\naccounts (balance in tokens)')
  for (const [index, { address }] of signers.slice(0, PRINTED_MAX).entries()) {
    const units = (await gateway.call('svc_getBalance', [address])) as string
    const role = chain.genesis === undefined ? roleOf(index, nodes.length) : ''
    say(`  (${index}) ${address}  ${toTokens(units)}${role}`)
  }
  if (signers.length > PRINTED_MAX) say(`  … and ${signers.length - PRINTED_MAX} more`)
  if (flags.mnemonic === undefined || flags.mnemonic === PUBLIC_MNEMONIC) {
    say(`  mnemonic: ${PUBLIC_MNEMONIC}  (m/44'/1'/i'/0'/0')`)
    say('  WARNING: these keys are public. Whatever they hold on any chain belongs to everybody.\n')
  } else if (flags.authTokenFile === undefined) {
    say('  The gateway signs for none of them, because their mnemonic is not public. --auth-token-file lets it sign.\n')
  }
  for (const { home, rpc } of nodes) {
    say(`home          ${home}`)
    say(`CometBFT RPC  http://${printEndpoint(rpc)}`)
  }
  say(`gateway       ${gateway.url}`)
  if (gateway.pageUrl !== undefined) say(`page          ${gateway.pageUrl}`)
  say('')
  say(`devnet ready: gateway ${gateway.url}`)
}

/**
 * The callers of a devnet are programs on one machine: they share an address, and may open a connection for each call.
 */
const DEVNET_LIMITS = { connections: 4000, connectionsOfAddress: 4000, callsPerSecond: 5000 }

/** Starts the applications. One that is a block behind executes the program version before the accepted one. */
async function startApps(validators: readonly Validator[], nodes: readonly DevnetNode[], os: string, flags: Flags) {
  const accepted = programVersionOf(flags.home, flags.acceptProgramVersion)
  const homes = nodes.map(({ home }) => home)
  const versions = programVersionsOf(homes, accepted)
  for (const [at, home] of homes.entries()) assertRuns(flags.home, versions[at] ?? accepted, chainVersionAt(home))
  await allDone(
    validators.map(async (own, at) => {
      const { name, home, abci } = nodes[at] as DevnetNode
      const version = versions[at]
      if (version !== accepted)
        say(
          `${name} is one block behind. It executes version ${version} until it has that block; then run this command again`,
        )
      const log = join(home, 'logs', 'app.log')
      const args = ['--home', home, '--abci', abci, '--os', os, '--log-file', log, ...logFlags(flags)]
      // It is known before it listens: the devnet may be asked to stop until then.
      own.app = startApp([...args, '--accept-program-version', String(version)])
      await own.app.listens()
    }),
  )
}

/** What a devnet is started with, each time that its parts are. */
export interface Setup {
  readonly flags: Flags
  readonly chain: DevnetChain
  readonly nodes: readonly DevnetNode[]
  readonly signers: readonly Signer[]
  /** The path of CometBFT. */
  readonly program: string
  /** What the file of --auth-token-file holds. It may be a pipe, which can be read only once. */
  readonly authToken: string | undefined
}

/** How the gateway of a devnet is started. It signs for strangers only with keys that anybody has. */
export function gatewayOptions(
  { flags, signers, nodes, authToken }: Setup,
  parts: Parts,
): Parameters<typeof startGateway>[0] {
  const { home, blockTime, mnemonic = PUBLIC_MNEMONIC } = flags
  const publicKeys = mnemonic === PUBLIC_MNEMONIC
  return {
    node: `http://${printEndpoint((nodes[0] as DevnetNode).rpc)}`,
    ...flags.gateway,
    signers: publicKeys || authToken !== undefined ? signers : [],
    authToken,
    publicKeys,
    allowOrigins: flags.allowOrigin ?? ['loopback'],
    ...pageFrom(flags),
    limits: DEVNET_LIMITS,
    logger: openLog(flags, join(home, 'logs', 'gateway.log')),
    stalledAfterMs: blockTime === 0 ? 0 : stalledAfterMs([blockTime], DEVNET_STALLED_MS_MIN),
    propose: blockTime === 0 ? proposer(parts) : undefined,
  }
}

function proposer(parts: Parts): (head: number, blocks: number) => number {
  let opened = 0
  return (head, blocks) => {
    opened = Math.max(opened, head) + blocks
    openTo(parts, opened)
    return opened
  }
}

const openTo = ({ validators }: Parts, height: number): void => {
  for (const { app } of validators) app?.openTo(height)
}

// With --block-time 0 these blocks are made without a transaction: the second one's header proves the first one's state.
const FIRST_BLOCKS = 2
const GRACE_MS = 200

/** Starts the parts, and resolves with a client of the gateway when that takes transactions. */
async function startParts(setup: Setup, parts: Parts): Promise<StartedGateway> {
  const { flags, nodes, program } = setup
  const { home, blockTime } = flags
  const os = chooseOs(home, flags.os, say)
  const validators: Validator[] = nodes.map((node) => ({
    name: nodes.length === 1 ? undefined : node.name,
    logs: join(node.home, 'logs'),
  }))
  parts.validators = validators
  await startApps(validators, nodes, os, flags)
  if (blockTime === 0) {
    openTo(parts, FIRST_BLOCKS)
    parts.nodeGraceMs = GRACE_MS
  }
  await allDone(
    validators.map(async (own, at) => {
      own.node = await startCometBft({ ...flags, program, home: (nodes[at] as DevnetNode).home })
    }),
  )
  await whileAllRun(parts, () =>
    allDone(
      nodes.map(async ({ rpc }) => {
        const node = openNodeRpc(`http://${printEndpoint(rpc)}`)
        await waitForNode(node, START_MS_MAX)
        await node.close()
      }),
    ),
  )
  parts.gateway = await startGateway(gatewayOptions(setup, parts))
  const client = createGatewayClient(parts.gateway.url)
  await whileAllRun(parts, () => untilReady(client))
  return { ...client, pageUrl: parts.gateway.pageUrl }
}

/** The exit status of the devnet when a part has ended, and the line to print: 0 when the program was retired, else 1. */
function outcomeOf({ part, how = 'stopped', isRetired, reason, log }: PartEnd) {
  return isRetired === true
    ? { status: 0, line: reason }
    : { status: 1, line: `${part} ${how}: ${reason}; stopping the rest (log: ${log})` }
}

/** How the devnet ends: its exit status, and the last line that it prints. */
type Outcome = ReturnType<typeof outcomeOf>

/** Carries out an order while nothing runs. Returns the setup of the next start, and what answers the order then. */
function carryOut({ order, answer }: PendingOrder, setup: Setup) {
  const { home, acceptProgramVersion: given } = setup.flags
  const homes = setup.nodes.map((node) => node.home)
  const answerLater = (done: Omit<Done, 'height'> | { error: string }) => async (gateway: GatewayClient) =>
    answer('error' in done ? done : { ...done, height: (await gateway.call('svc_blockNumber')) as number })
  try {
    if (order.do === 'snapshot') return { setup, onStarted: answerLater({ snapshot: takeSnapshot(home, homes) }) }
    revertTo(home, homes, order.id)
    const acceptProgramVersion = acceptReverted(home, homes, given)
    if (acceptProgramVersion !== given)
      say(`snapshot ${order.id} is of program version ${acceptProgramVersion}, which this release runs from now on`)
    const flags = { ...setup.flags, acceptProgramVersion }
    return { setup: { ...setup, flags }, onStarted: answerLater({ snapshot: order.id }) }
  } catch (error) {
    return { setup, onStarted: answerLater({ error: (error as Error).message }) }
  }
}

/**
 * Runs the parts until the devnet ends, and starts them again after each order. `onReady` is called after the first
 * start.
 */
async function runParts(
  setup: Setup,
  stopped: Promise<Outcome>,
  onReady: (gateway: StartedGateway) => Promise<void>,
): Promise<Outcome> {
  const { home } = setup.flags
  const orders = await listenForOrders(home, (order) =>
    order.do === 'snapshot' ? assertRoom(home) : assertSnapshot(home, order.id),
  )
  let start = { setup, onStarted: onReady }
  let event: PendingOrder | undefined
  try {
    for (;;) {
      if (event !== undefined) start = carryOut(event, start.setup)
      const parts: Parts = { validators: [] }
      try {
        const run = async (): Promise<Outcome | PendingOrder> => {
          const gateway = await startParts(start.setup, parts)
          await whileAllRun(parts, () => start.onStarted(gateway))
          return await Promise.race([firstEnd(parts).then(outcomeOf), orders.next()])
        }
        const ended = await Promise.race([stopped, run()])
        if ('status' in ended) {
          say(ended.line)
          return ended
        }
        event = ended
      } finally {
        await stopParts(parts)
      }
    }
  } finally {
    orders.close()
  }
}

/**
 * Returns a function that writes the homes of the devnet's validators. Throws a UserError when the chain is new and the
 * file from which it should start cannot be read.
 */
function prepareHomes(
  { flags, chain, nodes, signers }: Pick<Setup, 'flags' | 'chain' | 'nodes' | 'signers'>,
  isNew: boolean,
): () => void {
  const { home, blockTime, state } = flags
  const accounts = signers.map(({ address }) => address)
  const stateFile = state !== undefined && existsSync(state) ? state : undefined
  const settings = { chainId: chain.chainId, accounts, blockTimeMs: blockTime }
  if (!isNew) {
    if (stateFile !== undefined)
      say(
        `${home} has a chain, which goes on: ${stateFile} is not loaded, but saved at the end. --reset starts from it`,
      )
    return () => void writeNetworkHomes(nodes, settings)
  }
  const appState = appStateOf({ chain, accounts, validators: nodes.length, stateFile })
  return () => {
    recordChain(home, chain)
    writeNetworkHomes(nodes, { ...settings, appStateOf: appState })
  }
}

/**
 * Runs the validators, each a CometBFT with its application, and the gateway, until it is asked to stop or one part
 * ends, which ends the others. Resolves with the exit status. Throws user errors, and then leaves nothing running.
 */
async function runDevnet(flags: Flags): Promise<number> {
  const { home, validators, mnemonic, state, authTokenFile, reset = false } = flags
  // Peers send transactions to a proposer that waits only after it has proposed.
  if (flags.blockTime === 0 && validators > 1)
    throw new UserError(`--block-time 0 works with one validator, got --validators ${validators}`)
  assertDevnetHome(home)
  const authToken = authTokenFile === undefined ? undefined : firstLine(authTokenFile, '--auth-token-file')
  const isNew = reset || hasNoChain(home)
  const chain = chooseChain(home, flags, isNew)
  if (!isNew) assertValidators(home, validators)
  const signers = devnetSigners(mnemonic, Math.max(chain.accounts, validators))
  const nodes = devnetNodes({ ...flags, owners: signers })
  const writeHomes = prepareHomes({ flags, chain, nodes, signers }, isNew)
  closeHome(home, say)
  await assertFree(flags.gateway, 'gateway', '--gateway')
  for (const { rpc, p2p } of nodes) {
    await assertFree(rpc, 'CometBFT RPC', '--rpc')
    await assertFree(p2p, 'CometBFT p2p', '--p2p')
  }
  const lock = takeDevnetLock(home)
  // It is asked to stop, or the program that started it with a channel has ended.
  const stopped = Promise.race([stopSignal(), parentEnd()]).then((): Outcome => ({ status: 0, line: 'stopping …' }))
  try {
    if (reset) resetHome(home)
    // It may be built first, for minutes.
    const found = await Promise.race([stopped, findCometBft({ onProgress: progressOn(process.stdout) })])
    if ('status' in found) {
      say(found.line)
      return found.status
    }
    say(`CometBFT ${found.version} at ${found.path}`)
    writeHomes()
    const setup: Setup = { flags, chain, nodes, signers, program: found.path, authToken }
    const { status } = await runParts(setup, stopped, async (gateway) => {
      await printReady(gateway, setup)
      const ready: Ready = { url: gateway.url, chainId: chain.chainId, accounts: signers.length }
      process.send?.({ ready })
    })
    if (state !== undefined) saveState(home, chain.chainId, state)
    return status
  } finally {
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
  // The home may be named before the word `snapshot` or behind it.
  const homeOf = (own: Command): string =>
    (own.getOptionValueSource('home') === 'default' ? command : own).opts()['home']
  subcommand(
    command,
    'snapshot',
    `Stops the devnet of a home, copies its chain, and starts it again. It keeps at most ${DEVNET_SNAPSHOTS_MAX} snapshots.`,
    'svcd devnet snapshot',
    commonOptions,
  ).action(async ({ json }: FlagsOf<typeof commonOptions>, own: Command) => {
    const done = await sendOrder(homeOf(own), { do: 'snapshot' })
    printAnswer(json, done, () => `snapshot ${done.snapshot}, the devnet goes on at height ${done.height}`)
  })
  subcommand(
    command,
    'revert <snapshot>',
    'Takes the devnet of a home back to a snapshot, which stays. Those made after it are removed.',
    'svcd devnet revert 1',
    commonOptions,
  ).action(async (id: string, { json }: FlagsOf<typeof commonOptions>, own: Command) => {
    const done = await sendOrder(homeOf(own), { do: 'revert', id: parseHeight(id, 'snapshot') })
    printAnswer(json, done, () => `back at snapshot ${done.snapshot}, the devnet goes on at height ${done.height}`)
  })
}
