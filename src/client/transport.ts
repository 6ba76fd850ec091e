import { blockingHttp, cannotWait } from './blocking.ts'
import { SvcRpcError } from './errors.ts'

/** One call of a method. */
export interface Call {
  readonly method: string
  readonly params: unknown
}

/** The answer to one call of a batch. */
export type Reply = { readonly result: unknown } | { readonly error: SvcRpcError }

/** A way to the gateway. */
export interface Transport {
  /** Resolves with the result; rejects with an SvcRpcError, or with the signal's reason. */
  readonly ask: (call: Call, signal?: AbortSignal) => Promise<unknown>
  /** The answers of calls that begin in order; at most BATCH_MAX of them. Never rejects. */
  readonly askAll: (calls: readonly Call[]) => Promise<readonly Reply[]>
  /**
   * Waits in this thread and returns the result. Throws an SvcRpcError; where it cannot wait, it throws an Error that
   * says what to write instead.
   */
  readonly askBlocking: (call: Call, functionCall: string) => unknown
}

/** The most calls in a batch. Source: docs/reference/limits.md. */
export const BATCH_MAX = 50

interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

/** Params with decimal text in the place of bigints, which JSON has none of. */
export const plainParams = (params: unknown): unknown => JSON.parse(JSON.stringify(params, asText))

/** The text of a JSON-RPC call. */
export const callText = ({ method, params }: Call, id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params }, asText)

/** The text of a batch. */
export const batchText = (calls: readonly Call[]): string =>
  `[${calls.map((call, index) => callText(call, index)).join(',')}]`

const replyOf = ({ method }: Call, answer: RpcAnswer | undefined): Reply => {
  if (answer?.error !== undefined) {
    const { code, message, data } = answer.error
    return { error: new SvcRpcError(method, code, message, data) }
  }
  return answer === undefined || !Object.hasOwn(answer, 'result')
    ? { error: new SvcRpcError(method, undefined, 'the gateway left the call unanswered') }
    : { result: answer.result }
}

function parse(method: string, status: number, text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && (Array.isArray(body) || Object.hasOwn(body, 'jsonrpc')))
      return body
  } catch {
    /* The error below says so. */
  }
  throw new SvcRpcError(
    method,
    undefined,
    `the gateway answered with HTTP status ${status}, not with JSON-RPC: ${text.slice(0, 200)}`,
  )
}

/** The reply in the text of an answer. */
export const readReply = (call: Call, status: number, text: string): Reply =>
  replyOf(call, parse(call.method, status, text) as RpcAnswer)

/**
 * The replies in the text of a batch's answer, in the order of the calls. Throws an SvcRpcError when it is none. `by
 * position`: the ids were given by somebody else, and the answers stand in the order of the calls.
 */
export function readReplies(
  calls: readonly Call[],
  status: number,
  text: string,
  match: 'by id' | 'by position' = 'by id',
): readonly Reply[] {
  const body = parse(calls[0]?.method ?? 'batch', status, text)
  if (!Array.isArray(body)) return calls.map((call) => replyOf(call, body as RpcAnswer))
  const answers = new Map(
    (body as readonly RpcAnswer[]).map((answer, index) => [match === 'by id' ? answer.id : index, answer]),
  )
  return calls.map((call, index) => replyOf(call, answers.get(index)))
}

/** The result in a reply; throws its error. */
export function resultOf(reply: Reply): unknown {
  if ('error' in reply) throw reply.error
  return reply.result
}

/**
 * Where a gateway is, and how the client asks it.
 *
 * @example
 * const target: Target = { url: 'http://127.0.0.1:8545', light: 'http://127.0.0.1:8888' }
 * const careful = new Svc(target)
 */
export interface Target {
  /** http://host:port of the gateway. */
  readonly url: string
  /** The token of the gateway, which the client sends as `Authorization: Bearer`. */
  readonly token?: string
  /**
   * http://host:port of a `cometbft light` proxy, for `svc.verified`. The client trusts it, so run it where nobody else
   * can answer in its place.
   */
  readonly light?: string
  /** Used instead of the global fetch. The synchronous form cannot use it. */
  readonly fetch?: typeof fetch
}

/** The innermost reason that fetch gives. */
function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown as { message?: unknown; cause?: { message?: unknown; code?: unknown } }
  return String(cause?.code ?? cause?.message ?? message ?? thrown)
}

/** A transport over HTTP POST. Throws a TypeError when `url` is none. */
export function httpTransport({ url, token, fetch: given }: Target): Transport {
  const address = new URL(url).href
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const unreachable = (method: string, reason: string): SvcRpcError =>
    new SvcRpcError(method, undefined, `the gateway at ${address} cannot be reached: ${reason}`)
  const post = async (
    method: string,
    body: string,
    signal?: AbortSignal,
  ): Promise<{ readonly status: number; readonly text: string }> => {
    try {
      const response = await (given ?? fetch)(address, {
        method: 'POST',
        headers,
        body,
        ...(signal === undefined ? {} : { signal }),
      })
      return { status: response.status, text: await response.text() }
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason
      throw unreachable(method, reasonOf(thrown))
    }
  }
  const ask: Transport['ask'] = async (call, signal) => {
    const { status, text } = await post(call.method, callText(call), signal)
    return resultOf(readReply(call, status, text))
  }
  const askAll: Transport['askAll'] = async (calls) => {
    const method = calls[0]?.method ?? 'batch'
    try {
      const { status, text } = await post(method, batchText(calls))
      return readReplies(calls, status, text)
    } catch (error) {
      return calls.map(() => ({ error: error as SvcRpcError }))
    }
  }
  const blocking = given === undefined ? blockingHttp(address, headers) : undefined
  const askBlocking = (call: Call, functionCall: string): unknown => {
    if (blocking === undefined)
      throw cannotWait(functionCall, 'a fetch of your own works only in this thread, which would stand still')
    const answer = blocking(callText(call), functionCall)
    if ('reason' in answer) throw unreachable(call.method, answer.reason)
    return resultOf(readReply(call, answer.status, answer.text))
  }
  return { ask, askAll, askBlocking }
}

/** How long a call waits for a block by default, in ms. */
export const WAIT_MS = 60_000

/** How long to pause between two looks for a block, in ms. */
export const POLL_MS = 100

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((done, failed) => {
    const give = (): void => {
      clearTimeout(timer)
      failed(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give)
      done()
    }, ms)
    signal?.addEventListener('abort', give, { once: true })
  })
}
