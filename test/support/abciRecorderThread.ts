/** The thread of a recorder: abciRecorder.ts. */
import { connect, createServer, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { descriptor } from '../../src/codec/gen/abci.descriptor.js'
import { type Call, createGrammar, type Grammar } from '../../src/abci/testing/index.ts'
import type { SocketAddress } from './abciRecorder.ts'

const { listen, application } = workerData as { readonly listen: SocketAddress; readonly application: SocketAddress }

/** Connections that one CometBFT opens: consensus, mempool, query, snapshot. */
const CONNECTIONS_OF_RUN = 4
/** How many calls are told with a violation. */
const LAST_CALLS = 20
/** How much of a message is looked at. The height in an answer to Info is within it. */
const SEEN_BYTES_MAX = 512

const kindsOf = (message: string): ReadonlyMap<number, string> =>
  new Map((descriptor[message]?.fields ?? []).map(({ id, name }) => [id, name]))
const requests = kindsOf('abci.Request')
const replies = kindsOf('abci.Response')

/** Reads a varint at `at`; undefined when it does not end within the bytes. */
function varint(bytes: Buffer, at: number): { readonly value: number; readonly next: number } | undefined {
  let value = 0
  for (let next = at; next < bytes.length; next++) {
    const byte = bytes[next] as number
    value += (byte & 0x7f) * 2 ** (7 * (next - at))
    if (byte < 0x80) return { value, next: next + 1 }
  }
  return undefined
}

/** Calls `onMessage` with the first bytes of each message of a stream, whose lengths stand before them. */
function messagesOf(onMessage: (start: Buffer) => void): (packet: Buffer) => void {
  let header = Buffer.alloc(0)
  let start: Buffer[] = []
  let [seen, left] = [0, 0]
  return (packet) => {
    let rest = packet
    while (rest.length > 0) {
      if (left === 0) {
        header = Buffer.concat([header, rest.subarray(0, 10)])
        const length = varint(header, 0)
        if (length === undefined) return
        const taken = length.next - (header.length - Math.min(10, rest.length))
        rest = rest.subarray(taken)
        header = Buffer.alloc(0)
        ;[start, seen, left] = [[], 0, length.value]
      }
      const piece = rest.subarray(0, left)
      rest = rest.subarray(piece.length)
      left -= piece.length
      if (seen < SEEN_BYTES_MAX) start.push(Buffer.from(piece.subarray(0, SEEN_BYTES_MAX - seen)))
      seen += piece.length
      if (left === 0) onMessage(Buffer.concat(start))
    }
  }
}

const kindIn = (start: Buffer, kinds: ReadonlyMap<number, string>): string => {
  const tag = varint(start, 0)?.value ?? 0
  return kinds.get(tag >>> 3) ?? `kind ${tag >>> 3}`
}

/** `last_block_height` of an answer to Info, which is not written when it is 0. */
function heightIn(start: Buffer): number {
  let at = varint(start, 0)?.next ?? start.length
  at = varint(start, at)?.next ?? start.length
  while (at < start.length) {
    const tag = varint(start, at)
    const value = tag && varint(start, tag.next)
    if (tag === undefined || value === undefined) break
    if (tag.value === 4 * 8) return value.value
    at = value.next + (tag.value % 8 === 2 ? value.value : 0)
  }
  return 0
}

interface Run {
  readonly grammar: Grammar
  readonly last: Call[]
  readonly sockets: Set<Socket>
  opened: number
}

const runs: Run[] = []
let calls = 0
let violation: string | undefined

function take(run: Run, call: Call): void {
  calls += 1
  run.last.push(call)
  if (run.last.length > LAST_CALLS) run.last.shift()
  const why = run.grammar.next(call)
  if (why === undefined) return
  const told = run.last.map((one) => ('height' in one ? `info(${one.height})` : one.kind)).join(' ')
  violation ??= `run ${runs.indexOf(run) + 1}: ${why}, after ${told}`
}

/** The run that a new connection belongs to: a CometBFT opens all of its connections when it starts. */
function runOf(): Run {
  const last = runs.at(-1)
  if (last !== undefined && last.opened < CONNECTIONS_OF_RUN && last.sockets.size > 0) return last
  const run = { grammar: createGrammar(), last: [], sockets: new Set<Socket>(), opened: 0 }
  runs.push(run)
  return run
}

const server = createServer({ allowHalfOpen: true }, (node) => {
  const run = runOf()
  run.opened += 1
  run.sockets.add(node)
  const app = connect({ ...application, allowHalfOpen: true })
  node.on(
    'data',
    messagesOf((start) => {
      const kind = kindIn(start, requests)
      // With the height that is answered.
      if (kind !== 'info') take(run, { kind })
    }),
  )
  app.on(
    'data',
    messagesOf((start) => {
      if (kindIn(start, replies) === 'info') take(run, { kind: 'info', height: heightIn(start) })
    }),
  )
  node.pipe(app)
  app.pipe(node)
  for (const [one, other] of [
    [node, app],
    [app, node],
  ] as const) {
    one.on('error', () => {})
    one.once('close', () => other.destroy())
  }
  node.once('close', () => run.sockets.delete(node))
})
server.listen(listen, () => parentPort?.postMessage('listening'))

parentPort?.once('message', () => {
  server.close()
  for (const { sockets } of runs) for (const socket of sockets) socket.destroy()
  parentPort?.postMessage({ runs: runs.length, calls, violation })
})
