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

/** CheckTx's answer to a broadcast. `hash` upper-case hex of sha256(tx). */
export type BroadcastResult = { code: number; codespace: string; log: string; data: Uint8Array; hash: string }

/** `path` and `data` as the application wants them; `height` 0 or left out is the head; `prove` asks for a proof. */
export type AbciQuery = { path: string; data?: Uint8Array; height?: number; prove?: boolean }

/** The application's answer to a query. `proofOps` is empty unless a proof was asked for. */
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

/** One validator of CometBFT's set. */
export type NodeValidator = { address: string; pubKey: string; power: number; proposerPriority: number }

/** The validators that vote on `height`. */
export type NodeValidators = { height: number; validators: readonly NodeValidator[] }

/** One node's RPC. Every method throws NodeError only; see NodeErrorCode. */
export type NodeRpc = {
  /** http://host:port of the node. */
  readonly url: string
  status: () => Promise<NodeStatus>
  /**
   * The height the application has committed: its state and the block's results can be read. 0 before the first block.
   */
  committedHeight: () => Promise<number>
  /** Answers after CheckTx. A code that is not 0 is an answer, not an error. */
  broadcastTxSync: (tx: Uint8Array) => Promise<BroadcastResult>
  abciQuery: (query: AbciQuery) => Promise<AbciQueryResult>
  block: (height: number) => Promise<NodeBlock>
  blockResults: (height: number) => Promise<NodeBlockResults>
  /** `hash` 64 hex digits of any case. The index is written a moment after the block. */
  tx: (hash: string) => Promise<IncludedTx>
  /** All of them, in CometBFT's order; the newest set when no height is given. */
  validators: (height?: number) => Promise<NodeValidators>
  /** How many transactions wait in the mempool, and their bytes together. */
  unconfirmedTxs: () => Promise<{ count: number; bytes: number }>
  /**
   * The genesis file's JSON; its `app_state` as the application got it. Up to 16 MiB; the node refuses a larger one.
   */
  genesis: () => Promise<Record<string, unknown>>
  /** Number of connected peers. */
  peers: () => Promise<number>
  /** Ends the idle connections. */
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
  if (!/^[0-9a-f]{64}$/i.test(hash)) throw new NodeError('NotFound', 'tx: a transaction hash has 64 hex digits')
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

/** All pages. The height that page 1 answered is asked for from then on, or a block in between would mix two sets. */
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

/** How a client of a node is opened. `timeoutMs` (default 10,000) bounds each call. */
export interface NodeRpcOptions extends TransportLimits {
  readonly timeoutMs?: number
}

/**
 * A client of the node at `url` (http://host:port) over keep-alive connections of its own, none before the first call.
 * Serves CometBFT 0.37 to 0.40. Why not Comet38Client of @cosmjs/tendermint-rpc: over fetch it spends 4 to 5 times the
 * CPU a broadcast, has no deadline, throws on `status` before the first block, and drops 0.37's block events. The tests
 * hold this client's answers against it.
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
      const { code, codespace, log, data } = txResult(answer)
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
 * The node's status once it answers. Errors: NodeError NodeUnreachable with the last reason when `timeoutMs` have
 * passed, or at once when `signal` is aborted (the node's own process has ended, say).
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
