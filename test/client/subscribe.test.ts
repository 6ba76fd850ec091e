import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { WebSocketServer } from 'ws'
import { Svc, type Connection } from '../../src/client/index.ts'
import { startGateway } from '../../src/gateway/gateway.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { alice, keptLog, startPair, until } from '../gateway/support.ts'
import { printed } from './support.ts'

let pair: Awaited<ReturnType<typeof startPair>>
const gateways: { close: () => Promise<void> }[] = []

/** At a port that nobody else is given while the gateway is away. */
const startAtFreePort = async (): Promise<typeof pair> => startPair({}, { port: (await freePorts(1))[0] ?? 0 })

/** A gateway again at the address of the one that was closed. */
const startAgain = async (): Promise<void> => {
  const own = { signers: [alice], publicKeys: true, logger: keptLog() }
  const limits = { connections: 2_000, connectionsOfAddress: 2_000, callsPerSecond: 0 }
  const port = Number(new URL(pair.gateway.url).port)
  gateways.push(await startGateway({ node: pair.node.url, port, limits, ...own }))
}

const range = (from: number, length: number): readonly number[] => Array.from({ length }, (_, at) => from + at)

describe('svc.subscribe', () => {
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.close()
    await pair.close()
  })

  test('tells of each block once and in order, also across a gateway that was away', async () => {
    pair = await startAtFreePort()
    const svc = new Svc(pair.gateway.url)
    const states: Connection[] = []
    const heights: number[] = []
    const blocks = await svc.subscribe('newBlock', { onState: (state) => states.push(state) }, ({ height }) => {
      heights.push(height)
    })
    const txs: string[] = []
    const payments = await svc.subscribe('tx', { address: alice.address, from: 1 }, ({ hash }) => txs.push(hash))
    await until(() => heights.length > 5)
    await pair.gateway.close()
    await until(() => states.some(({ state }) => state === 'lost'))
    const away = pair.node.ledger.blocks.length
    await until(() => pair.node.ledger.blocks.length > away + 10)
    // On a busy machine there would be more of them, until the line is open again, than a subscription goes back.
    pair.node.script.blocks = false
    await startAgain()
    await until(() => states.length > 1 && states.at(-1)?.state === 'open')
    pair.node.script.blocks = true
    await until(() => (heights.at(-1) ?? 0) > away + 30)
    expect(heights).toEqual(range(heights[0] as number, heights.length))
    // Lost, perhaps a few times in vain, and open again.
    expect(states.map(({ state }) => state).join()).toMatch(/^open,(?:lost,)+open$/)
    expect(states[1]).toEqual({ state: 'lost', reason: 'the gateway stops' })
    blocks.unsubscribe()
    const told = heights.length
    const head = pair.node.ledger.blocks.length
    await until(() => pair.node.ledger.blocks.length > head + 10)
    expect(heights).toHaveLength(told)
    payments.unsubscribe()
  })

  test('tells of a gap when it was away for too long', async () => {
    pair = await startAtFreePort()
    const svc = new Svc(pair.gateway.url)
    const states: Connection[] = []
    const heights: number[] = []
    const running = await svc.subscribe('newBlock', { onState: (state) => states.push(state) }, ({ height }) => {
      heights.push(height)
    })
    await until(() => heights.length > 5)
    await pair.gateway.close()
    // Before that, what it sent last may not have been read.
    await until(() => states.some(({ state }) => state === 'lost'))
    const last = heights.at(-1) as number
    await until(() => pair.node.ledger.blocks.length > last + 130)
    await startAgain()
    await until(() => states.some(({ state }) => state === 'gap') && heights.at(-1) !== last)
    const gap = states.find((line) => line.state === 'gap')
    expect(gap?.from).toBe(last + 1)
    expect(heights[heights.indexOf(last) + 1]).toBe((gap?.to as number) + 1)
    running.unsubscribe()
  })

  test('rejects when there is no gateway, and with what the gateway refuses', async () => {
    pair = await startAtFreePort()
    const svc = new Svc(pair.gateway.url)
    await expect(svc.subscribe('blocks' as 'newBlock', () => undefined)).rejects.toMatchObject({
      name: 'SvcRpcError',
      code: -32602,
    })
    await expect(svc.subscribe('tx', { address: '0x' }, () => undefined)).rejects.toMatchObject({ code: -32602 })
    const nobody = new Svc('http://127.0.0.1:1')
    await expect(nobody.subscribe('newBlock', () => undefined)).rejects.toThrow(/^.*cannot be reached/)
  })
})

// In a process of its own, because an uncaught error would be jest's.
test('callbacks that throw keep neither their own subscription nor another from going on', async () => {
  const client = new URL('../../src/client/index.ts', import.meta.url)
  const program = `
    import { WebSocketServer } from 'ws'
    import { Svc } from '${client}'
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    server.on('connection', (socket) =>
      socket.on('message', (data) => {
        const { id } = JSON.parse(String(data))
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x' + id }))
      }))
    let thrown = 0
    process.on('uncaughtException', () => thrown++)
    await new Promise((done) => server.once('listening', done))
    const svc = new Svc('http://127.0.0.1:' + server.address().port)
    await svc.subscribe('newBlock', { onState: () => { throw new Error('mine') } }, () => undefined)
    const states = []
    const again = Promise.withResolvers()
    const onState = ({ state }) => states.push(state) === 3 && again.resolve()
    await svc.subscribe('newBlock', { onState }, () => undefined)
    for (const socket of server.clients) socket.terminate()
    await again.promise
    console.log(JSON.stringify({ thrown, states }))
    process.exit()`
  expect(JSON.parse(await printed(program))).toEqual({ thrown: 3, states: ['open', 'lost', 'open'] })
})

/**
 * A gateway that answers each `svc_subscribe`, of the connection of a number, as `answer` says, and says `news` behind the
 * answer.
 */
async function startLine(
  answer: (asked: { readonly from?: unknown; readonly topic: string }, connection: number) => object,
  news?: (connection: number) => string,
) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  let connections = 0
  server.on('connection', (socket) => {
    const connection = ++connections
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data)) as { id: number; method: string; params: never }
      if (method !== 'svc_subscribe') return
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer(params, connection) }))
      if (news !== undefined) socket.send(news(connection))
    })
  })
  const lose = (): void => {
    for (const socket of server.clients) socket.terminate()
  }
  const close = (): void => {
    lose()
    server.close()
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    svc: new Svc(url),
    close,
    lose,
    count: () => connections,
    open: () => server.clients.size,
  }
}

/** A message of a subscription. */
const told = (params: unknown): string => JSON.stringify({ jsonrpc: '2.0', method: 'svc_subscription', params })

/** The id of the only subscription of a test. */
const one = '0x1'

describe('a line on which a gateway sends a malformed message', () => {
  test.each([
    'oops',
    'null',
    '7',
    '[]',
    told(null),
    told([one]),
    told({ subscription: 1, height: 3 }),
    told({ subscription: one, height: '3' }),
    told({ subscription: one, height: -1 }),
    told({ subscription: one, result: null }),
    told({ subscription: one, result: { height: 1.5 } }),
    told({ subscription: one, result: { hash: 'AB' } }),
    told({ subscription: one, gap: null }),
    told({ subscription: one, gap: { from: 1 } }),
    told({ subscription: one, gap: { from: 1, to: '2' } }),
    JSON.stringify({ jsonrpc: '2.0', id: 9, error: null }),
    JSON.stringify({ jsonrpc: '2.0', id: 9, error: { code: '-32603', message: 'x' } }),
    JSON.stringify({ jsonrpc: '2.0', id: 9, error: { code: -32603, message: { text: 'x' } } }),
  ])('is lost, says so, and goes on: %s', async (malformed) => {
    const line = await startLine(
      () => ({ result: one }),
      (connection) => (connection === 1 ? malformed : told({ subscription: one, result: { height: 7 } })),
    )
    const states: Connection[] = []
    const heights: number[] = []
    const running = await line.svc.subscribe('newBlock', { onState: (state) => states.push(state) }, ({ height }) => {
      heights.push(height)
    })
    await until(() => heights.length > 0)
    expect(heights).toEqual([7])
    expect(states).toEqual([
      { state: 'open' },
      { state: 'lost', reason: 'the gateway sent a malformed message' },
      { state: 'open' },
    ])
    running.unsubscribe()
    line.close()
  })
})

test.each([
  ['tx', 7],
  ['newBlock', 8],
] as const)('a gap behind a block of which %s events were told begins with block %d', async (topic, from) => {
  const line = await startLine(
    () => ({ result: one }),
    (connection) =>
      told({ subscription: one, ...(connection === 1 ? { result: { height: 7 } } : { gap: { from: 7, to: 300 } }) }),
  )
  const states: Connection[] = []
  // The connection breaks behind the first event of block 7, which may have had others.
  const running = await line.svc.subscribe(topic, { onState: (state) => states.push(state) }, line.lose)
  await until(() => states.some(({ state }) => state === 'gap'))
  expect(states.at(-1)).toEqual({ state: 'gap', from, to: 300 })
  running.unsubscribe()
  line.close()
})

test('while one of several subscriptions is refused again, the client connects after growing pauses', async () => {
  const refusal = { error: { code: -32015, message: 'Too many requests' } }
  const line = await startLine(({ topic }, at) => (at > 1 && topic === 'tx' ? refusal : { result: `0x${topic}` }))
  const running = [
    await line.svc.subscribe('newBlock', () => undefined),
    await line.svc.subscribe('tx', () => undefined),
  ]
  line.lose()
  // After 0.2, 0.4, 0.8 and 1.6 s: without growing pauses there would be 12 of them.
  await sleep(2_500)
  expect(line.count()).toBeLessThan(6)
  for (const { unsubscribe } of running) unsubscribe()
  line.close()
})

const unread = { id: null, error: { code: -32015, message: 'Too many requests' } }

test('a subscription whose message was refused unread rejects', async () => {
  const line = await startLine(() => unread)
  await expect(line.svc.subscribe('newBlock', () => undefined)).rejects.toMatchObject({ code: -32015 })
  line.close()
})

test('a running subscription whose message is refused unread after a loss says so, and goes on', async () => {
  const line = await startLine((_asked, connection) => (connection === 2 ? unread : { result: one }))
  const states: Connection[] = []
  const running = await line.svc.subscribe('newBlock', { onState: (state) => states.push(state) }, () => undefined)
  line.lose()
  await until(() => states.filter(({ state }) => state === 'open').length === 2)
  expect(states).toContainEqual({ state: 'lost', reason: 'Too many requests' })
  running.unsubscribe()
  line.close()
})

test('calls that fail while the gateway is away leave one line that is opened again, not one each', async () => {
  const line = await startLine(() => ({ result: one }))
  const states: Connection[] = []
  const running = await line.svc.subscribe('newBlock', { onState: (state) => states.push(state) }, () => undefined)
  line.close()
  await until(() => states.length === 2)
  for (let at = 0; at < 8; at++) {
    await expect(line.svc.subscribe('newBlock', () => undefined)).rejects.toThrow('cannot be reached')
    await sleep(20)
  }
  const told = states.length
  // By then the pauses are 10 s long; each line of its own would have been opened within 5 s.
  await sleep(6_000)
  expect(states.length - told).toBeLessThanOrEqual(1)
  running.unsubscribe()
})

test('a program that ends its last subscription while the gateway is away ends too, and not after the next try', async () => {
  // The second subscription says that the first is open.
  const line = await startLine(({ topic }) => {
    if (topic === 'tx') line.close()
    return { result: one }
  })
  const program = `
    import { Svc } from '${new URL('../../src/client/index.ts', import.meta.url)}'
    const svc = new Svc('${line.url}')
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const onState = ({ state }) => {
      if (state !== 'lost') return
      const before = timers()
      running.unsubscribe()
      console.log(before, timers())
    }
    const running = await svc.subscribe('newBlock', { onState }, () => undefined)
    await svc.subscribe('tx', () => undefined).catch(() => undefined)
  `
  expect(await printed(program)).toBe('1 0')
})

test('a height to begin at may be a bigint, as in every other call', async () => {
  const from: unknown[] = []
  const line = await startLine((asked) => {
    from.push(asked.from)
    return { result: one }
  })
  const running = await line.svc.subscribe('newBlock', { from: 5n }, () => undefined)
  expect(from).toEqual(['5'])
  running.unsubscribe()
  line.close()
})

test('a first subscription that the gateway refuses leaves no connection open', async () => {
  const line = await startLine(({ topic }) =>
    topic === 'tx' ? { error: { code: -32602, message: 'Invalid params' } } : { result: one },
  )
  await expect(line.svc.subscribe('tx', () => undefined)).rejects.toMatchObject({ code: -32602 })
  // This gateway answers no heartbeat, so the client gives the connection up after 30 s anyway.
  const fromMs = performance.now()
  await until(() => line.open() === 0)
  expect(performance.now() - fromMs).toBeLessThan(20_000)
  const running = await line.svc.subscribe('newBlock', () => undefined)
  await expect(line.svc.subscribe('tx', () => undefined)).rejects.toMatchObject({ code: -32602 })
  await sleep(100)
  expect([line.open(), line.count()]).toEqual([1, 2])
  running.unsubscribe()
  line.close()
})
