import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseAddress } from '../../base/address.ts'
import { ensureFolder } from '../../base/folder.ts'
import { PORTS } from '../../base/ports.ts'
import type { StateSync } from '../../comet/config.ts'
import { reasonOf } from '../../comet/errors.ts'
import {
  homeFiles,
  isCompleteHome,
  type NodeIdentity,
  readNodeIdentity,
  writeNodeHome,
  writeNodeKeys,
} from '../../comet/home.ts'
import { openNodeRpc } from '../../comet/rpc.ts'
import { findKey } from '../../keys/files.ts'
import { FIRST_PROGRAM_VERSION } from '../../modules/chain/keeper.ts'
import { readGenesis } from '../../modules/genesis.ts'
import { DEVNET_CHAIN_ID } from '../devnet/chain.ts'
import {
  assertDevnetHome,
  assertValidators,
  devnetNodes,
  takeDevnetLock,
  tryDevnetLock,
  writeDevnetHomes,
} from '../devnet/home.ts'
import { UserError } from '../errors.ts'
import { closeHome, type GenesisFile, genesisTimeNow, newAppState, readGenesisFile } from '../homes.ts'
import { abciAddressOf } from '../paths.ts'
import {
  blockTimeOption,
  commonOptions,
  type Configure,
  type FlagsOf,
  keystoreFrom,
  keystoreOption,
  option,
  parseUrl,
  withOptions,
} from '../options.ts'
import { printAnswer, formatFields, note } from '../output.ts'
import { acceptProgramVersion } from '../programVersion.ts'
import { writeUnits } from '../services.ts'
import { chooseOs, parseEndpoint, printEndpoint } from '../settings.ts'

async function ask<T>(url: string, question: (rpc: ReturnType<typeof openNodeRpc>) => Promise<T>): Promise<T> {
  const rpc = openNodeRpc(url)
  try {
    return await question(rpc)
  } catch (error) {
    throw new UserError(`--state-sync: ${url} does not answer: ${reasonOf(error)}`)
  } finally {
    rpc.close()
  }
}

/**
 * Chooses the block that a new node of `chainId` trusts first: a recent block of the first server, whose hash all
 * servers confirm. `text`: the RPC addresses of at least two nodes, separated by commas. Throws a UserError when there
 * are fewer, when one does not answer or is of another chain, or when they disagree.
 */
export async function stateSyncFrom(text: string, chainId: string): Promise<StateSync> {
  const servers = text.split(',').map((one) => parseUrl(one, '--state-sync'))
  const [first = ''] = servers
  if (servers.length < 2)
    throw new UserError(
      `--state-sync: expected the RPC addresses of at least two nodes, which must agree, got ${servers.length}`,
    )
  const { latestHeight } = await ask(first, (rpc) => rpc.status())
  // Two blocks back, so that every server has the block.
  const trustHeight = Math.max(1, latestHeight - 2)
  const blocks = await Promise.all(servers.map((url) => ask(url, (rpc) => rpc.block(trustHeight))))
  for (const [at, block] of blocks.entries()) {
    if (block.chainId !== chainId)
      throw new UserError(
        `--state-sync: ${servers[at]}: expected a node of the chain ${chainId}, got one of ${block.chainId}`,
      )
    if (block.hash !== blocks[0]?.hash)
      throw new UserError(`--state-sync: ${first} and ${servers[at]} disagree on block ${trustHeight}`)
  }
  return { servers, trustHeight, trustHash: blocks[0]?.hash ?? '' }
}

/** Reads the address of the application. Throws a UserError that names the flag. */
function parseAbci(text: string, flag: string): string {
  if (/^(?:unix:\/\/.+|tcp:\/\/[^/\s]+:\d{1,5})$/.test(text)) return text
  throw new UserError(`${flag}: expected unix:///path or tcp://host:port, got ${JSON.stringify(text)}`)
}

const options = [
  ...commonOptions,
  option('--chain-id <id>', 'name of the new chain, 1 to 50 characters'),
  option(
    '--owner <account>',
    "address or key name of the account that gets this node's candidacy and 100000 tokens, and is the foundation",
  ),
  option(
    '--devnet',
    'create the home of a devnet, with its public accounts; an existing one keeps its keys and its chain',
  ),
  option('--genesis <file>', 'join the chain of this genesis file'),
  option('--moniker <name>', 'name of this node among its peers', { fallback: 'svcd' }),
  option('--rpc <host:port>', "where CometBFT's RPC listens", {
    parse: parseEndpoint,
    fallback: `127.0.0.1:${PORTS.rpc}`,
  }),
  option('--p2p <host:port>', 'where CometBFT listens for peers', {
    parse: parseEndpoint,
    fallback: `0.0.0.0:${PORTS.p2p}`,
  }),
  option('--peers <list>', 'nodes to stay connected with, id@host:port, separated by commas'),
  option(
    '--state-sync <list>',
    'with --genesis, start from a snapshot; the RPC addresses of at least two trusted nodes, separated by commas',
  ),
  option(
    '--abci <address>',
    'where CometBFT finds the application, unix:///path or tcp://host:port (default: unix://<home>/abci.sock)',
    { parse: parseAbci },
  ),
  blockTimeOption,
  keystoreOption,
] as const

type Flags = FlagsOf<typeof options>

/** The address of the owner, who may be named by a key. */
function ownerOf(flags: Flags): string {
  const { owner } = flags
  if (owner === undefined) {
    throw new UserError(
      "--owner: expected the address or key name of the owner of this node's candidacy and of the first tokens",
    )
  }
  return parseAddress(owner) ?? findKey(keystoreFrom(flags), owner).keystore.address
}

/** Reads a genesis file from which a chain can start. Throws a UserError or a GenesisError. */
function genesisFrom(path: string): GenesisFile {
  if (!existsSync(path)) throw new UserError(`--genesis: ${path} does not exist`)
  const file = readGenesisFile(path)
  readGenesis(file.appState)
  return file
}

/** The address of the application for CometBFT, and those of CometBFT's own servers. */
const addressesOf = ({ rpc, p2p, abci, home }: Flags) => ({
  rpc: `tcp://${printEndpoint(rpc)}`,
  p2p: `tcp://${printEndpoint(p2p)}`,
  abci: abci ?? abciAddressOf(home),
})

/** Prepares the operating system of a home's libraries, and returns what is printed of the home. */
const answerFor = (home: string, chainId: string, { pubKey, nodeId }: NodeIdentity) => ({
  home,
  chain_id: chainId,
  pub_key: pubKey,
  node_id: nodeId,
  os: chooseOs(home, undefined, note),
})

/**
 * Writes the home of a devnet whose parts are started one by one, as in containers. An existing one keeps its keys and
 * its chain. One that is complete and in use is left as it is: `docker-compose up` runs this again while the
 * application runs. Throws a UserError when an incomplete one is in use.
 */
function writeDevnetHome(flags: Flags): void {
  const { home, rpc, p2p } = flags
  if ([flags.chainId, flags.owner, flags.genesis].some((given) => given !== undefined)) {
    throw new UserError('--devnet cannot be combined with --chain-id, --owner or --genesis')
  }
  assertDevnetHome(home)
  assertValidators(home, 1)
  closeHome(home, note)
  const addresses = addressesOf(flags)
  const lock = isCompleteHome(home) ? tryDevnetLock(home) : takeDevnetLock(home)
  if (lock === undefined) {
    note(`${home} is in use and was left as it is`)
    return printAnswer(flags.json, answerFor(home, DEVNET_CHAIN_ID, readNodeIdentity(home)))
  }
  const nodes = devnetNodes({ home, validators: 1, rpc, p2p }).map((node) => ({ ...node, addresses }))
  const [identity] = writeDevnetHomes(nodes, flags.blockTime)
  lock.close()
  printAnswer(flags.json, answerFor(home, DEVNET_CHAIN_ID, identity as NodeIdentity))
}

async function run(flags: Flags): Promise<void> {
  if (flags.devnet === true) return writeDevnetHome(flags)
  const { home, moniker } = flags
  const files = homeFiles(home)
  if (existsSync(files.genesis))
    throw new UserError(`${files.genesis} already exists. Choose another home with --home DIR`)
  const addresses = addressesOf(flags)
  const given = flags.genesis === undefined ? undefined : genesisFrom(flags.genesis)
  const chainId = flags.chainId ?? given?.chainId
  if (chainId === undefined) {
    throw new UserError('expected --chain-id ID for a new chain, or --genesis FILE to join one')
  }
  if (given !== undefined && chainId !== given.chainId) {
    throw new UserError(`--chain-id: expected ${given.chainId}, the chain of the genesis file, got ${chainId}`)
  }
  const owner = given === undefined ? ownerOf(flags) : ''
  if (given === undefined && flags.stateSync !== undefined) throw new UserError('--state-sync needs --genesis FILE')
  const stateSync = flags.stateSync === undefined ? undefined : await stateSyncFrom(flags.stateSync, chainId)
  closeHome(home, note)
  const { pubKey } = writeNodeKeys(home)
  if (given === undefined)
    acceptProgramVersion(home, FIRST_PROGRAM_VERSION) // The chain begins with this release.
  else {
    ensureFolder(dirname(files.genesis))
    writeFileSync(files.genesis, given.text)
  }
  const appState = given?.appState ?? newAppState([{ owner, pubKey, name: moniker }])
  const identity = writeNodeHome({
    home,
    chainId,
    moniker,
    addresses,
    blockTimeMs: flags.blockTime,
    stateSync,
    genesis: { appState, genesisTime: genesisTimeNow() },
    peers: { persistentPeers: flags.peers?.split(',') },
  })
  const made = answerFor(home, chainId, identity)
  const units = writeUnits(home, addresses.abci, flags.rpc)
  printAnswer(
    flags.json,
    made,
    () =>
      `${formatFields(made)}\n\nNow run these, each in a terminal of its own:\n` +
      `  svcd start --home ${home} --abci ${addresses.abci}\n  cometbft node --home ${home}\n  svcd gateway\n\n` +
      `To run all three under systemd, use the units in ${units}; docs/operations.md says how.`,
  )
}

const EXAMPLE = 'svcd init --home ~/my-chain --chain-id my-chain --owner 0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'

/** Configures `svcd init`. */
export const configure: Configure = (command) => {
  withOptions(command, EXAMPLE, options).action(run)
}
