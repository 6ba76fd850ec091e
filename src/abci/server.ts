import { lstatSync, unlinkSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type ListenOptions, type Server } from 'node:net'
import { isLocalAddress, needAddress } from './address.ts'
import type { Connection, ConnectionContext } from './context.ts'
import { openConnection } from './connection.ts'
import { createDrivers, DRIVER_WAIT_MS } from './drivers.ts'
import { abciError, FRAME_BYTES_LIMIT, FRAME_BYTES_MAX } from './frame.ts'
import { handlersOf } from './handlers.ts'
import type { Application, RequestKind } from './types.ts'

/**
 * The most connections at a time, of which a node holds four. Further ones are closed as they come.
 * @example console.log(`room for ${CONNECTIONS_MAX / 4} nodes`)
 */
export const CONNECTIONS_MAX = 64
/** After this much silence a TCP peer is probed, ten times within 10 s. */
export const KEEP_ALIVE_MS = 1000
/** How long a server that already listens on our socket may take to accept a connection. */
const LOOK_MS = 1000

/**
 * Where the server reports what happens. A pino logger fits.
 * @example const logger: AbciLogger = { info: () => {}, warn: (fields, message) => console.warn(message, fields) }
 */
export interface AbciLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/**
 * The settings of a server.
 * @example const options: AbciServerOptions = { application, address: 'tcp://127.0.0.1:26658', onFatal: console.error }
 */
export interface AbciServerOptions {
  readonly application: Application
  /** `unix:///path` or `tcp://host:port`. Port 0 selects a free port. */
  readonly address: string
  /** The largest request in bytes, at most 2^31 − 1. Default: FRAME_BYTES_MAX. */
  readonly frameBytesMax?: number
  /** How long a second node waits for the first one to disconnect before it is refused, in ms. Default: 15,000. */
  readonly driverWaitMs?: number
  /**
   * Called once, with the first error that a handler threw or rejected with, or with a TypeError for a response that no
   * message can hold. The server sends nothing from then on, and the program should stop. An exception reply would make
   * the node stop instead. Default: the error is thrown where nothing catches it, so that Node prints it and ends.
   */
  readonly onFatal?: (error: unknown, kind: RequestKind) => void
  /**
   * Called with transactions that have arrived and whose CheckTx is not started yet, in their order, so that another
   * thread can begin with them. Not every transaction is among them, and no recheck. Their bytes are views of the
   * received packet, which the callback has to copy. What it throws is fatal.
   */
  readonly onReadAhead?: (txs: readonly Uint8Array[]) => void
  readonly logger?: AbciLogger
}

/**
 * A server that listens.
 * @example process.once('SIGTERM', () => server.close())
 */
export interface AbciServer {
  /** The address given, with the actual port. */
  readonly address: string
  /** Answers the requests that were started, and closes all connections. Takes at most 2 s. */
  close(): Promise<void>
}

/**
 * Serves `application` to a CometBFT node until `close`. Only one node at a time may send requests that change the
 * state; queries are answered on every connection. A unix socket gets mode 0600, and a TCP address that is not loopback
 * is reported as a warning. Rejects with an error whose `code` is `address` for a malformed address, `inUse` for a unix
 * socket on which another server listens, or otherwise the system's own code.
 * @example const server = await startAbciServer({ application, address: 'tcp://127.0.0.1:26658', onFatal })
 */
export async function startAbciServer(options: AbciServerOptions): Promise<AbciServer> {
  const { application, address, frameBytesMax = FRAME_BYTES_MAX, driverWaitMs = DRIVER_WAIT_MS, logger } = options
  const { onFatal = throwUncaught } = options
  if (!Number.isSafeInteger(frameBytesMax) || frameBytesMax < 1 || frameBytesMax > FRAME_BYTES_LIMIT) {
    throw new RangeError(`frameBytesMax must be an integer from 1 to ${FRAME_BYTES_LIMIT}, got ${frameBytesMax}`)
  }
  const handlers = handlersOf(application)
  const listen = needAddress(address)
  const connections = new Set<Connection>()
  let dead = false
  const schedule = createScheduler()
  const context: ConnectionContext = {
    handlers,
    frameBytesMax,
    drivers: createDrivers(driverWaitMs, schedule),
    onReadAhead: options.onReadAhead,
    isLegacy: false,
    foldedAppHash: undefined,
    schedule,
    fatal: (error, kind) => {
      if (dead) return
      dead = true
      onFatal(error, kind)
    },
    isDead: () => dead,
    warn: (fields, message) => logger?.warn(fields, message),
  }
  const settings = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
  const server = createServer(settings, (socket) => {
    const connection = openConnection(socket, context)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
    logger?.info({ connections: connections.size }, 'abci: connected')
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('drop', () => logger?.warn({ connections: connections.size }, 'abci: too many connections, one refused'))

  if (listen.path !== undefined) await removeStaleSocket(listen.path)
  await listenAt(server, listen)
  if (!isLocalAddress(address))
    logger?.warn({ address }, 'abci: whoever reaches this address can drive the chain: use a unix socket')
  server.on('error', (error) => logger?.warn({ err: error }, 'abci: listening failed'))

  let closed: Promise<void> | undefined
  return {
    address:
      listen.path === undefined ? address.replace(/\d+$/, String((server.address() as AddressInfo).port)) : address,
    close: () => (closed ??= closeAll(server, connections)),
  }
}

function throwUncaught(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}

/**
 * Removes the socket file that a dead server left at `path`, if there is one. Throws `inUse` when a server listens on
 * it, or when the file is not a socket: neither may be removed.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw abciError('inUse', `${path} is there and is no socket`)
  if (await isListening(path)) throw abciError('inUse', `another server listens on ${path}`)
  unlinkSync(path)
}

// Only a refused connection proves that nobody listens. With a full backlog or a slow response somebody does.
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (listening: boolean): void => {
      socket.destroy()
      resolve(listening)
    }
    socket.setTimeout(LOOK_MS, () => settle(true))
    socket.once('connect', () => settle(true))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    )
  })
}

/** Listens. The umask gives a unix socket its mode at creation, so that it is never open to other users. */
async function listenAt(server: Server, listen: ListenOptions): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', resolve)
  })
  const mask = listen.path === undefined ? undefined : process.umask(0o177)
  try {
    server.listen(listen) // creates the file before it returns
  } finally {
    if (mask !== undefined) process.umask(mask)
  }
  await listening
  server.removeAllListeners('error')
}

async function closeAll(server: Server, connections: ReadonlySet<Connection>): Promise<void> {
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
  await Promise.all([...connections].map((connection) => connection.close()))
  await stopped
}

/** Gives each waiting connection one turn per round, and polls the sockets between rounds, so that none can starve. */
function createScheduler(): (connection: Connection) => void {
  let waiting = new Set<Connection>()
  const round = (): void => {
    const now = waiting
    waiting = new Set()
    for (const connection of now) connection.turn()
  }
  return (connection) => {
    if (waiting.size === 0) setImmediate(round)
    waiting.add(connection)
  }
}
