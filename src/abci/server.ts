import { lstatSync, unlinkSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type ListenOptions, type Server } from 'node:net'
import { isLoopback } from '../base/loopback.ts'
import { type Connection, type ConnectionContext, createDialect } from './context.ts'
import { openConnection } from './connection.ts'
import { createDrivers, DRIVER_WAIT_MS } from './drivers.ts'
import { abciError, FRAME_BYTES_LIMIT, FRAME_BYTES_MAX } from './frame.ts'
import type { Application, RequestKind } from './types.ts'

/** Connections at once; a node holds four. More are closed as they come. */
export const CONNECTIONS_MAX = 64
/** A TCP peer that says nothing for so long is asked whether it lives, ten times within 10 s. */
export const KEEP_ALIVE_MS = 1000
/** How long a server that may listen on our socket already has to accept a connection. */
const LOOK_MS = 1000

/** Where the server tells what it sees; pino fits. */
export interface AbciLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** What a server is made of. */
export interface AbciServerOptions {
  readonly application: Application
  /** `unix:///path` or `tcp://host:port`; port 0 takes a free one. */
  readonly address: string
  /** The longest request in bytes: FRAME_BYTES_MAX unless given, 2^31 − 1 at most. */
  readonly frameBytesMax?: number
  /**
   * How long a second node waits for the first one to be gone before it is refused, in ms: DRIVER_WAIT_MS unless given.
   */
  readonly driverWaitMs?: number
  /**
   * Called once, with the first error that a handler threw or rejected with, or a TypeError for a response that no
   * message can hold. The server sends nothing from then on: the program is expected to stop. An exception reply would
   * stop the node instead.
   */
  readonly onFatal: (error: unknown, kind: RequestKind) => void
  readonly logger?: AbciLogger
}

/** A listening server. */
export interface AbciServer {
  /** As given, with the real port. */
  readonly address: string
  /**
   * Takes no more connections, answers the requests that were started, closes the others' sockets. Bound:
   * CLOSE_GRACE_MS.
   */
  close(): Promise<void>
}

/**
 * Serves `application` to the node that connects, until `close`. One node drives at a time (see Drivers); others may
 * ask. A unix socket has mode 0600; a TCP address that is not loopback is warned of. Errors: `address` for an address
 * that is none, `inUse` for a unix socket on which another server listens, otherwise the system's own.
 */
export async function startAbciServer(options: AbciServerOptions): Promise<AbciServer> {
  const { application, address, frameBytesMax = FRAME_BYTES_MAX, driverWaitMs = DRIVER_WAIT_MS, logger } = options
  if (!Number.isSafeInteger(frameBytesMax) || frameBytesMax < 1 || frameBytesMax > FRAME_BYTES_LIMIT) {
    throw new RangeError(`frameBytesMax must be an integer from 1 to ${FRAME_BYTES_LIMIT}, got ${frameBytesMax}`)
  }
  const listen = parseAddress(address)
  const connections = new Set<Connection>()
  let dead = false
  const schedule = createScheduler()
  const context: ConnectionContext = {
    application,
    frameBytesMax,
    dialect: createDialect(),
    drivers: createDrivers(driverWaitMs, schedule),
    schedule,
    fatal: (error, kind) => {
      if (dead) return
      dead = true
      options.onFatal(error, kind)
    },
    isDead: () => dead,
    warn: (fields, message) => logger?.warn(fields, message),
  }
  const settings = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
  const server = createServer(settings, (socket) => {
    const connection = openConnection(socket, context)
    connections.add(connection)
    socket.once('close', () => {
      connections.delete(connection)
      context.drivers.leave(connection)
    })
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

/** Where `unix:///path` or `tcp://host:port` listens; port 0 takes a free one. Errors: `address` for any other text. */
function parseAddress(address: string): ListenOptions {
  const unix = /^unix:\/\/(.+)$/.exec(address)
  if (unix !== null) return { path: unix[1] as string }
  const tcp = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^:/[\]]+)):(\d{1,5})$/.exec(address)
  const port = Number(tcp?.[3])
  if (tcp === null || port > 65_535)
    throw abciError('address', `not an ABCI address: ${address}; expected unix:///path or tcp://host:port`)
  return { host: (tcp[1] ?? tcp[2]) as string, port }
}

/** True where only this machine can connect: a unix socket, localhost, a loopback address. */
export function isLocalAddress(address: string): boolean {
  const { path, host } = parseAddress(address)
  return path !== undefined || isLoopback(host ?? '')
}

/**
 * Removes the socket file that a dead server left at `path`; nothing when there is none.
 * Errors: `inUse` when a server listens on it, or when the file is no socket: neither is ours to remove.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw abciError('inUse', `${path} is there and is no socket`)
  if (await isListening(path)) throw abciError('inUse', `another server listens on ${path}`)
  unlinkSync(path)
}

// Only a refused connection proves that nobody listens; a full backlog or a slow one means that somebody does.
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

/** Listens. A unix socket is for its owner alone from the first moment on: the mode is set where the file is made. */
async function listenAt(server: Server, listen: ListenOptions): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', resolve)
  })
  const mask = listen.path === undefined ? undefined : process.umask(0o177)
  try {
    server.listen(listen) // makes the file before it returns
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

/** One turn a connection, round and round, with the sockets polled between the rounds: none can starve another. */
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
