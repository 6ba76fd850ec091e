import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { abci } from '../../src/codec/gen/abci.js'
import type { StaticMessage } from '../../src/codec/protobuf.ts'
import { createFrameReader } from '../../src/abci/frame.ts'
import { type TempFolder, tempFolder } from '../support/tempFolder.ts'
import { varint } from './wireBytes.ts'
import {
  type AbciServer,
  type AbciServerOptions,
  type Application,
  baseApplication,
  startAbciServer,
} from '../../src/abci/index.ts'

const Request = abci['Request'] as StaticMessage
const Response = abci['Response'] as StaticMessage

/** A varint length and the bytes. */
export const frameOf = (body: Uint8Array): Buffer => Buffer.concat([varint(BigInt(body.length)), body])

/** The frame of one request, as a node writes it. */
export const requestFrame = (kind: string, request: object = {}): Buffer =>
  frameOf(Request.encode({ [kind]: request }).finish())

/** A decoded reply: its kind and its members, defaults left out. */
export function readReply(body: Uint8Array): { kind: string; value: Record<string, unknown> } {
  const [kind, value] = Object.entries(Response.decode(body)).at(0) ?? ['none', {}]
  return { kind, value: { ...(value as object) } }
}

/** A decoded message, and those within it, as a plain object of what was sent. */
export function sent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sent)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  const isSent = ([, one]: [string, unknown]): boolean => !Array.isArray(one) || one.length > 0
  return Object.fromEntries(
    Object.entries(value)
      .filter(isSent)
      .map(([name, one]) => [name, sent(one)]),
  )
}

/** A node's end of a connection. */
export interface Peer {
  readonly socket: Socket
  readonly replies: { kind: string; value: Record<string, unknown> }[]
  /** The codes of the errors the socket had. */
  readonly errors: (string | undefined)[]
  send(...frames: Uint8Array[]): void
  /** Settles when `count` replies have come in all. */
  until(count: number): Promise<Peer['replies']>
  /** Settles when the server has closed. */
  closed(): Promise<void>
}

/** Connects to a server's address. */
export async function connectPeer(address: string): Promise<Peer> {
  const socket = address.startsWith('unix://')
    ? connect(address.slice(7))
    : connect(Number(address.split(':').at(-1)), '127.0.0.1')
  await once(socket, 'connect')
  const frames = createFrameReader()
  const replies: Peer['replies'] = []
  let wake: () => void = () => undefined
  const errors: Peer['errors'] = []
  socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code))
  socket.on('end', () => wake())
  socket.on('close', () => wake())
  socket.on('data', (packet: Buffer) => {
    frames.push(packet)
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) replies.push(readReply(frame))
    wake()
  })
  return {
    socket,
    replies,
    errors,
    send: (...frames_) => socket.write(Buffer.concat(frames_)),
    until: async (count) => {
      while (replies.length < count) {
        if (socket.destroyed || socket.readableEnded)
          throw new Error(`closed after ${replies.length}: ${JSON.stringify(replies.at(-1))}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return replies
    },
    closed: async () => {
      if (!socket.destroyed) await once(socket, 'close')
    },
  }
}

/** The handlers given, and nothing of its own for what only 0.37 asks. */
export function applicationOf(handlers: Application = {}): Application {
  const nothing = (): object => ({})
  return {
    beginBlock: nothing,
    deliverTx: nothing,
    endBlock: nothing,
    finalizeBlock: baseApplication.finalizeBlock,
    ...handlers,
  }
}

const folders: TempFolder[] = []
const servers: AbciServer[] = []

/** A path for a unix socket in a new folder. */
export function socketPath(): string {
  const folder = tempFolder('abci')
  folders.push(folder)
  return join(folder.path, 'abci.sock')
}

/** A server on a unix socket of its own, closed by `closeAll`; a fatal error fails the test that does not expect it. */
export async function serve(application: Application, options: Partial<AbciServerOptions> = {}): Promise<AbciServer> {
  const onFatal = (error: unknown): never => {
    throw error
  }
  const server = await startAbciServer({ application, address: `unix://${socketPath()}`, onFatal, ...options })
  servers.push(server)
  return server
}

/** Closes every server and removes every folder. */
export async function closeAll(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()))
  for (const folder of folders.splice(0)) folder.remove()
}

/** Settles after `ms` milliseconds. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
