import { isObject, parseJson, show } from '../base/json.ts'
import type { TransactionResult } from '../tx/result.ts'
import { blockingHttp, cannotWait, type HttpText } from './blocking.ts'
import { METHOD_NOT_FOUND, SvcRpcError, unreachable } from './errors.ts'

/** One call of a method. */
export interface Call {
  readonly method: string
  readonly params: unknown
  /** Its result is that of a transaction. */
  readonly isTransaction?: boolean | undefined
}

/** The answer to one call of a batch. */
export type Reply = { readonly result: unknown } | { readonly error: SvcRpcError }

/** A way to the gateway. */
export interface Transport {
  /** Resolves with the result; rejects with an SvcRpcError, or with the signal's reason. */
  readonly ask: (call: Call, signal?: AbortSignal) => Promise<unknown>
  /** The answers of calls that begin in order; one to BATCH_MAX of them. Never rejects. */
  readonly askAll: (calls: readonly Call[]) => Promise<readonly Reply[]>
  /**
   * Waits in this thread and returns the result. Throws an SvcRpcError; where it cannot wait, it throws an Error that
   * says what to write instead.
   */
  readonly askBlocking: (call: Call, functionCall: string) => unknown
}

/** The most calls that this client sends in a batch. A gateway takes more: docs/reference/limits.md. */
export const BATCH_MAX = 50

interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

// As JSON, NaN and Infinity would be null, which means that a member was left out.
const asText = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value

/** Returns the params with bigints as decimal text, because JSON has no bigints. */
export const plainParams = (params: unknown): unknown => JSON.parse(JSON.stringify(params, asText))

/** The text of a call, in which bigints are decimal text. */
export const callText = ({ method, params }: Call, id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params }, asText)

const UNANSWERED = 'the gateway left the call unanswered'

function replyOf({ method, isTransaction }: Call, answer: RpcAnswer | null | undefined): Reply {
  if (answer?.error) {
    const { code, message = UNANSWERED, data } = answer.error
    return { error: new SvcRpcError(method, code, message, data) }
  }
  const result = answer?.result as Partial<TransactionResult> | null | undefined
  // Without these two it says nothing of the transaction.
  return result === undefined || (isTransaction && !(result?.check_tx && result.deliver_tx))
    ? { error: new SvcRpcError(method, undefined, UNANSWERED) }
    : { result }
}

/** The replies in the body of a batch's answer, in the order of the calls. A body that is no array answers all of them. */
export function repliesOf(calls: readonly Call[], body: unknown): readonly Reply[] {
  if (!Array.isArray(body)) return calls.map((call) => replyOf(call, body as RpcAnswer))
  const answers = new Map((body as readonly (RpcAnswer | null)[]).map((answer) => [answer?.id, answer]))
  return calls.map((call, index) => replyOf(call, answers.get(index)))
}

function parse(method: string, { status, text }: HttpText): unknown {
  // A proxy may answer with a page.
  const body = parseJson(text)
  if (Array.isArray(body) || (isObject(body) && body['jsonrpc'])) return body
  const { error } = Object(body) as { readonly error?: unknown }
  throw new SvcRpcError(
    method,
    undefined,
    `the gateway answered with HTTP status ${status}, not with JSON-RPC: ${text.slice(0, 200)}`,
    { status, error },
  )
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
   * The id of the chain that accounts sign for. Without it the gateway says which one, so a gateway that you do not trust
   * can make you sign for another chain on which the account has tokens.
   */
  readonly chainId?: string
  /**
   * http://host:port of a `cometbft light` proxy, for `svc.verified`. The client trusts it, so run it where nobody else
   * can answer in its place.
   */
  readonly light?: string
  /** Used instead of the global fetch. The synchronous form cannot use it. */
  readonly fetch?: typeof fetch
}

/** Returns the innermost reason that fetch gives. */
export function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown as { message?: unknown; cause?: { message?: unknown; code?: unknown } }
  return String(cause?.code ?? cause?.message ?? message ?? thrown)
}

/** The whole URL of a gateway. Throws a TypeError that says what was given, when it is none of http or https. */
function gatewayUrl(given: unknown): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
  // No fetch takes it, and each error would show the password.
  if (url?.username || url?.password) throw new TypeError('expected the URL of a gateway without a user and a password')
  if (url && /^https?:$/.test(url.protocol)) return url.href
  const full = `http://${given}`
  const hint = /^[^/]+:\d+(?:\/|$)/.test(String(given)) && URL.canParse(full) ? `. Did you mean ${full}?` : ''
  throw new TypeError(`expected the URL of a gateway, such as http://127.0.0.1:8545, got ${show(given)}${hint}`)
}

/** Asked of a server that has none of the gateway's methods: a CometBFT node answers with what it is. */
const WHO: Call = { method: 'status', params: {} }

const isCometBft = (answer: unknown): boolean =>
  isObject((answer as { readonly result?: { readonly node_info?: unknown } | null } | undefined)?.result?.node_info)

/** Creates a transport over HTTP POST, which sends `more` headers too. Throws a TypeError when `url` is none. */
export function httpTransport(
  { url, token, fetch: given }: Target,
  more?: Readonly<Record<string, string>>,
): Transport {
  const address = gatewayUrl(url)
  const headers = {
    ...more,
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const send = async (method: string, body: string, signal: AbortSignal | null = null): Promise<unknown> => {
    let answer: HttpText
    try {
      const response = await (given ?? fetch)(address, { method: 'POST', headers, body, signal })
      answer = { status: response.status, text: await response.text() }
    } catch (thrown) {
      throw signal?.aborted ? signal.reason : unreachable(method, address, reasonOf(thrown))
    }
    return parse(method, answer)
  }
  const blocking = given === undefined ? blockingHttp(address, headers) : undefined
  const isUnknown = (reply: Reply): boolean => 'error' in reply && reply.error.code === METHOD_NOT_FOUND
  const notGateway = (method: string): SvcRpcError =>
    new SvcRpcError(method, METHOD_NOT_FOUND, `${address} is the RPC of a CometBFT node, not a gateway of svcd`)
  return {
    ask: async (call, signal) => {
      const post = (one: Call): Promise<unknown> => send(one.method, callText(one), signal)
      const reply = replyOf(call, (await post(call)) as RpcAnswer)
      if (isUnknown(reply) && isCometBft(await post(WHO).catch(() => undefined))) throw notGateway(call.method)
      return resultOf(reply)
    },
    askAll: async (calls) => {
      try {
        return repliesOf(calls, await send((calls[0] as Call).method, `[${calls.map(callText).join(',')}]`))
      } catch (error) {
        return calls.map(() => ({ error: error as SvcRpcError }))
      }
    },
    askBlocking: (call, functionCall) => {
      if (blocking === undefined) throw cannotWait(functionCall, 'a fetch of your own works only in this thread')
      const post = (one: Call): unknown => {
        const answer = blocking(callText(one), functionCall)
        if ('reason' in answer) throw unreachable(call.method, address, answer.reason)
        return parse(call.method, answer)
      }
      const reply = replyOf(call, post(call) as RpcAnswer)
      if (isUnknown(reply) && isCometBft(post(WHO))) throw notGateway(call.method)
      return resultOf(reply)
    },
  }
}

/** How long a call waits for a block by default, in ms. */
export const WAIT_MS = 60_000

/** Aborted after `ms`; at once for less than 1 and for NaN. No timer takes much more than 2e9. */
export const timeoutSignal = (ms: number): AbortSignal => AbortSignal.timeout(Math.max(0, Math.min(ms, 2e9)) | 0)

/** How long to pause between two looks for a block, in ms. */
export const POLL_MS = 100

/** Settles as the promise does, or rejects with the signal's reason as soon as it is aborted. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> => {
  let timer: ReturnType<typeof setTimeout>
  const over = new Promise<void>((done) => {
    timer = setTimeout(done, ms)
  })
  // A program that has given up may end at once.
  return abortable(over, signal).finally(() => clearTimeout(timer))
}
