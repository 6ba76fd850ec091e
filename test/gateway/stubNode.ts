import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf } from '../../src/values/address.ts'
import { decodePaths } from '../../src/codec/queryBatch.ts'
import { decodeTx, txHash, type Tx } from '../../src/tx/envelope.ts'
import { encodeNonce } from '../../src/tx/nonceQueue.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { serveSubscriptions } from './socket.ts'

/** What the application says of itself. */
const APPLICATION = {
  data: '{"name":"svcd","program_version":2,"chain_program_version":2}',
  version: '0.3.0',
}

/** What a transaction comes to; `code` 0 with gas and data when left out. */
export interface Verdict {
  readonly code?: number
  readonly log?: string
  readonly info?: string
  readonly gas?: number
  readonly data?: Uint8Array
}

/**
 * What a test may bend, as it is unless bent. `check` and `deliver` judge after the nonce; `lose` takes accepted
 * transactions out of the mempool.
 */
const UNBENT = {
  chainId: 'gateway-test',
  check: (_tx: Tx, _bytes: Uint8Array): Verdict => ({}),
  deliver: (_tx: Tx, _bytes: Uint8Array): Verdict => ({ gas: 21_000 }),
  lose: (_tx: Tx): boolean => false,
  /** Broadcast errors in CometBFT's words, before CheckTx. */
  error: (_tx: Uint8Array): string | undefined => undefined,
  /** Whether the connection breaks before the answer to a call, which is carried out. */
  breaks: (_method: string): boolean => false,
  /** Whether the answer to a call, which is carried out, is a page of a proxy. */
  garbles: (_method: string): boolean => false,
  /** What the node says of its own trouble when it is asked for a transaction. */
  lookUpError: (): string | undefined => undefined,
  query: (_path: string, _height: number): { code?: number; log?: string; data?: unknown } => ({}),
  /** Told of the paths of each batch. */
  batch: (_paths: readonly string[]): void => undefined,
  mempoolMax: 5_000,
  latencyMs: (): number => 0,
  catchingUp: false,
  blocks: true,
  /** Whether the mempool remembers what it has seen. */
  cache: true,
  /** The hash of each of its blocks. */
  blockHash: 'AA'.repeat(32),
}

export type Script = typeof UNBENT

const GAS_PRICE = 2

interface Row {
  height: number
  index: number
  bytes: Uint8Array
  verdict: Verdict
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const APP_HASH = 'AB'.repeat(32)
const TIME = '2026-11-20T10:00:05.123456789Z'

function txResult({ code = 0, log = '', info = '', gas = 0, data }: Verdict): Record<string, unknown> {
  return {
    code,
    log,
    info,
    data: data === undefined ? null : base64(data),
    gas_wanted: String(gas),
    gas_used: String(gas),
    events: [],
  }
}

/** What the chain says to a nonce that is not the next one. */
export const badNonce = (expected: number, { body }: Tx): Verdict => ({
  code: 6,
  log: `bad nonce: expected ${expected}, got ${body.nonce}`,
  data: encodeNonce(expected),
})

/** Accounts, mempool and blocks: nonces by the rules, the rest by the script. */
function makeLedger(script: Script) {
  const nonces = new Map<string, number>()
  let checked = new Map<string, number>()
  let mempool: { bytes: Uint8Array; tx: Tx }[] = []
  const seen = new Set<string>()
  const rows = new Map<string, Row>()
  const blocks: { txs: Uint8Array[]; verdicts: Verdict[] }[] = []
  const senderOf = (tx: Tx): string => addressOf(tx.body.from)
  const check = (bytes: Uint8Array): Verdict | string => {
    const tx = decodeTx(bytes)
    const error = script.error(bytes)
    if (error !== undefined) return error
    if (mempool.length >= script.mempoolMax)
      return `mempool is full: number of txs ${mempool.length} (max: ${script.mempoolMax})`
    if (script.cache && seen.has(txHash(bytes))) return 'tx already exists in cache'
    if ('why' in tx) return { code: 2, log: `cannot decode transaction: ${tx.why}` }
    const sender = senderOf(tx)
    const expected = checked.get(sender) ?? nonces.get(sender) ?? 0
    if (tx.body.nonce !== expected) return badNonce(expected, tx)
    const verdict = script.check(tx, bytes)
    if ((verdict.code ?? 0) !== 0) return verdict
    checked.set(sender, expected + 1)
    if (!script.lose(tx)) {
      seen.add(txHash(bytes))
      mempool.push({ bytes, tx })
    }
    return verdict
  }
  const makeBlock = (): number => {
    const height = blocks.length + 1
    const block: { txs: Uint8Array[]; verdicts: Verdict[] } = { txs: [], verdicts: [] }
    for (const { bytes, tx } of mempool) {
      const sender = senderOf(tx)
      // As PrepareProposal does: a transaction whose nonce does not fit is left out; the recheck below throws it away.
      if (tx.body.nonce !== (nonces.get(sender) ?? 0)) {
        seen.delete(txHash(bytes))
        continue
      }
      nonces.set(sender, tx.body.nonce + 1)
      const verdict = script.deliver(tx, bytes)
      rows.set(txHash(bytes), { height, index: block.txs.length, bytes, verdict })
      block.txs.push(bytes)
      block.verdicts.push(verdict)
    }
    mempool = []
    checked = new Map()
    blocks.push(block)
    return height
  }
  return { nonces, rows, blocks, check, makeBlock, waiting: () => mempool.length, forget: () => seen.clear() }
}

type Ledger = ReturnType<typeof makeLedger>
type Given = Readonly<Record<string, unknown>>

function header(height: number, { chainId, blockHash }: Script): Given {
  return {
    last_block_id: { hash: height === 1 ? '' : blockHash },
    height: String(height),
    time: TIME,
    app_hash: APP_HASH,
    proposer_address: 'CD'.repeat(20),
    chain_id: chainId,
  }
}

/** What its index answers: it has every block, finds transactions by their hash, and no histories. */
function history(ledger: Ledger, path: string): Given {
  const [, , name, argument = ''] = path.split('/')
  const span = { first_height: 1, last_height: ledger.blocks.length }
  if (name !== 'transaction') return { ...span, rows: [], next: null }
  const row = ledger.rows.get(argument)
  if (row === undefined) return { ...span, transaction: null }
  const { height, index, bytes, verdict } = row
  const { code, log, info, data, gas_used } = txResult(verdict)
  const transaction = {
    height,
    index,
    time_ms: Date.parse(TIME),
    hash: argument,
    tx: base64(bytes),
    code,
    log,
    info,
    data: data ?? '',
    gas_used: Number(gas_used),
    gas_price: String(GAS_PRICE),
  }
  return { ...span, transaction }
}

function abciQuery(ledger: Ledger, script: Script, path: string, asked: number): Given {
  const head = ledger.blocks.length
  const [, group, name] = path.split('/')
  const scripted = script.query(path, asked)
  const data =
    scripted.data !== undefined
      ? scripted.data
      : group === 'accounts'
        ? { address: name, balance: '1000', nonce: ledger.nonces.get(name ?? '') ?? 0 }
        : { gas_price: GAS_PRICE }
  if (path === '/governance/params' && asked > head) {
    return {
      code: 20,
      log: `Invalid parameter: height: expected 0 to the head ${head}, got ${asked}`,
      height: String(head),
    }
  }
  const told = { code: scripted.code ?? 0, log: scripted.log ?? '', height: String(head) }
  if (group === 'history')
    return { ...told, value: base64(Buffer.from(JSON.stringify(scripted.data ?? history(ledger, path)))) }
  if (group === 'store')
    return { ...told, key: 'AQI=', value: null, proofOps: { ops: [{ type: 'ics23:smt', key: 'AQI=', data: 'AwQ=' }] } }
  return { ...told, value: base64(Buffer.from(JSON.stringify(data))) }
}

function batch(ledger: Ledger, script: Script, data: string): Given {
  const paths = decodePaths(Buffer.from(data, 'hex')) ?? []
  script.batch(paths)
  const answers = paths.map((path) => {
    const { code, log, value } = abciQuery(ledger, script, path, 0)
    return code === 0 ? { data: JSON.parse(Buffer.from(String(value), 'base64').toString()) as unknown } : { code, log }
  })
  return { code: 0, log: '', height: String(ledger.blocks.length), value: base64(Buffer.from(JSON.stringify(answers))) }
}

/** The answer of a CometBFT RPC method; text is an error in its words. */
function answer(ledger: Ledger, script: Script, method: string, params: Given): Given | string {
  const height = Number(params['height'] ?? 0)
  const block = ledger.blocks[height - 1]
  if (method === 'status') {
    const latest = ledger.blocks.length
    return {
      node_info: { id: 'ef'.repeat(20), network: script.chainId, moniker: 'stub', version: '0.38.25' },
      validator_info: { address: '', pub_key: { value: '' } },
      sync_info: {
        latest_block_height: String(latest),
        latest_block_time: TIME,
        latest_app_hash: APP_HASH,
        earliest_block_height: '1',
        catching_up: script.catchingUp,
      },
    }
  }
  if (method === 'abci_info') return { response: { ...APPLICATION, last_block_height: String(ledger.blocks.length) } }
  if (method === 'abci_query') {
    const path = String(params['path'])
    const paths = path === '/batch' ? (decodePaths(Buffer.from(String(params['data']), 'hex')) ?? []) : [path]
    const error = paths.some((one) => one.startsWith('/history/transaction/')) ? script.lookUpError() : undefined
    if (error !== undefined) return error
    return {
      response:
        path === '/batch' ? batch(ledger, script, String(params['data'])) : abciQuery(ledger, script, path, height),
    }
  }
  if (method === 'block' && block !== undefined) {
    return {
      block_id: { hash: script.blockHash },
      block: { header: header(height, script), data: { txs: block.txs.map(base64) } },
    }
  }
  if (method === 'block_results' && block !== undefined)
    return { height: String(height), txs_results: block.verdicts.map(txResult) }
  if (method === 'broadcast_tx_sync') {
    const bytes = new Uint8Array(Buffer.from(String(params['tx']), 'base64'))
    const verdict = ledger.check(bytes)
    return typeof verdict === 'string'
      ? verdict
      : {
          ...txResult(verdict),
          data: Buffer.from(verdict.data ?? [])
            .toString('hex')
            .toUpperCase(),
          hash: txHash(bytes),
        }
  }
  return height <= 0
    ? `height must be greater than 0, but got ${height}`
    : `height ${height} must be less than or equal to the current blockchain height`
}

/** A CometBFT node as the gateway sees it, blocks every 20 ms. `broadcasts` counts what came in. */
export async function startStubNode(given: Partial<Script> = {}) {
  const script: Script = { ...UNBENT, ...given }
  const ledger = makeLedger(script)
  const counts = new Map<string, number>()
  const served = await serveCalls(async ({ method, params }, request) => {
    counts.set(method, (counts.get(method) ?? 0) + 1)
    let result: Given | string
    try {
      result = answer(ledger, script, method, params as Given)
    } catch (error) {
      result = (error as Error).message
    }
    if (script.breaks(method)) {
      request.socket.destroy()
      return undefined
    }
    const pauseMs = script.latencyMs()
    if (pauseMs > 0) await sleep(pauseMs)
    if (script.garbles(method)) return '<html>'
    return typeof result === 'string'
      ? { error: { code: -32603, message: 'Internal error', data: result } }
      : { result }
  })
  const subscriptions = serveSubscriptions(served.server)
  ledger.makeBlock()
  const step = () => subscriptions.tell(ledger.makeBlock())
  const timer = setInterval(() => {
    if (script.blocks) step()
  }, 20)
  const close = async () => {
    clearInterval(timer)
    subscriptions.drop()
    await served.close()
  }
  return {
    url: served.url,
    chainId: script.chainId,
    script,
    ledger,
    step,
    close,
    drop: subscriptions.drop,
    say: subscriptions.say,
    count: (method: string) => counts.get(method) ?? 0,
  }
}
