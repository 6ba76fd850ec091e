import { readFileSync } from 'node:fs'
import { CometError } from './errors.ts'

/** Where the keys of a section begin and end; those of the section '' stand before the first header. */
const sectionAt = (lines: readonly string[], section: string): { start: number; end: number } | undefined => {
  const header = lines.findIndex((line) => line.trim().replace(/\s*#.*$/, '') === `[${section}]`)
  if (header === -1 && section !== '') return undefined
  const next = lines.findIndex((line, i) => i > header && /^\s*\[/.test(line))
  return { start: header + 1, end: next === -1 ? lines.length : next }
}

/**
 * Sets some keys in the TOML `text` and leaves everything else as it is, comments and order included, so that a
 * person's edits survive. Names are `key` or `section.key`; a missing key or section is added, and an undefined value
 * changes nothing. Only one-line scalar values can be replaced.
 */
export const setTomlValues = (
  text: string,
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): string => {
  const lines = text.split('\n')
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue
    const dot = name.lastIndexOf('.')
    const key = name.slice(dot + 1)
    const section = name.slice(0, Math.max(dot, 0))
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
 * The settings of a node. One that is left out has the template's value in a new home and stays as it is in an existing
 * one. `rpc` and `p2p`: `tcp://host:port`. `abci`: `tcp://host:port`, `unix:///path`, or the name of a built-in
 * application. `metrics`: `host:port`. `blockTimeMs`: the approximate time from block to block, 10 to 600,000; or 0 when
 * the application decides when to propose a block. `dialsOthers`: false for a node whose persistent peers are the whole
 * network, see `DIALS_NOBODY_ELSE`.
 */
export type NodeSettings = {
  addresses?: { rpc?: string; p2p?: string; abci?: string; metrics?: string }
  blockTimeMs?: number | undefined
  peers?: { persistentPeers?: readonly string[] | undefined; externalAddress?: string; dialsOthers?: false }
  stateSync?: StateSync | undefined
}

/**
 * Lets a new node start from a snapshot of its peers. `servers`: the RPC addresses of at least two nodes, which the
 * light client asks. It trusts the block at `trustHeight`, whose hash is `trustHash` (64 hex digits), and every header for
 * `trustPeriodMs`.
 */
export type StateSync = {
  servers: readonly string[]
  trustHeight: number
  trustHash: string
  trustPeriodMs: number
}

/** The default block time, in ms. */
export const BLOCK_TIME_MS_DEFAULT = 1_000

/** Reads a template of a file of a new home. */
export const templateOf = (name: 'config.toml' | 'genesis.json'): string =>
  readFileSync(new URL(`../../cometbft-config/${name}`, import.meta.url), 'utf8')

/** How long a proposer may wait for a transaction. After that it begins another round, which costs nothing else. */
const PROPOSE_MS_UNPACED = '600s'

const clamp = (value: number, low: number, high: number): string =>
  `${Math.round(Math.min(high, Math.max(low, value)))}ms`

/**
 * Derives the consensus timeouts from the block time. The propose timeout is never below 1 s, because the application
 * prepares and checks the proposal within it (requirement 1 of CometBFT's ABCI specification). A proposer that is
 * online does not make anyone wait for its end.
 */
const timeoutsOf = (blockTimeMs: number): Readonly<Record<string, string>> => {
  const isPaced = blockTimeMs !== 0
  if (!Number.isSafeInteger(blockTimeMs) || (isPaced && (blockTimeMs < 10 || blockTimeMs > 600_000))) {
    throw new CometError(`the block time: expected 10 to 600000 ms, got ${blockTimeMs}`)
  }
  const vote = clamp(blockTimeMs, 200, 1_000)
  const delta = clamp(blockTimeMs / 2, 100, 500)
  return {
    'consensus.timeout_propose': isPaced ? clamp(3 * blockTimeMs, 1_000, 3_000) : PROPOSE_MS_UNPACED,
    'consensus.timeout_propose_delta': delta,
    'consensus.timeout_prevote': vote,
    'consensus.timeout_prevote_delta': delta,
    'consensus.timeout_precommit': vote,
    'consensus.timeout_precommit_delta': delta,
    'consensus.timeout_commit': `${blockTimeMs}ms`,
    'consensus.peer_gossip_sleep_duration': clamp(blockTimeMs / 10, 5, 100),
    'p2p.flush_throttle_timeout': clamp(blockTimeMs / 20, 5, 100),
  }
}

/**
 * With no outbound places, CometBFT dials only its persistent peers, and only after it has started. Otherwise it also
 * dials addresses from its address book during the start. A peer that connects before consensus runs gets no proposals
 * or votes from this node until they reconnect, which stops a network of two. Source: CometBFT,
 * consensus.Reactor.AddPeer and p2p.Switch.OnStart, up to 0.40 at least.
 */
const DIALS_NOBODY_ELSE = { 'p2p.max_num_outbound_peers': 0 }

const checkAddresses = ({ rpc, p2p, abci, metrics }: NonNullable<NodeSettings['addresses']>): void => {
  for (const [name, value, pattern, expected] of [
    ['rpc', rpc, /^tcp:\/\/\S+:\d{1,5}$/, 'tcp://HOST:PORT'],
    ['p2p', p2p, /^tcp:\/\/\S+:\d{1,5}$/, 'tcp://HOST:PORT'],
    ['ABCI', abci, /^(tcp:\/\/\S+:\d{1,5}|unix:\/\/.+|\w+)$/, 'tcp://HOST:PORT or unix:///PATH'],
    ['metrics', metrics, /^\S*:\d{1,5}$/, 'HOST:PORT'],
  ] as const) {
    if (value === undefined || pattern.test(value)) continue
    throw new CometError(`the ${name} address: expected ${expected}, got ${JSON.stringify(value)}`)
  }
}

/** Changes only what `settings` names in an existing `config.toml`; comments and a person's edits stay. */
export const updatedConfigToml = (text: string, settings: NodeSettings): string => {
  const { addresses = {}, peers = {}, blockTimeMs, stateSync } = settings
  checkAddresses(addresses)
  return setTomlValues(text, {
    proxy_app: addresses.abci,
    'rpc.laddr': addresses.rpc,
    'p2p.laddr': addresses.p2p,
    'p2p.external_address': peers.externalAddress,
    'p2p.persistent_peers': peers.persistentPeers?.join(','),
    ...(peers.dialsOthers === false ? DIALS_NOBODY_ELSE : {}),
    'instrumentation.prometheus': addresses.metrics === undefined ? undefined : true,
    'instrumentation.prometheus_listen_addr': addresses.metrics,
    ...(blockTimeMs === undefined ? {} : timeoutsOf(blockTimeMs)),
    'statesync.enable': stateSync === undefined ? undefined : true,
    'statesync.rpc_servers': stateSync?.servers.join(','),
    'statesync.trust_height': stateSync?.trustHeight,
    'statesync.trust_hash': stateSync?.trustHash,
    'statesync.trust_period': stateSync && `${stateSync.trustPeriodMs}ms`,
  })
}

/**
 * The text of a new `config.toml`. `privateNet` allows addresses that are not routable, and several nodes at one
 * address.
 */
export const newConfigToml = (moniker: string, settings: NodeSettings, privateNet: boolean): string => {
  if (!/^[\x20-\x7e]{1,64}$/.test(moniker))
    throw new CometError(`moniker: expected 1 to 64 printable ASCII characters, got ${JSON.stringify(moniker)}`)
  const text = setTomlValues(templateOf('config.toml'), {
    moniker,
    'p2p.addr_book_strict': !privateNet,
    'p2p.allow_duplicate_ip': privateNet,
  })
  return updatedConfigToml(text, { blockTimeMs: BLOCK_TIME_MS_DEFAULT, ...settings })
}
