import { type Dispatcher, Pool } from 'undici'
import { NodeError, reasonOf } from './errors.ts'

const CONNECTIONS = 64
const RESENDS_MAX = 3
const ANSWER_BYTES_MAX = 256 * 1024 * 1024

/** One JSON-RPC call to the node; the `result` member as it came. Errors: NodeError. */
export type Call = (method: string, params?: Readonly<Record<string, unknown>>, timeoutMs?: number) => Promise<unknown>

/** How many calls go to a node at a time. */
export interface TransportLimits {
  /** Most calls under way at the node; the others wait their turn. Default 64. */
  readonly connections?: number
  /** Most calls under way or waiting; one more fails with NodeBusy. Unbounded by default. */
  readonly calls?: number
}

/** A connection pool to one node. `close` ends the idle connections; calls under way still finish. */
export type Transport = { call: Call; close: () => void }

const HEADERS = { 'content-type': 'application/json' }

const CAUSES = [
  ['MempoolFull', /mempool is full/i],
  ['TxInCache', /already exists in cache/i],
  ['TxTooLarge', /tx too large/i],
  ['NotFound', /not found|could not find|must be less than or equal to the current|is not available, lowest height/i],
] as const

/** JSON-RPC's codes of a call that the caller wrote wrongly: no JSON, no call, no such method, no such params. */
const CALL_CODES = new Set<unknown>([-32700, -32600, -32601, -32602])

/**
 * The typed form of a JSON-RPC error. CometBFT has one code for whatever fails inside it, so its words tell the
 * failures apart that a caller can act on. The rest is the node's own trouble, in many words: `appConn mempool: read
 * message: EOF`, `client is not running`.
 */
const failureOf = (method: string, error: { code?: unknown; message?: unknown; data?: unknown }): NodeError => {
  const words = [error.message, error.data].filter((part) => typeof part === 'string' && part !== '').join(': ')
  const code =
    CAUSES.find(([, pattern]) => pattern.test(words))?.[0] ?? (CALL_CODES.has(error.code) ? 'RpcFailed' : 'NodeFailed')
  return new NodeError(code, `${method}: ${words}`)
}

const resultOf = (method: string, status: number, body: Buffer): unknown => {
  let answer: { result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } }
  try {
    answer = JSON.parse(body.toString())
  } catch {
    throw new NodeError(
      status >= 500 ? 'NodeFailed' : 'BadAnswer',
      `${method}: the node answered ${status} without JSON`,
    )
  }
  if (answer?.error) throw failureOf(method, answer.error)
  if (answer?.result === undefined)
    throw new NodeError('BadAnswer', `${method}: the node answered ${status} without a result`)
  return answer.result
}

/** A call on its way. */
interface Posting {
  readonly origin: string
  readonly body: string
  readonly timeoutMs: number
  /** Hears of the answer's first byte. */
  readonly onAnswer: () => void
}

/** Sends one body; the deadline runs from here on, while the call waits for a connection too. */
const post = (pool: Pool, { origin, body, timeoutMs, onAnswer }: Posting): Promise<{ status: number; body: Buffer }> =>
  new Promise((done, failed) => {
    const chunks: Buffer[] = []
    let [status, bytes] = [0, 0]
    let controller: Dispatcher.DispatchController | undefined
    let late: NodeError | undefined
    const timer = setTimeout(() => {
      late = new NodeError('NodeTimeout', `no answer from ${origin} in ${timeoutMs} ms`)
      failed(late)
      controller?.abort(late)
    }, timeoutMs)
    // The timer above bounds all of a call: undici's own would begin with the connection.
    pool.dispatch(
      { path: '/', method: 'POST', headers: HEADERS, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (started) => {
          controller = started
          if (late !== undefined) started.abort(late)
        },
        onResponseStart: (_, code) => {
          status = code
          onAnswer()
        },
        onResponseData: (started, chunk) => {
          bytes += chunk.length
          if (bytes > ANSWER_BYTES_MAX) started.abort(new Error(`the answer is over ${ANSWER_BYTES_MAX} bytes`))
          else chunks.push(chunk)
        },
        onResponseEnd: () => {
          clearTimeout(timer)
          done({ status, body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) })
        },
        onResponseError: (_, error) => {
          clearTimeout(timer)
          failed(error)
        },
      },
    )
  })

const BROKEN = new Set<unknown>(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * A pool of keep-alive connections to the node at `url` (http://host:port), one for each call under way. Calls beyond
 * the connections wait their turn; the deadline runs while they wait. PERF: undici's dispatch takes four fifths of a
 * gateway's CPU over node:http; fetch, as in @cosmjs/tendermint-rpc, several times as much.
 */
export const openTransport = (
  url: string,
  defaultTimeoutMs: number,
  { connections = CONNECTIONS, calls = Number.POSITIVE_INFINITY }: TransportLimits = {},
): Transport => {
  const target = new URL(url)
  if (target.protocol !== 'http:')
    throw new NodeError('NodeUnreachable', `the node's address is ${url}; it must begin with http://`)
  const pool = new Pool(target.origin, { connections, pipelining: 1 })
  let underWay = 0
  const send: Call = async (method, params = {}, timeoutMs = defaultTimeoutMs) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    for (let resends = 0; ; resends++) {
      let answered = false
      try {
        const answer = await post(pool, {
          origin: target.origin,
          body,
          timeoutMs,
          onAnswer: () => {
            answered = true
          },
        })
        return resultOf(method, answer.status, answer.body)
      } catch (error) {
        if ((error as { name?: unknown }).name === 'NodeError') throw error
        // The node closes idle connections after 10 s; a call that meets such a close goes again on another one.
        if (BROKEN.has((error as { code?: unknown }).code) && !answered && resends < RESENDS_MAX) continue
        throw new NodeError(
          'NodeUnreachable',
          `${method}: cannot reach the node at ${target.origin}: ${reasonOf(error)}`,
        )
      }
    }
  }
  const call: Call = async (...asked) => {
    if (underWay >= calls) throw new NodeError('NodeBusy', `${asked[0]}: ${calls} calls to the node are under way`)
    underWay += 1
    try {
      return await send(...asked)
    } finally {
      underWay -= 1
    }
  }
  // A second close is no mistake.
  return { call, close: () => void pool.close().catch(() => undefined) }
}
