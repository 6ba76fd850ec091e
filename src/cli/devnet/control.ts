import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { isObject, parseJson } from '../../base/json.ts'
import { UserError } from '../../node/errors.ts'
import { socketPathOf } from '../../node/paths.ts'

/** The file name of the socket over which a running devnet takes orders. Only its user can open it. */
export const CONTROL_SOCKET = 'devnet.sock'

const ORDER_BYTES_MAX = 1024

/** How long a devnet may take to carry out an order, in ms. */
const ORDER_MS_MAX = 180_000

/** What a running devnet can be told to do. */
export type Order = { readonly do: 'snapshot' } | { readonly do: 'revert'; readonly id: number }

/** What an order led to: the snapshot, and the height of the head with which the devnet is running again. */
export interface Done {
  readonly snapshot: number
  readonly height: number
}

type Answer = Done | { readonly error: string }

/** An order that waits to be carried out, and the function that answers it. */
export interface PendingOrder {
  readonly order: Order
  readonly answer: (answer: Answer) => void
}

function readOrder(line: string): Order | undefined {
  const order = parseJson(line)
  if (!isObject(order)) return undefined
  if (order['do'] === 'snapshot') return { do: 'snapshot' }
  return order['do'] === 'revert' && Number.isSafeInteger(order['id'])
    ? { do: 'revert', id: order['id'] as number }
    : undefined
}

/** Calls `onLine` with the first line of at most ORDER_BYTES_MAX bytes, and ends a connection that sends more. */
function onFirstLine(socket: Socket, onLine: (line: string) => void): void {
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (piece: string) => {
    text += piece
    const end = text.indexOf('\n')
    if (text.length > ORDER_BYTES_MAX) socket.destroy()
    else if (end >= 0) {
      socket.removeAllListeners('data').resume()
      onLine(text.slice(0, end))
    }
  })
}

/**
 * Listens in the home for orders: one line of JSON on a connection, answered with another. It takes one order at a time,
 * and none before `next` has been called. `check` throws an Error when the order cannot be carried out.
 */
export async function listenForOrders(home: string, check: (order: Order) => void) {
  const path = socketPathOf(home, CONTROL_SOCKET)
  let take: ((pending: PendingOrder) => void) | undefined
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    const answer = (one: Answer): void => void socket.end(`${JSON.stringify(one)}\n`)
    onFirstLine(socket, (line) => {
      const order = readOrder(line)
      if (order === undefined) return answer({ error: 'expected an order in JSON' })
      if (take === undefined)
        return answer({ error: 'the devnet is starting, or carrying out another order; try again' })
      try {
        check(order)
      } catch (error) {
        return answer({ error: (error as Error).message })
      }
      take({ order, answer })
      take = undefined
    })
  })
  server.maxConnections = 16
  rmSync(path, { force: true }) // Left over by a devnet that was killed: the home is locked, so there is no other.
  await new Promise<void>((done, failed) => server.once('error', failed).listen(path, done))
  return {
    /** Resolves with the next order. */
    next: (): Promise<PendingOrder> => new Promise((resolve) => (take = resolve)),
    close: (): void => void server.close(),
  }
}

/** Tells the devnet that runs in `home` to do something, and waits until it has. Throws a UserError if it cannot. */
export async function sendOrder(home: string, order: Order): Promise<Done> {
  const socket = connect(socketPathOf(home, CONTROL_SOCKET))
  socket.setTimeout(ORDER_MS_MAX, () => socket.destroy(new Error(`it did not answer within ${ORDER_MS_MAX / 1000} s`)))
  try {
    socket.write(`${JSON.stringify(order)}\n`)
    let line: string | undefined
    for await (line of createInterface({ input: socket })) break
    if (line === undefined) throw new Error('it ended before it was done')
    const answer = JSON.parse(line) as Answer
    if ('error' in answer) throw new UserError(answer.error)
    return answer
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof UserError) throw error
    throw new UserError(
      code === 'ENOENT' || code === 'ECONNREFUSED'
        ? `no devnet is running in ${home}. Start one with svcd devnet, or name its home with --home DIR`
        : `the devnet in ${home}: ${message}`,
    )
  } finally {
    socket.destroy()
  }
}
