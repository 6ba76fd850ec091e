import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Opens a connection to a gateway from `localAddress`, sends `first` and reads, unless `reads` is false. `bytes` and
 * `text` are what has come. `closed` resolves when the gateway has ended it.
 */
export async function openRaw(url: string, first: string, { reads = true, localAddress = '127.0.0.1' } = {}) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  let bytes = Buffer.alloc(0)
  // Whatever ends it ends it: a reset is as good as an end here.
  socket.on('error', () => undefined)
  const closed = new Promise<void>((done) => {
    socket.on('close', () => done())
  })
  await Promise.race([once(socket, 'connect'), closed])
  if (reads)
    socket.on('data', (part: Buffer) => {
      bytes = Buffer.concat([bytes, part])
    })
  else socket.pause()
  socket.write(first)
  return { socket, bytes: () => bytes, text: () => bytes.toString(), closed }
}

export const postText = (body: string): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
