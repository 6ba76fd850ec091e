import { createFrameReader, type FrameReader } from '../../src/abci/frame.ts'
import { decodeRequest } from '../../src/abci/wire.ts'
import { frameOf, requestFrame } from '../abci/peer.ts'
import { varint } from '../abci/wireBytes.ts'
import { random } from '../chain/support.ts'
import { type CampaignOptions, type CampaignReport, need } from '../support/campaign.ts'
import { type Next, pick, randomBytes } from './bytes.ts'
import { runCases } from './campaign.ts'

/** What a stream comes to: its frames, and whether its bytes were refused at the end. */
interface Outcome {
  readonly frames: readonly string[]
  readonly refusal: string | undefined
}

const LIMITS: readonly number[] = [0, 5, 127, 128, 1000, 2 ** 31 - 1]

const bodyOf = (next: Next): Uint8Array =>
  next(6) === 0
    ? requestFrame(pick(next, ['flush', 'info', 'commit', 'checkTx']), { tx: randomBytes(next, next(9)) }).subarray(1)
    : randomBytes(next, pick(next, [0, 1, next(8), next(30), 126 + next(4)]))

/** A header that no node writes: a length beyond all bounds, or one in more bytes than it needs. */
const badHeader = (next: Next): Uint8Array =>
  pick<() => Uint8Array>(next, [
    () => varint(2n ** 31n + BigInt(next(3)) - 1n),
    () => varint(2n ** 64n - 1n - BigInt(next(9))),
    () => Uint8Array.of(...Array<number>(1 + next(9)).fill(0x80), next(2)),
    () => Uint8Array.of(0x80 + next(128), 0x80, 0),
  ])()

function streamOf(next: Next): Buffer {
  const pieces: Uint8Array[] = []
  for (let count = next(4); count > 0; count--) pieces.push(frameOf(bodyOf(next)))
  if (next(3) === 0) pieces.push(badHeader(next))
  if (next(2) === 0) pieces.push(randomBytes(next, next(20)))
  const stream = Buffer.concat(pieces)
  return next(4) === 0 ? stream.subarray(0, next(stream.length + 1)) : stream
}

/** What the format says of a stream: a frame is its length as an unsigned varint, in no more bytes than it needs. */
function expected(stream: Buffer, limit: number): Pick<Outcome, 'frames'> & { readonly isRefused: boolean } {
  const frames: string[] = []
  for (let at = 0; at < stream.length; ) {
    let [length, digits, byte] = [0n, 0n, 0x80]
    while (byte >= 0x80 && at < stream.length) {
      byte = stream[at++] as number
      length += BigInt(byte & 0x7f) << (7n * digits++)
      const isOverlong = digits > 1n && byte === 0
      if (length > BigInt(limit) || isOverlong || (digits === 5n && byte >= 0x80)) return { frames, isRefused: true }
    }
    if (byte >= 0x80 || stream.length - at < Number(length)) break
    frames.push(stream.toString('hex', at, at + Number(length)))
    at += Number(length)
  }
  return { frames, isRefused: false }
}

type Make = (limit: number) => FrameReader

function read(make: Make, limit: number, packets: Iterable<Buffer>): Outcome {
  const reader = make(limit)
  const frames: string[] = []
  try {
    for (const packet of packets) {
      reader.push(packet)
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame.toString('hex'))
    }
    return { frames, refusal: undefined }
  } catch (error) {
    return { frames, refusal: String((error as { code?: unknown }).code ?? error) }
  }
}

/** The stream whole, byte by byte, and in two packets at every place. */
function* cuts(stream: Buffer): Generator<readonly Buffer[]> {
  yield [stream]
  yield [...stream].map((byte) => Buffer.of(byte))
  for (let at = 0; at <= stream.length; at++) yield [stream.subarray(0, at), stream.subarray(at)]
}

function decodes(frame: string): boolean {
  try {
    decodeRequest(Buffer.from(frame, 'hex'))
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'undecodable'
  }
}

/**
 * Random streams into the frame reader: each ends in the same frames, in waiting, or in a coded refusal, whether it comes
 * whole, byte by byte, or in two packets. `make`: what makes a reader.
 */
export function framer({ count, seed }: CampaignOptions, make: Make = createFrameReader): Promise<CampaignReport> {
  const next = random(seed)
  return runCases(
    {
      name: 'ABCI framer',
      target:
        'random streams, whole, byte by byte, and in two packets cut at every place: the right frames or a coded refusal',
      seed,
    },
    count,
    () => {
      const stream = streamOf(next)
      const limit = pick(next, LIMITS)
      const { frames, isRefused } = expected(stream, limit)
      const whole = read(make, limit, [stream])
      for (const packets of cuts(stream)) {
        const outcome = read(make, limit, packets)
        const where = (): string => `stream ${stream.toString('hex')} of at most ${limit} in ${packets.length} packets`
        need(outcome.frames.join() === frames.join(), () => `${where()}: frames ${outcome.frames.join()}`)
        need((outcome.refusal !== undefined) === isRefused, () => `${where()}: ${outcome.refusal}`)
        need(outcome.refusal === whole.refusal, () => `${where()}: ${outcome.refusal}, and ${whole.refusal} in one`)
        const isCoded = outcome.refusal === undefined || ['overlong', 'oversize'].includes(outcome.refusal)
        need(isCoded, () => `${where()}: ${outcome.refusal}`)
      }
      for (const frame of frames) need(decodes(frame), () => `frame ${frame} ends in no coded refusal`)
      return 1
    },
  )
}
