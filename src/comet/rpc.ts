import { setTimeout as sleep } from 'node:timers/promises'
import { toBase64, toHex } from '../base/bytes.ts'
import { isNodeError, NodeError, reasonOf } from './errors.ts'
import { type Call, openTransport, type TransportLimits } from './transport.ts'
import {
  bytes,
  list,
  nodeBlock,
  type NodeBlock,
  nodeBlockResults,
  type NodeBlockResults,
  nodeStatus,
  type NodeStatus,
  raw,
  text,
  txResult,
  type TxResult,
  whole,
} from './wire.ts'

/** The result of CheckTx for a broadcast. `hash`: sha256(tx) in upper-case hex. */
export type BroadcastResult = { code: number; codespace: string; log: string; data: Uint8Array; hash: string }

/** A query of the application. `height`: 0 (the default) is the head. `prove`: asks for a proof. */
export type AbciQuery = { path: string; data?: Uint8Array; height?: number; prove?: boolean }

/** The application's answer to a query. `proofOps` is empty unless `prove` was set. */
export type AbciQueryResult = {
  code: number
  codespace: string
  log: string
  info: string
  index: number
  height: number
  key: Uint8Array
  value: Uint8Array
  proofOps: readonly { type: string; key: Uint8Array; data: Uint8Array }[]
}

/** A transaction in a block. */
export type IncludedTx = { hash: string; height: number; index: number; tx: Uint8Array; result: TxResult }

/** A member of CometBFT's validator set. */
export type NodeValidator = { address: string; pubKey: string; power: number; proposerPriority: number }

/** The validators that vote on `height`. */
export type NodeValidators = { height: number; validators: readonly NodeValidator[] }

/** The RPC of one node. Its methods throw only NodeErrors. */
export type NodeRpc = {
  /** The node's address, http://host:port. */
  readonly url: string
  status: () => Promise<NodeStatus>
  /**
   * The height that the application has committed, whose state and results can be read. 0 before the first block.
   */
  committedHeight: () => Promise<number>
  /** Resolves after CheckTx. A code other than 0 is a result, not an error. */
  broadcastTxSync: (tx: Uint8Array) => Promise<BroadcastResult>
  abciQuery: (query: AbciQuery) => Promise<AbciQueryResult>
  block: (height: number) => Promise<NodeBlock>
  blockResults: (height: number) => Promise<NodeBlockResults>
  /** `hash`: 64 hex digits. A transaction is found a moment after its block, when the node has indexed it. */
  tx: (hash: string) => Promise<IncludedTx>
  /** The whole validator set in CometBFT's order; by default the newest. */
  validators: (height?: number) => Promise<NodeValidators>
  /** The number of transactions in the mempool, and their size together. */
  unconfirmedTxs: () => Promise<{ count: number; bytes: number }>
  /**
   * The genesis file's JSON. The node refuses to send one above 16 MiB.
   */
  genesis: () => Promise<Record<string, unknown>>
  /** The number of connected peers. */
  peers: () => Promise<number>
  /** Closes the idle connections. */
  close: () => void
}

const TIMEOUT_MS = 10_000
const VALIDATORS_PAGE = 100
const VALIDATORS_MAX = 10_000

const queryResult = (answer: unknown): AbciQueryResult => {
  const row = raw(raw(answer, 'answer')['response'], 'response')
  const ops = row['proofOps'] ?? row['proof_ops']
  const op = (value: unknown) => {
    const { type, key, data } = raw(value, 'proof')
    return { type: text(type), key: bytes(key), data: bytes(data) }
  }
  return {
    code: whole(row['code']),
    codespace: text(row['codespace']),
    log: text(row['log']),
    info: text(row['info']),
    index: whole(row['index']),
    height: whole(row['height']),
    key: bytes(row['key']),
    value: bytes(row['value']),
    proofOps: ops ? list(raw(ops, 'proofOps')['ops']).map(op) : [],
  }
}

const readTx = async (call: Call, hash: string): Promise<IncludedTx> => {
  if (!/^[0-9a-f]{64}$/i.test(hash))
    throw new NodeError('NotFound', `tx: hash: expected 64 hex digits, got ${JSON.stringify(hash.slice(0, 80))}`)
  const row = raw(await call('tx', { hash: Buffer.from(hash, 'hex').toString('base64') }), 'transaction')
  return {
    hash: text(row['hash']).toUpperCase(),
    height: whole(row['height']),
    index: whole(row['index']),
    tx: bytes(row['tx']),
    result: txResult(row['tx_result']),
  }
}

const validatorRow = (value: unknown): NodeValidator => {
  const row = raw(value, 'validator')
  return {
    address: text(row['address']),
    pubKey: text(raw(row['pub_key'], 'pub_key')['value']),
    power: whole(row['voting_power']),
    proposerPriority: whole(row['proposer_priority']),
  }
}

/** Reads all pages. The later ones ask for the height of the first, so that a block in between cannot mix two sets. */
const readValidators = async (call: Call, asked?: number): Promise<NodeValidators> => {
  const validators: NodeValidator[] = []
  let height = asked
  for (let page = 1; validators.length < VALIDATORS_MAX; page++) {
    const at: { height?: string } = height === undefined ? {} : { height: String(height) }
    const answer = raw(
      await call('validators', { ...at, page: String(page), per_page: String(VALIDATORS_PAGE) }),
      'validators',
    )
    const rows = list(answer['validators'])
    height = whole(answer['block_height'])
    validators.push(...rows.map(validatorRow))
    if (rows.length === 0 || validators.length >= whole(answer['total'])) break
  }
  return { height: height ?? 0, validators }
}

/** Options of `openNodeRpc`. `timeoutMs` (default 10,000) limits each call. */
export interface NodeRpcOptions extends TransportLimits {
  readonly timeoutMs?: number
}

/**
 * Opens a client of the node at `url` (http://host:port), CometBFT 0.37 to 0.40, with keep-alive connections of its
 * own. Comet38Client of @cosmjs/tendermint-rpc is not used because it takes 4 to 5 times the CPU for a broadcast, has
 * no deadline, throws on `status` before the first block, and drops the block events of 0.37. The tests compare the
 * answers of both.
 */
export const openNodeRpc = (url: string, { timeoutMs = TIMEOUT_MS, ...limits }: NodeRpcOptions = {}): NodeRpc => {
  const { call, close } = openTransport(url, timeoutMs, limits)
  return {
    url,
    close,
    validators: (height) => readValidators(call, height),
    status: async () => nodeStatus(await call('status')),
    committedHeight: async () =>
      whole(raw(raw(await call('abci_info'), 'answer')['response'], 'response')['last_block_height']),
    broadcastTxSync: async (tx) => {
      const answer = raw(await call('broadcast_tx_sync', { tx: toBase64(tx) }), 'answer')
      const { code, codespace, log } = txResult(answer)
      // Of all answers only this one writes data in hex.
      const data = new Uint8Array(Buffer.from(text(answer['data']), 'hex'))
      return { code, codespace, log, data, hash: text(answer['hash']).toUpperCase() }
    },
    abciQuery: async ({ path, data = new Uint8Array(), height = 0, prove = false }) =>
      queryResult(await call('abci_query', { path, data: toHex(data), height: String(height), prove })),
    block: async (height) => nodeBlock(await call('block', { height: String(height) }), height),
    blockResults: async (height) => nodeBlockResults(await call('block_results', { height: String(height) })),
    tx: (hash) => readTx(call, hash),
    unconfirmedTxs: async () => {
      const row = raw(await call('num_unconfirmed_txs'), 'answer')
      return { count: whole(row['total']), bytes: whole(row['total_bytes']) }
    },
    genesis: async () => raw(raw(await call('genesis'), 'answer')['genesis'], 'genesis') as Record<string, unknown>,
    peers: async () => whole(raw(await call('net_info'), 'answer')['n_peers']),
  }
}

/**
 * Waits until the node answers, and resolves with its status. Throws a NodeError `NodeUnreachable` with the last reason
 * after `timeoutMs`, or at once when `signal` is aborted, as when the node's process has ended.
 */
export const waitForNode = async (rpc: NodeRpc, timeoutMs: number, signal?: AbortSignal): Promise<NodeStatus> => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await rpc.status()
    } catch (error) {
      if (!isNodeError(error) || Date.now() > deadline || signal?.aborted === true) {
        throw new NodeError('NodeUnreachable', `the node at ${rpc.url} does not answer: ${reasonOf(error)}`, {
          cause: error,
        })
      }
    }
    await sleep(100, undefined, signal ? { signal } : {}).catch(() => {})
  }
}
