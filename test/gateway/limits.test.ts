import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { openRaw, postText } from './rawClient.ts'
import {
  alice,
  bob,
  callText,
  startWithLimits,
  transferText,
  post,
  signerOf,
  startPair,
  until,
  type RpcAnswer,
} from './support.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { BODY_BYTES_MAX } from '../../src/gateway/http/limits.ts'
import { encodeBody, encodeTx } from '../../src/tx/envelope.ts'
import { encodeMultisig, encodeParts, multisigAddress } from '../../src/tx/multisig.ts'
import { addressBytes } from '../../src/values/address.ts'
import { signTransfer } from '../support/signTransfer.ts'

let pair: Awaited<ReturnType<typeof startPair>>
afterEach(() => pair.close())

const start = async (...given: Parameters<typeof startWithLimits>) => {
  pair = await startWithLimits(...given)
  return pair
}

describe('connections', () => {
  const ping = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const open = (localAddress: string) => openRaw(pair.gateway.url, ping, { localAddress })
  const served = async (client: Awaited<ReturnType<typeof open>>): Promise<boolean> => {
    await until(() => client.text() !== '' || client.socket.destroyed)
    return client.text().startsWith('HTTP/1.1 200')
  }

  test('of one address have a limit that others do not feel; one that ends makes room', async () => {
    await start({ connectionsOfAddress: 2 })
    const clients = [await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.3')]
    expect(await Promise.all(clients.map(served))).toEqual([true, true, false, true])
    clients[0]?.socket.destroy()
    await until(async () => {
      const again = await open('127.0.0.2')
      const isServed = await served(again)
      clients.push(again)
      return isServed
    })
    for (const { socket } of clients) socket.destroy()
  })

  test("in all have a limit, a proxy's too, which has none of its own", async () => {
    await start({ connections: 6, connectionsOfAddress: 2, trustProxies: ['127.0.0.2'] })
    const clients = []
    for (let at = 0; at < 8; at++) clients.push(await open('127.0.0.2'))
    const results = await Promise.all(clients.map(served))
    expect(results.filter(Boolean).length).toBeGreaterThan(2)
    expect(results.filter(Boolean).length).toBeLessThanOrEqual(6)
    for (const { socket } of clients) socket.destroy()
  })
})

describe('calls from one address', () => {
  /** Starts a gateway whose clock stands still: a busy machine may take longer for a test than calls are counted over. */
  const startCounting = async (limits: Parameters<typeof startWithLimits>[0]): Promise<void> => {
    await start(limits)
    let nowMs = performance.now()
    // One of the moments at which the end of a window of 10 s is rounded up.
    while (nowMs + 10_000 - nowMs <= 10_000) nowMs += 0.0001
    jest.spyOn(performance, 'now').mockReturnValue(nowMs)
  }
  afterEach(() => void jest.restoreAllMocks())
  const refused = { code: -32015, message: expect.stringContaining('more than 10 calls from one address in 10 s') }
  const own = async (localAddress: string, body: string, headers = ''): Promise<{ head: string; json: unknown }> => {
    const text = postText(body).replace('\r\n\r\n', `\r\n${headers}Connection: close\r\n\r\n`)
    const client = await openRaw(pair.gateway.url, text, { localAddress })
    await client.closed
    const [head = '', json = ''] = client.text().split('\r\n\r\n')
    return { head, json: JSON.parse(json) as unknown }
  }

  test('have a limit: one more is 429 with -32015 and the time to wait, and others do not feel it', async () => {
    await startCounting({ callsPerSecond: 1 })
    for (let at = 0; at < 10; at++)
      expect((await own('127.0.0.2', callText('svc_accounts'))).head).toMatch(/^HTTP\/1.1 200 /)
    const { head, json } = await own('127.0.0.2', callText('svc_accounts'))
    expect(head).toMatch(/^HTTP\/1.1 429 /)
    expect(head).toMatch(/\r\nretry-after: ([1-9]|10)\r\n/i)
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { ...refused, data: { retryAfterMs: expect.any(Number) } },
    })
    expect((await own('127.0.0.3', callText('svc_accounts'))).head).toMatch(/^HTTP\/1.1 200 /)
  })

  test('count one by one in a batch, where each one more has its own error', async () => {
    await startCounting({ callsPerSecond: 1 })
    const batch = Array.from({ length: 12 }, (_, id) => ({ jsonrpc: '2.0', id, method: id === 3 ? 7 : 'svc_accounts' }))
    const { head, json } = await own('127.0.0.2', JSON.stringify(batch))
    const answers = json as RpcAnswer[]
    expect(head).toMatch(/^HTTP\/1.1 200 /)
    const none = (count: number): undefined[] => Array(count).fill(undefined)
    expect(answers.map(({ error }) => error?.code)).toEqual([...none(3), -32600, ...none(6), -32015, -32015])
    expect((await own('127.0.0.2', callText('svc_accounts'))).head).toMatch(/^HTTP\/1.1 429 /)
  })

  test('count by their bytes if those are more, before they are parsed, and a body that is too much counts too', async () => {
    await startCounting({ callsPerSecond: 1 })
    const bytes = (count: number): string => callText('svc_accounts').padEnd(count)
    const status = async (body: string): Promise<string> => (await own('127.0.0.2', body)).head.slice(9, 12)
    expect([await status(bytes(4096)), await status(bytes(4097))]).toEqual(['200', '200'])
    expect((await own('127.0.0.2', '{'.padEnd(2048))).json).toMatchObject({ id: null, error: refused })
    expect(await status(bytes(1))).toBe('429')
    expect((await own('127.0.0.3', callText('svc_accounts'))).head).toMatch(/^HTTP\/1.1 200 /)
  })

  test('count by the length that a body says it has, and what is too much is refused before it comes', async () => {
    await startCounting({ callsPerSecond: 1 })
    const announced = (count: number): string => postText(' '.repeat(count)).slice(0, -count)
    const { gateway } = pair
    const first = await openRaw(gateway.url, announced(6_000), { localAddress: '127.0.0.2' })
    const second = await openRaw(gateway.url, announced(5_000), { localAddress: '127.0.0.2' })
    await until(() => second.text().includes('\r\n\r\n'))
    expect([first.text(), second.text()]).toEqual(['', expect.stringMatching(/^HTTP\/1.1 429 /)])
    for (const { socket } of [first, second]) socket.destroy()
  })

  test('of which an address has fewer than the longest body costs let it through once', async () => {
    await startCounting({ callsPerSecond: 1 })
    const { head, json } = await own('127.0.0.2', callText('svc_accounts').padEnd(BODY_BYTES_MAX))
    expect([head.slice(9, 12), json]).toEqual(['200', { jsonrpc: '2.0', id: 1, result: [alice.address] }])
    expect((await own('127.0.0.2', callText('svc_accounts'))).json).toMatchObject({ error: refused })
  })

  test('count each signature of a transaction of several keys, good or bad', async () => {
    await startCounting({ callsPerSecond: 2 })
    const members = Array.from({ length: 8 }, (_, at) => new Uint8Array(20).fill(at))
    const publicKey = encodeMultisig({ threshold: 8, members })
    const body = {
      chainId: 'test-chain',
      from: addressBytes(multisigAddress(publicKey)),
      nonce: 0,
      operation: 'transfer',
      message: { to: addressBytes(bob.address), value: '1' },
    }
    const parts = members.map((_, member) => ({ member, signature: new Uint8Array(65).fill(27) }))
    const raw = callText('svc_sendRawTransaction', [
      toBase64(encodeTx(encodeBody(body), publicKey, encodeParts(parts))),
    ])
    for (const code of [3, 3])
      expect((await own('127.0.0.2', raw)).json).toMatchObject({ result: { check_tx: { code } } })
    expect((await own('127.0.0.2', raw)).json).toMatchObject({ id: 1, error: { code: -32015 } })
    expect((await own('127.0.0.3', raw)).json).toMatchObject({ result: { check_tx: { code: 3 } } })
  })

  test('count whatever they ask for: a page that is not there, and the OpenRPC document', async () => {
    await startCounting({ callsPerSecond: 1 })
    const get = async (path: string): Promise<string> => {
      const text = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
      const client = await openRaw(pair.gateway.url, text, { localAddress: '127.0.0.2' })
      await client.closed
      return client.text().slice(9, 12)
    }
    const [there, none] = ['/healthz /readyz /openrpc.json /openrpc.json'.split(' '), Array<string>(6).fill('/no')]
    const statuses = []
    for (const path of [...there, ...none, '/openrpc.json', '/no']) statuses.push(await get(path))
    expect(statuses).toEqual([...Array(4).fill('200'), ...Array(6).fill('404'), '429', '429'])
  })

  test('have a share for whole lists that is smaller', async () => {
    await startCounting({ callsPerSecond: 4 })
    const statuses = []
    for (let at = 0; at < 4; at++)
      statuses.push((await own('127.0.0.2', callText('svc_queryValidators'))).head.slice(9, 12))
    expect(statuses).toEqual(['200', '200', '429', '429'])
    const { json } = await own('127.0.0.2', callText('svc_queryProposals'))
    expect(json).toMatchObject({
      id: 1,
      error: { code: -32015, message: expect.stringContaining('more than 2 whole lists') },
    })
    expect((await own('127.0.0.2', callText('svc_accounts'))).head).toMatch(/^HTTP\/1.1 200 /)
  })

  test('through a proxy that is trusted count for the caller it names; nobody else is believed', async () => {
    await startCounting({ callsPerSecond: 1, trustProxies: ['127.0.0.2'] })
    const from = (proxy: string, caller: string) =>
      own(proxy, callText('svc_accounts'), `X-Forwarded-For: ${caller}\r\n`)
    for (let at = 0; at < 11; at++) await from('127.0.0.2', '10.0.0.1')
    expect((await from('127.0.0.2', '10.0.0.1')).head).toMatch(/ 429 /)
    expect((await from('127.0.0.2', '10.0.0.2')).head).toMatch(/ 200 /)
    for (let at = 0; at < 10; at++) await from('127.0.0.2', `10.0.0.3:${4711 + at}`)
    expect((await from('127.0.0.2', '10.0.0.3:4721')).head).toMatch(/ 429 /)
    for (let at = 0; at < 10; at++) await from('127.0.0.3', `10.0.0.${at}`)
    expect((await from('127.0.0.3', '10.0.0.99')).head).toMatch(/ 429 /)
  })
})

describe('lists', () => {
  test('200 callers of one list are a few questions to the node, and a transfer goes through beside them', async () => {
    let lists = 0
    const data = 'x'.repeat(500_000)
    await start(
      {},
      {
        blocks: false,
        query: (path) => {
          if (!path.startsWith('/stake/validators')) return {}
          lists += 1
          return { data }
        },
      },
    )
    const blocks = setInterval(pair.node.step, 300)
    try {
      const callers = await Promise.all(
        Array.from({ length: 200 }, () => openRaw(pair.gateway.url, '', { reads: false })),
      )
      const answers = callers.map(
        ({ socket }) =>
          new Promise<void>((done) => {
            let bytes = 0
            socket.on('data', (part) => {
              if ((bytes += part.length) > data.length) done()
            })
            socket.resume().write(postText(callText('svc_queryValidators')))
          }),
      )
      const { result } = (await (await post(pair.gateway.url, transferText)).json()) as RpcAnswer
      expect(result).toMatchObject({ height: expect.any(Number), check_tx: { fee: {} } })
      await Promise.all(answers)
      expect(lists).toBeLessThanOrEqual(pair.node.ledger.blocks.length + 1)
      for (const { socket } of callers) socket.destroy()
    } finally {
      clearInterval(blocks)
    }
  })

  test('that the node is too busy for are 429 with -32015 and its words', async () => {
    await start({}, { query: (path) => (path.startsWith('/stake') ? { code: 30, log: 'busy: 64 queries wait' } : {}) })
    const answer = await post(pair.gateway.url, callText('svc_queryValidators'))
    expect(answer.status).toBe(429)
    expect(await answer.json()).toMatchObject({
      error: { code: -32015, message: expect.stringContaining('busy: 64 queries wait') },
    })
    const one = await (await post(pair.gateway.url, callText('svc_queryValidator', [alice.address]))).json()
    expect(one).toMatchObject({ error: { code: -32015 } })
  })
})

describe('what the node is asked for in turns', () => {
  test.each([
    ['whole lists', (at: number) => callText('svc_queryValidators', { offset: at })],
    ['whole blocks', () => callText('svc_getBlock', [1])],
  ])('%s of one address leave others theirs', async (_what, ask) => {
    await start({})
    pair.node.script.latencyMs = () => 100
    const busy = Array.from({ length: 60 }, (_, at) => post(pair.gateway.url, ask(at)))
    await until(async () => pair.node.count('block') + pair.node.count('abci_query') > 3)
    const other = await openRaw(pair.gateway.url, postText(ask(99)), { localAddress: '127.0.0.2' })
    await until(() => other.text().includes('"id":1}'))
    pair.node.script.latencyMs = () => 0
    await Promise.all(busy)
    expect(other.text()).toContain('"result":')
  })

  test('histories that wait for their turn hold up no other call of their address', async () => {
    await start({}, { query: (path) => ({ data: path.startsWith('/history') ? { data: [], next: null } : path }) })
    pair.node.script.latencyMs = () => 300
    const call = { jsonrpc: '2.0', method: 'svc_getAwards', params: [alice.address] }
    const busy = post(pair.gateway.url, JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ ...call, id }))))
    await until(async () => pair.node.count('abci_query') > 0)
    const other = await post(pair.gateway.url, callText('svc_queryParams', [1]))
    expect(await other.json()).toMatchObject({ result: { data: '/governance/params' } })
    // Of the histories only one is asked at a time.
    expect(pair.node.count('abci_query')).toBeLessThan(30)
    pair.node.script.latencyMs = () => 0
    await busy
  })

  test('2,400 queries of one address leave others theirs, and their transactions', async () => {
    await start({})
    pair.node.script.latencyMs = () => 20
    const calls = Array.from({ length: 200 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'svc_queryParams',
      params: [1],
    }))
    const busy = Array.from({ length: 12 }, () => post(pair.gateway.url, JSON.stringify(calls)))
    await until(async () => pair.node.count('abci_query') > 200)
    const raw = { transaction: toBase64(signTransfer(bob, 0, { chainId: pair.node.chainId })), wait: false }
    const own = [callText('svc_queryParams', [1]), callText('svc_sendRawTransaction', raw)]
    const others = await Promise.all(
      own.map((call) => openRaw(pair.gateway.url, postText(call), { localAddress: '127.0.0.2' })),
    )
    for (const { text } of others) await until(() => text().includes('"id":1}'))
    pair.node.script.latencyMs = () => 0
    expect(others.map(({ text }) => text())).toEqual(Array(2).fill(expect.stringContaining('"result":')))
    const answers = (await Promise.all(busy.map(async (one) => (await one).json()))) as RpcAnswer[][]
    expect(answers.flat().flatMap(({ error }) => error ?? [])).toEqual([])
  })
})

describe('places', () => {
  const places = (count: number, make: (at: number) => object): Promise<Response>[] => {
    const calls = Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, ...make(id) }))
    const batches = Array.from({ length: Math.ceil(count / 50) }, (_, at) => calls.slice(50 * at, 50 * at + 50))
    return batches.map((batch) => post(pair.gateway.url, JSON.stringify(batch)))
  }
  const errors = async (answers: readonly Promise<Response>[]) =>
    (await Promise.all(answers.map(async (one) => (await (await one).json()) as RpcAnswer[])))
      .flat()
      .flatMap(({ error }) => error ?? [])

  const carol = signerOf(9)
  const signed = (nonce: number, signer = bob): Uint8Array =>
    signTransfer(signer, nonce, { chainId: pair.node.chainId })
  const rawCall = (nonce: number, signer = bob) => ({
    method: 'svc_sendRawTransaction',
    params: [Buffer.from(signed(nonce, signer)).toString('base64')],
  })
  const waiting = async (): Promise<number> => Number(/^svc_tx_waiting (\d+)$/m.exec(await pair.metrics())?.[1])

  test('of an account are not taken by strangers who send its transactions again', async () => {
    await start({}, { cache: false })
    expect(await errors(places(30, rawCall))).toEqual([])
    // The node refuses those of blocks, which take no place; those that wait are waited for together.
    expect(await errors(places(1100, (at) => rawCall(at % 30)))).toEqual([])
    expect(pair.node.ledger.nonces.get(bob.address)).toBe(30)
    pair.node.script.blocks = false
    const again = places(1100, () => rawCall(30))
    await until(async () => (await waiting()) === 1100)
    const own = places(1, () => rawCall(31))
    await until(() => pair.node.ledger.waiting() === 2)
    pair.node.script.blocks = true
    expect(await errors([...again, ...own])).toEqual([])
  })

  test('of an account that a gateway has not seen yet are not taken by them either', async () => {
    await start({}, { cache: false })
    for (let nonce = 0; nonce < 30; nonce++) pair.node.ledger.check(signed(nonce))
    await until(() => pair.node.ledger.nonces.get(bob.address) === 30)
    expect(await errors(places(1100, (at) => rawCall(at % 30)))).toEqual([])
    expect(pair.node.ledger.nonces.get(bob.address)).toBe(30)
  })

  test('are 10,000 in all, and calls that send a waiting transaction again take none', async () => {
    const signers = Array.from({ length: 6 }, (_, at) => signerOf(at + 1))
    pair = await startPair({ blocks: false, mempoolMax: 20_000 }, { signers })
    const own = (at: number) => ({
      method: 'svc_transfer',
      params: [{ from: signers[at % 6]?.address, to: bob.address, value: '1' }],
    })
    const answers = places(9_999, own)
    await until(() => pair.node.ledger.waiting() === 9_999)
    answers.push(...places(1, () => rawCall(0, carol)))
    await until(() => pair.node.ledger.waiting() === 10_000)
    answers.push(...places(100, () => rawCall(0, carol)))
    expect(await errors([...places(1, own), ...places(1, () => rawCall(1, carol))])).toEqual(
      Array(2).fill({ code: -32013, message: '10000 transactions wait at this gateway, try again later' }),
    )
    pair.node.script.blocks = true
    expect(await errors(answers)).toEqual([])
  })
})
