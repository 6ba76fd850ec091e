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
   * Waits in this thread and returns the result; throws an SvcRpcError, or an Error that says what to write where it
   * cannot wait.
   */
  readonly askBlocking: (call: Call, functionCall: string) => unknown
}

/** Most calls of a batch that every gateway takes. Source: README, Limits. */
export const BATCH_MAX = 50

interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

/** Params with decimal text for bigints, as every member that takes one reads them. */
export const plainParams = (params: unknown): unknown => JSON.parse(JSON.stringify(params, asText))

/** The text of a JSON-RPC call. */
export const callText = ({ method, params }: Call, id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params }, asText)

/** The text of a batch. */
export const batchText = (calls: readonly Call[]): string =>
  `[${calls.map((call, place) => callText(call, place)).join(',')}]`

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
    /* told below */
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
 * place`: the ids were given by somebody else, and the answers stand in the order of the calls.
 */
export function readReplies(
  calls: readonly Call[],
  status: number,
  text: string,
  match: 'by id' | 'by place' = 'by id',
): readonly Reply[] {
  const body = parse(calls[0]?.method ?? 'batch', status, text)
  if (!Array.isArray(body)) return calls.map((call) => replyOf(call, body as RpcAnswer))
  const answers = new Map(
    (body as readonly RpcAnswer[]).map((answer, place) => [match === 'by id' ? answer.id : place, answer]),
  )
  return calls.map((call, place) => replyOf(call, answers.get(place)))
}

/** The result in a reply; throws its error. */
export function resultOf(reply: Reply): unknown {
  if ('error' in reply) throw reply.error
  return reply.result
}
