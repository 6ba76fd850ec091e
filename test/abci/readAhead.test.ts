import { afterEach, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createReadAhead } from '../../src/abci/readAhead.ts'
import { applicationOf, closeAll, connectPeer, requestFrame, serve } from './peer.ts'

afterEach(closeAll)

const RECHECK = 1
const check = (tx: Uint8Array, type = 0): Buffer => requestFrame('checkTx', { tx, type })
const txOf = (number: number, length: number): Buffer => Buffer.alloc(length, number)

/** Requests as a node mixes them, and the transactions among them that are to be checked for the first time. */
const txs = [txOf(1, 1), txOf(2, 189), txOf(3, 127), txOf(4, 128), txOf(5, 16_400)]
const frames = [
  requestFrame('echo', { message: 'B\n' }),
  check(txs[0] as Buffer),
  check(txs[1] as Buffer),
  check(txOf(6, 189), RECHECK),
  requestFrame('flush'),
  check(Buffer.alloc(0)),
  check(txs[2] as Buffer),
  requestFrame('deliverTx', { tx: txOf(7, 100) }),
  requestFrame('finalizeBlock', { txs: [check(txOf(8, 50))], height: 3 }),
  check(txs[3] as Buffer),
  check(txs[4] as Buffer),
]
const stream = Buffer.concat(frames)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The transactions that are told of packets, in hex. */
function readAll(packets: readonly Buffer[]): readonly string[] {
  const told: Uint8Array[] = []
  const readAhead = createReadAhead((some) => told.push(...some))
  for (const packet of packets) readAhead(packet)
  return told.map(hex)
}

test('the transactions of a packet are told in their order, without rechecks and without those of other requests', () => {
  expect(readAll([stream])).toEqual(txs.map(hex))
  expect(readAll(frames)).toEqual(txs.map(hex))
})

test('a type that is written out and is no recheck is told too: a newer node may have another number for a first check', () => {
  const written = Buffer.concat([Buffer.from([7, 0x42, 5, 0x0a, 1, 9, 0x10]), Buffer.from([2])])
  expect(readAll([written])).toEqual(['09'])
})

test('wherever packets end, only the request at the end is missed', () => {
  let bytes = 0
  const ends = frames.map((frame) => (bytes += frame.length))
  for (let cut = 1; cut < 700; cut++) {
    const spanning = frames[ends.findIndex((end) => end > cut)]
    const isCut = spanning !== undefined && !ends.includes(cut)
    // A request of which only the length was cut off is whole, and may be told.
    const others = txs.filter((tx) => !isCut || !check(tx).equals(spanning)).map(hex)
    const told = readAll([stream.subarray(0, cut), stream.subarray(cut)])
    expect(told.filter((tx) => others.includes(tx))).toEqual(others)
    expect(told.length - others.length).toBeLessThanOrEqual(1)
  }
  expect(readAll([...stream].map((byte) => Buffer.of(byte)))).toEqual([])
})

test('of bytes that are no requests it tells nothing but parts of them, and it never throws', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 6 }), (packets) => {
      for (const tx of readAll(packets.map((packet) => Buffer.from(packet))))
        expect(packets.some((packet) => hex(packet).includes(tx))).toBe(true)
    }),
    { numRuns: 500 },
  )
  expect(readAll([Buffer.alloc(1000, 0xff), stream])).toEqual([])
})

test('a server tells them before their CheckTx starts', async () => {
  const steps: string[] = []
  const name = (tx: Uint8Array): string => `${tx[0]}`
  const checkTx = ({ tx }: { readonly tx: Uint8Array }): object => {
    steps.push(`check ${name(tx)}`)
    return {}
  }
  const onReadAhead = (some: readonly Uint8Array[]): void => {
    steps.push(`told ${some.map(name).join()}`)
  }
  const server = await serve(applicationOf({ checkTx }), { onReadAhead })
  const peer = await connectPeer(server.address)
  peer.send(check(txOf(1, 189)), check(txOf(2, 189)), check(txOf(3, 189), RECHECK))
  await peer.until(3)
  expect(steps).toEqual(['told 1,2', 'check 1', 'check 2', 'check 3'])
})

test('what the callback throws is fatal, as of a handler', async () => {
  const fatal: unknown[] = []
  const server = await serve(applicationOf(), {
    onReadAhead: () => {
      throw new Error('a bug')
    },
    onFatal: (error, kind) => fatal.push(error, kind),
  })
  const peer = await connectPeer(server.address)
  peer.send(check(txOf(1, 189)))
  while (fatal.length === 0) await new Promise((done) => setTimeout(done, 5))
  expect(fatal).toEqual([new Error('a bug'), 'checkTx'])
  expect(peer.replies).toEqual([])
})
