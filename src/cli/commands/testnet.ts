import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packagedFolders, programFile } from '../../base/cometbftPackage.ts'
import { isLoopback } from '../../base/loopback.ts'
import { defaultCometCache } from '../../comet/find.ts'
import type { NodeIdentity } from '../../comet/home.ts'
import { newMnemonic, PUBLIC_MNEMONIC, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { signerOfSeed } from '../../tx/sign.ts'
import { DEVNET_ACCOUNTS } from '../devnet/chain.ts'
import { UserError } from '../../node/errors.ts'
import { chainIdOf, genesisKeys, writeFiles, writeNetworkHomes, PORTS_OF_ONE } from '../../node/homes.ts'
import { homeScripts, readmeText, SOCKET, startAllScript } from '../networkScripts.ts'
import { blockTimeOption, commonOptions, type Configure, type FlagsOf, option, withOptions } from '../options.ts'
import { printAnswer, formatTable } from '../output.ts'
import { SVCD_WORDS, userName } from '../../node/paths.ts'
import { composeFile, systemdUnits } from '../services.ts'
import { parseWhole, printEndpoint } from '../../node/settings.ts'

/** The most validators of a network: the highest value of the parameter max_vals. Source: protocol.md §6. */
const VALIDATORS_MAX = 200

const FULL_NODES_MAX = 200

// The address that peers dial may not be one of the machine's own: it may be a name, or lead through NAT.
const listenOf = (host: string): string => (isLoopback(host) ? host : host.includes(':') ? '::' : '0.0.0.0')

/** Reads one host for all nodes, or one for each. */
function hostsOf(text: string, count: number): readonly string[] {
  const hosts = text.split(',').map((host) => host.replace(/^\[(.*)\]$/, '$1'))
  const bad = hosts.find((host) => !/^(?:[A-Za-z0-9._-]{1,253}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$/.test(host))
  if (bad !== undefined)
    throw new UserError(`--host: expected host names or IP addresses without ports, got ${JSON.stringify(bad)}`)
  if (hosts.length === 1) return Array.from({ length: count }, () => hosts[0] as string)
  if (hosts.length !== count)
    throw new UserError(`--host: expected 1 host for all nodes or ${count}, one for each, got ${hosts.length}`)
  return hosts
}

const options = [
  ...commonOptions,
  option('--validators <count>', `number of validators, 1 to ${VALIDATORS_MAX}`, { isRequired: true }),
  option(
    '--full-nodes <count>',
    `number of full nodes, which follow the chain and sign nothing, 0 to ${FULL_NODES_MAX}`,
    { fallback: '0' },
  ),
  option('--output <dir>', 'new or empty folder for the homes (default: <home>/testnet)'),
  option('--chain-id <id>', 'name of the chain, 1 to 50 characters', { fallback: 'svcd-testnet' }),
  option(
    '--base-port <port>',
    'first port; node i uses the ports from here + 10 i on, for peers, RPC, gateway and metrics',
    { fallback: '27000' },
  ),
  option('--host <list>', 'hosts at which peers find the nodes: one for all, or one for each, separated by commas', {
    fallback: '127.0.0.1',
  }),
  blockTimeOption,
  option(
    '--public-keys',
    'use the accounts of a devnet, whose keys anybody has; written again, such a network keeps its chain',
  ),
] as const

type Flags = FlagsOf<typeof options>
type PlanFlags = Pick<Flags, 'validators' | 'fullNodes' | 'basePort' | 'host'>

/**
 * Plans the nodes of a network, validators first. Node i has the ports basePort + 10 i (peers), + 1 (RPC), + 2
 * (gateway) and + 3 (metrics). Limits: 1 to VALIDATORS_MAX validators, 0 to FULL_NODES_MAX full nodes, and ports from
 * 1024 to 65535. Throws a UserError that names the flag.
 */
export function planNodes({ validators, fullNodes, basePort, host }: PlanFlags) {
  const signing = parseWhole([1, VALIDATORS_MAX])(validators, '--validators')
  const count = signing + parseWhole([0, FULL_NODES_MAX])(fullNodes, '--full-nodes')
  const base = parseWhole([1024, 65_536 - PORTS_OF_ONE * count])(basePort, '--base-port')
  return hostsOf(host, count).map((peerHost, at) => {
    const port = base + PORTS_OF_ONE * at
    const isValidator = at < signing // Else it is a full node, which follows the chain and signs nothing.
    return {
      name: isValidator ? `node${at}` : `full${at - signing}`,
      isValidator,
      /** The address at which its peers find it. */
      peer: { host: peerHost, port },
      /** The host on which it listens for peers. RPC, gateway and metrics are on the loopback address. */
      listen: listenOf(peerHost),
      rpcPort: port + 1,
      gatewayPort: port + 2,
      metricsPort: port + 3,
    }
  })
}

/** The plan of a node. */
export type PlannedNode = ReturnType<typeof planNodes>[number]

interface TestnetOptions {
  /** An absolute path to a folder that is empty or, with public keys, holds the same network. */
  readonly output: string
  /** Validators first. */
  readonly nodes: readonly PlannedNode[]
  readonly chainId: string
  readonly blockTimeMs?: number | undefined
  /** Use the accounts of the public mnemonic, at least those of a devnet, instead of new ones. */
  readonly publicKeys: boolean
}

/** A node whose home was written. `owner`: the owner of its candidacy; a full node has none. */
export type TestnetNode = PlannedNode & NodeIdentity & { readonly home: string; readonly owner?: string | undefined }

// .env: settings of the containers, which the compose file reads.
const OURS = /^(?:(?:node|full)\d+|systemd|start\.sh|docker-compose\.yml|\.env|README\.txt)$/

const countOf = (nodes: readonly PlannedNode[]): number => nodes.filter(({ isValidator }) => isValidator).length

/**
 * A network with public keys may be written again, as the containers do at every start. The accounts of any other one
 * are unknown by then.
 */
function assertOutput({ output, nodes, chainId, publicKeys }: TestnetOptions): void {
  const held = existsSync(output) ? readdirSync(output) : []
  const another = 'choose another folder with --output DIR'
  if (held.length > 0 && (!publicKeys || !held.every((name) => OURS.test(name))))
    throw new UserError(`${output} is not empty; ${another}`)
  const first = join(output, 'node0')
  const [heldId, count] = [chainIdOf(first), genesisKeys(first)?.length]
  if (heldId === undefined || (heldId === chainId && count === countOf(nodes))) return
  throw new UserError(`${output} holds the chain ${heldId} with ${count} validators; ${another}`)
}

/**
 * Writes the homes of a network (keys, one genesis file, peers), its scripts, systemd units, compose file and
 * README.txt. It starts nothing. Throws a UserError when the folder holds anything but this network with public keys,
 * and a CometError for a chain id or block time that CometBFT refuses. The `mnemonic` that it returns is not stored; it is
 * secret unless it is the public one.
 */
export function writeTestnet(options: TestnetOptions) {
  const { output, chainId, publicKeys, blockTimeMs } = options
  assertOutput(options)
  const mnemonic = publicKeys ? PUBLIC_MNEMONIC : newMnemonic()
  const count = Math.max(countOf(options.nodes), publicKeys ? DEVNET_ACCOUNTS : 0)
  const accounts = Array.from({ length: count }, (_, at) => signerOfSeed(seedOfMnemonic(mnemonic, at)).address)
  const nodes: readonly TestnetNode[] = writeNetworkHomes(
    options.nodes.map((node, at) => ({
      ...node,
      home: join(output, node.name),
      owner: node.isValidator ? accounts[at] : undefined,
      externalAddress: printEndpoint(node.peer),
      addresses: {
        rpc: `tcp://127.0.0.1:${node.rpcPort}`,
        p2p: `tcp://${printEndpoint({ host: node.listen, port: node.peer.port })}`,
        abci: SOCKET,
        metrics: `127.0.0.1:${node.metricsPort}`,
      },
    })),
    { chainId, accounts, blockTimeMs },
  )
  const cometbft = join(packagedFolders()[0] ?? defaultCometCache(), programFile())
  const programs = { svcd: SVCD_WORDS, cometbft }
  const user = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 } // -1: Windows has none.
  for (const node of nodes) writeFiles(node.home, homeScripts(node, programs), 0o700)
  writeFiles(output, { 'start.sh': startAllScript(nodes) }, 0o700)
  writeFiles(
    join(output, 'systemd'),
    systemdUnits({
      home: output,
      user: userName(),
      isTemplate: true,
      programs: [...programs.svcd, programs.cometbft],
      commands: { app: ['./app.sh'], cometbft: ['./cometbft.sh'], gateway: ['./gateway.sh'] },
    }),
  )
  writeFiles(output, {
    'docker-compose.yml': composeFile(nodes, user, publicKeys),
    'README.txt': readmeText(chainId, nodes, publicKeys),
  })
  return { mnemonic, nodes }
}

type Testnet = ReturnType<typeof writeTestnet>

const machineAnswer = (output: string, chainId: string, { mnemonic, nodes }: Testnet): object => ({
  output,
  chain_id: chainId,
  mnemonic,
  nodes: nodes.map(({ home, nodeId, pubKey, owner, peer, rpcPort, gatewayPort, metricsPort }) => ({
    home,
    node_id: nodeId,
    pub_key: pubKey,
    owner: owner ?? null,
    p2p: printEndpoint(peer),
    rpc: `http://127.0.0.1:${rpcPort}`,
    gateway: `http://127.0.0.1:${gatewayPort}`,
    metrics: `http://127.0.0.1:${metricsPort}/metrics`,
  })),
})

function humanAnswer(output: string, { mnemonic, nodes }: Testnet, arePublic: boolean): string {
  const rows = nodes.map(({ name, owner, peer, rpcPort, gatewayPort }) => [
    name,
    owner ?? 'full node',
    printEndpoint(peer),
    `127.0.0.1:${rpcPort}`,
    `127.0.0.1:${gatewayPort}`,
  ])
  const warning = arePublic
    ? 'WARNING: these keys are public. Whatever they hold on any chain belongs to everybody.'
    : 'Write it down: it is shown only now and stored nowhere. Whoever has it owns every account of the chain.'
  return (
    `${formatTable(['node', 'owner', 'peers', 'rpc', 'gateway'], rows)}\n\n` +
    `mnemonic: ${mnemonic}  (m/44'/1'/i'/0'/0', owner i)\n${warning}\n\n` +
    `To start all nodes, run ${output}/start.sh. For everything else, see ${output}/README.txt.`
  )
}

async function run(flags: Flags): Promise<void> {
  const { home, json, chainId, blockTime, publicKeys = false } = flags
  const output = resolve(flags.output ?? join(home, 'testnet'))
  if (!/^[A-Za-z0-9._-]{1,50}$/.test(chainId)) {
    throw new UserError(
      `--chain-id: expected 1 to 50 letters, digits, dots, hyphens and underscores, got ${JSON.stringify(chainId)}`,
    )
  }
  const made = writeTestnet({ output, nodes: planNodes(flags), chainId, publicKeys, blockTimeMs: blockTime })
  printAnswer(json, machineAnswer(output, chainId, made), () => humanAnswer(output, made, publicKeys))
}

/** Configures `svcd testnet`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd testnet --validators 4 --output my-net', options).action(run)
}
