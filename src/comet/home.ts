import { createHash, generateKeyPairSync } from 'node:crypto'
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'smol-toml'
import { writeWhole } from '../base/writeWhole.ts'
import { newConfigToml, type NodeSettings, templateOf, updatedConfigToml } from './config.ts'
import { CometError, reasonOf } from './errors.ts'
import { lastConsensusFailureIn } from './messages.ts'

/** The files of a CometBFT home. */
export const homeFiles = (home: string) => ({
  config: join(home, 'config', 'config.toml'),
  genesis: join(home, 'config', 'genesis.json'),
  nodeKey: join(home, 'config', 'node_key.json'),
  validatorKey: join(home, 'config', 'priv_validator_key.json'),
  validatorState: join(home, 'data', 'priv_validator_state.json'),
  blockStore: join(home, 'data', 'cometbft', 'blockstore.db'),
  log: join(home, 'logs', 'cometbft.log'),
})

/** Where a CometBFT listens. `host`: an IPv6 address without brackets. */
export type Listening = { readonly host: string; readonly port: number }

type Config = {
  readonly proxy_app?: unknown
  readonly priv_validator_laddr?: unknown
  readonly priv_validator_key_file?: unknown
  readonly priv_validator_state_file?: unknown
  readonly rpc?: { readonly laddr?: unknown }
  readonly p2p?: { readonly laddr?: unknown }
  readonly mempool?: { readonly type?: unknown }
  readonly statesync?: { readonly enable?: unknown; readonly trust_height?: unknown }
}

/** Reads the config.toml of a home. Throws a CometError that names the file when it cannot be read. */
export const readCometConfig = (home: string): Config => {
  const path = homeFiles(home).config
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CometError(`cannot read ${path}: ${reasonOf(error)}`)
  }
}

/** What the config.toml of a home says; nothing where there is none. */
const configOf = (home: string): Config => (existsSync(homeFiles(home).config) ? readCometConfig(home) : {})

/**
 * The files of the key that signs blocks in a home and of what it has signed: those that config.toml names, or the usual
 * ones. Throws a CometError when that file cannot be read.
 */
export const signingFiles = (home: string): { readonly validatorKey: string; readonly validatorState: string } => {
  const usual = homeFiles(home)
  const { priv_validator_key_file: key = usual.validatorKey, priv_validator_state_file: state = usual.validatorState } =
    configOf(home)
  return { validatorKey: resolve(home, String(key)), validatorState: resolve(home, String(state)) }
}

/**
 * Where CometBFT listens according to the config.toml of a home; nothing for what the file does not say as tcp://host:port.
 * Throws a CometError that names the file when it cannot be read.
 */
export const listenAddresses = (home: string): { readonly rpc?: Listening; readonly p2p?: Listening } => {
  const config = readCometConfig(home)
  const at = (laddr: unknown): Listening | undefined => {
    const [, host, port] = /^tcp:\/\/\[?(.*?)\]?:(\d{1,5})$/.exec(String(laddr)) ?? []
    // Without a host it listens on every address.
    return host === undefined ? undefined : { host: host || '0.0.0.0', port: Number(port) }
  }
  const [rpc, p2p] = [at(config.rpc?.laddr), at(config.p2p?.laddr)]
  return { ...(rpc && { rpc }), ...(p2p && { p2p }) }
}

/**
 * CometBFT's address of an ed25519 key: the first 20 bytes of sha256(public key) in upper-case hex. Source: protocol.md
 * §1.
 */
export const addressOfPubKey = (pubKeyBase64: string): string =>
  createHash('sha256').update(Buffer.from(pubKeyBase64, 'base64')).digest('hex').slice(0, 40).toUpperCase()

const publicKey = (value: string) => ({ type: 'tendermint/PubKeyEd25519', value })

/**
 * The contents of a genesis file. `genesisTime`: RFC 3339 in UTC. `appState`: any JSON, which the application receives
 * in InitChain. `pubKey`: base64 of 32 bytes. `power`: a whole number above 0.
 */
export type GenesisOptions = {
  chainId: string
  genesisTime: string
  initialHeight?: number
  appState: unknown
  validators: readonly { pubKey: string; power: number; name?: string }[]
}

/** True for RFC 3339 in UTC, in which CometBFT reads times. Date.parse takes more, such as 30 February for 2 March. */
const isUtcTime = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text)) return false
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 19))
}

/**
 * The text of `genesis.json`. Equal options give equal bytes, so every node of a network can write the file itself.
 * Throws a CometError for a value that CometBFT refuses.
 */
export const genesisJson = (options: GenesisOptions): string => {
  const { chainId, genesisTime, initialHeight = 1, appState, validators } = options
  const check = (holds: boolean, what: string, expected: string, got: unknown) => {
    if (!holds) throw new CometError(`${what}: expected ${expected}, got ${JSON.stringify(got)}`)
  }
  const isPositive = (value: number) => Number.isSafeInteger(value) && value > 0
  const visible = '1 to 50 printable ASCII characters without spaces'
  check(/^[\x21-\x7e]{1,50}$/.test(chainId), 'chain id', visible, chainId)
  check(isUtcTime(genesisTime), 'genesis time', 'a time such as 2026-11-20T10:00:00Z', genesisTime)
  check(isPositive(initialHeight), 'initial height', 'a whole number above 0', initialHeight)
  check(validators.length > 0, 'validators', 'at least one validator in a genesis file', validators)
  const rows = validators.map(({ pubKey, power, name = '' }) => {
    const address = addressOfPubKey(pubKey)
    check(isPositive(power), `the power of validator ${address}`, 'a whole number above 0', power)
    return { address, pub_key: publicKey(pubKey), power: String(power), name }
  })
  const genesis = {
    ...(JSON.parse(templateOf('genesis.json')) as object),
    genesis_time: genesisTime,
    chain_id: chainId,
    initial_height: String(initialHeight),
    validators: rows,
    app_state: appState,
  }
  return json(genesis)
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const writeOnce = (path: string, create: () => string): void => {
  if (!existsSync(path)) writeWhole(path, create())
}

/** A new ed25519 key as CometBFT writes it: `priv_key` holds the seed and then the public key. */
const newKey = () => {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const bytes = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')])
  return {
    pubKey: bytes.toString('base64', 32),
    priv_key: { type: 'tendermint/PrivKeyEd25519', value: bytes.toString('base64') },
  }
}

/** Reads the public half of the key in a file of `newKey`, in base64. */
const readPubKey = (path: string): string => {
  try {
    const key = JSON.parse(readFileSync(path, 'utf8')) as { priv_key?: { value?: unknown } } | null
    const bytes = Buffer.from(String(key?.priv_key?.value), 'base64')
    if (bytes.length === 64) return bytes.toString('base64', 32)
    throw new Error('expected an ed25519 key')
  } catch (error) {
    throw new CometError(`cannot read the key in ${path}: ${reasonOf(error)}. Put the file back from a backup`)
  }
}

/**
 * Reads the public half of a home's validator key. Throws a CometError when the file is missing or not an ed25519 key.
 */
export const readValidatorKey = (home: string): { pubKey: string; address: string } => {
  const pubKey = readPubKey(signingFiles(home).validatorKey)
  return { pubKey, address: addressOfPubKey(pubKey) }
}

/**
 * Reads the id by which peers know a node, 40 lower-case hex digits. Throws a CometError when the file is missing or
 * not an ed25519 key.
 */
export const readNodeId = (home: string): string => addressOfPubKey(readPubKey(homeFiles(home).nodeKey)).toLowerCase()

/**
 * The public identity of a node. `pubKey`: base64. `address`: upper-case hex. `nodeId`: lower-case hex, which peers
 * write as `nodeId@host:port`.
 */
export type NodeIdentity = { pubKey: string; address: string; nodeId: string }

/** Reads the identity from a home's key files. Throws a CometError when one is missing or not an ed25519 key. */
export const readNodeIdentity = (home: string): NodeIdentity => ({
  ...readValidatorKey(home),
  nodeId: readNodeId(home),
})

/** The signing state of a key that has signed nothing. */
const NOTHING_SIGNED = '{"height":"0","round":0,"step":0}\n'

/**
 * Returns why CometBFT must not start in a home: it has a validator key without the file that says what the key has signed,
 * or that file without the key. CometBFT (0.37 to 0.40) answers a missing key with a new one and sets the file to height 0,
 * also where a remote signer signs. Undefined where all is well. Throws a CometError when a file cannot be read.
 */
export const whyUnsafeToSign = (home: string): string | undefined => {
  const { validatorKey, validatorState } = signingFiles(home)
  const hasKey = existsSync(validatorKey)
  if (hasKey === existsSync(validatorState)) return undefined
  if (hasKey)
    return (
      `${validatorState} is missing: ${validatorKey} could sign a height twice, which is punished. Put back the file that the ` +
      'key was used with last. If it is lost, move the key away and declare a new one; docs/operations.md says how. For a ' +
      `key that has signed nothing on this chain, write the file: ${NOTHING_SIGNED.trim()}`
    )
  const height = signedHeight(home)
  if (height === 0) return undefined
  return (
    `${validatorKey} is missing, and CometBFT would make a new key and set ${validatorState} to height 0. The old key, which ` +
    `signed last at height ${height}, could then sign a height twice, which is punished. Put the key back, or move the file ` +
    'to where the key is now'
  )
}

/** The height at which the key of a home signed last, 0 for none. Throws a CometError when the file cannot be read. */
export const signedHeight = (home: string): number => {
  const path = signingFiles(home).validatorState
  try {
    const { height } = JSON.parse(readFileSync(path, 'utf8')) as { height?: unknown }
    if (/^\d{1,16}$/.test(String(height))) return Number(height)
    throw new Error('expected a height')
  } catch (error) {
    throw new CometError(`cannot read ${path}: ${reasonOf(error)}. Take a new block key; docs/operations.md says how`)
  }
}

/** True when another process signs for the node of a home, which CometBFT awaits at `priv_validator_laddr`. */
export const hasRemoteSigner = (home: string): boolean => (configOf(home).priv_validator_laddr ?? '') !== ''

/**
 * Writes a validator key, a node key and a signing state into the home where they are missing, with mode 0600. It is a
 * step of its own because a network's genesis file needs the keys of all nodes first. Throws a CometError when the home
 * has blocks but no signing state: a validator with a new one could sign a height twice, which is punished.
 */
export const writeNodeKeys = (home: string): NodeIdentity => {
  const files = { ...homeFiles(home), ...signingFiles(home) }
  if (!existsSync(files.validatorState) && existsSync(files.validatorKey) && existsSync(files.blockStore)) {
    throw new CometError(
      `${files.validatorState} is missing, but the home has blocks. Put it back: without it this validator could sign a height twice`,
    )
  }
  // Before the key: a key without it has been used elsewhere.
  writeOnce(files.validatorState, () => NOTHING_SIGNED)
  writeOnce(files.validatorKey, () => {
    const { pubKey, priv_key } = newKey()
    return json({ address: addressOfPubKey(pubKey), pub_key: publicKey(pubKey), priv_key })
  })
  writeOnce(files.nodeKey, () => json({ priv_key: newKey().priv_key }))
  return readNodeIdentity(home)
}

/**
 * `chainId`, `genesis`, `moniker` and `privateNet` are used only for files that do not exist yet. `genesis` is the text of
 * the file, or what it holds; its validators are by default this node alone, with power 10. `privateNet` (default false)
 * is for networks on one machine or in containers.
 */
export type NodeHomeOptions = NodeSettings & {
  home: string
  chainId: string
  genesis:
    | { text: string }
    | (Omit<GenesisOptions, 'chainId' | 'validators'> & Partial<Pick<GenesisOptions, 'validators'>>)
  moniker?: string
  privateNet?: boolean
}

/**
 * Writes the keys, the signing state, config.toml and genesis.json of a home where they are missing, from the templates
 * in cometbft-config. Existing files stay as they are, except that config.toml takes what NodeSettings names. No
 * CometBFT program is needed. Throws a CometError for a value that CometBFT would refuse.
 */
export const writeNodeHome = (options: NodeHomeOptions): NodeIdentity => {
  const { home, chainId, genesis, moniker = 'svcd', privateNet = false } = options
  const files = homeFiles(home)
  const old = existsSync(files.config) ? readFileSync(files.config, 'utf8') : undefined
  const config = old === undefined ? newConfigToml(moniker, options, privateNet) : updatedConfigToml(old, options)
  const identity = writeNodeKeys(home)
  const validators = [{ pubKey: identity.pubKey, power: 10, name: moniker }]
  const makeGenesis = () => ('text' in genesis ? genesis.text : genesisJson({ validators, ...genesis, chainId }))
  const text = existsSync(files.genesis) ? undefined : makeGenesis()
  if (config !== old) writeWhole(files.config, config)
  // The last one: a home that has it counts as made.
  if (text !== undefined) writeWhole(files.genesis, text)
  return identity
}

/** True when the home has every file that writeNodeHome writes, each of them whole. */
export const isCompleteHome = (home: string): boolean => {
  const { config, genesis, nodeKey, validatorKey, validatorState } = { ...homeFiles(home), ...signingFiles(home) }
  return [config, genesis, nodeKey, validatorKey, validatorState].every((path) => existsSync(path))
}

/** How much of the end of a log is read. A node that makes no blocks takes days to print as much. */
const TAIL_BYTES = 1024 * 1024

const tailOf = (path: string): string => {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, size - bytes.length))
  } finally {
    closeSync(file)
  }
}

/** Returns why the consensus failed according to the log of a home, which exists only if svcd started the node. */
export const lastConsensusFailure = (home: string): string | undefined => {
  try {
    return lastConsensusFailureIn(tailOf(homeFiles(home).log).split('\n'))
  } catch {
    return undefined
  }
}
