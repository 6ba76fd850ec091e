import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureFolder } from '../base/folder.ts'
import { genesisJson, type GenesisValidator, newConfigToml, type NodeSettings, updatedConfigToml } from './config.ts'
import { CometError, reasonOf } from './errors.ts'

/**
 * An ed25519 key pair. `pubKey`: base64 of 32 bytes. `privKey`: base64 of 64 bytes, the seed and then the public key.
 * `address`: 40 upper-case hex digits.
 */
export type NodeKeyPair = { pubKey: string; privKey: string; address: string }

/**
 * CometBFT's address of an ed25519 key: the first 20 bytes of sha256(public key) in upper-case hex. Source: protocol.md
 * §1.
 */
export const addressOfPubKey = (pubKeyBase64: string): string =>
  createHash('sha256').update(Buffer.from(pubKeyBase64, 'base64')).digest('hex').slice(0, 40).toUpperCase()

/** Creates a random ed25519 key pair. */
export const newKeyPair = (): NodeKeyPair => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const pubKeyBytes = Buffer.from(jwk.x ?? '', 'base64url')
  const pubKey = pubKeyBytes.toString('base64')
  const privKey = Buffer.concat([Buffer.from(jwk.d ?? '', 'base64url'), pubKeyBytes]).toString('base64')
  return { pubKey, privKey, address: addressOfPubKey(pubKey) }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The text of `priv_validator_key.json` for CometBFT 0.37 to 0.40. It is secret. */
export const validatorKeyFile = ({ pubKey, privKey, address }: NodeKeyPair): string =>
  json({
    address,
    pub_key: { type: 'tendermint/PubKeyEd25519', value: pubKey },
    priv_key: { type: 'tendermint/PrivKeyEd25519', value: privKey },
  })

/** The text of `node_key.json` for CometBFT 0.37 to 0.40. It is secret: it proves the node's identity to its peers. */
export const nodeKeyFile = ({ privKey }: NodeKeyPair): string =>
  json({ priv_key: { type: 'tendermint/PrivKeyEd25519', value: privKey } })

/** The text of `priv_validator_state.json` for a key that has signed nothing. */
export const freshValidatorState = (): string => json({ height: '0', round: 0, step: 0 })

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

/**
 * The public identity of a node. `pubKey`: base64. `address`: upper-case hex. `nodeId`: lower-case hex, which peers
 * write as `nodeId@host:port`.
 */
export type NodeIdentity = { pubKey: string; address: string; nodeId: string }

/** The genesis of a new home. `validators`: by default this node alone, with power 10. */
export type HomeGenesis = {
  appState: unknown
  genesisTime: string
  initialHeight?: number
  validators?: readonly Omit<GenesisValidator, 'address'>[]
}

/**
 * `chainId`, `genesis`, `moniker` and `privateNet` are used only for files that do not exist yet. `privateNet` (default
 * false) is for networks on one machine or in containers.
 */
export type NodeHomeOptions = NodeSettings & {
  home: string
  chainId: string
  genesis: HomeGenesis
  moniker?: string
  privateNet?: boolean
}

/** Writes a file atomically, so that a crash never leaves half a key. Only the owner can read it. */
const writeWhole = (path: string, text: string): void => {
  ensureFolder(dirname(path), 0o700)
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}

const writeOnce = (path: string, text: () => string): void => {
  if (!existsSync(path)) writeWhole(path, text())
}

const readKey = (path: string, member: 'pub_key' | 'priv_key'): Buffer => {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Record<
      string,
      { type?: unknown; value?: unknown } | undefined
    >
    const bytes = Buffer.from(String(parsed[member]?.value), 'base64')
    if (bytes.length !== (member === 'pub_key' ? 32 : 64)) throw new Error('expected an ed25519 key')
    return bytes
  } catch (error) {
    throw new CometError(`cannot read the key in ${path}: ${reasonOf(error)}`)
  }
}

/**
 * Reads the public half of a home's validator key. Throws a CometError when the file is missing or not an ed25519 key.
 */
export const readValidatorKey = (home: string): { pubKey: string; address: string } => {
  const pubKey = readKey(homeFiles(home).validatorKey, 'pub_key').toString('base64')
  return { pubKey, address: addressOfPubKey(pubKey) }
}

/**
 * Reads the id by which peers know a node, 40 lower-case hex digits. Throws a CometError when the file is missing or
 * not an ed25519 key.
 */
export const readNodeId = (home: string): string =>
  addressOfPubKey(readKey(homeFiles(home).nodeKey, 'priv_key').subarray(32).toString('base64')).toLowerCase()

/**
 * Writes a validator key, a node key and a signing state into the home where they are missing, with mode 0600. It is a
 * step of its own because a network's genesis file needs the keys of all nodes first. Throws a CometError when the home
 * has blocks but no signing state: a validator with a new one could sign a height twice, which is punished.
 */
export const writeNodeKeys = (home: string): NodeIdentity => {
  const files = homeFiles(home)
  if (!existsSync(files.validatorState) && existsSync(files.validatorKey) && existsSync(files.blockStore)) {
    throw new CometError(
      `${files.validatorState} is missing, but the home has blocks. Put it back: without it this validator could sign a height twice`,
    )
  }
  writeOnce(files.validatorKey, () => validatorKeyFile(newKeyPair()))
  writeOnce(files.nodeKey, () => nodeKeyFile(newKeyPair()))
  writeOnce(files.validatorState, freshValidatorState)
  return { ...readValidatorKey(home), nodeId: readNodeId(home) }
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
  const alone = [{ pubKey: identity.pubKey, power: 10, name: moniker }]
  const validators = (genesis.validators ?? alone).map((row) => ({ ...row, address: addressOfPubKey(row.pubKey) }))
  writeOnce(files.genesis, () => genesisJson({ ...genesis, chainId, validators }))
  if (config !== old) writeWhole(files.config, config)
  return identity
}
