import { NodeError } from './errors.ts'

/** An event of a transaction or a block. */
export type NodeEvent = { type: string; attributes: readonly { key: string; value: string }[] }

/** The application's result for one transaction. Gas is 0 where the application named none. */
export type TxResult = {
  code: number
  codespace: string
  log: string
  info: string
  data: Uint8Array
  gasWanted: number
  gasUsed: number
  events: readonly NodeEvent[]
}

/** A change to CometBFT's validator set. `power` 0 removes the validator. */
export type ValidatorUpdate = { pubKey: string; power: number }

/**
 * A block without its results. `hash` and `appHash`: upper-case hex; `appHash` is that of the state before the block.
 * `timeMs`: Unix time.
 */
export type NodeBlock = {
  height: number
  timeMs: number
  hash: string
  appHash: string
  proposer: string
  chainId: string
  txs: readonly Uint8Array[]
}

/** The results of a block; those of the transactions are in the block's order. */
export type NodeBlockResults = {
  height: number
  results: readonly TxResult[]
  events: readonly NodeEvent[]
  validatorUpdates: readonly ValidatorUpdate[]
}

/** A JSON object whose members are unchecked. */
export type Raw = { readonly [name: string]: unknown }

/** Reads an object. Throws a NodeError `BadAnswer`. */
export const raw = (value: unknown, what: string): Raw => {
  if (typeof value !== 'object' || value === null) throw new NodeError('BadAnswer', `the node's answer has no ${what}`)
  return value as Raw
}

/** Reads a text; a missing one is empty. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Reads a whole number, which CometBFT writes with or without quotes; a missing one is 0. Throws a NodeError
 * `BadAnswer` unless it is a safe integer.
 */
export const whole = (value: unknown): number => {
  const number = value === undefined || value === null ? 0 : Number(value)
  if (!Number.isSafeInteger(number)) {
    throw new NodeError('BadAnswer', `the node's answer has ${JSON.stringify(value)} where a number belongs`)
  }
  return number
}

/** Reads base64; a missing value is empty. */
export const bytes = (value: unknown): Uint8Array => {
  const buffer = Buffer.from(text(value), 'base64')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

/** Reads a list; a missing one, which Go writes as null, is empty. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const event = (value: unknown): NodeEvent => {
  const { type, attributes } = raw(value, 'event')
  const pair = (one: unknown) => ({
    key: text(raw(one, 'attribute')['key']),
    value: text(raw(one, 'attribute')['value']),
  })
  return { type: text(type), attributes: list(attributes).map(pair) }
}

/** Reads the result of a transaction, from CheckTx or from a block. */
export const txResult = (value: unknown): TxResult => {
  const row = raw(value, 'transaction result')
  return {
    code: whole(row['code']),
    codespace: text(row['codespace']),
    log: text(row['log']),
    info: text(row['info']),
    data: bytes(row['data']),
    gasWanted: whole(row['gas_wanted']),
    gasUsed: whole(row['gas_used']),
    events: list(row['events']).map(event),
  }
}

const milliseconds = (value: unknown): number => {
  const timeMs = Date.parse(text(value))
  if (Number.isNaN(timeMs))
    throw new NodeError('BadAnswer', `the node's answer has ${JSON.stringify(value)} where a time belongs`)
  return timeMs
}

/** Reads the answer of `block`. Throws a NodeError `NotFound` when the node has no such block. */
export const nodeBlock = (value: unknown, asked: number): NodeBlock => {
  const answer = raw(value, 'block')
  if (!answer['block']) throw new NodeError('NotFound', `block: height ${asked} not found`)
  const block = raw(answer['block'], 'block')
  const header = raw(block['header'], 'header')
  return {
    height: whole(header['height']),
    timeMs: milliseconds(header['time']),
    hash: text(raw(answer['block_id'], 'block_id')['hash']).toUpperCase(),
    appHash: text(header['app_hash']).toUpperCase(),
    proposer: text(header['proposer_address']).toUpperCase(),
    chainId: text(header['chain_id']),
    txs: list(raw(block['data'], 'data')['txs']).map(bytes),
  }
}

/**
 * Reads a validator update. CometBFT 0.37 to 0.40 write its key as `{"Sum": {"value": {"ed25519": "<base64>"}}}`.
 * Throws a NodeError `BadAnswer` for another type of key.
 */
const validatorUpdate = (value: unknown): ValidatorUpdate => {
  const row = raw(value, 'validator update')
  const key = raw(raw(raw(row['pub_key'], 'pub_key')['Sum'], 'Sum')['value'], 'value')['ed25519']
  if (typeof key !== 'string')
    throw new NodeError('BadAnswer', 'the node has a validator update whose key is not ed25519')
  return { pubKey: key, power: whole(row['power']) }
}

/**
 * Reads the answer of `block_results`. 0.37 lists the events of BeginBlock and EndBlock apart; later versions have one
 * list.
 */
export const nodeBlockResults = (value: unknown): NodeBlockResults => {
  const row = raw(value, 'block results')
  const events = ['begin_block_events', 'finalize_block_events', 'end_block_events'].flatMap((name) => list(row[name]))
  return {
    height: whole(row['height']),
    results: list(row['txs_results']).map(txResult),
    events: events.map(event),
    validatorUpdates: list(row['validator_updates']).map(validatorUpdate),
  }
}

/**
 * The status of a node. Heights are 0 before the first block. `latestHeight` may be a block that the application is
 * still executing.
 */
export type NodeStatus = {
  chainId: string
  nodeId: string
  moniker: string
  version: string
  latestHeight: number
  latestTimeMs: number
  earliestHeight: number
  catchingUp: boolean
  validator: { address: string; pubKey: string; power: number }
}

/** Reads the answer of `status`. */
export const nodeStatus = (value: unknown): NodeStatus => {
  const answer = raw(value, 'status')
  const node = raw(answer['node_info'], 'node_info')
  const sync = raw(answer['sync_info'], 'sync_info')
  const own = raw(answer['validator_info'], 'validator_info')
  const latestHeight = whole(sync['latest_block_height'])
  return {
    chainId: text(node['network']),
    nodeId: text(node['id']),
    moniker: text(node['moniker']),
    version: text(node['version']),
    latestHeight,
    latestTimeMs: latestHeight === 0 ? 0 : milliseconds(sync['latest_block_time']),
    earliestHeight: whole(sync['earliest_block_height']),
    catchingUp: sync['catching_up'] === true,
    validator: {
      address: text(own['address']),
      pubKey: text(raw(own['pub_key'], 'pub_key')['value']),
      power: whole(own['voting_power']),
    },
  }
}
