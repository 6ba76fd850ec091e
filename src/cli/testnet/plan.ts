import { type Endpoint, parseWhole } from '../settings.ts'
import { UserError } from '../userError.ts'

/** Most validators of one network: the highest value of the parameter max_vals. Source: protocol.md §6. */
const VALIDATORS_MAX = 200

/** Most nodes of one network that are no validators. */
const FULL_NODES_MAX = 200

/** Ports that each node has for itself, from the base port on; those it does not use are for what stands beside it. */
export const PORTS_OF_ONE = 10

/** Where one node of a network is reached. RPC, gateway and metrics are on loopback of its machine. */
export interface PlannedNode {
  readonly name: string
  /** False: a full node, which follows the chain and signs nothing. */
  readonly isValidator: boolean
  /** Where its peers find it. */
  readonly peer: Endpoint
  /** Host that it listens on for peers. */
  readonly listen: string
  readonly rpcPort: number
  readonly gatewayPort: number
  readonly metricsPort: number
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

// On a machine of its own the address that peers dial need not be the machine's own: NAT, a name, a container.
const listenOf = (host: string): string => (isLoopback(host) ? host : host.includes(':') ? '::' : '0.0.0.0')

/** One host for all nodes, or as many as there are nodes. */
function hostsOf(text: string, count: number): readonly string[] {
  const hosts = text.split(',').map((host) => host.replace(/^\[(.*)\]$/, '$1'))
  const bad = hosts.find((host) => !/^(?:[A-Za-z0-9._-]{1,253}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$/.test(host))
  if (bad !== undefined)
    throw new UserError(`--host: expected names or addresses without ports, got ${JSON.stringify(bad)}`)
  if (hosts.length === 1) return Array.from({ length: count }, () => hosts[0] as string)
  if (hosts.length !== count)
    throw new UserError(`--host: expected one host, or ${count}, one for each node; got ${hosts.length}`)
  return hosts
}

/** What `svcd testnet` is told of its nodes, as it was typed. */
interface PlanFlags {
  readonly validators: string
  readonly fullNodes: string
  readonly basePort: string
  readonly host: string
}

/**
 * The nodes of a network, validators first. Node i has the ports basePort + 10 i (peers), + 1 (RPC), + 2 (gateway) and
 * + 3 (metrics). Bounds: 1 to VALIDATORS_MAX validators, 0 to FULL_NODES_MAX others, ports of 1024 to 65535. Throws a
 * UserError that names the flag.
 */
export function planNodes({ validators, fullNodes, basePort, host }: PlanFlags): readonly PlannedNode[] {
  const signing = parseWhole(validators, '--validators', [1, VALIDATORS_MAX])
  const count = signing + parseWhole(fullNodes, '--full-nodes', [0, FULL_NODES_MAX])
  const base = parseWhole(basePort, '--base-port', [1024, 65_536 - PORTS_OF_ONE * count])
  return hostsOf(host, count).map((peerHost, at) => {
    const port = base + PORTS_OF_ONE * at
    const isValidator = at < signing
    return {
      name: isValidator ? `node${at}` : `full${at - signing}`,
      isValidator,
      peer: { host: peerHost, port },
      listen: listenOf(peerHost),
      rpcPort: port + 1,
      gatewayPort: port + 2,
      metricsPort: port + 3,
    }
  })
}
