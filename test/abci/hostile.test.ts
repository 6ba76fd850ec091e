/** Every member of every request, with every value that Go's protobuf can write: nothing of it is an exception. */
import { describe, expect, test } from '@jest/globals'
import { descriptor } from '../../src/codec/gen/abci.descriptor.js'
import type { FieldDescriptor } from '../../src/codec/protobuf.ts'
import { decodeRequest } from '../../src/abci/wire.ts'
import { bytes, NUMBERS, number, TEXTS, UNKNOWN } from './wireBytes.ts'

const fieldsOf = (message: string): readonly FieldDescriptor[] => descriptor[`abci.${message}`]?.fields ?? []

/** Encodings of a message that differ in one member, each with the member's path. */
function* variants(message: string, path: string): Generator<[string, Buffer]> {
  yield [path, UNKNOWN]
  for (const { name, id, type } of fieldsOf(message)) {
    const at = `${path}.${name}`
    if (type === 'string' || type === 'bytes') for (const one of TEXTS) yield [at, bytes(id, one)]
    else if (descriptor[`abci.${type}`]?.fields === undefined) for (const one of NUMBERS) yield [at, number(id, one)]
    else for (const [below, encoded] of variants(type, at)) yield [below, bytes(id, encoded)]
  }
}

/** Every number in a request. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.values(value).flatMap(numbersIn)
}

describe('a well-formed request', () => {
  const kinds = fieldsOf('Request').map(({ name, id, type }) => [name, id, type] as const)
  test.each(kinds)('%s is read whatever its members hold', (kind, id, type) => {
    let count = 0
    for (const [path, encoded] of variants(type, kind)) {
      const decoded = decodeRequest(bytes(id, encoded))
      expect([path, decoded.kind]).toEqual([path, kind])
      const unsafe = numbersIn((decoded as { request: object }).request).filter((one) => !Number.isSafeInteger(one))
      expect([path, unsafe]).toEqual([path, []])
      count += 1
    }
    expect(count).toBeGreaterThan(0)
  })

  const heightOf = (id: number, member: number, value: bigint): unknown => {
    const decoded = decodeRequest(bytes(id, number(member, value))) as { request: { height: number } }
    return decoded.request.height
  }
  const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number
  test.each([
    [2n ** 53n - 2n, most - 1],
    [2n ** 53n - 1n, most],
    [2n ** 53n, most],
    [2n ** 53n + 1n, most],
    [2n ** 63n - 1n, most],
    [-1n, -1],
    [-(2n ** 53n) + 1n, least],
    [-(2n ** 53n), least],
    [-(2n ** 63n), least],
  ])('reads the int64 %s of a query as %s', (value, read) => {
    expect(heightOf(6, 3, value)).toBe(read)
  })

  test.each([
    [2n ** 53n - 1n, most],
    [2n ** 53n, most],
    [2n ** 63n, most],
    [2n ** 64n - 1n, most],
  ])('reads the uint64 %s of a chunk request as %s', (value, read) => {
    expect(heightOf(14, 1, value)).toBe(read)
  })

  test('has U+FFFD for what is not UTF-8, short or long', () => {
    const pathOf = (path: Buffer): string =>
      (decodeRequest(bytes(6, bytes(2, path))) as { request: { path: string } }).request.path
    expect(pathOf(Buffer.from([0x2f, 0xff, 0xfe]))).toBe('/\ufffd\ufffd')
    expect(pathOf(Buffer.concat([Buffer.from('/é'), Buffer.alloc(200, 0xff)]))).toBe(`/é${'\ufffd'.repeat(200)}`)
  })
})
