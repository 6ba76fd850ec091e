import { setTimeout as sleep } from 'node:timers/promises'
import { toBase64, toHex } from '../base/bytes.ts'
import { parseJson } from '../base/json.ts'
import { isNodeError, NodeError, reasonOf } from './errors.ts'
import { openTransport, type TransportOptions } from './transport.ts'

type Json = { readonly [name: string]: unknown }

/** Reads the object that the names of `path` lead to in an answer. Throws a NodeError `BadAnswer`. */
const objectAt = (answer: unknown, ...path: readonly string[]): Json => {
  const found = path.reduce((value, name) => (value as Json | null | undefined)?.[name], answer)
  if (typeof found === 'object' && found !== null) return found as Json
  throw new NodeError('BadAnswer', `the node's answer has no ${path.join('.') || 'object'}`)
}

/** Reads a text; a missing one is empty. */
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Reads a whole number, which CometBFT writes with or without quotes; a missing one is 0. Throws a NodeError
 * `BadAnswer` unless it is a safe integer.
 */
const whole = (value: unknown): number => {
  const number = Number(value ?? 0)
  if (Number.isSafeInteger(number)) return number
  throw new NodeError('BadAnswer', `the node's answer has ${JSON.stringify(value)} where a number belongs`)
}

const milliseconds = (value: unknown): number => {
  const timeMs = Date.parse(text(value))
  if (!Number.isNaN(timeMs)) return timeMs
  throw new NodeError('BadAnswer', `the node's answer has ${JSON.stringify(value)} where a time belongs`)
}

/** Reads base64; a missing value is empty. */
const bytes = (value: unknown): Uint8Array => {
  const buffer = Buffer.from(text(value), 'base64')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

/** Reads a list; a missing one, which Go writes as null, is empty. */
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const txResult = (value: unknown) => {
  const { code, log, info, data, gas_used } = objectAt(value)
  return { code: whole(code), log: text(log), info: text(info), data: bytes(data), gasUsed: whole(gas_used) }
}

/** The application's result for a transaction, from CheckTx or from a block. Gas is 0 where it named none. */
export type TxResult = ReturnType<typeof txResult>

const blockOf = (answer: unknown, asked: number | string) => {
  if (!objectAt(answer)['block']) throw new NodeError('NotFound', `block: ${asked} not found`)
  const { height, time, app_hash, chain_id, proposer_address, last_block_id } = objectAt(answer, 'block', 'header')
  return {
    height: whole(height),
    timeMs: milliseconds(time),
    hash: text(objectAt(answer, 'block_id')['hash']).toUpperCase(),
    /** Empty for the first block. */
    parentHash: text((last_block_id as Json | undefined)?.['hash']).toUpperCase(),
    /** Address of the proposer's key, as an account's: 0x and lower-case hex. */
    proposer: `0x${text(proposer_address).toLowerCase()}`,
    /** That of the state before the block. */
    appHash: text(app_hash).toUpperCase(),
    chainId: text(chain_id),
    txs: list(objectAt(answer, 'block', 'data')['txs']).map(bytes),
  }
}

/** A block without its results. The hashes are upper-case hex. */
export type NodeBlock = ReturnType<typeof blockOf>

/** An event of the application. An attribute that stands there twice has its last value. */
export type NodeEvent = { readonly type: string; readonly attributes: Readonly<Record<string, string>> }

const nodeEvent = (value: unknown): NodeEvent => {
  const { type, attributes } = objectAt(value)
  const pairs = list(attributes).map((one) => [text(objectAt(one)['key']), text(objectAt(one)['value'])])
  return { type: text(type), attributes: Object.fromEntries(pairs) }
}

const blockResults = (answer: unknown) => {
  const { txs_results, finalize_block_events, begin_block_events, end_block_events } = objectAt(answer)
  const txs = list(txs_results)
  return {
    /** In the order of the block's transactions. */
    results: txs.map(txResult),
    /** The events of a transaction of the block whose type begins so. They are only read when somebody asks. */
    eventsOfTx: (index: number, prefix = '') =>
      list(objectAt(txs[index])['events'])
        .filter((event) => text(objectAt(event)['type']).startsWith(prefix))
        .map(nodeEvent),
    /** The events of the block itself, in order. Those of 0.37 are split. */
    eventsOfBlock: () =>
      [finalize_block_events, begin_block_events, end_block_events].flatMap((events) => list(events).map(nodeEvent)),
  }
}

/** What came of a block: of its transactions, and of the block itself. */
export type BlockResults = ReturnType<typeof blockResults>

const nodeStatus = (answer: unknown) => {
  const { id, network, version } = objectAt(answer, 'node_info')
  const sync = objectAt(answer, 'sync_info')
  const latestHeight = whole(sync['latest_block_height'])
  return {
    /** By which its peers know it: 40 lower-case hex digits. */
    nodeId: text(id),
    chainId: text(network),
    version: text(version),
    /** May be a block that the application is still executing. */
    latestHeight,
    latestTimeMs: latestHeight === 0 ? 0 : milliseconds(sync['latest_block_time']),
    /** That of the state before the latest block, in upper-case hex. */
    latestAppHash: text(sync['latest_app_hash']).toUpperCase(),
    earliestHeight: whole(sync['earliest_block_height']),
    catchingUp: sync['catching_up'] === true,
  }
}

/** The status of a node. Heights are 0 before the first block. */
export type NodeStatus = ReturnType<typeof nodeStatus>

const applicationInfo = (answer: unknown) => {
  const { data, version } = objectAt(answer, 'response')
  // Another application's data may be any text.
  const { program_version, chain_program_version } = (parseJson(text(data)) ?? {}) as Json
  const number = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : undefined)
  return {
    version: text(version),
    /** The program version that it runs. */
    programVersion: number(program_version),
    /** That of the chain, from the first commit on. */
    chainProgramVersion: number(chain_program_version),
  }
}

/** A query of the application. `height`: 0 (the default) is the head. `prove`: asks for a proof. */
export type AbciQuery = { path: string; data?: Uint8Array; height?: number; prove?: boolean }

const queryResult = (answer: unknown) => {
  const { code, log, height, key, value, proofOps, proof_ops = proofOps } = objectAt(answer, 'response')
  const proofOp = (op: unknown) => {
    const { type, key, data } = objectAt(op)
    return { type: text(type), key: bytes(key), data: bytes(data) }
  }
  return {
    code: whole(code),
    log: text(log),
    height: whole(height),
    key: bytes(key),
    value: bytes(value),
    proofOps: proof_ops ? list(objectAt(proof_ops)['ops']).map(proofOp) : [],
  }
}

/** The application's answer to a query. `proofOps` is empty unless `prove` was set. */
export type AbciQueryResult = ReturnType<typeof queryResult>

/**
 * Opens a client of the node at `url` (http or https), CometBFT 0.37 to 0.40, with keep-alive connections of its
 * own. Comet38Client of @cosmjs/tendermint-rpc is not used because it takes 4 to 5 times the CPU for a broadcast, has
 * no deadline, and throws on `status` before the first block. The tests compare the answers of both.
 */
export const openNodeRpc = (url: string, options: TransportOptions = {}) => {
  const { call, close } = openTransport(url, options)
  return {
    url,
    /** Closes the idle connections. */
    close,
    status: async () => nodeStatus(await call('status')),
    /** The height that the application has committed, whose state and results can be read. 0 before the first block. */
    committedHeight: async () => whole(objectAt(await call('abci_info'), 'response')['last_block_height']),
    application: async () => applicationInfo(await call('abci_info')),
    /** Asks CheckTx without sending the transaction on. A code other than 0 is a result, not an error. */
    checkTx: async (tx: Uint8Array) => txResult(await call('check_tx', { tx: toBase64(tx) })),
    /**
     * Resolves after CheckTx. A code other than 0 is a result, not an error. `isResent`: the connection broke, and the
     * answer is to the second sending; a node that has the transaction from the first one has accepted it.
     */
    broadcastTxSync: async (tx: Uint8Array) => {
      let isResent = false
      const onResend = (): void => {
        isResent = true
      }
      try {
        const { code, log, data } = objectAt(await call('broadcast_tx_sync', { tx: toBase64(tx) }, onResend))
        // Of all answers only this one writes data in hex.
        return { code: whole(code), log: text(log), data: new Uint8Array(Buffer.from(text(data), 'hex')), isResent }
      } catch (error) {
        if (isResent && isNodeError(error, 'TxInCache')) return { code: 0, log: '', data: new Uint8Array(), isResent }
        throw error
      }
    },
    abciQuery: async ({ path, data = new Uint8Array(), height = 0, prove = false }: AbciQuery) =>
      queryResult(await call('abci_query', { path, data: toHex(data), height: String(height), prove })),
    block: async (height: number) => blockOf(await call('block', { height: String(height) }), height),
    /** How many blocks evidence of misbehaviour stays valid, at a height that has a block. */
    evidenceBlocks: async (height: number) => {
      const answer = await call('consensus_params', { height: String(height) })
      return whole(objectAt(answer, 'consensus_params', 'evidence')['max_age_num_blocks'])
    },
    /** In ms. */
    blockTime: async (height: number) =>
      milliseconds(objectAt(await call('header', { height: String(height) }), 'header')['time']),
    /** `hash`: 64 hex digits. */
    blockByHash: async (hash: string) =>
      blockOf(await call('block_by_hash', { hash: Buffer.from(hash, 'hex').toString('base64') }), hash),
    blockResults: async (height: number) => blockResults(await call('block_results', { height: String(height) })),
    peers: async () => whole(objectAt(await call('net_info'))['n_peers']),
  }
}

/** The RPC of one node. Its methods throw only NodeErrors. */
export type NodeRpc = ReturnType<typeof openNodeRpc>

/**
 * Waits until the node answers, and resolves with its status. Throws a NodeError `NodeUnreachable` with the last reason
 * after `timeoutMs`.
 */
export const waitForNode = async (rpc: NodeRpc, timeoutMs: number): Promise<NodeStatus> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await rpc.status()
    } catch (error) {
      if (!isNodeError(error) || performance.now() > deadline) {
        throw new NodeError('NodeUnreachable', `the node at ${rpc.url} does not answer: ${reasonOf(error)}`, {
          cause: error,
        })
      }
    }
    await sleep(100)
  }
}
