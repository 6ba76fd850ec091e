import { Socket } from 'node:net'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { PENDING_MAX } from '../../src/abci/connection.ts'
import { createRequestQueue, READ_AHEAD_BYTES_MAX } from '../../src/abci/requestQueue.ts'
import { applicationOf, closeAll, connectPeer, pause, requestFrame, serve } from './peer.ts'

afterEach(closeAll)

const REPLY_BYTES = 100_000

describe('back-pressure', () => {
  test('a peer that stops reading is not served further, and gets everything when it reads on', async () => {
    let served = 0
    const chunk = Buffer.alloc(REPLY_BYTES, 1)
    const server = await serve(
      applicationOf({
        loadSnapshotChunk: () => {
          served += 1
          return { chunk }
        },
      }),
    )
    const peer = await connectPeer(server.address)
    peer.socket.pause()
    peer.send(...Array.from({ length: 2000 }, () => requestFrame('loadSnapshotChunk')))
    let before = -1
    while (served === 0 || served !== before) {
      before = served
      await pause(20)
    }
    // What the sockets' own buffers take, and some replies of ours: far below the 2,000 × 100 kB that were asked for.
    expect(served).toBeLessThan(100)
    const other = await connectPeer(server.address)
    other.send(requestFrame('flush'))
    expect(await other.until(1)).toHaveLength(1)
    peer.socket.resume()
    expect(await peer.until(2000)).toHaveLength(2000)
    expect(served).toBe(2000)
  })

  test('requests are not read further while the bound of unanswered ones is reached', async () => {
    const waiting: (() => void)[] = []
    const server = await serve(
      applicationOf({
        query: () =>
          new Promise((resolve) => {
            waiting.push(() => resolve({}))
          }),
      }),
    )
    const peer = await connectPeer(server.address)
    peer.send(...Array.from({ length: 1000 }, () => requestFrame('query', { data: Buffer.alloc(100) })))
    for (let left = 1000; left > 0; ) {
      const most = Math.min(PENDING_MAX, left)
      while (waiting.length < most) await pause(1)
      await pause(5)
      expect(waiting).toHaveLength(most)
      left -= most
      for (const answer of waiting.splice(0)) answer()
    }
    await peer.until(1000)
  })

  test('requests are read ahead of a slow handler, so that the node does not wait to write them, up to the bound', async () => {
    let answer: (() => void) | undefined
    let served = 0
    const server = await serve(
      applicationOf({
        checkTx: () => {
          served += 1
          return answer === undefined
            ? new Promise((resolve) => {
                answer = () => resolve({})
              })
            : {}
        },
      }),
    )
    const peer = await connectPeer(server.address)
    const frame = requestFrame('checkTx', { tx: Buffer.alloc(1000) })
    const unsent = (): number => peer.socket.writableLength
    const send = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) peer.send(frame)
      for (let before = -1, still = 0; unsent() > 0 && still < 20; await pause(20)) {
        still = unsent() === before ? still + 1 : 0
        before = unsent()
      }
    }
    const within = Math.floor((READ_AHEAD_BYTES_MAX * 0.9) / frame.length)
    await send(within)
    expect(unsent()).toBe(0)
    const all = 4 * within
    await send(all - within)
    expect(unsent()).toBeGreaterThan(READ_AHEAD_BYTES_MAX)
    expect(served).toBe(1)
    answer?.()
    expect(await peer.until(all)).toHaveLength(all)
  })
})

test('packets of one byte count for what they take in memory', () => {
  const socket = new Socket()
  const ignored = (): void => undefined
  const options = { frameBytesMax: 100, warn: ignored, fatal: ignored, onReadAhead: undefined }
  const queue = createRequestQueue(socket, options, ignored)
  let packets = 0
  for (; !socket.isPaused(); packets++) socket.emit('data', Buffer.of(0))
  expect(packets).toBeLessThan(READ_AHEAD_BYTES_MAX / 1000)
  let served = 0
  while (queue.next() !== undefined) served += 1
  expect(served).toBe(packets)
  expect(socket.isPaused()).toBe(false)
  socket.destroy()
})

describe('fairness', () => {
  const busy = (ms: number): void => {
    for (const ends = performance.now() + ms; performance.now() < ends; ) {
      /* busy */
    }
  }

  test.each([
    [
      'at once',
      (): object => {
        busy(0.2)
        return {}
      },
    ],
    [
      'by a promise that is settled already',
      (): Promise<object> => {
        busy(0.2)
        return Promise.resolve({})
      },
    ],
  ])('a flood on one connection, answered %s, does not hold up another', async (_, handler) => {
    const server = await serve(applicationOf({ checkTx: handler }))
    const [flood, other] = [await connectPeer(server.address), await connectPeer(server.address)]
    flood.send(...Array.from({ length: 2000 }, () => requestFrame('checkTx', { tx: Buffer.alloc(10) })))
    await flood.until(1)
    for (let index = 1; index <= 5; index += 1) {
      other.send(requestFrame('info'), requestFrame('flush'))
      await other.until(2 * index)
    }
    expect(flood.replies.length).toBeLessThan(1500)
    await flood.until(2000)
  })

  test('replies to a packet of many requests leave in few writes', async () => {
    const server = await serve(applicationOf())
    const peer = await connectPeer(server.address)
    const { write } = Socket.prototype
    let writes = 0
    Socket.prototype.write = function counted(this: Socket, ...given: unknown[]): boolean {
      if (this !== peer.socket) writes += 1
      return (write as (...all: unknown[]) => boolean).apply(this, given)
    }
    // A turn of the server ends after some milliseconds, which pass sooner on a slow machine.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now())
    try {
      peer.send(...Array.from({ length: 300 }, () => requestFrame('checkTx', { tx: Buffer.alloc(10) })))
      await peer.until(300)
    } finally {
      Socket.prototype.write = write
      clock.mockRestore()
    }
    expect(writes).toBeLessThan(30)
  })
})
