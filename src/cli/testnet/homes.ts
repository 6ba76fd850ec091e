import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../base/folder.ts'
import type { NodeSettings } from '../../comet/config.ts'
import { homeFiles, makeNodeHome, makeNodeKeys, type NodeIdentity } from '../../comet/home.ts'
import { readGenesis } from '../../modules/genesis.ts'
import { PARAMETERS } from '../../modules/params/definitions.ts'
import { genesisTimeNow, newAppState } from '../genesis.ts'
import { type Endpoint, printEndpoint } from '../settings.ts'
import { UserError } from '../userError.ts'

/** A node of a network whose home is to be made. */
export interface NetworkNode {
  readonly name: string
  /** Absolute. */
  readonly home: string
  /** Account whose candidacy it validates for; a node without one follows the chain and signs nothing. */
  readonly owner?: string | undefined
  /** Where the others dial it. */
  readonly peer: Endpoint
  readonly addresses: NonNullable<NodeSettings['addresses']>
  /** What it tells others to dial, when that is not where it listens: host:port. */
  readonly externalAddress?: string
}

/** `accounts`: who has tokens, the owners among them. The rest is as in NodeHomeOptions. */
interface NetworkOptions {
  readonly chainId: string
  readonly accounts: readonly string[]
  readonly blockTimeMs?: number | undefined
}

const MAX_VALS_DEFAULT = Number(PARAMETERS.get('max_vals')?.fallback)

/** The validators' public keys in a home's genesis file, base64; undefined when it has no such file yet. */
export function genesisKeys(home: string): readonly string[] | undefined {
  const path = homeFiles(home).genesis
  if (!existsSync(path)) return undefined
  const { validators = [] } = JSON.parse(readFileSync(path, 'utf8')) as {
    validators?: readonly { pub_key: { value: string } }[]
  }
  return validators.map((row) => row.pub_key.value)
}

/** The home has the genesis file of another, whole or not at all, unless it has one. */
function takeGenesis(home: string, from: string): void {
  const path = homeFiles(home).genesis
  if (existsSync(path)) return
  makeFolder(dirname(path))
  copyFileSync(homeFiles(from).genesis, `${path}.new`)
  renameSync(`${path}.new`, path)
}

/**
 * Every home can be started: keys, one genesis, and all others as peers. The first is a validator's. Homes that are
 * there keep keys, signing state and genesis, so that this may be run again, after a crash at any point, and with more
 * nodes that are no validators. Errors: UserError when a validator's key is not the one in the genesis that is there;
 * CometError for a value that CometBFT refuses.
 */
export function makeHomes<Node extends NetworkNode>(
  nodes: readonly Node[],
  { chainId, accounts, blockTimeMs }: NetworkOptions,
): readonly (Node & NodeIdentity)[] {
  const first = (nodes[0] as Node).home
  const made = nodes.map((node) => ({ ...node, ...makeNodeKeys(node.home) }))
  const founders = made.flatMap((node) => (node.owner === undefined ? [] : [{ ...node, owner: node.owner }]))
  const known = genesisKeys(first)
  const stranger = known === undefined ? undefined : founders.find(({ pubKey }) => !known.includes(pubKey))
  if (stranger !== undefined) {
    throw new UserError(
      `${homeFiles(stranger.home).validatorKey} is not the key in the genesis file of ${first}: put that key back`,
    )
  }
  const appState = {
    ...newAppState(founders, accounts),
    ...(founders.length > MAX_VALS_DEFAULT ? { params: { max_vals: founders.length } } : {}),
  }
  readGenesis(appState)
  const genesis = {
    appState,
    genesisTime: genesisTimeNow(),
    validators: founders.map(({ pubKey, name }) => ({ pubKey, power: 10, name })),
  }
  for (const node of made) {
    if (node.home !== first) takeGenesis(node.home, first)
    const others = made.filter((one) => one !== node).map(({ nodeId, peer }) => `${nodeId}@${printEndpoint(peer)}`)
    const { home, name: moniker, addresses, externalAddress } = node
    makeNodeHome({
      home,
      chainId,
      moniker,
      privateNet: true,
      genesis,
      addresses,
      ...(blockTimeMs === undefined ? {} : { blockTimeMs }),
      peers: {
        ...(others.length === 0 ? {} : { persistentPeers: others }),
        ...(externalAddress === undefined ? {} : { externalAddress }),
      },
    })
  }
  return made
}
