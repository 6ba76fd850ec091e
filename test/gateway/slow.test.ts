/** Callers who are slow to write, and callers who are slow to read. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import { WebSocket } from 'ws'
import { openRaw, postText } from './rawClient.ts'
import { callText, startWithLimits, transferText, type startPair, until } from './support.ts'

let pair: Awaited<ReturnType<typeof startPair>>
afterEach(() => pair.close())

const start = async (...given: Parameters<typeof startWithLimits>) => {
  pair = await startWithLimits(...given)
  return pair
}
/** More than the buffers of two kernels take. */
const LONG = 'x'.repeat(12 * 1024 * 1024)
const longLists = (path: string) => (path.startsWith('/stake/validators') ? { data: LONG } : {})
const asks = (offset: number): string => postText(callText('svc_queryValidators', { offset }))

const openSocket = async (): Promise<WebSocket> => {
  const socket = new WebSocket(pair.gateway.url.replace('http', 'ws'))
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}
/** Watches the gateway's own ends of the connections that come from now on: a caller that does not read sees no end. */
const watchAccepted = (): { readonly accepted: readonly Socket[]; readonly stop: () => void } => {
  const accepted: Socket[] = []
  const note = (message: unknown): void => void accepted.push((message as { readonly socket: Socket }).socket)
  subscribe('net.server.socket', note)
  return { accepted, stop: () => unsubscribe('net.server.socket', note) }
}

describe('a request that does not arrive', () => {
  test('whole in time ends, its headers or its body, while a call that waits for its block goes on', async () => {
    const { gateway, node } = await start({ requestMs: 2_000 }, { blocks: false })
    const waiting = await openRaw(gateway.url, postText(transferText))
    const headers = await openRaw(gateway.url, 'POST / HTTP/1.1\r\nHost: localhost\r\n')
    const body = await openRaw(gateway.url, postText(' '.repeat(10_000)).slice(0, -10_000))
    const silent = await openRaw(gateway.url, '')
    const drips = setInterval(() => {
      headers.socket.write('X: 1\r\n')
      body.socket.write(' ')
    }, 50)
    try {
      await Promise.all([headers.closed, body.closed, silent.closed])
    } finally {
      clearInterval(drips)
    }
    for (const { text } of [headers, body, silent]) expect(text()).toMatch(/^HTTP\/1.1 408 /)
    expect(waiting.text()).toBe('')
    node.step()
    await until(() => waiting.text().includes('"height":2'))
    waiting.socket.destroy()
  })
})

describe('a message on a websocket that does not arrive', () => {
  const MIB = 1024 * 1024
  test('ends it, however often it is pinged, and one that is short or only answers pings goes on', async () => {
    await start({ requestMs: 1_000, unreadMs: 800 })
    const [part, short, idle] = [await openSocket(), await openSocket(), await openSocket()]
    part.send('x'.repeat(MIB / 2), { fin: false })
    short.send(' ', { fin: false })
    const drips = setInterval(() => {
      for (const socket of [part, short, idle]) socket.pong(Buffer.alloc(125))
      short.send(' ', { fin: false })
    }, 1)
    await once(part, 'close')
    clearInterval(drips)
    short.send(callText('svc_blockNumber'))
    await once(short, 'message')
    for (const socket of [short, idle]) expect(socket.readyState).toBe(WebSocket.OPEN)
    for (const socket of [short, idle]) socket.terminate()
  })

  test('is cut off when it is the longest, and those of all callers are too long together', async () => {
    await start({ partBytes: 1.75 * MIB, unreadMs: 800 })
    const body = await openRaw(pair.gateway.url, postText(' '.repeat(MIB / 2)).slice(0, -1))
    const [long, other] = [await openSocket(), await openSocket()]
    long.send('x'.repeat(MIB - 100), { fin: false })
    await sleep(500)
    other.send('x'.repeat(MIB / 2), { fin: false })
    await once(long, 'close')
    expect([other.readyState, body.socket.destroyed]).toEqual([WebSocket.OPEN, false])
    for (const socket of [other, body.socket]) 'terminate' in socket ? socket.terminate() : socket.destroy()
  })
})

describe('an answer', () => {
  /** Whether it comes before a connection that Node keeps would end. */
  const first = (it: Promise<unknown>): Promise<string> =>
    Promise.race([it.then(() => 'it'), sleep(25_000, 'a kept connection', { ref: false })])

  test('that nobody reads is dropped, while who reads slowly gets all of it, and who waits for a block is left alone', async () => {
    const { gateway, node } = await start({ unreadMs: 5_000 }, { blocks: false, query: longLists })
    const waiting = await openRaw(gateway.url, postText(transferText))
    const { accepted, stop } = watchAccepted()
    const unread = await openRaw(gateway.url, asks(1), { reads: false })
    let own: Socket | undefined
    await until(() => {
      own = accepted.find(({ remotePort }) => remotePort === unread.socket.localPort)
      return own !== undefined
    })
    stop()
    const slow = await openRaw(gateway.url, asks(1), { reads: false })
    let [bytes, rest] = [0, 0]
    slow.socket.on('readable', () => undefined)
    const sips = setInterval(() => {
      bytes += (slow.socket.read() as Buffer | null)?.length ?? 0
    }, 10)
    await until(() => bytes > LONG.length)
    clearInterval(sips)
    // A paused socket sees its end only when it reads again, so the gateway's own end of it tells.
    await until(() => own?.destroyed === true)
    unread.socket.on('data', (part) => {
      rest += part.length
    })
    unread.socket.resume()
    await unread.closed
    expect(rest).toBeLessThan(LONG.length)
    node.step()
    await until(() => waiting.text().includes('"height":2'))
    for (const { socket } of [waiting, slow]) socket.destroy()
  })

  test('that is on its way when the gateway closes comes whole, and then its connection is closed, though it was to be kept', async () => {
    await start({}, { query: longLists })
    const caller = await openRaw(pair.gateway.url, asks(1), { reads: false })
    await until(() => caller.socket.readableLength > 0)
    const closed = pair.gateway.close()
    const parts: Buffer[] = []
    caller.socket.on('data', (part) => parts.push(part)).resume()
    expect(await first(caller.closed)).toBe('it')
    await closed
    const answer = String(Buffer.concat(parts))
    expect(answer.slice(0, 1000)).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: keep-alive/i)
    expect(answer.length).toBeGreaterThan(LONG.length)
  })

  test('that nobody reads does not keep a gateway from closing', async () => {
    await start({ closeMs: 500 }, { query: longLists })
    const caller = await openRaw(pair.gateway.url, asks(1), { reads: false })
    await until(() => caller.socket.readableLength > 0)
    const sips = setInterval(() => caller.socket.read(64 * 1024), 200)
    expect(await first(pair.gateway.close())).toBe('it')
    clearInterval(sips)
    caller.socket.destroy()
  })

  test('that is unread when the gateway stands still can be read to its end afterwards', async () => {
    const { gateway } = await start({ unreadMs: 4_000 }, { query: longLists })
    const { socket, closed } = await openRaw(gateway.url, asks(1), { reads: false })
    await until(() => socket.readableLength > 0)
    // The gateway has looked and found it unread.
    await sleep(1_100)
    // Nothing is served in this thread meanwhile: not the gateway's sockets, and not the caller's.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000)
    let bytes = 0
    socket.on('data', (part: Buffer) => {
      bytes += part.length
    })
    socket.resume()
    await Promise.race([closed, until(() => bytes > LONG.length)])
    expect(bytes).toBeGreaterThan(LONG.length)
    socket.destroy()
  })

  test('that many leave unread counts once; different ones have a bound, beyond which the oldest is dropped', async () => {
    const { gateway } = await start(
      { unreadBytes: 2.5 * LONG.length, unreadMs: 600_000 },
      { blocks: false, query: longLists },
    )
    const ask = (offset: number) => openRaw(gateway.url, asks(offset), { reads: false })
    const first = await ask(1)
    await until(() => first.socket.readableLength > 0)
    const shared = await Promise.all(Array.from({ length: 8 }, () => ask(2)))
    for (const { socket } of shared) await until(() => socket.readableLength > 0)
    const last = await openRaw(gateway.url, asks(3))
    await until(() => last.text().length > LONG.length)
    first.socket.resume()
    await first.closed
    for (const { socket } of shared) expect(socket.destroyed).toBe(false)
    for (const { socket } of [...shared, last]) socket.destroy()
  })

  test('that many websockets leave unread has the same bound', async () => {
    const { accepted, stop } = watchAccepted()
    const { gateway } = await start(
      { unreadBytes: 2.5 * LONG.length, unreadMs: 600_000 },
      { blocks: false, query: longLists },
    )
    const opened = accepted.length
    const sockets = []
    for (let at = 0; at < 6; at++) sockets.push(await openSocket())
    const theirs = accepted.filter(({ localPort }) => localPort === Number(new URL(gateway.url).port))
    expect(accepted.length).toBeGreaterThan(opened)
    stop()
    for (const [at, socket] of sockets.entries()) {
      socket.pause()
      socket.send(callText('svc_queryValidators', { offset: at + 1 }))
    }
    const left = (): number => theirs.filter(({ destroyed }) => !destroyed).length
    await until(() => left() <= 2)
    expect(left()).toBe(2)
    for (const socket of sockets) socket.terminate()
  })

  test('that many websockets leave unread counts once, and the one that reads gets it whole, between others', async () => {
    const { accepted, stop } = watchAccepted()
    const { gateway } = await start(
      { unreadBytes: 2.5 * LONG.length, unreadMs: 600_000 },
      { blocks: false, query: longLists },
    )
    const list = callText('svc_queryValidators', { offset: 1 })
    const unread = await Promise.all(Array.from({ length: 8 }, () => openSocket()))
    const theirs = accepted.filter(({ localPort }) => localPort === Number(new URL(gateway.url).port))
    stop()
    for (const socket of unread) {
      socket.pause()
      socket.send(list)
    }
    const reader = await openSocket()
    const told: string[] = []
    reader.on('message', (data) => told.push(String(data)))
    for (const text of [list, callText('svc_blockNumber')]) reader.send(text)
    await until(() => told.length === 2)
    const long = JSON.parse(told.find(({ length }) => length > LONG.length) ?? '{}') as { result?: { data?: unknown } }
    expect(long.result?.data === LONG).toBe(true)
    expect(theirs.map(({ destroyed }) => destroyed)).toEqual(unread.map(() => false))
    for (const socket of [...unread, reader]) socket.terminate()
  })
})
