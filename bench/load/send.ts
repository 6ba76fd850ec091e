import { setTimeout as sleep } from 'node:timers/promises'
import { type BlockWatch, watchBlocks } from './blocks.ts'
import { openLane } from './http.ts'
import type { Measured, Span, Target } from './job.ts'
import { watchLanded } from './landed.ts'
import { measure } from './measure.ts'
import { LANES, type Pool } from './pool.ts'
import { openWebSocket, type RawWebSocket, textFrame } from './websocket.ts'

const BATCH = 32
// When a connection is closed, the node drops what it has not read of it, and all that the same senders send later fails.
const DRAIN_MS_MAX = 90_000

const asyncFrame = (tx: string): Buffer =>
  textFrame(`{"jsonrpc":"2.0","id":1,"method":"broadcast_tx_async","params":{"tx":"${tx}"}}`)

interface Feeding {
  readonly pool: Pool
  readonly sentAt: number[]
  refused: number
}

/**
 * Waits until all that was sent is in blocks, or DRAIN_MS_MAX has passed, and says what went through from `fromMs` to
 * `toMs`.
 */
async function drained(
  feeding: Feeding,
  { blocks, committed }: BlockWatch,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<Measured> {
  // Refusals still come while this waits.
  const isMissing = (): boolean => committed() < feeding.sentAt.length - feeding.refused
  for (const end = performance.now() + DRAIN_MS_MAX; isMissing() && performance.now() < end; ) await sleep(20)
  return measure({ blocks, sentAt: feeding.sentAt, refused: feeding.refused, fromMs, toMs })
}

/** LANES websockets that send `broadcast_tx_async`. */
async function openSockets(
  { host, port }: Target,
  feeding: Feeding,
  onDrain: (socket: number) => void,
): Promise<readonly RawWebSocket[]> {
  return Promise.all(
    Array.from({ length: LANES }, (_, at) =>
      openWebSocket(host, port, {
        onMessage: (text) => {
          // An answer begins {"jsonrpc":"2.0","id":1,"result" or "error".
          if (text[25] === 0x65) feeding.refused++
        },
        onDrain: () => onDrain(at),
      }),
    ),
  )
}

function sendFrom({ pool, sentAt }: Feeding, lane: number, socket: RawWebSocket, count: number): boolean {
  const frames: Buffer[] = []
  const nowMs = performance.now()
  for (let n = 0; n < count; n++) {
    frames.push(asyncFrame(pool.take(lane, LANES)))
    sentAt.push(nowMs)
  }
  return socket.write(Buffer.concat(frames))
}

/** Sends as much as the node takes, with at most `window` transactions that are in no block yet. */
export async function saturate(
  target: Target,
  pool: Pool,
  window: number,
  { warmUpMs, measuredMs }: Span,
): Promise<Measured> {
  const feeding: Feeding = { pool, sentAt: [], refused: 0 }
  const full = new Array<boolean>(LANES).fill(false)
  let running = false // blocks may come before `watch` is there
  const pump = (): void => {
    for (let at = 0; running && at < LANES; at = (at + 1) % LANES) {
      const room = window - (feeding.sentAt.length - watch.committed())
      if (room < BATCH || full.every((one) => one)) return
      if (full[at] !== true) full[at] = !sendFrom(feeding, at, sockets[at] as RawWebSocket, BATCH)
    }
  }
  const sockets = await openSockets(target, feeding, (at) => {
    full[at] = false
    pump()
  })
  const watch = await watchBlocks(target, () => pump())
  const startMs = performance.now()
  running = true
  pump()
  await sleep(warmUpMs + measuredMs)
  running = false
  const endMs = performance.now()
  const measured = await drained(feeding, watch, { fromMs: startMs + warmUpMs, toMs: endMs })
  for (const socket of [...sockets, watch]) socket.close()
  return measured
}

/** Sends `perSecond` transactions a second, whatever the node does. */
export async function openLoop(
  target: Target,
  pool: Pool,
  perSecond: number,
  { warmUpMs, measuredMs }: Span,
): Promise<Measured> {
  const feeding: Feeding = { pool, sentAt: [], refused: 0 }
  const sockets = await openSockets(target, feeding, () => undefined)
  const watch = await watchBlocks(target, () => undefined)
  const startMs = performance.now()
  for (let turn = 0; performance.now() < startMs + warmUpMs + measuredMs; turn++) {
    const due = Math.floor(((performance.now() - startMs) / 1000) * perSecond) - feeding.sentAt.length
    if (due > 0) sendFrom(feeding, turn % LANES, sockets[turn % LANES] as RawWebSocket, due)
    await sleep(1)
  }
  const endMs = performance.now()
  const measured = await drained(feeding, watch, { fromMs: startMs + warmUpMs, toMs: endMs })
  for (const socket of [...sockets, watch]) socket.close()
  return measured
}

async function sendInTurn(
  target: Target,
  pool: Pool,
  senders: number,
  { warmUpMs, measuredMs }: Span,
  landed?: (tx: string) => Promise<void>,
): Promise<Measured> {
  const feeding: Feeding = { pool, sentAt: [], refused: 0 }
  const watch = await watchBlocks(target, () => undefined)
  const lanes = await Promise.all(Array.from({ length: senders }, () => openLane(target.host, target.port)))
  const startMs = performance.now()
  const endMs = startMs + warmUpMs + measuredMs
  await Promise.all(
    lanes.map(async (lane, at) => {
      while (performance.now() < endMs) {
        const tx = pool.take(at, senders)
        const inBlock = landed?.(tx)
        feeding.sentAt.push(performance.now())
        const body = await lane.post(`{"jsonrpc":"2.0","id":1,"method":"broadcast_tx_sync","params":{"tx":"${tx}"}}`)
        if (body.includes('"code":0,')) await inBlock
        else feeding.refused++
      }
      lane.close()
    }),
  )
  const measured = await drained(feeding, watch, { fromMs: startMs + warmUpMs, toMs: endMs })
  watch.close()
  return measured
}

/** `senders` connections that each send the next `broadcast_tx_sync` when the one before is answered. */
export const closedLoop = (target: Target, pool: Pool, senders: number, span: Span): Promise<Measured> =>
  sendInTurn(target, pool, senders, span)

/**
 * The same, but each sends its next when the one before is in a block: what a gateway that costs nothing could serve.
 */
export async function blockLoop(target: Target, pool: Pool, senders: number, span: Span): Promise<Measured> {
  const watch = await watchLanded(target)
  try {
    return await sendInTurn(target, pool, senders, span, watch.landed)
  } finally {
    watch.close()
  }
}
