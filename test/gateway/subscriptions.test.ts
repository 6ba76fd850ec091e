import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { Agent } from 'undici'
import { textFrame } from '../../bench/load/websocket.ts'
import { startGateway } from '../../src/gateway/gateway.ts'
import { alice, LIMITS, startPair, until } from './support.ts'

let pair: Awaited<ReturnType<typeof startPair>>
const sockets = new Set<WebSocket>()
afterEach(async () => {
  for (const socket of sockets) socket.close()
  sockets.clear()
  await pair.close()
})

type Json = Readonly<Record<string, unknown>>
interface Told extends Json {
  readonly subscription: string
  readonly result?: { readonly height: number }
  readonly height?: number
  readonly gap?: { readonly from: number; readonly to: number }
}

const address = (): string => pair.gateway.url.replace('http', 'ws')
const options = (headers: Json, localAddress: string): string[] =>
  ({ headers, dispatcher: new Agent({ localAddress }) }) as unknown as string[]

/** A websocket to the gateway: what it asks, what it is told, and why it was closed. */
async function open(headers: Json = {}, localAddress = '127.0.0.1') {
  const socket = new WebSocket(address(), options(headers, localAddress))
  sockets.add(socket)
  const answers = new Map<unknown, (answer: Json) => void>()
  const told: Told[] = []
  const odd: Json[] = []
  // The order in which things came: what was answered, and the subscriptions of what was told.
  const order: unknown[] = []
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Json
    const { id, params } = message as { id?: unknown; params?: Told }
    order.push(params?.subscription ?? `answer ${String(message['result'])}`)
    if (params !== undefined) told.push(params)
    else if (answers.has(id)) answers.get(id)?.(message)
    else odd.push(message)
  })
  const closed = new Promise<{ code: number; reason: string }>((done) =>
    socket.addEventListener('close', ({ code, reason }) => done({ code, reason })),
  )
  await new Promise((done, failed) => {
    socket.addEventListener('open', done)
    socket.addEventListener('error', () => failed(new Error('it was not opened')))
  })
  let last = 0
  const ask = (method: string, params: unknown = []): Promise<Json> =>
    new Promise((done) => {
      answers.set(++last, done)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: last, method, params }))
    })
  const subscribe = async (params: unknown): Promise<string> => (await ask('svc_subscribe', params))['result'] as string
  const heights = (id: string): readonly number[] =>
    told.flatMap(({ subscription, result }) => (subscription === id && result !== undefined ? [result.height] : []))
  return { socket, ask, subscribe, heights, told, odd, order, closed }
}

const isConsecutive = (heights: readonly number[]): boolean =>
  heights.every((height, at) => at === 0 || height === (heights[at - 1] as number) + 1)

const metric = async (name: string): Promise<number> => {
  const text = await pair.metrics()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

describe('subscriptions', () => {
  test('to new blocks tell of each block once and in order, and nothing before the answer', async () => {
    pair = await startPair()
    const line = await open()
    const [first, second] = [await line.subscribe(['newBlock']), await line.subscribe({ topic: 'newBlock' })]
    await until(() => line.heights(second).length > 20)
    for (const id of [first, second]) {
      expect(isConsecutive(line.heights(id))).toBe(true)
      expect(line.order.indexOf(`answer ${id}`)).toBeLessThan(line.order.indexOf(id))
    }
    expect(line.told.find(({ result }) => result !== undefined)?.result).toMatchObject({
      hash: expect.any(String),
      time: expect.any(String),
      transaction_count: 0,
    })
    expect(await metric('svc_subscriptions')).toBe(2)
    expect((await line.ask('svc_unsubscribe', [first]))['result']).toBe(true)
    expect((await line.ask('svc_unsubscribe', [first]))['result']).toBe(false)
    const heard = line.heights(first).length
    const before = line.heights(second).length
    await until(() => line.heights(second).length > before + 5)
    expect(line.heights(first)).toHaveLength(heard)
    line.socket.close()
    await until(async () => (await metric('svc_subscriptions')) === 0)
  })

  test('from an earlier height fill the gap, and what lies more than 100 blocks back is told as a gap', async () => {
    // Blocks come when this test says so: a gateway that reads more slowly than blocks come tells of further gaps.
    pair = await startPair({ blocks: false })
    while (pair.node.ledger.blocks.length < 130) pair.node.step()
    const line = await open()
    await until(async () => (await metric('svc_chain_height')) === 130)
    const near = await line.subscribe({ topic: 'newBlock', from: 80 })
    const far = await line.subscribe({ topic: 'newBlock', from: 2 })
    await until(() => [near, far].every((id) => line.heights(id).at(-1) === 130))
    pair.node.step()
    await until(() => [near, far].every((id) => line.heights(id).at(-1) === 131))
    expect([line.heights(near)[0], isConsecutive(line.heights(near))]).toEqual([80, true])
    expect([line.heights(far)[0], isConsecutive(line.heights(far))]).toEqual([31, true])
    const gaps = line.told.filter(({ gap }) => gap !== undefined)
    expect(gaps).toEqual([{ subscription: far, gap: { from: 2, to: 30 } }])
  })

  test('from height 0 begin at the first block, and the others go on', async () => {
    pair = await startPair({ blocks: false })
    while (pair.node.ledger.blocks.length < 5) pair.node.step()
    const line = await open()
    const zero = await line.subscribe({ topic: 'newBlock', from: 0 })
    const other = await line.subscribe({ topic: 'newBlock', from: 2 })
    await until(() => line.heights(other).length === 4)
    expect([line.heights(zero), line.heights(other)]).toEqual([
      [1, 2, 3, 4, 5],
      [2, 3, 4, 5],
    ])
    // The client takes a height below 0 for a broken line, and would begin again without end.
    expect(line.told[0]).toEqual({ subscription: zero, height: 0 })
    expect(line.told.some(({ gap }) => gap !== undefined)).toBe(false)
  })

  test('catch up while strangers begin far back, one after the other', async () => {
    pair = await startPair({ blocks: false })
    while (pair.node.ledger.blocks.length < 110) pair.node.step()
    const [stranger, line] = [await open(), await open()]
    await until(async () => (await metric('svc_chain_height')) === 110)
    pair.node.script.latencyMs = () => 10
    // As soon as a stranger is told of a block there is another one, who begins 90 blocks back.
    let isFlooding = true
    const begin = (): Promise<string> => stranger.subscribe({ topic: 'newBlock', from: 20 })
    const first = await begin()
    const flood = (async () => {
      for (let last = first; isFlooding; ) {
        await until(() => stranger.heights(last).length > 0 || !isFlooding)
        const next = await begin()
        await stranger.ask('svc_unsubscribe', [last])
        last = next
      }
    })()
    const id = await line.subscribe({ topic: 'newBlock', from: 105 })
    await until(() => line.heights(id).length > 0)
    pair.node.step()
    await until(() => line.heights(id).length === 7)
    isFlooding = false
    await flood
    expect(line.heights(id)).toEqual([105, 106, 107, 108, 109, 110, 111])
  })

  test('made before the node has answered begin when it has, without waiting for another block', async () => {
    const first = await startPair({ blocks: false })
    const { node } = first
    while (node.ledger.blocks.length < 5) node.step()
    node.script.latencyMs = () => 300
    const gateway = await startGateway({ node: node.url, port: 0, page: false, logger: first.log })
    pair = { ...first, gateway, close: () => gateway.close().then(first.close) }
    const line = await open()
    const [past, future] = [await line.subscribe({ topic: 'newBlock', from: 3 }), await line.subscribe(['newBlock'])]
    await until(() => line.heights(past).length === 3)
    expect(line.heights(past)).toEqual([3, 4, 5])
    node.step()
    await until(() => line.heights(future).length === 1 && line.heights(past).length === 4)
    expect([line.heights(past), line.heights(future)]).toEqual([[3, 4, 5, 6], [6]])
    expect(line.told.filter(({ gap }) => gap !== undefined)).toEqual([])
  })

  test('that nothing happens for are told how far the chain is', async () => {
    pair = await startPair()
    const line = await open()
    await line.subscribe(['proposal'])
    await until(() => line.told.length > 2)
    const heights = line.told.map(({ height }) => height as number)
    expect(heights.map((height, at) => height - (heights[at - 1] ?? height - 16))).toEqual(heights.map(() => 16))
  })

  test('to transactions carry them as svc_getTransaction shows them', async () => {
    pair = await startPair()
    const line = await open()
    await line.subscribe(['tx'])
    const { result } = await pair.rpc('svc_transfer', [{ from: alice.address, to: alice.address, value: '5' }])
    const { hash } = result as { hash: string }
    await until(() => line.told.some((one) => one.result !== undefined))
    const found = line.told.flatMap((one) => one.result ?? [])
    expect(found).toEqual([(await pair.rpc('svc_getTransaction', [hash])).result])
  })

  test('need a websocket, a topic that exists, and room', async () => {
    pair = await startPair()
    expect((await pair.rpc('svc_subscribe', ['newBlock'])).error).toMatchObject({
      code: -32601,
      message: expect.stringContaining('websocket'),
    })
    const line = await open()
    expect(await line.ask('svc_subscribe', ['blocks'])).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('newBlock, tx, proposal, validatorSet') },
    })
    const ids = await Promise.all(Array.from({ length: 500 }, () => line.subscribe(['newBlock'])))
    expect(new Set(ids).size).toBe(500)
    expect(await line.ask('svc_subscribe', ['newBlock'])).toMatchObject({
      error: { code: -32015, message: expect.stringContaining('500 subscriptions') },
    })
  })

  test('asked for by those who hang up at once are none', async () => {
    pair = await startPair()
    const calls = Array.from({ length: 16 }, (_, id) =>
      textFrame(JSON.stringify({ jsonrpc: '2.0', id, method: 'svc_subscribe', params: ['newBlock'] })),
    )
    const lines = await Promise.all(Array.from({ length: 100 }, startSilent))
    // There are so many messages that most wait for their turn while their websocket ends.
    for (const line of lines) line.write(Buffer.concat(calls), line.destroy)
    await Promise.all(lines.map(({ gone }) => gone))
    // Whatever they asked for has had its turn once a later call is answered.
    const line = await open()
    await line.subscribe(['newBlock'])
    expect(await metric('svc_subscriptions')).toBe(1)
  })

  test('of one address are so many that others have room, however many websockets it has', async () => {
    const limits = { connections: 100, connectionsOfAddress: 100, callsPerSecond: 0, subscriptionsOfAddress: 20 }
    pair = await startPair({}, { limits })
    const [first, second, elsewhere] = [await open(), await open(), await open({}, '127.0.0.3')]
    await Promise.all(Array.from({ length: 16 }, () => first.subscribe(['newBlock'])))
    const answers = await Promise.all(Array.from({ length: 16 }, () => second.ask('svc_subscribe', ['newBlock'])))
    const refused = answers.filter(({ error }) => error !== undefined)
    expect(refused).toHaveLength(12)
    expect(refused[0]).toMatchObject({
      error: { code: -32015, message: expect.stringContaining('this address has 20 subscriptions') },
    })
    expect(await elsewhere.ask('svc_subscribe', ['newBlock'])).toMatchObject({ result: expect.any(String) })
    first.socket.close()
    await until(async () => (await metric('svc_subscriptions')) === 5)
    expect(await second.ask('svc_subscribe', ['newBlock'])).toMatchObject({ result: expect.any(String) })
  })

  test('of 1,000 are all told of every block', async () => {
    // Blocks come when this test says so: a gateway that reads more slowly than blocks come tells of gaps.
    pair = await startPair({ blocks: false }, { limits: { ...LIMITS, subscriptionsOfAddress: 1_000 } })
    const lines = await Promise.all(Array.from({ length: 100 }, () => open()))
    const ids = await Promise.all(
      lines.map((line) => Promise.all(Array.from({ length: 10 }, () => line.subscribe(['newBlock'])))),
    )
    expect(await metric('svc_subscriptions')).toBe(1000)
    const head = pair.node.ledger.blocks.length
    const all = lines.flatMap((line, at) => (ids[at] ?? []).map((id) => () => line.heights(id)))
    for (let blocks = 0; blocks < 6; blocks++) pair.node.step()
    await until(() => all.every((heights) => heights().at(-1) === head + 6))
    expect(all.filter((heights) => !isConsecutive(heights()))).toEqual([])
  })
})

describe('a websocket', () => {
  test('takes every call and batch that a POST takes', async () => {
    pair = await startPair()
    const line = await open()
    expect(await line.ask('svc_accounts')).toEqual({ jsonrpc: '2.0', result: [alice.address], id: 1 })
    expect(await line.ask('svc_noSuch')).toMatchObject({ error: { code: -32601 } })
    const transfer = await line.ask('svc_transfer', [{ from: alice.address, to: alice.address, value: '5' }])
    expect(transfer).toMatchObject({ result: { height: expect.any(Number) } })
    line.socket.send('{')
    line.socket.send('[]')
    line.socket.send('[{"jsonrpc":"2.0","id":"a","method":"svc_blockNumber"},{"jsonrpc":"2.0","id":"b","method":"x"}]')
    await until(() => line.odd.length === 3)
    expect(line.odd).toContainEqual({ jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null })
    expect(line.odd.find((one) => Array.isArray(one))).toMatchObject([
      { id: 'a', result: expect.any(Number) },
      { id: 'b' },
    ])
  })

  test('has at most 64 of its calls under way, however many come at once, and all are answered in the end', async () => {
    pair = await startPair({ blocks: false }, { limits: { ...LIMITS, pingMs: 200 } })
    const line = await startSilent()
    const pongs = setInterval(() => line.write(PONG), 5)
    const calls = Array.from({ length: 500 }, (_, id) => {
      const params = [{ from: alice.address, to: alice.address, value: '5' }]
      // Calls that are answered at once must not make room for more than one other each.
      const [method, given] = id % 10 === 9 ? ['svc_accounts', []] : ['svc_transfer', params]
      return textFrame(JSON.stringify({ jsonrpc: '2.0', id, method, params: given }))
    })
    line.write(Buffer.concat(calls))
    await until(async () => (await metric('svc_tx_waiting')) >= 64)
    // Another one that answers no ping is closed before anything happens here.
    await (await startSilent()).rest()
    expect(await metric('svc_tx_waiting')).toBe(64)
    const blocks = setInterval(() => pair.node.step(), 5)
    line.resume()
    await until(() => line.text().match(/"id":\d+\}/g)?.length === calls.length)
    clearInterval(blocks)
    clearInterval(pongs)
    line.destroy()
  })

  test('is refused to a page of another origin, and to a name that does not lead here', async () => {
    pair = await startPair()
    await expect(open({ origin: 'https://elsewhere.example' })).rejects.toThrow('not opened')
    const line = await open({ origin: pair.gateway.url })
    expect((await line.ask('svc_accounts'))['result']).toEqual([alice.address])
    const { port } = new URL(pair.gateway.url)
    const raw = connect(Number(port), '127.0.0.1')
    raw.write(
      'GET / HTTP/1.1\r\nHost: rebound.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    const [answer] = (await once(raw, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 403 /)
    raw.destroy()
    expect((await fetch(`${pair.gateway.url}/`)).status).toBe(404)
  })

  test('has the gateway sign only when it was opened with the token', async () => {
    const authToken = 'a token of enough characters'.replaceAll(' ', '-')
    pair = await startPair({}, { authToken, publicKeys: false })
    const members = [{ from: alice.address, to: alice.address, value: '5' }]
    expect(await (await open()).ask('svc_transfer', members)).toMatchObject({ error: { code: -32014 } })
    const line = await open({ authorization: `Bearer ${authToken}` })
    expect(await line.ask('svc_transfer', members)).toMatchObject({ result: { height: expect.any(Number) } })
  })

  test('counts its calls as those of its address', async () => {
    pair = await startPair({}, { limits: { callsPerSecond: 3 } })
    const line = await open()
    for (let at = 0; at < 40; at++) line.socket.send('{"jsonrpc":"2.0","id":null,"method":"svc_accounts"}')
    await until(() => line.odd.length === 40)
    const refused = line.odd.filter(({ error }) => error !== undefined)
    expect(refused.length).toBeGreaterThanOrEqual(10)
    expect(refused[0]).toMatchObject({
      error: { code: -32015, message: expect.stringContaining('more than 30 calls') },
    })
  })

  test('counts its messages by their bytes', async () => {
    pair = await startPair({}, { limits: { callsPerSecond: 3 } })
    const line = await open()
    for (let at = 0; at < 4; at++)
      line.socket.send('{"jsonrpc":"2.0","id":null,"method":"svc_accounts"}'.padEnd(9 * 1024))
    await until(() => line.odd.length === 4)
    expect(line.odd.filter(({ error }) => error !== undefined)).toMatchObject([{ id: null, error: { code: -32015 } }])
  })

  test('is closed for a message that is too long or binary', async () => {
    pair = await startPair()
    const [long, binary] = [await open(), await open()]
    long.socket.send(`"${'x'.repeat(1024 * 1024)}"`)
    binary.socket.send(new Uint8Array(3))
    expect((await long.closed).code).toBe(1009)
    expect(await binary.closed).toEqual({ code: 1003, reason: 'expected text, got a binary message' })
  })

  test('is closed for a message in too many packets, each of which would take memory of its own', async () => {
    pair = await startPair()
    const slow = await startSilent()
    let isClosed = false
    const rest = slow.rest().finally(() => {
      isClosed = true
    })
    slow.write(textFrame('x'.repeat(60_000)).subarray(0, 8))
    for (let sent = 0; sent < 50_000 && !isClosed; sent++) {
      slow.write(Buffer.from('x'))
      await new Promise((done) => setImmediate(done))
    }
    expect((await rest).readUInt16BE(2)).toBe(1008)
  })

  test('that does not read is closed, and the others miss nothing', async () => {
    pair = await startPair()
    const line = await open()
    const id = await line.subscribe(['newBlock'])
    const slow = await startSilent()
    const call = textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover' }))
    for (let at = 0; at < 600; at++) slow.write(call)
    await until(async () => (await metric('svc_slow_readers_closed_total')) === 1)
    // What was sent before it is still there, and behind it stands why nothing more comes.
    expect((await slow.rest()).subarray(-100).toString()).toContain('too slow: 8388608 bytes wait to be read')
    const heard = line.heights(id).length
    await until(() => line.heights(id).length > heard + 5)
    expect(isConsecutive(line.heights(id))).toBe(true)
  })

  /** Makes a block of so many bytes of transfers, and one without. Returns how many transfers there are. */
  const makeBlocks = async (length: number): Promise<number> => {
    const message = { to: alice.member, value: '1' }
    const bytes = await alice.signTx({ chainId: pair.node.chainId, nonce: 0, operation: 'transfer', message })
    const count = Math.floor(length / bytes.length)
    const verdicts = Array.from({ length: count }, () => ({ gas: 21_000 }))
    pair.node.ledger.blocks.push({ txs: verdicts.map(() => bytes), verdicts })
    pair.node.step()
    return count
  }

  test('receives new blocks while other subscriptions are still receiving the transactions of an earlier one', async () => {
    pair = await startPair({ blocks: false })
    const line = await open()
    const ids = await Promise.all(Array.from({ length: 40 }, () => line.subscribe(['tx'])))
    const blocks = await line.subscribe(['newBlock'])
    const count = await makeBlocks(32 * 1024)
    const all = (id: string): boolean => line.heights(id).length === count
    await until(() => ids.every(all))
    const { order } = line
    const second = order.indexOf(blocks, order.indexOf(blocks, order.indexOf(blocks) + 1) + 1)
    expect(second).toBeGreaterThan(0)
    expect(ids.filter((id) => order.indexOf(id, order.indexOf(id) + 1) > second).length).toBeGreaterThan(20)
  })

  test('that reads is told of a block of more than may wait for it', async () => {
    pair = await startPair({ blocks: false })
    const line = await open()
    const id = await line.subscribe(['tx'])
    const count = await makeBlocks(4 * 1024 * 1024)
    await until(() => line.heights(id).length === count || line.socket.readyState === WebSocket.CLOSED)
    expect(line.heights(id)).toHaveLength(count)
  })

  test('whose other end is gone without a word is closed', async () => {
    pair = await startPair({}, { limits: { ...LIMITS, pingMs: 1_000 } })
    const line = await open()
    const id = await line.subscribe(['newBlock'])
    const silent = await startSilent()
    silent.write(textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_subscribe', params: ['proposal'] })))
    await until(async () => (await metric('svc_subscriptions')) === 2)
    await until(async () => (await metric('svc_subscriptions')) === 1)
    const heard = line.heights(id).length
    await until(() => line.heights(id).length > heard + 20)
    silent.destroy()
  })

  test('is told when the gateway stops', async () => {
    pair = await startPair()
    const line = await open()
    await line.subscribe(['newBlock'])
    const silent = await startSilent()
    await pair.close()
    expect(await line.closed).toEqual({ code: 1001, reason: 'the gateway stops' })
    silent.destroy()
  })
})

/** A pong of a client, whose mask is 0. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** A websocket that never reads and never answers a ping. */
async function startSilent() {
  const raw = connect(Number(new URL(pair.gateway.url).port), '127.0.0.1')
  raw.on('error', () => undefined).setNoDelay(true)
  const gone = new Promise<void>((done) => raw.once('close', () => done()))
  raw.write(
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  await once(raw, 'data')
  raw.pause()
  const chunks: Buffer[] = []
  raw.on('data', (chunk: Buffer) => chunks.push(chunk)).pause()
  /** Reads after all, until the end. */
  const rest = async (): Promise<Buffer> => {
    raw.resume()
    await gone
    return Buffer.concat(chunks)
  }
  return {
    write: (bytes: Buffer, done?: () => void) => raw.write(bytes, done),
    gone,
    destroy: () => raw.destroy(),
    resume: () => raw.resume(),
    text: () => Buffer.concat(chunks).toString(),
    rest,
  }
}
