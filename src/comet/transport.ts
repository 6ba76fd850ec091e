import { type Dispatcher, Pool } from 'undici'
import { parseJson } from '../base/json.ts'
import { isNodeError, NodeError, reasonOf } from './errors.ts'
import { rpcErrorOf } from './messages.ts'

/** How long a call may take unless told otherwise, in ms. */
export const TIMEOUT_MS = 10_000
const CONNECTIONS = 64
const RESENDS_MAX = 3
const ANSWER_BYTES_MAX = 256 * 1024 * 1024

/**
 * Makes one JSON-RPC call to the node and resolves with its `result`. Throws NodeErrors. `onResend`: told before the call
 * is sent again; the node may have carried it out already.
 */
export type Call = (
  method: string,
  params?: Readonly<Record<string, unknown>>,
  onResend?: () => void,
) => Promise<unknown>

/** How a node is called. */
export type TransportOptions = {
  /** How long a call may take, the wait for a connection included. Default TIMEOUT_MS. */
  timeoutMs?: number
  /** The most connections, with one call each; further calls wait. Default 64. */
  connections?: number
  /** The most calls under way or waiting; further calls fail with NodeBusy. No limit by default. */
  calls?: number
  /** The most bytes of an answer; a longer one counts as none. Default 256 MiB. */
  answerBytes?: number
}

type Posting = {
  pool: Pool
  origin: string
  path: string
  body: string
  timeoutMs: number
  answerBytes: number
  onResend: (() => void) | undefined
}
type Answer = { status: number; body: Buffer }
type RpcAnswer = { result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } }

const resultOf = (method: string, { status, body }: Answer): unknown => {
  const answer = parseJson(body.toString()) as RpcAnswer | null | undefined
  if (answer === undefined)
    throw new NodeError(
      status >= 500 ? 'NodeFailed' : 'BadAnswer',
      `${method}: the node answered ${status} without JSON`,
    )
  if (answer?.error) throw rpcErrorOf(method, answer.error)
  if (answer?.result === undefined)
    throw new NodeError('BadAnswer', `${method}: the node answered ${status} without a result`)
  return answer.result
}

const HEADERS = { 'content-type': 'application/json' }
const BROKEN = new Set<unknown>(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * Sends one request, and sends it again when its connection breaks before the answer begins: the node closes idle
 * connections after 10 s, and a call may be sent into such a close. All of it ends at `deadline`.
 */
const post = (
  posting: Posting,
  resends = RESENDS_MAX,
  deadline = performance.now() + posting.timeoutMs,
): Promise<Answer> =>
  new Promise((done, failed) => {
    const { pool, origin, path, body, timeoutMs, answerBytes, onResend } = posting
    const chunks: Buffer[] = []
    let [status, bytes] = [0, 0]
    let controller: Dispatcher.DispatchController | undefined
    let late: NodeError | undefined
    const timer = setTimeout(() => {
      late = new NodeError('NodeTimeout', `no answer from ${origin} in ${timeoutMs} ms`)
      failed(late)
      controller?.abort(late)
    }, deadline - performance.now())
    // The timer above limits the whole call; undici's own timers begin with the connection.
    pool.dispatch(
      { path, method: 'POST', headers: HEADERS, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (started) => {
          controller = started
          if (late !== undefined) started.abort(late)
        },
        onResponseStart: (_, code) => {
          status = code
        },
        onResponseData: (started, chunk) => {
          bytes += chunk.length
          if (bytes > answerBytes) started.abort(new Error(`the answer is over ${answerBytes} bytes`))
          else chunks.push(chunk)
        },
        onResponseEnd: () => {
          clearTimeout(timer)
          done({ status, body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) })
        },
        onResponseError: (_, error) => {
          clearTimeout(timer)
          const { code } = error as { readonly code?: unknown }
          if (!BROKEN.has(code) || status !== 0 || resends === 0) return failed(error)
          onResend?.()
          done(post(posting, resends - 1, deadline))
        },
      },
    )
  })

/**
 * Opens a pool of keep-alive connections to the node at `url` (http or https), with one call on each. `close` closes
 * the idle ones; calls that are under way still finish. PERF: with undici's dispatch a gateway takes four fifths of the
 * CPU that it takes with node:http; fetch, as in @cosmjs/tendermint-rpc, takes several times as much.
 */
export const openTransport = (
  url: string,
  {
    timeoutMs = TIMEOUT_MS,
    connections = CONNECTIONS,
    calls = Number.POSITIVE_INFINITY,
    answerBytes = ANSWER_BYTES_MAX,
  }: TransportOptions,
): { call: Call; close: () => void } => {
  const { protocol, origin, pathname: path } = new URL(url)
  if (!/^https?:$/.test(protocol))
    throw new NodeError(
      'NodeUnreachable',
      `the node's address: expected http:// or https://, got ${JSON.stringify(url)}`,
    )
  const pool = new Pool(origin, { connections, pipelining: 1 })
  let underWay = 0
  const call: Call = async (method, params = {}, onResend) => {
    if (underWay >= calls) throw new NodeError('NodeBusy', `${method}: ${calls} calls to the node are under way`)
    underWay += 1
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      return resultOf(method, await post({ pool, origin, path, body, timeoutMs, answerBytes, onResend }))
    } catch (error) {
      if (isNodeError(error)) throw error
      throw new NodeError('NodeUnreachable', `${method}: cannot reach the node at ${origin}: ${reasonOf(error)}`)
    } finally {
      underWay -= 1
    }
  }
  // A second close is allowed.
  return { call, close: () => void pool.close().catch(() => undefined) }
}
