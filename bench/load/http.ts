import { once } from 'node:events'
import { connect } from 'node:net'

const END = Buffer.from('\r\n\r\n')
const LENGTH = 'content-length: '

/** The body of a whole answer; undefined while some of it is missing. */
function bodyOf(data: Buffer): Buffer | undefined {
  const at = data.indexOf(END)
  if (at < 0) return undefined
  const head = data.toString('latin1', 0, at + 2).toLowerCase()
  const from = head.indexOf(LENGTH)
  if (from < 0) return head.includes('chunked') ? dechunk(data.subarray(at + 4)) : undefined
  const length = Number.parseInt(head.slice(from + LENGTH.length), 10)
  return data.length >= at + 4 + length ? data.subarray(at + 4, at + 4 + length) : undefined
}

function dechunk(data: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = data.indexOf('\r\n', at)
    if (end < 0) return undefined
    const length = Number.parseInt(data.toString('latin1', at, end), 16)
    if (data.length < end + 2 + length + 2) return undefined
    if (length === 0) return Buffer.concat(parts)
    parts.push(data.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

/** Opens a keep-alive connection to http://host:port/, without comfort: one request at a time. */
export async function openLane(host: string, port: number) {
  const socket = connect({ host, port, noDelay: true })
  await once(socket, 'connect')
  const head = `POST / HTTP/1.1\r\nHost: ${host}:${port}\r\nContent-Type: application/json\r\nContent-Length: `
  let waiting: { done: (body: Buffer) => void; failed: (error: Error) => void } | undefined
  let held: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const body = bodyOf(held)
    if (body === undefined) return
    held = Buffer.alloc(0)
    waiting?.done(body)
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => waiting?.failed(new Error('the connection ended')))
  return {
    /** The body of the answer to a POST of this JSON body. Rejects when the connection ends. */
    post: (body: string) =>
      new Promise<Buffer>((done, failed) => {
        waiting = { done, failed }
        socket.write(`${head}${body.length}\r\n\r\n${body}`, 'latin1')
      }),
    close: () => {
      waiting = undefined
      socket.destroy()
    },
  }
}
