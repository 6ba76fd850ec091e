import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../base/folder.ts'
import { defaultCometCache } from '../../comet/find.ts'
import type { NodeIdentity } from '../../comet/home.ts'
import { newMnemonic, PUBLIC_MNEMONIC, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { signerOfSeed } from '../../tx/sign.ts'
import { DEVNET_ACCOUNTS } from '../devnet/genesis.ts'
import { SVCD_WORDS } from '../self.ts'
import { printEndpoint } from '../settings.ts'
import { chainIdOf } from '../start.ts'
import { UserError } from '../userError.ts'
import { composeFile } from './compose.ts'
import { genesisKeys, makeHomes } from './homes.ts'
import type { PlannedNode } from './plan.ts'
import { homeScripts, readmeText, SOCKET, startAllScript } from './texts.ts'
import { systemdUnits } from './units.ts'

/** What `svcd testnet` is told. */
export interface TestnetOptions {
  /** Absolute. It holds nothing, or, with public keys, the same network. */
  readonly output: string
  /** Validators first. */
  readonly nodes: readonly PlannedNode[]
  readonly chainId: string
  readonly blockTimeMs?: number | undefined
  /** Take the accounts of the public mnemonic, those of a devnet at least, instead of a new one's. */
  readonly publicKeys: boolean
}

/** A node that was made. `owner`: the account whose candidacy it validates for; a full node has none. */
export type MadeNode = PlannedNode & NodeIdentity & { readonly home: string; readonly owner?: string | undefined }

/** A network that was made. `mnemonic`: secret unless it is the public one; it is written nowhere. */
export interface Testnet {
  readonly mnemonic: string
  readonly nodes: readonly MadeNode[]
}

const OURS = /^(?:(?:node|full)\d+|systemd|start\.sh|docker-compose\.yml|README\.txt)$/

const countOf = (nodes: readonly PlannedNode[]): number => nodes.filter(({ isValidator }) => isValidator).length

/**
 * A network of public keys may be made again, as the containers do at every start; of any other the accounts are known
 * to nobody here.
 */
function assertOutput({ output, nodes, chainId, publicKeys }: TestnetOptions): void {
  const held = existsSync(output) ? readdirSync(output) : []
  const another = 'choose another folder with --output DIR'
  if (held.length > 0 && (!publicKeys || !held.every((name) => OURS.test(name))))
    throw new UserError(`${output} is not empty: ${another}`)
  const first = join(output, 'node0')
  const [heldId, count] = [chainIdOf(first), genesisKeys(first)?.length]
  if (heldId === undefined || (heldId === chainId && count === countOf(nodes))) return
  throw new UserError(`${output} holds the chain ${heldId} with ${count} validators: ${another}`)
}

const write = (folder: string, files: Readonly<Record<string, string>>, mode = 0o600): void => {
  makeFolder(folder, 0o700)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode })
}

/**
 * Makes the homes of a network: keys, one genesis, peers, scripts, units, a compose file and README.txt. Nothing is
 * started. Errors: UserError when the folder holds anything but this network with public keys; CometError for a chain
 * id or block time that CometBFT refuses, before anything of the network is usable.
 */
export function makeTestnet(options: TestnetOptions): Testnet {
  const { output, chainId, publicKeys, blockTimeMs } = options
  assertOutput(options)
  const mnemonic = publicKeys ? PUBLIC_MNEMONIC : newMnemonic()
  const count = Math.max(countOf(options.nodes), publicKeys ? DEVNET_ACCOUNTS : 0)
  const accounts = Array.from({ length: count }, (_, at) => signerOfSeed(seedOfMnemonic(mnemonic, at)).address)
  const nodes: readonly MadeNode[] = makeHomes(
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
  const programs = { svcd: SVCD_WORDS, cometbft: join(defaultCometCache(), 'cometbft') }
  const user = userInfo()
  for (const node of nodes) write(node.home, homeScripts(node, programs), 0o700)
  write(output, { 'start.sh': startAllScript(nodes) }, 0o700)
  write(
    join(output, 'systemd'),
    systemdUnits({
      home: output,
      user: user.username,
      isTemplate: true,
      programs: [...programs.svcd, programs.cometbft],
      commands: { app: ['./app.sh'], cometbft: ['./cometbft.sh'], gateway: ['./gateway.sh'] },
    }),
  )
  write(output, {
    'docker-compose.yml': composeFile(nodes, user, publicKeys),
    'README.txt': readmeText(chainId, nodes, publicKeys),
  })
  return { mnemonic, nodes }
}
