import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'

/** Bytes that a direction of a connection holds before its sender has to wait: CometBFT sends 5 MB a second at most. */
const HELD_BYTES_MAX = 8 * 1024 * 1024

/** Hands on what comes from one end to the other, `delayMs` later. */
function carry(from: Socket, to: Socket, delayMs: number): void {
  let held = 0
  from.on('data', (chunk) => {
    held += chunk.length
    if (held > HELD_BYTES_MAX) from.pause()
    // Timers of one duration fire in the order in which they were set.
    setTimeout(() => {
      held -= chunk.length
      if (held <= HELD_BYTES_MAX) from.resume()
      if (!to.destroyed) to.write(chunk)
    }, delayMs)
  })
  from.on('end', () => setTimeout(() => to.end(), delayMs))
  from.on('error', () => to.destroy())
}

/** Where TCP connections go; by default to 127.0.0.1. */
interface Place {
  readonly host?: string
  readonly port: number
}

const LOOPBACK = '127.0.0.1'

/** A way to a port that takes time. */
export type Delay = Awaited<ReturnType<typeof startDelay>>

/**
 * Listens at `from` and leads every connection to `to`, with `delayMs` in each direction. It does what `tc netem delay`
 * does for a link without loss, needs no root and no module of the kernel, and limits no rate.
 */
export async function startDelay(from: Place, to: Place, delayMs: number) {
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    const far = connect({ host: LOOPBACK, ...to, noDelay: true, allowHalfOpen: true })
    for (const socket of [near, far]) {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
    }
    carry(near, far, delayMs)
    carry(far, near, delayMs)
  })
  server.listen({ host: LOOPBACK, ...from })
  await once(server, 'listening')
  return {
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
