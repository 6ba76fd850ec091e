import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createFrameReader } from '../../src/abci/frame.ts'
import { applicationOf, closeAll, connectPeer, frameOf, requestFrame, serve } from './peer.ts'

/** The frames of a stream that comes in these packets. */
function framesIn(packets: Iterable<Buffer>, frameBytesMax?: number): Buffer[] {
  const reader = createFrameReader(frameBytesMax)
  const frames: Buffer[] = []
  for (const packet of packets) {
    reader.push(packet)
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(Buffer.from(frame))
  }
  return frames
}

// As text: a deep comparison of buffers goes byte by byte.
const texts = (frames: readonly Uint8Array[]): string[] => frames.map((frame) => Buffer.from(frame).toString('hex'))

const refusal = (bytes: number[], max = 1000): unknown => {
  try {
    return framesIn([Buffer.from(bytes)], max).length
  } catch (error) {
    return (error as { code: unknown }).code
  }
}

describe('frame reader', () => {
  test('a frame split at every byte arrives whole', () => {
    const long = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251))
    expect(texts(framesIn([...frameOf(long)].map((byte) => Buffer.from([byte]))))).toEqual(texts([long]))
    const bodies = [long.subarray(0, 300), Buffer.alloc(0), Buffer.from('abc')]
    const stream = Buffer.concat(bodies.map(frameOf))
    for (let split = 0; split <= stream.length; split += 1) {
      expect(texts(framesIn([stream.subarray(0, split), stream.subarray(split)]))).toEqual(texts(bodies))
    }
    expect(texts(framesIn([...stream].map((byte) => Buffer.from([byte]))))).toEqual(texts(bodies))
  })

  test('many frames in one packet are views of it, in order', () => {
    const packet = Buffer.concat(Array.from({ length: 500 }, (_, index) => frameOf(Buffer.alloc(index, index % 256))))
    const reader = createFrameReader()
    reader.push(packet)
    for (let index = 0; index < 500; index += 1) {
      const frame = reader.next()
      expect(frame?.equals(Buffer.alloc(index, index % 256))).toBe(true)
      expect(frame?.buffer === packet.buffer).toBe(true)
    }
    expect(reader.next()).toBeUndefined()
  })

  test('a frame of the limit is taken and one byte more is refused', () => {
    expect(framesIn([frameOf(Buffer.alloc(1000))], 1000)).toHaveLength(1)
    expect(() => framesIn([frameOf(Buffer.alloc(1001))], 1000)).toThrow(expect.objectContaining({ code: 'oversize' }))
  })

  test('lengths beyond all bounds and overlong varints are refused by their code', () => {
    expect(refusal([0xff, 0xff, 0xff, 0xff, 0x07])).toBe('oversize')
    expect(refusal([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])).toBe('oversize')
    expect(refusal([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01])).toBe('overlong')
    expect(refusal([0x80, 0x00])).toBe('overlong')
    expect(refusal([0x81, 0x80, 0x00])).toBe('overlong')
    expect(refusal([0x80, 0x80])).toBe(0)
    expect(refusal([0x00])).toBe(1)
  })

  test('a length that is only announced takes no memory', () => {
    const announced = Buffer.concat([Uint8Array.of(0xff, 0xff, 0xff, 0x1f), Buffer.alloc(10)]) // 64 MiB − 1
    const before = process.memoryUsage().arrayBuffers
    const readers = Array.from({ length: 20 }, () => {
      const reader = createFrameReader()
      reader.push(announced)
      expect(reader.next()).toBeUndefined()
      return reader
    })
    expect(readers).toHaveLength(20)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024)
  })

  test('a server lives on whatever bytes come: every connection is answered or closed', async () => {
    const server = await serve(applicationOf())
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const peer = await connectPeer(server.address)
        peer.socket.end(bytes)
        await peer.closed()
      }),
      { numRuns: 100 },
    )
    const peer = await connectPeer(server.address)
    peer.send(requestFrame('flush'))
    expect(await peer.until(1)).toHaveLength(1)
    await closeAll()
  })
})
