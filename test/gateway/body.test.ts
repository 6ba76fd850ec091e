import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { dropBody, readText } from '../../src/gateway/http/body.ts'
import { BODY_BYTES_MAX } from '../../src/gateway/http/limits.ts'
import { usedBytes } from '../support/usedBytes.ts'
import { LIMITS, startPair } from './support.ts'

const bodyOf = (chunks: readonly Uint8Array[]): Readable => Readable.from(chunks, { objectMode: false })

/** Splits a text into chunks that share no memory, like those that Node delivers. */
const split = (text: string, bytes: number): Buffer[] => {
  const all = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(all.length / bytes) }, (_, at) => {
    const own = all.slice(at * bytes, (at + 1) * bytes)
    return Buffer.from(own.buffer)
  })
}

const read = (body: Readable, announced = 0, bytesMax = 1000): Promise<string> =>
  new Promise((done, failed) => {
    readText(body, announced, bytesMax, (error, text) => (error === null ? done(text as string) : failed(error)))
  })

describe('a body', () => {
  const text = 'añ€😀 '.repeat(20)

  test.each([1, 2, 3, 7, 1000])(
    'is read as text in chunks of %i bytes, and their memory is given back',
    async (bytes) => {
      const chunks = split(text, bytes)
      expect(await read(bodyOf(chunks))).toBe(text)
      expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0))
    },
  )

  test('that is no UTF-8 is read with signs in place of it', async () => {
    expect(await read(bodyOf([Buffer.from(Uint8Array.of(0x61, 0xff, 0xe2, 0x82).buffer)]))).toBe('a\ufffd\ufffd')
  })

  test('of which a chunk lies in memory of others leaves them theirs', async () => {
    const shared = Buffer.from(new TextEncoder().encode('mine and yours').buffer)
    expect(await read(bodyOf([shared.subarray(0, 4)]))).toBe('mine')
    expect(shared.toString()).toBe('mine and yours')
  })

  test.each([
    ['announces', 11],
    ['has, whatever it announces,', 0],
  ])('is 413 when it %s more bytes than it may have', async (_what, announced) => {
    await expect(read(bodyOf(split('0123456789', 4)), 10, 10)).resolves.toBe('0123456789')
    await expect(read(bodyOf(split('0123456789a', 4)), announced, 10)).rejects.toMatchObject({ statusCode: 413 })
  })

  test('that breaks off is 400', async () => {
    const body = new Readable({ read: () => undefined })
    const text = read(body)
    body.push('{')
    body.destroy(new Error('aborted'))
    await expect(text).rejects.toMatchObject({ statusCode: 400, message: 'aborted' })
  })

  test('that nobody wants is read to its end, and its memory given back', async () => {
    const chunks = split(text, 8)
    const body = bodyOf(chunks)
    const ended = new Promise((done) => body.once('end', done))
    dropBody(body)
    await ended
    expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0))
  })
})

const MEMORY_MAX = 8 * BODY_BYTES_MAX

test.each([
  ['answered', 200, { callsPerSecond: 0 }, {}],
  ['refused for its origin', 403, {}, { origin: 'https://evil.example' }],
  ['refused for its type', 415, { callsPerSecond: 0 }, { 'content-type': 'text/plain' }],
  ['refused as too much', 429, { callsPerSecond: 1 }, {}],
])(
  'the memory of a body is given back before the next collection when it is %s',
  async (_how, status, limits, headers) => {
    const { gateway, close } = await startPair({}, { limits: { ...LIMITS, ...limits } })
    // The same for every request, so that what the client holds does not grow.
    const body = Buffer.alloc(BODY_BYTES_MAX, '{"jsonrpc":"2.0","id":1,"method":"svc_accounts"}'.padEnd(BODY_BYTES_MAX))
    const ask = async (): Promise<number | undefined> => {
      const asked = request(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      })
      asked.end(body)
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      await once(answer.resume(), 'end')
      return answer.statusCode
    }
    await ask()
    usedBytes()
    const before = process.memoryUsage().arrayBuffers
    const statuses = []
    for (let at = 0; at < 32; at++) statuses.push(await ask())
    const more = process.memoryUsage().arrayBuffers - before
    await close()
    expect([new Set(statuses), Math.max(more, MEMORY_MAX)]).toEqual([new Set([status]), MEMORY_MAX])
  },
)
