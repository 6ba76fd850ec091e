import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RpcErrorObject } from '../../../src/gateway/rpc/errors.ts'
import type { TransactionResult } from '../../../src/tx/result.ts'
import { request } from '../../support/request.ts'

export type Answer =
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly error: RpcErrorObject; readonly result?: undefined }

/** Calls of a gateway over plain HTTP, as curl makes them. */
export type GatewayClient = ReturnType<typeof gatewayClient>

/** Between which heights the index of histories is whole, as every page of it says. */
interface IndexSpan {
  readonly height: number
  readonly earliest_height: number
}

const PAUSE_MS = 40

export interface Reply {
  readonly status: number
  readonly text: string
}

/** One HTTP POST of JSON; resolves with any answer. `agent` bounds the sockets. */
export const post = (url: string, body: string, agent: Agent): Promise<Reply> =>
  request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, body)

/** A client of the gateway at `url`. Every call may have a connection of its own, and none is kept. */
export function gatewayClient(url: string) {
  const agent = new Agent({ keepAlive: false })
  /** The whole answer. Rejects when no HTTP answer comes. */
  const ask = async (method: string, params: unknown): Promise<Answer> => {
    const { text } = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), agent)
    return JSON.parse(text) as Answer
  }
  /** The result; throws on a JSON-RPC error. */
  const call = async <T = unknown>(method: string, params: unknown = []): Promise<T> => {
    const { result, error } = await ask(method, params)
    if (error !== undefined)
      throw new Error(`${method}: ${error.code} ${error.message} ${JSON.stringify(error.data ?? '')}`)
    return result as T
  }
  /** An operation's result object. */
  const send = (method: string, members: object): Promise<TransactionResult> =>
    call<TransactionResult>(method, [members])
  const height = (): Promise<number> => call<number>('svc_blockNumber')
  return {
    url,
    ask,
    call,
    send,
    height,
    /** An operation's result object; throws unless it was committed. */
    commit: async (method: string, members: object) => {
      const result = await send(method, members)
      if (result.height === 0) throw new Error(`${method} was not committed: ${JSON.stringify(result)}`)
      return result
    },
    /** Resolves with the first height at or above `wanted` that is seen. */
    waitForHeight: async (wanted: number) => {
      for (;;) {
        const head = await height()
        if (head >= wanted) return head
        await sleep(PAUSE_MS)
      }
    },
    /** Resolves when the node's index of histories, which may be behind its blocks, holds that of a height. */
    waitForIndex: async (wanted: number) => {
      for (;;) {
        const span = await call<IndexSpan>('svc_getTransactions', { limit: 1 })
        // One that holds no block yet says that it begins behind the head.
        if (span.earliest_height <= wanted && span.height >= wanted) return
        await sleep(PAUSE_MS)
      }
    },
  }
}
