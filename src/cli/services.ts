import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PORTS } from '../base/ports.ts'
import { withGoMaxProcs } from '../comet/goMaxProcs.ts'
import type { NodeIdentity } from '../comet/home.ts'
import type { PlannedNode } from './commands/testnet.ts'
import { writeFiles } from '../node/homes.ts'
import { SVCD_WORDS } from '../node/paths.ts'
import { type Endpoint, printEndpoint, reachable } from '../node/settings.ts'

/** The memory limit of each part of a node, as compose files and systemd units write it. */
export const MEMORY = { app: '2G', cometbft: '2G', gateway: '1G' } as const
type Part = keyof typeof MEMORY

/** Options of `systemdUnits`. */
export interface UnitOptions {
  /** The absolute path of the home; with `isTemplate`, of the folder that holds the homes. */
  readonly home: string
  readonly user: string
  /** The command line of each part. It begins with a path, a name that systemd finds, or `./script` in the home. */
  readonly commands: Readonly<Record<Part, readonly string[]>>
  /** The paths of the programs that the units run. */
  readonly programs: readonly string[]
  /** Writes template units for many nodes. The instance `svcd-app@node0` has its home in the folder node0. */
  readonly isTemplate?: boolean
}

// systemd reads % as the start of a specifier everywhere.
const literal = (text: string): string => text.replaceAll('%', '%%')
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const word = (text: string): string => (/^[\w./:@%-]+$/.test(text) ? text : quoted(text))
// In an argument it also reads $ as the start of a variable.
const argument = (text: string): string => word(literal(text).replaceAll('$', '$$$$'))

const isBelowHomes = (path: string): boolean => /^\/(?:home|root|run\/user)(?:\/|$)/.test(path)
const isBelowTmp = (path: string): boolean => /^\/(?:var\/)?tmp\//.test(path)

/** The home as the units name it, before quoting. */
const homeOf = ({ home, isTemplate = false }: UnitOptions): string => `${literal(home)}${isTemplate ? '/%i' : ''}`

function commandOf(options: UnitOptions, part: Part): string {
  const [program = '', ...args] = options.commands[part]
  const first = program.startsWith('./') ? `${homeOf(options)}${program.slice(1)}` : literal(program)
  return [word(first), ...args.map(argument)].join(' ')
}

/** What a part sees of the users' home folders: nothing, the node's home, or all read-only if the programs are there. */
function homesLines(options: UnitOptions, mayWrite: boolean): readonly string[] {
  if (options.programs.some(isBelowHomes)) return ['ProtectHome=read-only']
  if (!isBelowHomes(options.home)) return ['ProtectHome=yes']
  return ['ProtectHome=tmpfs', `${mayWrite ? 'BindPaths' : 'BindReadOnlyPaths'}=${word(homeOf(options))}`]
}

function service(options: UnitOptions, part: Part): string {
  // The gateway only reads its settings and keys.
  const mayWrite = part !== 'gateway'
  return [
    '[Service]',
    `User=${options.user}`,
    'UMask=0077',
    `WorkingDirectory=${homeOf(options)}`,
    `ExecStart=${commandOf(options, part)}`,
    'Restart=on-failure',
    'RestartSec=2',
    'LimitNOFILE=65536',
    'LimitCORE=0',
    `MemoryMax=${MEMORY[part]}`,
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    ...(isBelowTmp(options.home) ? [] : ['PrivateTmp=yes']),
    'ProtectSystem=strict',
    ...homesLines(options, mayWrite),
    ...(mayWrite ? [`ReadWritePaths=${word(homeOf(options))}`] : []),
  ].join('\n')
}

/**
 * The systemd units of a node by file name: the application, CometBFT and the gateway, each of which sees and writes
 * only what it needs. An application that fails is restarted together with CometBFT; one that was retired ends with
 * status 0 and stays down, and CometBFT with it.
 */
export function systemdUnits(options: UnitOptions): Readonly<Record<string, string>> {
  const [at, of, instance] = options.isTemplate === true ? ['@', ' of %i', '@%i'] : ['', '', '']
  const install = '[Install]\nWantedBy=multi-user.target'
  const app = `svcd-app${instance}.service`
  const cometbft = `svcd-cometbft${instance}.service`
  return {
    [`svcd-app${at}.service`]:
      `[Unit]\nDescription=svcd application${of}\nWants=network-online.target\nAfter=network-online.target\n` +
      `Upholds=${cometbft}\n\n${service(options, 'app')}\n\n${install}\n`,
    // An --abci may name a socket in /tmp, so the two units share their /tmp.
    [`svcd-cometbft${at}.service`]:
      `[Unit]\nDescription=CometBFT${of}\nBindsTo=${app}\nAfter=${app}\nJoinsNamespaceOf=${app}\n\n` +
      // CometBFT may hang while it stops without the application. Killing it loses nothing.
      `${service(options, 'cometbft')}\nTimeoutStopSec=10\n`,
    [`svcd-gateway${at}.service`]:
      `[Unit]\nDescription=svcd gateway${of}\nAfter=${cometbft}\n\n` + `${service(options, 'gateway')}\n\n${install}\n`,
  }
}

/**
 * Writes the systemd units of a home into its folder `systemd`. `rpc`: that of CometBFT. `isNew`: false for a home that was
 * made before, whose units stay. Returns the folder, and which of its units are not what would be written now.
 */
export function writeUnits(home: string, abci: string, rpc: Endpoint, isNew: boolean) {
  const folder = join(home, 'systemd')
  const node = `http://${printEndpoint(reachable(rpc))}`
  const units = systemdUnits({
    home,
    user: 'svcd', // Source: docs/operations.md, Under systemd.
    programs: SVCD_WORDS,
    commands: {
      app: [...SVCD_WORDS, 'start', '--home', home, '--abci', abci],
      cometbft: withGoMaxProcs(['cometbft', 'node', '--home', home]),
      gateway: [...SVCD_WORDS, 'gateway', '--home', home, '--node', node],
    },
  })
  const held = Object.keys(units).filter((name) => !isNew && existsSync(join(folder, name)))
  writeFiles(folder, Object.fromEntries(Object.entries(units).filter(([name]) => !held.includes(name))))
  return { folder, kept: held.filter((name) => readFileSync(join(folder, name), 'utf8') !== units[name]) }
}

const FIRST_NODE = `http://cometbft-node0:${PORTS.rpc}`

const probeOf = (url: string): string =>
  `[CMD, node, -e, 'fetch("${url}").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))']`

const peerOf = ({ name }: PlannedNode): string => `cometbft-${name}:${PORTS.p2p}`

/**
 * The services of one node: its application and its CometBFT, which meet at the socket in the home that both mount. The
 * home is written for the host; settings that differ in containers come from the environment.
 */
const servicesOf = (node: PlannedNode, nodes: readonly (PlannedNode & NodeIdentity)[]): string => `
  app-${node.name}:
    <<: *app
    volumes: ['./${node.name}:/chain']

  cometbft-${node.name}:
    <<: *cometbft
    depends_on:
      app-${node.name}: {condition: service_healthy}
    volumes: ['./${node.name}:/chain']
    ports: ['127.0.0.1:${node.rpcPort}:${PORTS.rpc}']
    environment:
      GOMAXPROCS: '\${GOMAXPROCS:-}'
      CMT_RPC_LADDR: tcp://0.0.0.0:${PORTS.rpc}
      CMT_P2P_LADDR: tcp://0.0.0.0:${PORTS.p2p}
      CMT_P2P_EXTERNAL_ADDRESS: ${peerOf(node)}
      CMT_P2P_PERSISTENT_PEERS: '${nodes
        .filter((one) => one.name !== node.name)
        .map((one) => `${one.nodeId}@${peerOf(one)}`)
        .join(',')}'
`

/**
 * The docker-compose.yml of a network, for docker-compose 1.29 and later: an application and a CometBFT for each node,
 * which use the homes beside the file, and a gateway for the first node. RPC and gateway are published at the addresses
 * that the scripts use. The containers run as the user, who owns the homes. `arePublic`: the gateway signs for the
 * public accounts.
 */
export const composeFile = (
  nodes: readonly (PlannedNode & NodeIdentity)[],
  { uid, gid }: { readonly uid: number; readonly gid: number },
  arePublic: boolean,
): string => `\
# All nodes of the network in containers: docker-compose up -d. README.txt says what it needs.
x-svcd: &svcd
  image: \${SVCD_IMAGE:-svcd}
  init: true
  user: '${uid}:${gid}'
  read_only: true
  tmpfs: [/tmp]
  cap_drop: [ALL]
  security_opt: ['no-new-privileges:true']
  pids_limit: 512
  mem_limit: ${MEMORY.app}

x-app: &app
  <<: *svcd
  command: [svcd, start]
  # Without a value it comes from the shell or .env, and is unset where neither has it.
  environment: {SVCD_ACCEPT_PROGRAM_VERSION: }
  # A retired program ends with status 0 and stays stopped.
  restart: on-failure
  healthcheck:
    # A socket that listens has the flag 00010000. A connection would count as one of a node's.
    test: [CMD, grep, -q, ' 00010000 .*/abci.sock', /proc/net/unix]
    interval: 3s
    timeout: 3s
    retries: 3
    start_period: 60s

x-cometbft: &cometbft
  <<: *svcd
  command: [cometbft, node]
  # It ends with status 0 when it loses the application, which may well come back.
  restart: unless-stopped
  healthcheck:
    test: ${probeOf(`http://127.0.0.1:${PORTS.rpc}/health`)}
    interval: 5s
    timeout: 5s
    retries: 3
    start_period: 60s

services:${nodes.map((node) => servicesOf(node, nodes)).join('')}
  gateway:
    <<: *svcd
    mem_limit: ${MEMORY.gateway}
    command: [svcd, gateway, ${arePublic ? '--devnet, ' : ''}--listen, '0.0.0.0:${PORTS.gateway}', --node, '${FIRST_NODE}']
    restart: on-failure
    depends_on:
      cometbft-node0: {condition: service_healthy}
    ports: ['127.0.0.1:${nodes[0]?.gatewayPort ?? 0}:${PORTS.gateway}']
    healthcheck:
      test: ${probeOf(`http://127.0.0.1:${PORTS.gateway}/readyz`)}
      interval: 5s
      timeout: 5s
      retries: 3
      start_period: 60s
`
