import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  LIGHT_ASKED_MAX,
  LIGHT_ANSWER_BYTES_MAX,
  LIGHT_BLOCKS_MAX,
  LIGHT_BODY_BYTES_MAX,
  LIGHT_CALLS_MAX,
} from '../../src/gateway/http/limits.ts'
import { serveCalls, type ServedCall } from '../support/serveCalls.ts'
import { LIMITS, post, type RpcAnswer, startPair, until } from './support.ts'

const HEAD = 500
const HEADER = { chain_id: 'test', height: String(HEAD), time: '2026-01-01T00:00:00Z', app_hash: 'AA' }
const SIGNED = { header: HEADER, commit: { height: String(HEAD), block_id: { hash: 'BB' }, signatures: ['many'] } }

/** What the light client was asked, and how it answers. The real one is asked in test/e2e/light.test.ts. */
type Asked = Pick<ServedCall, 'method' | 'params'>
const asked: Asked[] = []
type Answer = (one: Asked) => Promise<object> | object
const honest: Answer = ({ method }) =>
  method === 'status'
    ? { result: { node_info: { listen_addr: '10.0.0.7' }, sync_info: { latest_block_height: String(HEAD) } } }
    : { result: { signed_header: SIGNED, canonical: true } }
let answer: Answer = honest
let light: Awaited<ReturnType<typeof serveCalls>>
let pair: Awaited<ReturnType<typeof startPair>>
let url = ''

beforeAll(async () => {
  light = await serveCalls(({ method, params }) => {
    asked.push({ method, params })
    return answer({ method, params })
  })
  pair = await startPair({}, { light: light.url, limits: { ...LIMITS, trustProxies: ['127.0.0.1'] } })
  url = `${pair.gateway.url}/light`
})
afterAll(async () => {
  await pair.close()
  await light.close()
})
beforeEach(() => {
  asked.length = 0
  answer = honest
})

const bodyOf = (method: string, params?: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
const ask = async (method: string, params?: unknown): Promise<RpcAnswer> =>
  (await (await post(url, bodyOf(method, params))).json()) as RpcAnswer
const commit = (height: unknown): Promise<RpcAnswer> => ask('commit', { height })

describe('POST /light', () => {
  test('passes on what svc.verified asks, and answers with what it reads', async () => {
    expect(await ask('status', {})).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { sync_info: { latest_block_height: String(HEAD) } },
    })
    expect((await commit(String(HEAD))).result).toEqual({
      signed_header: { header: HEADER, commit: { block_id: { hash: 'BB' } } },
    })
    expect(asked).toEqual([
      { method: 'status', params: {} },
      { method: 'commit', params: { height: String(HEAD) } },
    ])
  })

  test.each(['block', 'abci_query', 'broadcast_tx_sync', 'validators', 'genesis', 'constructor', '__proto__', ''])(
    'does not pass on the method "%s"',
    async (method) => {
      expect((await ask(method, {})).error?.code).toBe(-32601)
      expect(asked).toEqual([])
    },
  )

  test.each([
    [500],
    ['0'],
    ['-1'],
    ['0x1f4'],
    ['1e3'],
    ['500 '],
    ['1000000000000000'],
    [null],
    [['500']],
    [{ height: '500' }],
    [undefined],
  ])('does not pass on the height %j', async (height) => {
    expect((await commit(height)).error?.code).toBe(-32602)
    expect((await ask('commit', [height])).error?.code).toBe(-32602)
    expect((await ask('commit', { height, prove: true })).error?.code).toBe(-32602)
    expect(asked).toEqual([])
  })

  test('passes on heights near the head only, and asks for the head when it must', async () => {
    await ask('status')
    expect((await commit(String(HEAD - LIGHT_BLOCKS_MAX))).error?.message).toMatch(/one of the last/)
    expect((await commit(String(HEAD - LIGHT_BLOCKS_MAX + 1))).result).toBeDefined()
    expect((await commit(String(HEAD + 1))).error).toEqual({
      code: -32602,
      message: `the height ${HEAD + 1} is too high: the light client's node is at ${HEAD}`,
    })
    expect(asked.map(({ method }) => method)).toEqual(['status', 'commit', 'status'])
  })

  test('takes one small call of JSON at a time', async () => {
    const status = bodyOf('status')
    expect((await post(url, status.padEnd(LIGHT_BODY_BYTES_MAX))).status).toBe(200)
    expect((await post(url, status.padEnd(LIGHT_BODY_BYTES_MAX + 1))).status).toBe(413)
    expect((await post(url, status, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await fetch(url)).status).toBe(404)
    asked.length = 0
    const batch = (await (await post(url, `[${status},${status}]`)).json()) as RpcAnswer[]
    expect(batch.map(({ error }) => error?.code)).toEqual([-32600, -32600])
    expect(asked).toEqual([])
  })

  test('is for pages that may call the gateway', async () => {
    expect((await post(url, bodyOf('status'), { origin: 'http://evil.example' })).status).toBe(403)
    expect((await post(url, bodyOf('status'), { origin: pair.gateway.url })).status).toBe(200)
  })
})

describe('a light client', () => {
  test('that cannot verify, is away, says nothing or too much is told in words that name none of its nodes', async () => {
    const secret = 'http://10.0.0.7:26657'
    answer = ({ method }) =>
      method === 'status'
        ? honest({ method, params: {} })
        : { error: { code: -32603, message: 'Internal error', data: `${secret}: conflicting headers` } }
    expect((await commit(String(HEAD))).error).toEqual({
      code: -32011,
      message: 'the light client could not verify the header',
    })
    expect(JSON.stringify(pair.log.lines.map(({ about }) => String(about['err'])))).toContain('conflicting headers')
    answer = () => ({ error: { code: -32603, message: `${secret}: height requested is too high` } })
    expect((await commit(String(HEAD))).error?.message).toBe('the height is too high for the light client')
    answer = () => ({ result: { signed_header: { header: 'x'.repeat(LIGHT_ANSWER_BYTES_MAX) } } })
    expect((await commit(String(HEAD))).error).toEqual({ code: -32011, message: 'the light client does not answer' })
    answer = () => ({ result: {} })
    expect((await commit(String(HEAD))).result).toEqual({ signed_header: { commit: {} } })
    answer = () => ({ result: 'nonsense' })
    expect((await ask('status')).result).toEqual({ sync_info: { latest_block_height: '0' } })
  })

  test('has a bound on the calls that wait for it, beyond which a caller is told to come back', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((done) => {
      release = done
    })
    answer = async (one) => {
      await held
      return honest(one)
    }
    const calls = Array.from({ length: LIGHT_CALLS_MAX + 1 }, (_, at) =>
      post(url, bodyOf('status'), { 'x-forwarded-for': `10.0.0.${at}` }),
    )
    const refused = await Promise.race(calls)
    const { error } = (await refused.json()) as RpcAnswer
    expect([refused.status, refused.headers.get('retry-after'), error?.code]).toEqual([429, '1', -32015])
    expect(asked.length).toBeLessThanOrEqual(LIGHT_ASKED_MAX)
    release()
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIGHT_CALLS_MAX)
  })

  test('is asked for one header of a caller at a time, and others have their turn', async () => {
    const held = Promise.withResolvers<void>()
    let [running, most] = [0, 0]
    answer = async (one) => {
      if (one.method === 'status') return honest(one)
      most = Math.max(most, ++running)
      await held.promise
      running--
      return honest(one)
    }
    await ask('status')
    const heights = Array.from({ length: LIGHT_BLOCKS_MAX }, (_, at) => String(HEAD - at))
    const many = [...heights, ...heights].map((height) =>
      post(url, bodyOf('commit', { height }), { 'x-forwarded-for': '10.0.0.1' }),
    )
    await until(() => running > 0)
    const other = await post(url, bodyOf('status'), { 'x-forwarded-for': '10.0.0.2' })
    expect([other.status, running]).toEqual([200, 1])
    held.resolve()
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual(many.map(() => 200))
    expect(most).toBe(1)
  })

  test('that is not there is no reason not to start', async () => {
    const own = await startPair({}, { light: 'http://127.0.0.1:9' })
    const answered = await post(`${own.gateway.url}/light`, bodyOf('status'))
    expect(((await answered.json()) as RpcAnswer).error?.code).toBe(-32011)
    await own.close()
  })
})

test('a gateway without a light client has no POST /light', async () => {
  const own = await startPair()
  expect((await post(`${own.gateway.url}/light`, bodyOf('status'))).status).toBe(404)
  await own.close()
})
