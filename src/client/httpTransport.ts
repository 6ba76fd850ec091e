import { blockingHttp, cannotWait } from './blocking.ts'
import { SvcRpcError } from './errors.ts'
import { batchText, type Call, callText, readReplies, readReply, resultOf, type Transport } from './transport.ts'

/** Where a gateway is, and how it is asked. */
export interface Target {
  /** http://host:port of the gateway. */
  readonly url: string
  /** What the gateway wants in `Authorization: Bearer`. */
  readonly token?: string
  /**
   * http://host:port of a `cometbft light` proxy, for `svc.verified`. It is believed: let it run where nobody else
   * reaches it.
   */
  readonly light?: string
  /** Asks instead of the global fetch; the synchronous form cannot use it. */
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
