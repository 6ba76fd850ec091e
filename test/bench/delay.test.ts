import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { startDelay } from '../../bench/delay.ts'
import { freePorts } from '../e2e/support/processes.ts'

const BYTES = 20 * 1024 * 1024

/** The sha256 of all that comes from a socket until it ends. */
async function hashOf(socket: Socket): Promise<string> {
  const hash = createHash('sha256')
  // Destroying it would cut off what it still has to send.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

test('a delayed connection carries more than it may hold at a time, whole and in order, in both directions, and then ends', async () => {
  const [port = 0, to = 0] = await freePorts(2)
  const sent = { there: randomBytes(BYTES), back: randomBytes(BYTES) }
  const arrived = Promise.withResolvers<string>()
  const server = createServer((socket) => {
    hashOf(socket).then(arrived.resolve, arrived.reject)
    socket.end(sent.back)
  }).listen(to, '127.0.0.1')
  await once(server, 'listening')
  const delay = await startDelay({ port }, { port: to }, 25)
  try {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    const back = hashOf(socket)
    socket.end(sent.there)
    const wanted = Object.values(sent).map((bytes) => createHash('sha256').update(bytes).digest('hex'))
    expect(await Promise.all([arrived.promise, back])).toEqual(wanted)
  } finally {
    delay.close()
    server.close()
  }
})

test('when the far end refuses, the near end is closed', async () => {
  const [port = 0, to = 0] = await freePorts(2)
  const delay = await startDelay({ port }, { port: to }, 1)
  try {
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('error', () => undefined)
    await once(socket, 'close')
    expect(socket.bytesRead).toBe(0)
  } finally {
    delay.close()
  }
})
