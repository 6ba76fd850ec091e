/**
 * The strangers' process: takes one AttackJob, runs it for its time, closes every socket, answers with an AttackTally
 * and ends.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { textFrame } from '../../bench/load/websocket.ts'
import { type AttackJob, type AttackTally, STAMP } from './job.ts'

/** Requests that a slow reader sends before it stops reading: together more than the kernel's buffers hold. */
const UNREAD_REQUESTS = 8
const SLOW_BYTE_EVERY_MS = 250
/** A stranger who was turned away comes back after this. */
const RETRY_MS = 20
const CODE = /"code":(-?[1-9]\d*)/
const CODE_WITHIN = 200

const counts = new Map<string, number>()
const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
  begin()
}
let stamps = 0
const nextStamp = (): string => String(stamps++ % 10 ** STAMP.length).padStart(STAMP.length, '0')

/** A body, and where its stamps stand. */
function stamped(text: string): () => Buffer {
  const body = Buffer.from(text)
  const places: number[] = []
  for (let at = text.indexOf(STAMP); at >= 0; at = text.indexOf(STAMP, at + STAMP.length)) places.push(at)
  return () => {
    for (const place of places) body.write(nextStamp(), place, 'latin1')
    return places.length === 0 ? body : Buffer.from(body)
  }
}

const addressOf = (connection: number, { addresses }: AttackJob): string => `127.0.0.${2 + (connection % addresses)}`

/** One request whose answer is read and thrown away. Resolves with how it ended. */
const askOnce = (client: Client, body: Buffer): Promise<string> =>
  new Promise((done) => {
    let end = 'answered'
    let isFirst = true
    client.dispatch(
      {
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status) => {
          if (status !== 200) end = `HTTP ${status}`
        },
        onResponseData: (_controller, chunk) => {
          if (isFirst && end === 'answered') end = CODE.exec(chunk.toString('latin1', 0, CODE_WITHIN))?.[1] ?? end
          isFirst = false
        },
        onResponseEnd: () => done(end),
        onResponseError: (_controller, error) => done((error as { code?: string }).code ?? error.message),
      },
    )
  })

async function ask(job: AttackJob, closing: AbortSignal): Promise<void> {
  const makers = job.bodies.map(stamped)
  await Promise.all(
    Array.from({ length: job.connections }, async (_, connection) => {
      const client = new Client(`http://${job.target.host}:${job.target.port}`, {
        pipelining: 1,
        localAddress: addressOf(connection, job),
      })
      closing.addEventListener('abort', () => void client.destroy().catch(() => undefined))
      // Connections share the bodies out, so that one sends all of one sender's transactions, in their order.
      for (let turn = connection; !closing.aborted; turn += job.connections) {
        const end = await askOnce(client, (makers[turn % makers.length] as () => Buffer)())
        if (closing.aborted) break
        count(end)
        if (end !== 'answered') await sleep(RETRY_MS, undefined, { signal: closing }).catch(() => undefined)
      }
    }),
  )
}

/** A connection that is opened again whenever it is closed. `use` is called with each. */
async function keepOpen(
  job: AttackJob,
  closing: AbortSignal,
  connection: number,
  use: (socket: Socket) => void,
): Promise<void> {
  while (!closing.aborted) {
    const socket = connect({ ...job.target, localAddress: addressOf(connection, job), noDelay: true })
    socket.pause()
    socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? error.message))
    socket.once('connect', () => {
      count('connected')
      use(socket)
    })
    const close = (): void => void socket.destroy()
    closing.addEventListener('abort', close)
    if (closing.aborted) close()
    await once(socket, 'close').catch(() => undefined)
    closing.removeEventListener('abort', close)
    await sleep(RETRY_MS, undefined, { signal: closing }).catch(() => undefined)
  }
}

/** Keeps as many connections open as the job has. `use` is called with each. */
const keepAllOpen = (
  job: AttackJob,
  closing: AbortSignal,
  use: (socket: Socket, at: number) => void,
): Promise<unknown> =>
  Promise.all(
    Array.from({ length: job.connections }, (_, at) => keepOpen(job, closing, at, (socket) => use(socket, at))),
  )

function requestOf({ target: { host, port } }: AttackJob, body: string): string {
  const head = [`Host: ${host}:${port}`, 'Content-Type: application/json', `Content-Length: ${body.length}`].join(
    '\r\n',
  )
  return `POST / HTTP/1.1\r\n${head}\r\n\r\n${body}`
}

const neverRead = (job: AttackJob, closing: AbortSignal): Promise<unknown> => {
  const requests = requestOf(job, job.bodies[0] as string).repeat(UNREAD_REQUESTS)
  return keepAllOpen(job, closing, (socket) => void socket.write(requests))
}

/** Half of them are slow from the first header on, the other half send a whole head and are slow in the body. */
async function writeSlowly(job: AttackJob, closing: AbortSignal): Promise<void> {
  const request = requestOf(job, `${job.bodies[0] as string}${' '.repeat(2000)}`)
  const headEnd = request.indexOf('\r\n\r\n') + 4
  const open = new Map<Socket, number>()
  const writing = keepAllOpen(job, closing, (socket, at) => {
    const from = at % 2 === 0 ? 0 : headEnd
    socket.write(request.slice(0, from))
    // What the other side says is read: only then is its close seen.
    socket.resume()
    open.set(socket, from)
    socket.once('close', () => open.delete(socket))
  })
  while (!closing.aborted) {
    await sleep(SLOW_BYTE_EVERY_MS, undefined, { signal: closing }).catch(() => undefined)
    for (const [socket, at] of open) {
      if (!socket.writable) continue
      socket.write(request.slice(at, at + 1))
      open.set(socket, at + 1)
    }
  }
  await writing
}

/** What opens a websocket, and its messages. */
function socketBytes({ target: { host, port } }: AttackJob, messages: readonly string[]): Buffer {
  const upgrade =
    `GET / HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  return Buffer.concat([Buffer.from(upgrade), ...messages.map(textFrame)])
}

const neverReadSocket = (job: AttackJob, closing: AbortSignal): Promise<unknown> => {
  const bytes = socketBytes(job, Array<string>(UNREAD_REQUESTS).fill(job.bodies[0] as string))
  return keepAllOpen(job, closing, (socket) => void socket.write(bytes))
}

/** Opens websockets, sends all messages on each, and ends it before any answer can have come. */
const hangUp = (job: AttackJob, closing: AbortSignal): Promise<unknown> => {
  const bytes = socketBytes(job, job.bodies)
  return keepAllOpen(job, closing, (socket) => void socket.write(bytes, () => socket.destroy()))
}

/** Opens a websocket beside each connection, sends its messages, and reads whatever comes. */
async function listen(job: AttackJob, closing: AbortSignal): Promise<void> {
  if (job.subscriptions.length === 0) return
  const bytes = socketBytes(job, job.subscriptions)
  await keepAllOpen(job, closing, (socket) => void socket.resume().write(bytes))
}

const MANNERS = { ask, neverRead, neverReadSocket, writeSlowly, hangUp }

process.once('disconnect', () => process.exit(1))
const [job] = (await once(process, 'message')) as [AttackJob]
const closing = new AbortController()
void Promise.race([begun, sleep(job.firstMsMax)]).then(() => setTimeout(() => closing.abort(), job.durationMs))
await Promise.all([MANNERS[job.manner](job, closing.signal), listen(job, closing.signal)])
const tally: AttackTally = Object.fromEntries(counts)
process.send?.(tally, () => process.exit(0))
