import { SOCKET_MESSAGE_BYTES_MAX, SOCKET_PIECES_MAX } from '../../src/gateway/http/limits.ts'
import { random } from '../chain/support.ts'
import { type CampaignOptions, type CampaignReport, need } from '../support/campaign.ts'
import { type Next, pick, randomBytes } from './bytes.ts'
import { runCases } from './campaign.ts'
import { BINARY, CLOSE, CONTINUATION, type Frame, frameBytes, PING, PONG, TEXT } from './frames.ts'
import { methods } from './methods.ts'
import { createModel } from './rpcModel.ts'
import { type Bend, SocketClient } from './socketClient.ts'
import { judge, signers, startTarget, textsOfAccounts } from './target.ts'

const AT_ONCE = 16
const MESSAGES_MAX = 4
/** Pings that may wait for their pongs without the gateway ending the connection are 60. */
const PINGS_MAX = 20
/** One of so many callers pings without end and never reads. */
const FLOODS = 1_000
const CONTROL_BYTES_MAX = 125

/** How a caller ends: what is sent last, and the code by which the gateway closes then. */
type End = readonly [what: string, code: number | undefined, frames: (next: Next) => readonly Frame[]]

const codeBytes = (code: number, reason: Uint8Array = new Uint8Array(0)): Uint8Array =>
  Uint8Array.of(code >> 8, code & 255, ...reason)
const NO_UTF8: readonly Uint8Array[] = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]].map(
  (bytes) => Uint8Array.from(bytes),
)
const NO_JSON: Frame = { opcode: TEXT, payload: Buffer.from('no JSON') }
const begun: Frame = { opcode: TEXT, payload: Buffer.from('['), isLast: false }

const ENDS: readonly End[] = [
  ['reserved bits', 1002, (next) => [{ opcode: TEXT, reserved: 1 + next(7), payload: Buffer.from('[]') }]],
  ['an unknown opcode', 1002, (next) => [{ opcode: pick(next, [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) }]],
  ['no mask', 1002, (next) => [{ opcode: pick(next, [TEXT, PING, CLOSE]), isMasked: false }]],
  ['a cut control frame', 1002, (next) => [{ opcode: pick(next, [CLOSE, PING, PONG]), isLast: false }]],
  [
    'a long control frame',
    1002,
    (next) => [{ opcode: pick(next, [CLOSE, PING, PONG]), payload: randomBytes(next, 126 + next(70_000)) }],
  ],
  [
    'the rest of nothing',
    1002,
    (next) => [{ opcode: CONTINUATION, isLast: next(2) === 0, payload: Buffer.from('[]') }],
  ],
  ['a message within a message', 1002, (next) => [begun, { opcode: pick(next, [TEXT, BINARY]) }]],
  [
    '2^53 bytes and more',
    1009,
    (next) => [{ opcode: TEXT, length: pick(next, [2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n]) }],
  ],
  [
    'more than a message may have',
    1009,
    (next) => [{ opcode: TEXT, length: BigInt(SOCKET_MESSAGE_BYTES_MAX) + pick(next, [1n, 2n ** 31n, 2n ** 32n]) }],
  ],
  ['the same in two frames', 1009, () => [begun, { opcode: CONTINUATION, length: BigInt(SOCKET_MESSAGE_BYTES_MAX) }]],
  [
    'too many frames',
    1008,
    () => [begun, ...Array.from({ length: SOCKET_PIECES_MAX }, () => ({ opcode: CONTINUATION, isLast: false }))],
  ],
  ['text that is not UTF-8', 1007, (next) => [{ opcode: TEXT, payload: pick(next, NO_UTF8) }]],
  [
    'the same in two frames, cut in a character',
    1007,
    (next) => [
      { ...begun, payload: Uint8Array.of(0xe2, 0x82) },
      { opcode: CONTINUATION, payload: pick(next, NO_UTF8) },
    ],
  ],
  ['a binary message', 1003, (next) => [{ opcode: BINARY, payload: randomBytes(next, next(200)) }]],
  ['a close with half a code', 1002, (next) => [{ opcode: CLOSE, payload: randomBytes(next, 1) }]],
  [
    'a close with a code that is none',
    1002,
    (next) => [{ opcode: CLOSE, payload: codeBytes(pick(next, [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535])) }],
  ],
  [
    'a close whose reason is not UTF-8',
    1007,
    (next) => [{ opcode: CLOSE, payload: codeBytes(1000, pick(next, NO_UTF8)) }],
  ],
  ...[1000, 1001, 3000, 4999].map(
    (code): End => [
      `a close with ${code}`,
      code,
      () => [{ opcode: CLOSE, payload: codeBytes(code, Buffer.from('é')) }],
    ],
  ),
  ['a close without a code', 1005, () => [{ opcode: CLOSE }]],
  ['the end of the connection in a frame', undefined, (next) => [{ opcode: TEXT, length: BigInt(1 + next(1_000)) }]],
  ['the end of the connection', undefined, () => []],
]

const controlFrame = (next: Next, opcode: number): Frame => ({
  opcode,
  payload: randomBytes(next, pick(next, [0, 4, CONTROL_BYTES_MAX])),
})

/** A text message in one frame or several, with control frames between them. */
function framesOf(next: Next, text: string, pings: Uint8Array[]): readonly Frame[] {
  const bytes = Buffer.from(text)
  const parts = next(2) === 0 ? 1 : 1 + next(6)
  const cuts = [
    0,
    ...Array.from({ length: parts - 1 }, () => next(bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ]
  return cuts.slice(1).flatMap((cut, at): readonly Frame[] => {
    const frame: Frame = {
      opcode: at === 0 ? TEXT : CONTINUATION,
      payload: bytes.subarray(cuts[at], cut),
      isLast: at === parts - 1,
      lengthBytes: pick(next, [0, 0, 2, 8]),
    }
    if (next(3) > 0 || pings.length >= PINGS_MAX) return [frame]
    const control = controlFrame(next, pick(next, [PING, PONG]))
    if (control.opcode === PING) pings.push(control.payload as Uint8Array)
    return [control, frame]
  })
}

/** Writes bytes in one packet or several. */
async function write(next: Next, client: SocketClient, bytes: Buffer): Promise<void> {
  const most = pick(next, [bytes.length, 1_000, 7])
  for (let at = 0, packets = 0; at < bytes.length; packets++) {
    const end = packets > 50 ? bytes.length : at + 1 + next(most)
    client.socket.write(bytes.subarray(at, end))
    at = end
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Pings without end and never reads: the gateway ends that, and keeps no pongs for the caller. */
async function flood(next: Next, client: SocketClient): Promise<void> {
  client.socket.pause()
  const pings = Buffer.concat(Array.from({ length: 500 }, () => frameBytes(next, controlFrame(next, PING))))
  const { socket } = client
  for (let sent = 0; !socket.destroyed && sent < 2_000; sent++)
    await new Promise((resolve) => socket.write(pings, resolve))
  need(socket.destroyed, () => 'a million pings whose pongs nobody reads are taken')
}

/**
 * Websockets to a gateway before a stub of a node: messages are cut into frames and packets, with control frames between
 * them, and each is answered as it is by POST. Then comes what no websocket may do, and the code says what it was. A case
 * is a frame. `bend`: what changes what comes back.
 */
export async function sockets(
  { count, seed }: CampaignOptions,
  bend: Bend = (frame) => frame,
): Promise<CampaignReport> {
  const next = random(seed)
  const target = await startTarget()
  const model = createModel(methods, signers, true)
  const textOf = textsOfAccounts()
  let callers = 0

  const ask = async (next: Next, client: SocketClient, frames: readonly Frame[]): Promise<string> => {
    await write(next, client, Buffer.concat(frames.map((frame) => frameBytes(next, frame))))
    await client.until(() => client.texts.length > 0)
    const answer = client.texts.shift()
    need(answer !== undefined, () => `the websocket is closed: ${client.close?.toString('latin1')}`)
    return answer
  }
  const say = async (next: Next, client: SocketClient, text: string, pings: Uint8Array[]): Promise<number> => {
    const expected = model(text)
    const frames = framesOf(next, text, pings)
    // What has no answer is followed by what has one.
    const asked = expected === undefined ? [...frames, NO_JSON] : frames
    const answer = await ask(next, client, asked)
    if (expected === undefined) need(answer.includes('-32700'), () => `${text.slice(0, 2000)} is answered ${answer}`)
    else judge(text, expected, { status: 200, text: answer })
    return asked.length
  }

  const end = async (next: Next, client: SocketClient): Promise<void> => {
    const [what, code, make] = pick(next, ENDS)
    const frames = make(next)
    await write(next, client, Buffer.concat(frames.map((frame) => frameBytes(next, frame))))
    if (code === undefined) client.socket.end()
    await client.until(() => false)
    if (code === undefined) return
    const { close } = client
    const given = close === undefined ? undefined : close.length === 0 ? 1005 : close.readUInt16BE(0)
    need(given === code, () => `${what}: it is closed with ${given}, expected ${code}`)
  }

  const call = async (next: Next): Promise<number> => {
    const client = await SocketClient.open(target.url, `127.0.0.${2 + (callers++ % 250)}`, bend)
    try {
      if (next(FLOODS) === 0) {
        await flood(next, client)
        return 1
      }
      let frames = 0
      const pings: Uint8Array[] = []
      for (let left = next(MESSAGES_MAX); left > 0; left--) frames += await say(next, client, textOf(next), pings)
      // Each pong comes before the answer to what follows its ping.
      await ask(next, client, [NO_JSON])
      const isSame = pings.every((ping, at) => client.pongs[at]?.equals(ping) === true)
      need(
        isSame && client.pongs.length === pings.length,
        () => `${client.pongs.length} pongs to ${pings.length} pings`,
      )
      await end(next, client)
      target.needNoDefect()
      return frames + 1
    } finally {
      client.socket.destroy()
    }
  }

  try {
    return await runCases(
      { name: 'websockets', target: 'every message has the right answer, every violation the right code', seed },
      count,
      async () => {
        const frames = await Promise.all(Array.from({ length: AT_ONCE }, () => call(random(next(2 ** 32)))))
        return frames.reduce((sum, one) => sum + one, 0)
      },
    )
  } finally {
    await target.close()
  }
}
