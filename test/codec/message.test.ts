import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { concat, fromHex, toHex } from '../../src/base/bytes.ts'
import { OPERATION_MESSAGES, svcCodec } from '../../src/codec/svc.ts'

interface Description {
  readonly name?: string
  readonly email?: string
}
interface Declare {
  readonly pubKey: Uint8Array
  readonly description?: Description
  readonly maxAmount?: string
}

const declare = svcCodec<Declare>('svc.stake.DeclareCandidacy')
const request = svcCodec<{ accountUpdateRequestId: number }>('svc.stake.AcceptCandidacyAccountUpdate')
const hex = (text: string): Uint8Array => fromHex(text) as Uint8Array

describe('encoding', () => {
  test('bytes are those of the protobuf specification, written by hand', () => {
    // field 1, length 2, 0102; field 2, length 3: field 1, length 1, "a"; field 3, length 1, "5"
    const bytes = declare.encode({ pubKey: Uint8Array.of(1, 2), description: { name: 'a' }, maxAmount: '5' })
    expect(toHex(bytes)).toBe('0a020102' + '12030a0161' + '1a0135')
    expect(toHex(request.encode({ accountUpdateRequestId: 300 }))).toBe('08ac02')
  })

  test('a default is left out, an optional member that is given is not', () => {
    expect(toHex(request.encode({ accountUpdateRequestId: 0 }))).toBe('')
    expect(toHex(declare.encode({ pubKey: new Uint8Array(0), description: { name: '' } }))).toBe('12020a00')
  })

  test('2^53 − 1 is exact; a larger or broken number, a bigint and a missing member throw and name the member', () => {
    const largest = { accountUpdateRequestId: Number.MAX_SAFE_INTEGER }
    expect(request.decode(request.encode(largest))).toEqual(largest)
    for (const bad of [2 ** 53, -1, 0.5, Number.NaN, 5n as never, '5' as never]) {
      expect(() => request.encode({ accountUpdateRequestId: bad })).toThrow(
        'svc.stake.AcceptCandidacyAccountUpdate.accountUpdateRequestId',
      )
    }
    expect(() => request.decode(hex('0880808080808080' + '10'))).toThrow(
      'svc.stake.AcceptCandidacyAccountUpdate.accountUpdateRequestId: expected an integer from 0',
    )
    expect(() => declare.encode({} as never)).toThrow('svc.stake.DeclareCandidacy.pubKey: expected a value')
    // Also one behind others that are right.
    const wrong = { pubKey: Uint8Array.of(1), description: { name: 'a' }, maxAmount: 5 }
    expect(() => declare.encode(wrong as never)).toThrow('svc.stake.DeclareCandidacy.maxAmount: expected a string')
    expect(() => declare.encode({ pubKey: Uint8Array.of(1), description: 5 as never })).toThrow(
      'svc.stake.DeclareCandidacy.description: expected a message',
    )
  })

  test('a value that throws while it is written leaves nothing to the next one', () => {
    const update = svcCodec<{ description: Description }>('svc.stake.UpdateCandidacy')
    let reads = 0
    const description = {
      get name(): string {
        reads += 1
        if (reads > 1) throw new Error('read again')
        return 'a'
      },
    }
    expect(() => update.encode({ description })).toThrow('read again')
    expect(toHex(request.encode({ accountUpdateRequestId: 300 }))).toBe('08ac02')
  })
})

describe('canonical decoding', () => {
  const bytes = declare.encode({ pubKey: Uint8Array.of(1, 2), description: { name: 'a' }, maxAmount: '5' })

  test('reads what encode wrote; members that were not given are absent', () => {
    const value = declare.decodeCanonical(bytes)
    expect(value?.description).toEqual({ name: 'a' })
    expect(Object.keys(value ?? {})).toEqual(['pubKey', 'description', 'maxAmount'])
  })

  test.each([
    ['a member that is unknown', concat(bytes, hex('f80601'))],
    ['an unknown member inside a member', hex('0a020102' + '1206' + '0a0161' + 'f80601' + '1a0135')],
    ['members out of order', hex('1a0135' + '0a020102' + '12030a0161')],
    ['a member twice', concat(bytes, hex('1a0135'))],
    ['a nested message in two parts', hex('0a020102' + '12030a0161' + '12020a00' + '1a0135')],
    ['an overlong length', hex('0a82000102' + '12030a0161' + '1a0135')],
    ['trailing bytes', concat(bytes, hex('00'))],
    ['a cut message', bytes.subarray(0, bytes.length - 1)],
    ['text that is not UTF-8', hex('0a020102' + '12030a01ff' + '1a0135')],
    ['a wrong wire type', hex('0801' + '12030a0161')],
  ])('refuses %s', (_what, spelling) => {
    expect(declare.decodeCanonical(spelling)).toBeUndefined()
  })

  test('says nothing of the bytes when the stack ends', () => {
    const seen = new Set<string>()
    const dive = (): void => {
      seen.add(declare.decodeCanonical(bytes) === undefined ? 'refused' : 'read')
      dive()
    }
    expect(dive).toThrow(RangeError)
    expect(seen).toEqual(new Set(['read']))
  })

  test('refuses a default that is spelt out, an overlong varint, and an integer above 2^53 − 1', () => {
    expect(request.decodeCanonical(hex('0800'))).toBeUndefined()
    expect(request.decodeCanonical(hex('08ac8200'))).toBeUndefined()
    expect(request.decodeCanonical(hex('0880808080808080' + '10'))).toBeUndefined() // 2^53
    expect(request.decodeCanonical(hex('08ffffffffffffffffff01'))).toBeUndefined()
    expect(request.decodeCanonical(hex('08ffffffffffffff0f'))).toEqual({
      accountUpdateRequestId: Number.MAX_SAFE_INTEGER,
    })
  })
})

test('every member of the envelope that is a message is an operation', () => {
  expect([...OPERATION_MESSAGES.keys()]).toContain('declareCandidacy')
  expect(OPERATION_MESSAGES.get('vote')).toBe('svc.governance.Vote')
  const proto = readFileSync(join(import.meta.dirname, '../../proto/svc/tx.proto'), 'utf8')
  expect(OPERATION_MESSAGES.size).toBe([...proto.matchAll(/^ {4}svc\.\w+\.\w+ \w+ = \d+;/gm)].length)
})

test('a message that does not exist is a bug, said at once', () => {
  expect(() => svcCodec('svc.stake.Nothing')).toThrow('no message svc.stake.Nothing')
})
