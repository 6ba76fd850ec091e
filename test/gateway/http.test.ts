import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { WebSocket as Client } from 'ws'
import { BODY_BYTES_MAX, BODY_CHUNKS_MAX } from '../../src/gateway/http/limits.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { request } from '../support/request.ts'
import { openRaw, postText } from './rawClient.ts'
import { alice, bob, post, startPair, until } from './support.ts'

let pair: Awaited<ReturnType<typeof startPair>>
beforeAll(async () => {
  pair = await startPair({}, { allowOrigins: ['https://wallet.example'] })
})
afterAll(() => pair.close())

const call = '{"jsonrpc":"2.0","id":1,"method":"svc_accounts"}'

/** fetch sets Host itself. */
const ask = (headers: Readonly<Record<string, string>>, method = 'POST', body = call, url = pair.gateway.url) =>
  request(url, { method, headers }, method === 'POST' ? body : undefined)

const json = { 'content-type': 'application/json' }

describe('POST /', () => {
  test('answers JSON, and 204 without a body to a notification', async () => {
    const answer = await post(pair.gateway.url, call)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    const silent = await post(pair.gateway.url, '{"jsonrpc":"2.0","method":"svc_accounts"}')
    expect([silent.status, await silent.text()]).toEqual([204, ''])
  })

  test.each([
    ['application/json; charset=utf-8', 200],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['', 415],
  ])('a body of "%s" is %i', async (type, status) => {
    expect((await ask(type === '' ? {} : { 'content-type': type })).status).toBe(status)
  })

  // What ethers 6.17.0 (batches of 100 unless told otherwise) and viem 2.57.20 (`batch: true`) were seen to send.
  const many = (length: number, text: (id: number) => string): string[] => Array.from({ length }, (_, id) => text(id))
  test.each([
    [
      'ethers',
      101,
      [
        '{"method":"eth_chainId","params":[],"id":0,"jsonrpc":"2.0"}',
        ...many(100, (id) => `{"method":"eth_blockNumber","params":[],"id":${id + 1},"jsonrpc":"2.0"}`),
      ],
    ],
    ['viem', 200, many(200, (id) => `{"jsonrpc":"2.0","id":${id},"method":"eth_blockNumber"}`)],
  ])('a batch of %s with %i calls is answered', async (_who, calls, texts) => {
    const answer = await post(pair.gateway.url, `[${texts.join(',')}]`)
    const answers = (await answer.json()) as { readonly id: number; readonly result: unknown }[]
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: calls }, (_, id) => id))
    for (const { result } of answers) expect(result).toMatch(/^0x[1-9a-f]/)
  })

  test('an empty body is no JSON', async () => {
    expect((await ask(json, 'POST', '')).text).toContain('"code":-32700')
  })

  test('a body of the most bytes passes, one more is 413', async () => {
    const fill = (bytes: number): string => call.padEnd(bytes)
    expect((await post(pair.gateway.url, fill(BODY_BYTES_MAX))).status).toBe(200)
    expect((await post(pair.gateway.url, fill(BODY_BYTES_MAX + 1))).status).toBe(413)
  })

  test('other paths and methods are 404 and show nothing', async () => {
    // What it counts is for its operator.
    for (const path of ['no', 'metrics'])
      expect([path, (await fetch(`${pair.gateway.url}/${path}`)).status]).toEqual([path, 404])
    expect((await fetch(pair.gateway.url)).status).toBe(404)
  })
})

describe('strangers', () => {
  test('a Host that does not lead here is 403, whatever the path', async () => {
    expect((await ask({ ...json, host: 'evil.example' })).status).toBe(403)
    expect((await ask({ host: 'evil.example' }, 'GET')).status).toBe(403)
  })

  test('a page of another origin is 403, one that is allowed may read the answer', async () => {
    const refused = await ask({ ...json, origin: 'http://evil.example' })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('--allow-origin')])
    const { status, headers } = await ask({ ...json, origin: 'https://wallet.example' })
    expect([status, headers['access-control-allow-origin']]).toEqual([200, 'https://wallet.example'])
    const preflight = await ask(
      { origin: 'https://wallet.example', 'access-control-request-method': 'POST' },
      'OPTIONS',
    )
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'content-type, authorization',
    ])
    expect(
      (await ask({ origin: 'http://evil.example' }, 'OPTIONS')).headers['access-control-allow-origin'],
    ).toBeUndefined()
  })
})

describe('health and metrics', () => {
  test('ready tells the height', async () => {
    expect(await (await fetch(`${pair.gateway.url}/readyz`)).json()).toEqual({
      ready: true,
      height: expect.any(Number),
    })
  })

  test('catching up, without a subscription or without an answer is not ready, and says why', async () => {
    const reason = async (): Promise<string> => {
      const answer = await fetch(`${pair.gateway.url}/readyz`)
      return answer.status === 503 ? ((await answer.json()) as { reason: string }).reason : ''
    }
    const { script } = pair.node
    script.catchingUp = true
    await until(async () => /catching up/.test(await reason()))
    script.catchingUp = false
    script.query = () => ({ code: 4, log: 'unknown path' })
    await until(async () => /code 4/.test(await reason()))
    script.query = () => ({})
    // It is back in a moment, and one answer serves everybody for READY_MS.
    await until(async () => {
      pair.node.drop()
      return /subscription/.test(await reason())
    })
    await until(async () => (await fetch(`${pair.gateway.url}/readyz`)).ok)
  })

  test('each series stands at 0 from the start', async () => {
    const text = await pair.metrics()
    for (const { operation } of txEntries)
      expect(text).toContain(`svc_tx_results_total{operation="${operation}",outcome="ok"} 0\n`)
    for (const { name } of methods)
      expect(text).toMatch(new RegExp(`svc_rpc_requests_total{method="${name}",code="0"} \\d`))
    expect(text).toMatch(/\nsvc_chain_height [1-9]/)
    expect(text).toMatch(/\nsvc_feed_connected 1\n/)
    expect(text).toMatch(/\nsvc_head_age_seconds \d/)
    expect(text).toMatch(/\nsvc_tx_waiting 0\n/)
  })

  test('a call, its failure and its transaction are counted', async () => {
    await pair.rpc('svc_transfer', [{ from: alice.address, to: bob.address, value: '1' }])
    await pair.rpc('svc_transfer', [{}])
    await pair.rpc('svc_no')
    const text = await pair.metrics()
    expect(text).toContain('svc_rpc_requests_total{method="svc_transfer",code="0"} 1\n')
    expect(text).toContain('svc_rpc_requests_total{method="svc_transfer",code="-32602"} 1\n')
    expect(text).toContain('svc_rpc_requests_total{method="unknown",code="-32601"} 1\n')
    expect(text).toContain('svc_tx_results_total{operation="transfer",outcome="ok"} 1\n')
    expect(text).toContain('svc_rpc_duration_seconds_count{method="svc_transfer"} 2\n')
  })
})

test.each([
  ['nothing', ''],
  ['the half of a header', 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
  [
    'the half of a body',
    'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
  ],
])('a connection that sends %s keeps no gateway from closing', async (_what, sent) => {
  const closing = await startPair()
  const socket = connect(Number(new URL(closing.gateway.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const ended = once(socket, 'close')
  socket.write(sent)
  // A call behind it has come to the gateway later.
  await closing.rpc('svc_accounts', [])
  await closing.close()
  await ended
})

test('a caller who closes its half after the requests gets every answer, and then the other half is closed', async () => {
  const waiting = await startPair({ blocks: false })
  const bodyOf = (id: number, method: string, params: readonly unknown[] = []): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const transfer = bodyOf(1, 'svc_transfer', [{ from: alice.address, to: bob.address, value: '1' }])
  const client = await openRaw(waiting.gateway.url, postText(transfer) + postText(bodyOf(2, 'svc_accounts')))
  client.socket.end()
  await until(() => waiting.node.ledger.waiting() === 1)
  // Its end has been read behind its requests once a caller that came later is answered.
  await waiting.rpc('svc_accounts')
  waiting.node.step()
  await client.closed
  expect(client.text()).toMatch(/"height":\d+.*"id":1\}.*\["0x[0-9a-f]{40}"\],"id":2\}$/s)
  await waiting.close()
})

test.each(['', 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n', postText(call).slice(0, -1)])(
  'a caller who closes its half after %j is not waited for',
  async (sent) => {
    const client = await openRaw(pair.gateway.url, sent)
    client.socket.end()
    await client.closed
    expect(client.text()).not.toContain('200 OK')
  },
)

/** A request for `path` that offers another protocol, as the HTTP client of Java does with every request. */
const offering = (protocol: string, text: string): string =>
  text.replace(
    '\r\n',
    `\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAEAAEAA\r\n`,
  )

test('a caller who offers HTTP/2 is answered as if it had not', async () => {
  const client = await openRaw(pair.gateway.url, offering('h2c', postText(call)))
  await until(() => client.text().includes('"id":1}') || client.socket.destroyed)
  expect(client.text()).toMatch(/^HTTP\/1.1 200 /)
  client.socket.write(offering('h2c', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  await until(() => client.text().endsWith('{"ok":true}'))
  client.socket.destroy()
})

test('a websocket that is asked for behind a request without an answer ends the connection, and nothing else', async () => {
  const first = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const client = await openRaw(
    pair.gateway.url,
    `${first}GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  )
  await client.closed
  expect((await post(pair.gateway.url, call)).status).toBe(200)
})

test.each(['/openrpc.json', '/healthz', '/nothing', '/%'])(
  'a websocket that is asked for at %s gets an answer, whole, and the connection ends',
  async (path) => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
    const client = await openRaw(pair.gateway.url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`)
    await client.closed
    const [, length = '', body = ''] = /^HTTP.*content-length: (\d+)\r\n.*?\r\n\r\n(.*)$/is.exec(client.text()) ?? []
    expect(Buffer.byteLength(body)).toBe(Number(length))
  },
)

test('a caller who resets its connection before it is accepted is no defect', async () => {
  const { port } = new URL(pair.gateway.url)
  // All at once: the gateway accepts one in each turn.
  const sockets = Array.from({ length: 200 }, () => connect(Number(port), '127.0.0.1'))
  await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
      socket.resetAndDestroy()
    }),
  )
  expect((await post(pair.gateway.url, call)).status).toBe(200)
  expect(pair.log.lines.filter(({ message }) => message.includes('defect'))).toEqual([])
})

test('a connection with more requests than may wait for their answers is cut off, and what follows is not read', async () => {
  // The second ones expect what Node does not know.
  for (const more of ['', 'Expect: x\r\n']) {
    const get = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
    const client = await openRaw(pair.gateway.url, get.repeat(64))
    await until(() => client.text().split('{"ok":true}').length === 65)
    let read = 0
    const count = (): void => void read++
    subscribe('http.server.request.start', count)
    client.socket.write(get.repeat(1_000))
    await until(() => client.socket.destroyed || client.text().split('{"ok":true}').length === 1_065)
    unsubscribe('http.server.request.start', count)
    expect(client.socket.destroyed).toBe(true)
    expect(read).toBeLessThan(200)
  }
  expect((await post(pair.gateway.url, call)).status).toBe(200)
})

test('a body of many chunks is taken, and one of more ends its connection', async () => {
  const head =
    'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const ofChunks = (count: number): string =>
    `${head}${'1\r\n \r\n'.repeat(count - 1)}${call.length.toString(16)}\r\n${call}\r\n0\r\n\r\n`
  const many = await openRaw(pair.gateway.url, ofChunks(BODY_CHUNKS_MAX))
  await until(() => many.text().includes('"result"'))
  const more = await openRaw(pair.gateway.url, ofChunks(BODY_CHUNKS_MAX + 1))
  await until(() => more.socket.destroyed || more.text() !== '')
  expect(more.text()).toBe('')
  many.socket.destroy()
})

test('frames of one packet on a websocket take turns with everything else', async () => {
  const connection = connect(Number(new URL(pair.gateway.url).port), '127.0.0.1')
  const socket = new Client(pair.gateway.url.replace('http', 'ws'), { createConnection: () => connection })
  await once(socket, 'open')
  let turns = 0
  const count = (): NodeJS.Immediate => {
    turns++
    return (next = setImmediate(count))
  }
  let next = setImmediate(count)
  const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
  connection.write(Buffer.concat(Array<Buffer>(1_000).fill(pong)))
  socket.send(call)
  await once(socket, 'message')
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(1_000)
  socket.terminate()
})

test('a caller who goes away before a long answer is no defect', async () => {
  const waiting = await startPair({ blocks: false })
  const call = (method: string, params: readonly unknown[] = []) => ({ jsonrpc: '2.0', id: 1, method, params })
  const transfer = call('svc_transfer', [{ from: alice.address, to: bob.address, value: '1' }])
  const client = await openRaw(waiting.gateway.url, postText(JSON.stringify([call('rpc.discover'), transfer])))
  await until(() => waiting.node.ledger.waiting() === 1)
  client.socket.destroy()
  await client.closed
  waiting.node.step()
  const done = /^svc_tx_results_total\{operation="transfer",outcome="ok"\} 1$/m
  await until(async () => done.test(await waiting.metrics()))
  await waiting.close()
  expect(waiting.log.lines.filter(({ message }) => message.includes('defect'))).toEqual([])
})

describe('rpc.discover names the server by the address that the caller used', () => {
  const discover = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}'
  const urlIn = (text: string): unknown =>
    (JSON.parse(text) as { result: { servers: { url: string }[] } }).result.servers.map(({ url }) => url)
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'stake.example' }

  test.each([
    [{ host: 'localhost' }, 'http://localhost/'],
    [{ host: '127.0.0.1:8545' }, 'http://127.0.0.1:8545/'],
    [{ host: 'localhost:1', ...forwarded }, 'http://localhost:1/'],
  ])('%j: %s, since no proxy is trusted', async (headers, url) => {
    expect(urlIn((await ask({ ...json, ...headers }, 'POST', discover)).text)).toEqual([url])
  })

  test.each([
    [forwarded, 'https://stake.example/'],
    [{ ...forwarded, 'x-forwarded-host': 'a b"' }, 'https://127.0.0.1:8545/'],
    [{ ...forwarded, 'x-forwarded-proto': 'wss' }, 'https://stake.example/'],
    [{ 'x-forwarded-proto': 'gopher' }, 'http://127.0.0.1:8545/'],
  ])('a trusted proxy says %j: %s', async (headers, url) => {
    const proxied = await startPair({}, { limits: { trustProxies: ['127.0.0.1'] } })
    const answer = await ask({ ...json, host: '127.0.0.1:8545', ...headers }, 'POST', discover, proxied.gateway.url)
    expect(urlIn(answer.text)).toEqual([url])
    await proxied.close()
  })

  test('over a websocket too', async () => {
    const socket = new WebSocket(pair.gateway.url.replace('http', 'ws'))
    await once(socket, 'open')
    socket.send(discover)
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent]
    expect(urlIn(String(data))).toEqual([`${pair.gateway.url}/`])
    socket.close()
  })
})

test('/openrpc.json and rpc.discover are the same document', async () => {
  const { result } = await pair.rpc('rpc.discover')
  expect(await (await fetch(`${pair.gateway.url}/openrpc.json`)).json()).toEqual(result)
})
