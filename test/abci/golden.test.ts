import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { createFrameReader } from '../../src/abci/frame.ts'
import type { RequestKind } from '../../src/abci/types.ts'
import { createReplyBuffer, decodeRequest, type ReplyKind, requestKinds } from '../../src/abci/wire.ts'
import { abci } from '../../src/codec/gen/abci.js'
import type { StaticMessage } from '../../src/codec/protobuf.ts'

interface Vector {
  side: 'request' | 'response'
  kind: string
  hex: string
  value: Record<string, unknown>
}

const vectors = ['v0.37', 'v0.38', 'v0.40'].flatMap((version) =>
  readFileSync(new URL(`../vectors/abci/${version}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({ version, ...(JSON.parse(line, revive) as Vector) })),
)

function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { hex, fill, length } = value as { hex?: string; fill?: number; length?: number }
  if (fill !== undefined) return Buffer.alloc(length as number, fill)
  return hex !== undefined && Object.keys(value).length === 1 ? Buffer.from(hex, 'hex') : value
}

/** Bytes of either class compare equal. */
function normal(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (Array.isArray(value)) return value.map(normal)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, normal(item)]))
}

/** What a version before or after does not know is its default in the superset, wherever it stands. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, item]) => [key, withoutDefaults(item)] as const)
  return Object.fromEntries(members.filter(([, item]) => item !== 0 && item !== false && item !== 'bytes '))
}

const named = vectors.map(
  (vector, index) => [`${vector.version} ${vector.side} ${vector.kind} (line ${index})`, vector] as const,
)
const requests = named.filter(([, { side }]) => side === 'request')
const responses = named.filter(([, { side }]) => side === 'response')

function encoded(kind: string, value: object): string {
  const replies = createReplyBuffer()
  replies.put(kind as ReplyKind, value)
  const reader = createFrameReader()
  reader.push(Buffer.from(replies.take()))
  return reader.next()?.toString('hex') ?? 'no frame'
}

describe('golden vectors of CometBFT', () => {
  test('there are at least 200, of every request and response kind', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(200)
    expect(new Set(requests.map(([, { kind }]) => kind))).toEqual(new Set(requestKinds))
    expect(new Set(responses.map(([, { kind }]) => kind))).toEqual(new Set([...requestKinds, 'exception']))
  })

  test.each(requests)('%s decodes to the value it was made from', (_, { kind, hex, value }) => {
    const decoded = decodeRequest(Buffer.from(hex, 'hex'))
    expect(decoded.kind).toBe(kind)
    const request = normal((decoded as { request: object }).request)
    expect(request).toMatchObject(normal(value) as object)
    expect(withoutDefaults(request)).toEqual(withoutDefaults(normal(value)))
  })

  test.each(requests)('%s is encoded to the same bytes by the same protocol files', (_, { kind, hex, value }) => {
    expect(Buffer.from((abci['Request'] as StaticMessage).encode({ [kind]: value }).finish()).toString('hex')).toBe(hex)
  })

  test.each(responses)('%s is encoded to the same bytes', (_, { kind, hex, value }) => {
    expect(encoded(kind, value)).toBe(hex)
  })
})

describe('values that the wire would change in silence', () => {
  const refused: readonly [string, RequestKind, object][] = [
    ['a BigInt', 'commit', { retainHeight: 5n }],
    ['an integer above 2^53 − 1', 'checkTx', { gasUsed: 2 ** 53 }],
    ['a fraction', 'query', { height: 1.5 }],
    ['a negative code', 'deliverTx', { code: -1 }],
    ['text for bytes', 'query', { value: 'AAAA' }],
    ['one value for a list', 'prepareProposal', { txs: new Uint8Array(1) }],
    ['an unsafe integer deep inside', 'finalizeBlock', { txResults: [{ gasWanted: Number.NaN }] }],
  ]
  test.each(refused)('%s is refused', (_, kind, response) => {
    const replies = createReplyBuffer()
    replies.put('flush', {})
    expect(() => replies.put(kind, response)).toThrow(TypeError)
    expect(Buffer.from(replies.take()).toString('hex')).toBe('021a00')
  })

  test('a response without any member is the proto3 default', () => {
    expect(encoded('checkTx', {})).toBe('4a00')
    expect(encoded('commit', { appHash: undefined })).toBe('6200')
  })

  test.each(['ff', '0aff', '0a0101', '0a020a00ff', '0b00', '0800', '0a000a00'])('%s is undecodable', (hex) => {
    expect(() => decodeRequest(Buffer.from(hex, 'hex'))).toThrow(expect.objectContaining({ code: 'undecodable' }))
  })

  test('an unknown kind and an empty frame are told by their number', () => {
    expect(decodeRequest(Buffer.from('2200', 'hex'))).toEqual({ kind: undefined, field: 4 })
    expect(decodeRequest(Buffer.alloc(0))).toEqual({ kind: undefined, field: 0 })
  })
})
