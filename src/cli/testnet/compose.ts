import type { NodeIdentity } from '../../comet/home.ts'
import { MEMORY } from './memory.ts'
import type { PlannedNode } from './plan.ts'

/** Who the processes run as: whoever owns the homes. */
interface User {
  readonly uid: number
  readonly gid: number
}

const peerOf = ({ name }: PlannedNode): string => `cometbft-${name}:26656`

/**
 * Application and CometBFT of one node, which meet at the socket in the home that both mount. The home is made for the
 * host; what differs in containers comes from the environment.
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
    ports: ['127.0.0.1:${node.rpcPort}:26657']
    environment:
      CMT_RPC_LADDR: tcp://0.0.0.0:26657
      CMT_P2P_LADDR: tcp://0.0.0.0:26656
      CMT_P2P_EXTERNAL_ADDRESS: ${peerOf(node)}
      CMT_P2P_PERSISTENT_PEERS: '${nodes
        .filter((one) => one.name !== node.name)
        .map((one) => `${one.nodeId}@${peerOf(one)}`)
        .join(',')}'
`

/**
 * docker-compose.yml of a network, for docker-compose 1.29 and for the compose of today: an application and a CometBFT
 * for each node, on the homes beside the file, and a gateway on the first. RPC and gateway are published where the
 * scripts have them. `arePublic`: the gateway signs for the public accounts.
 */
export const composeFile = (
  nodes: readonly (PlannedNode & NodeIdentity)[],
  user: User,
  arePublic: boolean,
): string => `\
# All nodes of the network in containers: docker-compose up -d. README.txt says what it needs.
x-svcd: &svcd
  image: \${SVCD_IMAGE:-svcd}
  init: true
  user: '${user.uid}:${user.gid}'
  read_only: true
  tmpfs: [/tmp]
  cap_drop: [ALL]
  security_opt: ['no-new-privileges:true']
  pids_limit: 512
  mem_limit: ${MEMORY.app}

x-app: &app
  <<: *svcd
  command: [svcd, start]
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
    test: [CMD, node, -e, 'fetch("http://127.0.0.1:26657/health").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))']
    interval: 5s
    timeout: 5s
    retries: 3
    start_period: 60s

services:${nodes.map((node) => servicesOf(node, nodes)).join('')}
  gateway:
    <<: *svcd
    mem_limit: ${MEMORY.gateway}
    command: [svcd, gateway, ${arePublic ? '--devnet, ' : ''}--listen, '0.0.0.0:8545', --node, 'http://cometbft-node0:26657']
    restart: on-failure
    depends_on:
      cometbft-node0: {condition: service_healthy}
    ports: ['127.0.0.1:${nodes[0]?.gatewayPort ?? 0}:8545']
    healthcheck:
      test: [CMD, node, -e, 'fetch("http://127.0.0.1:8545/readyz").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))']
      interval: 5s
      timeout: 5s
      retries: 3
      start_period: 60s
`
