import { describe, expect, test } from '@jest/globals'
import { Svc, type SvcRpcError } from '../../src/client/index.ts'
import { sentenceOf } from '../../src/dashboard/data/errors.ts'

/** What the client makes of an answer of a gateway. */
const errorOf = (status: number, body: unknown): Promise<SvcRpcError> => {
  const answer = async (): Promise<Response> => new Response(JSON.stringify(body), { status })
  const svc = new Svc({ url: 'http://127.0.0.1:9', fetch: answer })
  return svc.async.blockNumber().then(
    () => Promise.reject(new Error('it was answered')),
    (error: SvcRpcError) => error,
  )
}

const rpc = (code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  error: { code, message, data },
})

describe('sentenceOf', () => {
  test.each([
    [
      'too many requests',
      429,
      rpc(-32015, 'Too many requests, try again later: more than 20 calls from one address in 10 s', {
        retryAfterMs: 2_300,
      }),
      'Too many requests, try again later: more than 20 calls from one address in 10 s. The gateway answers again in 3 seconds.',
    ],
    [
      'a refused page',
      403,
      { error: 'this Host is not allowed' },
      'The gateway refuses this page. This Host is not allowed.',
    ],
    [
      'a refusal whose reason is no text',
      403,
      { error: { why: 1 } },
      'The gateway answered with HTTP status 403, not with JSON-RPC: {"error":{"why":1}}.',
    ],
    [
      'a node that is away',
      200,
      rpc(-32011, 'the node is catching up'),
      'The node behind the gateway does not answer now. The node is catching up.',
    ],
    [
      'a defect',
      500,
      rpc(-32603, 'Internal error', { id: 'x' }),
      'The gateway met a defect of its own. Internal error.',
    ],
    [
      'any other refusal',
      200,
      rpc(-32602, 'address: expected an address (0x and 40 hex digits), got "x"'),
      'Address: expected an address (0x and 40 hex digits), got "x".',
    ],
  ])('%s', async (_what, status, body, sentence) => {
    expect(sentenceOf(await errorOf(status, body))).toBe(sentence)
  })
})
