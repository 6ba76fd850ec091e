import { existsSync } from 'node:fs'
import { parseAddress } from '../../values/address.ts'
import { PORTS } from '../../base/ports.ts'
import type { StateSync } from '../../comet/config.ts'
import {
  homeFiles,
  isCompleteHome,
  listenAddresses,
  type NodeIdentity,
  readCometConfig,
  readNodeIdentity,
  writeNodeHome,
  writeNodeKeys,
} from '../../comet/home.ts'
import { addressOfFile, findAccount } from '../../keys/files.ts'
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
import { UserError } from '../../node/errors.ts'
import {
  assertSafeToSign,
  closeHome,
  type GenesisFile,
  genesisTimeNow,
  newAppState,
  readGenesisFile,
} from '../../node/homes.ts'
import { abciAddressOf } from '../../node/paths.ts'
import {
  blockTimeOption,
  commonOptions,
  type Configure,
  type FlagsOf,
  keystoreFrom,
  keystoreOption,
  option,
  refuseBeside,
  withOptions,
} from '../options.ts'
import { printAnswer, formatFields, note } from '../output.ts'
import { acceptProgramVersion } from '../../node/programVersion.ts'
import { shellWord } from '../networkScripts.ts'
import { writeUnits } from '../services.ts'
import {
  chooseOs,
  type Endpoint,
  parseAbci,
  parseEndpoint,
  parseTrustPeriod,
  printEndpoint,
} from '../../node/settings.ts'
import { stateSyncFrom } from '../stateSync.ts'
import { printPeriod, trustedHeaderFrom, trustOptions } from '../trust.ts'

/** Reads a list of `id@host:port`. Throws a UserError that names the flag and the entry. */
export const parsePeers = (text: string, flag: string): readonly string[] =>
  text.split(',').map((peer) => {
    const [, id = '', address = ''] = /^([^@]*)@(.*)$/.exec(peer.trim()) ?? []
    if (!/^[0-9a-f]{40}$/i.test(id))
      throw new UserError(
        `${flag}: expected ID@HOST:PORT, where the ID is the 40 hex digits that svcd init prints as node_id, got ` +
          JSON.stringify(peer),
      )
    return `${id.toLowerCase()}@${printEndpoint(parseEndpoint(address, flag))}`
  })

// Where CometBFT of a new home listens.
const RPC: Endpoint = { host: '127.0.0.1', port: PORTS.rpc }
const P2P: Endpoint = { host: '0.0.0.0', port: PORTS.p2p }

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
  option('--moniker <name>', 'name of this node among its peers (default: svcd)'),
  option('--rpc <host:port>', `where CometBFT's RPC listens (default: ${printEndpoint(RPC)})`, {
    parse: parseEndpoint,
  }),
  option('--p2p <host:port>', `where CometBFT listens for peers (default: ${printEndpoint(P2P)})`, {
    parse: parseEndpoint,
  }),
  option('--peers <list>', 'nodes to stay connected with, id@host:port, separated by commas', { parse: parsePeers }),
  option(
    '--state-sync <list>',
    'with --genesis, start from a snapshot; the RPC addresses of at least two different nodes, separated by commas',
  ),
  ...trustOptions,
  option(
    '--trust-period <time>',
    'how long a header is trusted, such as 8h (default: the longest safe time, measured)',
    {
      parse: parseTrustPeriod,
    },
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
  return parseAddress(owner) ?? addressOfFile(findAccount(keystoreFrom(flags), owner))
}

/** Reads a genesis file from which a chain can start. Throws a UserError or a GenesisError. */
function genesisFrom(path: string): GenesisFile {
  if (!existsSync(path)) throw new UserError(`--genesis: ${path} does not exist`)
  const file = readGenesisFile(path)
  readGenesis(file.appState)
  return file
}

const hasConfig = ({ home }: Flags): boolean => existsSync(homeFiles(home).config)

/** The addresses that are written into config.toml. One that exists keeps those that no flag names. */
const addressesOf = (flags: Flags) => {
  const { rpc, p2p, abci = hasConfig(flags) ? undefined : abciAddressOf(flags.home) } = flags
  return {
    ...(rpc !== undefined && { rpc: `tcp://${printEndpoint(rpc)}` }),
    ...(p2p !== undefined && { p2p: `tcp://${printEndpoint(p2p)}` }),
    ...(abci !== undefined && { abci }),
  }
}

/** Where the units look for the application and CometBFT's RPC: as a flag says, else as an existing config.toml does. */
function endpointsOf(flags: Flags) {
  const { home } = flags
  const [held, { rpc }] = hasConfig(flags) ? [readCometConfig(home), listenAddresses(home)] : [{}, {}]
  return { abci: flags.abci ?? String(held.proxy_app ?? abciAddressOf(home)), rpc: flags.rpc ?? rpc ?? RPC }
}

/** Prepares the operating system of a home's libraries, and returns what is printed of the home. */
const answerFor = (home: string, chainId: string, { pubKey, nodeId }: NodeIdentity) => ({
  home,
  chain_id: chainId,
  pub_key: pubKey,
  node_id: nodeId,
  os: chooseOs(home, undefined, note),
})

const NOT_OF_A_DEVNET: readonly (keyof Flags)[] = [
  'chainId',
  'owner',
  'genesis',
  'moniker',
  'peers',
  'stateSync',
  'trustHeight',
  'trustHash',
  'trustPeriod',
]

/**
 * Writes the home of a devnet whose parts are started one by one, as in containers. An existing one keeps its keys and
 * its chain. One that is complete and in use is left as it is: `docker-compose up` runs this again while the
 * application runs. Throws a UserError when an incomplete one is in use.
 */
function writeDevnetHome(flags: Flags): void {
  const { home, rpc = RPC, p2p = P2P } = flags
  refuseBeside('devnet', NOT_OF_A_DEVNET, flags)
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

/** What the flags say about state sync; undefined without `--state-sync`. */
async function chooseStateSync(flags: Flags, chainId: string): Promise<StateSync | undefined> {
  const { stateSync, genesis, trustPeriod: trustPeriodMs } = flags
  const trusted = trustedHeaderFrom(flags)
  if (stateSync !== undefined) {
    if (genesis === undefined) throw new UserError('--state-sync needs --genesis FILE')
    return stateSyncFrom(stateSync, chainId, { trusted, trustPeriodMs, say: note })
  }
  if (trusted !== undefined || trustPeriodMs !== undefined)
    throw new UserError('--trust-height, --trust-hash and --trust-period need --state-sync')
  return undefined
}

async function run(flags: Flags): Promise<void> {
  if (flags.devnet === true) return writeDevnetHome(flags)
  const { home, moniker = 'svcd' } = flags
  const files = homeFiles(home)
  if (existsSync(files.genesis))
    throw new UserError(`${files.genesis} already exists. Choose another home with --home DIR`)
  const [addresses, endpoints] = [addressesOf(flags), endpointsOf(flags)]
  if (flags.genesis !== undefined) refuseBeside('genesis', ['owner'], flags)
  const given = flags.genesis === undefined ? undefined : genesisFrom(flags.genesis)
  const chainId = flags.chainId ?? given?.chainId
  if (chainId === undefined) {
    throw new UserError('expected --chain-id ID for a new chain, or --genesis FILE to join one')
  }
  if (given !== undefined && chainId !== given.chainId) {
    throw new UserError(`--chain-id: expected ${given.chainId}, the chain of the genesis file, got ${chainId}`)
  }
  const owner = given === undefined ? ownerOf(flags) : ''
  const stateSync = await chooseStateSync(flags, chainId)
  closeHome(home, note)
  // A new chain has no height that the key could have signed.
  if (given !== undefined) assertSafeToSign(home)
  const { pubKey } = writeNodeKeys(home)
  if (given === undefined) acceptProgramVersion(home, FIRST_PROGRAM_VERSION) // The chain begins with this release.
  const newGenesis = () => ({
    appState: newAppState([{ owner, pubKey, name: moniker }]),
    genesisTime: genesisTimeNow(),
  })
  const units = writeUnits(home, endpoints.abci, endpoints.rpc, !hasConfig(flags))
  const notes: string[] = []
  if (units.kept.length > 0)
    notes.push(
      `units in ${units.folder} stay as they are: ${units.kept.join(', ')}. Correct them if an address has changed`,
    )
  chooseOs(home, undefined, (line) => notes.push(line)) // It may write, and that may fail.
  // Last: a home that has a genesis file counts as made, and init is not run on it again.
  const identity = writeNodeHome({
    home,
    chainId,
    moniker,
    addresses,
    blockTimeMs: flags.blockTime,
    stateSync,
    genesis: given === undefined ? newGenesis() : { text: given.text },
    peers: { persistentPeers: flags.peers },
  })
  notes.forEach(note)
  const made = {
    ...answerFor(home, chainId, identity),
    ...(stateSync === undefined
      ? {}
      : {
          trust_height: stateSync.trustHeight,
          trust_hash: stateSync.trustHash,
          trust_period: printPeriod(stateSync.trustPeriodMs),
        }),
  }
  const [homeWord, abciWord] = [shellWord(home), shellWord(endpoints.abci)]
  printAnswer(
    flags.json,
    made,
    () =>
      `${formatFields(made)}\n\nNow run it:\n  svcd node --home ${homeWord}\n\n` +
      `Or run its parts by themselves, each in a terminal of its own:\n` +
      `  svcd start --home ${homeWord} --abci ${abciWord}\n  cometbft node --home ${homeWord}\n  svcd gateway --home ${homeWord}\n\n` +
      `To run all three under systemd, use the units in ${units.folder}; docs/operations.md says how.`,
  )
}

const EXAMPLE = 'svcd init --home ~/my-chain --chain-id my-chain --owner 0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'

/** Configures `svcd init`. */
export const configure: Configure = (command) => {
  withOptions(command, EXAMPLE, options).action(run)
}
