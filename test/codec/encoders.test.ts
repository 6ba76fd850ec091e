import { expect, test } from '@jest/globals'
import { svc as whole } from '../../src/codec/gen/svc.js'
import type { StaticMessage, StaticRoot } from '../../src/codec/protobuf.ts'
import { txEntries } from '../../src/modules/registry.ts'
import type { Fields } from '../../src/tx/fields.ts'

const at = (root: StaticRoot): StaticMessage => (root['tx'] as StaticRoot)['TxBody'] as StaticMessage

/** One value for each type of the wire. */
const sampleOf = (type: string): unknown =>
  ['address', 'addressOrNone', 'pubKey', 'proposalId'].includes(type)
    ? new Uint8Array([1, 2, 3])
    : ({ uint: 300, flag: true }[type] ?? 'text')

const messageOf = (fields: Fields, isFull: boolean): object =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { optional }]) => isFull || !optional)
      .map(([name, { type, fields: inner }]) => [
        name,
        inner === undefined ? sampleOf(type) : messageOf(inner, isFull),
      ]),
  )

test.each(txEntries.map(({ operation, input }) => [operation, input] as const))(
  '%s: what a page loads writes the same bytes as the whole codec',
  async (operation, input) => {
    // It has no types of its own: a bundler puts it in the place of the whole codec.
    const page = ((await import('../../src/codec/gen/svc.encode.js' as string)) as { svc: StaticRoot }).svc
    expect(Object.keys(at(page))).toEqual(['encode'])
    for (const isFull of [true, false]) {
      const body = { chainId: 'c', from: new Uint8Array(20), nonce: 7, [operation]: messageOf(input, isFull) }
      const bytes = at(whole).encode(body).finish()
      expect(bytes.length).toBeGreaterThan(25)
      expect([...at(page).encode(body).finish()]).toEqual([...bytes])
    }
  },
)
