import { readFileSync } from 'node:fs'
import { CometError } from './errors.ts'

/**
 * The values of a template's placeholders: anything that JSON can write. Strings, numbers, booleans and lists of
 * strings look the same in TOML.
 */
export type TemplateValues = Readonly<Record<string, unknown>>

/**
 * Replaces each `{{name}}` in `text` by its value, written as JSON. Throws on a placeholder without a value and on a
 * value without a placeholder, since either is a mismatch between template and code.
 */
export const fillTemplate = (text: string, values: TemplateValues): string => {
  const unused = new Set(Object.keys(values))
  const filled = text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const json = JSON.stringify(values[name])
    if (json === undefined) throw new Error(`template: no value for {{${name}}}`)
    unused.delete(name)
    return json
  })
  if (unused.size > 0) throw new Error(`template: no placeholder for ${[...unused].join(', ')}`)
  return filled
}

type Scalar = string | number | boolean

const sectionAt = (lines: readonly string[], section: string): { start: number; end: number } | undefined => {
  const isHeader = (line: string) => /^\s*\[/.test(line)
  const start =
    section === '' ? 0 : lines.findIndex((line) => line.trim().replace(/\s*#.*$/, '') === `[${section}]`) + 1
  if (start === 0 && section !== '') return undefined
  const next = lines.findIndex((line, i) => i >= start && isHeader(line))
  return { start, end: next === -1 ? lines.length : next }
}

/**
 * Sets some keys in the TOML `text` and leaves everything else as it is, comments and order included, so that a
 * person's edits survive. Names are `key` or `section.key`; a missing key or section is added. Only one-line scalar
 * values can be replaced.
 */
export const setTomlValues = (text: string, values: Readonly<Record<string, Scalar>>): string => {
  const lines = text.split('\n')
  for (const [name, value] of Object.entries(values)) {
    const dot = name.lastIndexOf('.')
    const key = name.slice(dot + 1)
    const section = dot === -1 ? '' : name.slice(0, dot)
    const line = `${key} = ${JSON.stringify(value)}`
    const at = sectionAt(lines, section)
    if (at === undefined) {
      lines.push(`[${section}]`, line, '')
      continue
    }
    const found = lines.findIndex((one, i) => i >= at.start && i < at.end && one.split('=')[0]?.trim() === key)
    if (found === -1) lines.splice(at.start, 0, line)
    else lines[found] = line
  }
  return lines.join('\n')
}

/**
 * The settings of a node. One that is left out has CometBFT's default in a new home and stays as it is in an existing
 * one. `rpc` and `p2p`: `tcp://host:port`. `abci`: `tcp://host:port`, `unix:///path`, or the name of a built-in
 * application. `metrics`: `host:port`, or false for none. `blockTimeMs`: the approximate time from block to block, 10
 * to 600,000.
 */
export type NodeSettings = {
  addresses?: { rpc?: string; p2p?: string; abci?: string; metrics?: string | false }
  blockTimeMs?: number
  peers?: { persistentPeers?: readonly string[]; seeds?: readonly string[]; externalAddress?: string; pex?: boolean }
  stateSync?: StateSync
}

/**
 * Lets a new node start from a snapshot of its peers. `servers`: the RPC addresses of at least two nodes, which the
 * light client asks. It trusts the block at `trustHeight`, whose hash is `trustHash` (64 hex digits).
 */
export type StateSync = { servers: readonly string[]; trustHeight: number; trustHash: string }

/** The default block time, in ms. */
export const BLOCK_TIME_MS_DEFAULT = 1_000

const templateOf = (name: string): string =>
  readFileSync(new URL(`../../cometbft-config/${name}.template`, import.meta.url), 'utf8')

const clamp = (value: number, low: number, high: number): string =>
  `${Math.round(Math.min(high, Math.max(low, value)))}ms`

/**
 * Derives the consensus timeouts from the block time. The propose timeout is never below 1 s, because the application
 * prepares and checks the proposal within it (requirement 1 of CometBFT's ABCI specification). A proposer that is
 * online does not make anyone wait for its end.
 */
const timeoutsOf = (blockTimeMs: number) => {
  if (!Number.isSafeInteger(blockTimeMs) || blockTimeMs < 10 || blockTimeMs > 600_000) {
    throw new CometError(`the block time: expected 10 to 600000 ms, got ${blockTimeMs}`)
  }
  return {
    timeoutPropose: clamp(3 * blockTimeMs, 1_000, 3_000),
    timeoutDelta: clamp(blockTimeMs / 2, 100, 500),
    timeoutVote: clamp(blockTimeMs, 200, 1_000),
    timeoutCommit: `${blockTimeMs}ms`,
    gossipSleep: clamp(blockTimeMs / 10, 5, 100),
    flushThrottle: clamp(blockTimeMs / 20, 5, 100),
  }
}

const checkAddresses = ({ rpc, p2p, abci, metrics }: NonNullable<NodeSettings['addresses']>): void => {
  for (const [name, value] of Object.entries({ rpc, p2p })) {
    if (value === undefined || /^tcp:\/\/\S+:\d{1,5}$/.test(value)) continue
    throw new CometError(`the ${name} address: expected tcp://HOST:PORT, got ${JSON.stringify(value)}`)
  }
  if (abci !== undefined && !/^(tcp:\/\/\S+:\d{1,5}|unix:\/\/\S+|\w+)$/.test(abci)) {
    throw new CometError(`the ABCI address: expected tcp://HOST:PORT or unix:///PATH, got ${JSON.stringify(abci)}`)
  }
  if (typeof metrics === 'string' && !/^\S*:\d{1,5}$/.test(metrics)) {
    throw new CometError(`the metrics address: expected HOST:PORT, got ${JSON.stringify(metrics)}`)
  }
}

const withStateSync = (text: string, stateSync: StateSync | undefined): string =>
  stateSync === undefined
    ? text
    : setTomlValues(text, {
        'statesync.enable': true,
        'statesync.rpc_servers': stateSync.servers.join(','),
        'statesync.trust_height': stateSync.trustHeight,
        'statesync.trust_hash': stateSync.trustHash,
      })

/**
 * The text of a new `config.toml`. `privateNet` allows addresses that are not routable, and several nodes at one
 * address.
 */
export const newConfigToml = (moniker: string, settings: NodeSettings, privateNet: boolean): string => {
  const { addresses = {}, peers = {} } = settings
  checkAddresses(addresses)
  if (!/^[\x20-\x7e]{1,64}$/.test(moniker))
    throw new CometError(`moniker: expected 1 to 64 printable ASCII characters, got ${JSON.stringify(moniker)}`)
  const text = fillTemplate(templateOf('config.toml'), {
    moniker,
    proxyApp: addresses.abci ?? 'tcp://127.0.0.1:26658',
    rpcAddress: addresses.rpc ?? 'tcp://127.0.0.1:26657',
    p2pAddress: addresses.p2p ?? 'tcp://0.0.0.0:26656',
    metricsOn: typeof addresses.metrics === 'string',
    metricsAddress: addresses.metrics || '127.0.0.1:26660',
    externalAddress: peers.externalAddress ?? '',
    seeds: (peers.seeds ?? []).join(','),
    persistentPeers: (peers.persistentPeers ?? []).join(','),
    pex: peers.pex ?? true,
    addrBookStrict: !privateNet,
    allowDuplicateIp: privateNet,
    ...timeoutsOf(settings.blockTimeMs ?? BLOCK_TIME_MS_DEFAULT),
  })
  return withStateSync(text, settings.stateSync)
}

/** Changes only what `settings` names in an existing `config.toml`; comments and a person's edits stay. */
export const updatedConfigToml = (text: string, settings: NodeSettings): string => {
  const { addresses = {}, peers = {}, blockTimeMs } = settings
  checkAddresses(addresses)
  const values: Record<string, string | boolean> = {}
  const set = (key: string, value: string | boolean | undefined) => {
    if (value !== undefined) values[key] = value
  }
  set('proxy_app', addresses.abci)
  set('rpc.laddr', addresses.rpc)
  set('p2p.laddr', addresses.p2p)
  set('p2p.external_address', peers.externalAddress)
  set('p2p.seeds', peers.seeds?.join(','))
  set('p2p.persistent_peers', peers.persistentPeers?.join(','))
  set('p2p.pex', peers.pex)
  if (addresses.metrics !== undefined) set('instrumentation.prometheus', addresses.metrics !== false)
  set('instrumentation.prometheus_listen_addr', addresses.metrics || undefined)
  if (blockTimeMs !== undefined) {
    const times = timeoutsOf(blockTimeMs)
    set('consensus.timeout_propose', times.timeoutPropose)
    for (const name of ['propose', 'prevote', 'precommit']) set(`consensus.timeout_${name}_delta`, times.timeoutDelta)
    for (const name of ['prevote', 'precommit']) set(`consensus.timeout_${name}`, times.timeoutVote)
    set('consensus.timeout_commit', times.timeoutCommit)
    set('consensus.peer_gossip_sleep_duration', times.gossipSleep)
    set('p2p.flush_throttle_timeout', times.flushThrottle)
  }
  return withStateSync(setTomlValues(text, values), settings.stateSync)
}

/** A validator in a genesis file. `pubKey`: base64 of 32 bytes. `power`: a whole number above 0. */
export type GenesisValidator = { pubKey: string; address: string; power: number; name?: string }

/**
 * The contents of a genesis file. `genesisTime`: RFC 3339 in UTC. `appState`: any JSON, which the application receives
 * in InitChain.
 */
export type GenesisOptions = {
  chainId: string
  genesisTime: string
  initialHeight?: number
  appState: unknown
  validators: readonly GenesisValidator[]
}

/**
 * The text of `genesis.json`. Equal options give equal bytes, so every node of a network can write the file itself.
 * Throws a CometError for a value that CometBFT refuses.
 */
export const genesisJson = ({
  chainId,
  genesisTime,
  initialHeight = 1,
  appState,
  validators,
}: GenesisOptions): string => {
  if (!/^[\x21-\x7e]{1,50}$/.test(chainId))
    throw new CometError(
      `chain id: expected 1 to 50 printable ASCII characters without spaces, got ${JSON.stringify(chainId)}`,
    )
  if (Number.isNaN(Date.parse(genesisTime))) {
    throw new CometError(
      `genesis time: expected a time such as 2026-11-20T10:00:00Z, got ${JSON.stringify(genesisTime)}`,
    )
  }
  if (!Number.isSafeInteger(initialHeight) || initialHeight < 1)
    throw new CometError(`initial height: expected a whole number above 0, got ${initialHeight}`)
  if (validators.length === 0)
    throw new CometError('validators: expected at least one validator in a genesis file, got none')
  const rows = validators.map(({ pubKey, address, power, name = '' }) => {
    if (!Number.isSafeInteger(power) || power < 1)
      throw new CometError(`the power of validator ${address}: expected a whole number above 0, got ${power}`)
    return { address, pub_key: { type: 'tendermint/PubKeyEd25519', value: pubKey }, power: String(power), name }
  })
  const values = { chainId, genesisTime, initialHeight: String(initialHeight), validators: rows, appState }
  return `${JSON.stringify(JSON.parse(fillTemplate(templateOf('genesis.json'), values)), null, 2)}\n`
}
