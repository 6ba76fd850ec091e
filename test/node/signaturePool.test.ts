import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import {
  autoThreads,
  parseVerifyThreads,
  type SignaturePool,
  startSignaturePool,
} from '../../src/node/signatures/pool.ts'
import { openRing, RING_BYTES, SLOT_BYTES, SLOTS } from '../../src/node/signatures/ring.ts'
import { readTx } from '../../src/modules/kernel.ts'
import { account, CHAIN_ID } from '../support/testChain.ts'
import { usedBytes } from '../support/usedBytes.ts'
import { signTransfer } from '../support/signTransfer.ts'

const transfer = (sender: number, nonce: number): Buffer => Buffer.from(signTransfer(account(sender), nonce))

/** The transaction with another bit somewhere. */
function bent(tx: Buffer, at: number): Buffer {
  const copy = Buffer.from(tx)
  const index = (at + tx.length) % tx.length
  copy[index] = (copy[index] as number) ^ 1
  return copy
}

/** What the application asks of a pool for these bytes; the one verifier alone, when there is none. */
const verdictOf = (bytes: Uint8Array, pool?: SignaturePool): boolean => readTx(bytes, pool?.isSigned).isSigned()

describe('the ring', () => {
  const tx = transfer(1, 0)
  /** The application's view, and those of two workers. */
  const openRings = () => {
    const memory = new SharedArrayBuffer(RING_BYTES)
    return [openRing(memory), openRing(memory), openRing(memory)] as const
  }
  const put = (ring: ReturnType<typeof openRing>, bytes: Uint8Array): number => {
    const slot = ring.put(bytes)
    if (slot === undefined) throw new Error('the ring is full')
    return slot
  }

  test('a worker reads the bytes that were put in, and its verdict is taken once', () => {
    const [app, worker] = openRings()
    for (const isSigned of [true, false]) {
      const slot = put(app, tx)
      expect(worker.claim()).toBeUndefined()
      app.announce()
      expect(worker.claim()).toBe(slot)
      expect(worker.read(slot)).toEqual(tx)
      worker.finish(slot, isSigned)
      expect(app.holds(slot, Uint8Array.from(tx))).toBe(true)
      expect(app.take(slot)).toBe(isSigned)
      expect(app.take(slot)).toBeUndefined()
    }
  })

  test('a slot holds its own bytes and no others, be they longer, shorter or of one other bit', () => {
    const [app] = openRings()
    const long = Buffer.concat([tx, Buffer.of(0)])
    const slot = put(app, tx)
    expect(
      [tx, long, tx.subarray(1), tx.subarray(0, -1), bent(tx, 0), bent(tx, -1)].map((one) => app.holds(slot, one)),
    ).toEqual([true, false, false, false, false, false])
    const widest = put(app, Buffer.alloc(SLOT_BYTES, 1))
    put(app, Buffer.alloc(SLOT_BYTES, 2))
    expect(app.holds(widest, Buffer.alloc(SLOT_BYTES, 1))).toBe(true)
  })

  test('a transaction has one verifier: what the application took no worker gets, and two workers never get the same', () => {
    const [app, one, other] = openRings()
    const slots = Array.from({ length: 6 }, () => put(app, tx))
    app.announce()
    expect(app.take(slots[1] as number)).toBeUndefined()
    expect([one.claim(), other.claim(), one.claim()]).toEqual([slots[0], slots[2], slots[3]])
    expect(app.take(slots[4] as number)).toBeUndefined()
    expect([other.claim(), one.claim(), other.claim()]).toEqual([slots[5], undefined, undefined])
  })

  test('a worker that does not finish holds up nobody: its transaction is left to the application, and its slot is left out', () => {
    const [app, stuck, worker] = openRings()
    const slot = put(app, tx)
    app.announce()
    stuck.claim()
    expect(app.take(slot)).toBeUndefined()
    // Twice around the ring.
    for (let count = 0; count < 2 * SLOTS; count++) {
      const next = put(app, tx)
      if (next === slot) throw new Error('the slot of the stuck worker was given away')
      app.announce()
      if (worker.claim() !== next) throw new Error('the worker got another slot')
      worker.finish(next, true)
      if (app.take(next) !== true) throw new Error('the verdict was lost')
    }
    // When it finishes after all, nobody has asked for it, and the slot is used again.
    stuck.finish(slot, false)
    expect(Array.from({ length: SLOTS }, () => app.put(tx))).toContain(slot)
  })

  test('a full ring takes nothing, until the transactions at its beginning are verified or taken', () => {
    const [app, worker] = openRings()
    const slots = Array.from({ length: SLOTS }, () => put(app, tx))
    expect(new Set(slots).size).toBe(SLOTS)
    expect(app.put(tx)).toBeUndefined()
    app.announce()
    worker.finish(worker.claim() as number, true)
    app.take(slots[1] as number)
    expect([app.put(tx), app.put(tx), app.put(tx)]).toEqual([slots[0], slots[1], undefined])
  })
})

describe('the pool', () => {
  let pool: SignaturePool | undefined
  const errors: unknown[] = []
  afterEach(async () => {
    await pool?.close()
    errors.length = 0
  })
  const start = (threads: number, file?: URL): SignaturePool => {
    const logger = { info: () => {}, error: (fields: object) => errors.push(fields) }
    const started = startSignaturePool({ threads, logger, ...(file !== undefined && { file }) })
    if (started === undefined) throw new Error('there is no pool')
    pool = started
    return started
  }
  /** Hands over, and waits until the threads have verified something of it. */
  const whenUsed = async (running: SignaturePool): Promise<void> => {
    for (let nonce = 0; running.used() === 0; nonce += 2) {
      const some = [transfer(9, nonce), transfer(9, nonce + 1)]
      running.handOver(some)
      await sleep(20)
      for (const one of some) verdictOf(one, running)
    }
  }

  test.each([1, 3])('%d threads come to the verdicts of the one verifier, whatever they are given', async (threads) => {
    const good = Array.from({ length: 200 }, (_, nonce) => transfer(nonce % 7, nonce))
    const other = transfer(2, 1000)
    const all = [
      ...good,
      ...good.slice(0, 100).map((tx, at) => bent(tx, -1 - (at % 64))), // in the signature
      ...good.slice(0, 100).map((tx, at) => bent(tx, at)), // in the body, or what is no transaction any more
      Buffer.concat([(good[0] as Buffer).subarray(0, -64), other.subarray(-64)]), // a good signature of something else
      Buffer.alloc(0),
      Buffer.alloc(SLOT_BYTES, 7),
      Buffer.alloc(SLOT_BYTES + 1, 7),
      ...good.slice(0, 10), // again
    ]
    const running = start(threads)
    await whenUsed(running)
    const before = running.used()
    // On a busy machine the threads may have verified nothing yet.
    do {
      running.handOver(all)
      await sleep(100)
      for (const bytes of all) expect(verdictOf(bytes, running)).toBe(verdictOf(bytes))
    } while (running.used() === before)
    expect(errors).toEqual([])
  })

  test('a verdict is only of the bytes that were handed over: another transaction of equal tail gets its own', async () => {
    const running = start(1)
    await whenUsed(running)
    const [tx, next] = [transfer(3, 0), transfer(3, 1)]
    running.handOver([tx, next])
    await sleep(50)
    expect(verdictOf(bent(tx, 30), running)).toBe(false)
    expect(verdictOf(tx, running)).toBe(true)
    running.handOver([bent(next, 30), bent(tx, 30)])
    await sleep(50)
    expect(verdictOf(next, running)).toBe(true)
    expect(verdictOf(tx, running)).toBe(true)
  })

  test('what is larger than a slot, and a single transaction, are left to the application', async () => {
    const running = start(1)
    await whenUsed(running)
    const before = running.used()
    const large = Buffer.from(
      account(1).signTx({
        chainId: CHAIN_ID,
        nonce: 0,
        operation: 'updateCandidacy',
        message: { description: { profile: 'p'.repeat(SLOT_BYTES) } },
      }),
    )
    running.handOver([large, large])
    running.handOver([transfer(4, 0)])
    await sleep(50)
    expect([verdictOf(large, running), verdictOf(transfer(4, 0), running)]).toEqual([true, true])
    expect(running.used()).toBe(before)
  })

  const RING = new URL('../../src/node/signatures/ring.ts', import.meta.url).href
  const worker = (code: string): URL =>
    new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { workerData } from 'node:worker_threads'
        import { openRing } from ${JSON.stringify(RING)}
        const ring = openRing(workerData)
        ${code}`)}`,
    )
  const some = Array.from({ length: 50 }, (_, nonce) => transfer(5, nonce))
  const verdicts = [...some.map(() => true), false]

  test('threads that hang cost nothing but speed', async () => {
    const running = start(2, worker('while (ring.claim() === undefined) ring.wait(); for (;;);'))
    for (let round = 0; round < 3; round++) {
      running.handOver(some)
      await sleep(round === 0 ? 300 : 0)
      expect([...some, bent(some[0] as Buffer, -1)].map((tx) => verdictOf(tx, running))).toEqual(verdicts)
    }
    expect([running.used(), errors]).toEqual([0, []])
  })

  test.each([
    [
      'that fail with a claim in their hands',
      'while (ring.claim() === undefined) ring.wait(); throw new Error("broken")',
    ],
    ['that end', 'ring.wait()'],
  ])('threads %s are reported once, and the application goes on alone', async (_, code) => {
    const running = start(3, worker(code))
    running.handOver(some)
    while (errors.length === 0) await sleep(5)
    await sleep(50)
    running.handOver(some)
    expect([...some, bent(some[0] as Buffer, -1)].map((tx) => verdictOf(tx, running))).toEqual(verdicts)
    expect(running.used()).toBe(0)
    expect(errors).toHaveLength(1)
  })

  test('threads that are closed are gone, and so is what they were given', async () => {
    const running = start(2)
    await whenUsed(running)
    const used = running.used()
    running.handOver(some)
    await sleep(50)
    await running.close()
    expect(some.map((tx) => verdictOf(tx, running))).toEqual(some.map(() => true))
    running.handOver(some)
    expect(some.map((tx) => verdictOf(tx, running))).toEqual(some.map(() => true))
    expect([running.used(), errors]).toEqual([used, []])
  })

  const LIAR =
    'for (;;) { const slot = ring.claim(); if (slot === undefined) ring.wait(); else ring.finish(slot, false) }'

  test('what nobody asks for is forgotten, so that strangers cannot fill the memory', async () => {
    const running = start(1, worker(LIAR))
    const garbage = Array.from({ length: SLOTS / 4 }, () => Buffer.alloc(40))
    let count = 0
    const before = usedBytes()
    for (let round = 0; round < 100; round++) {
      for (const one of garbage) one.writeUInt32LE(count++, one.length - 32) // the tail that finds it
      running.handOver(garbage)
      await sleep(1)
    }
    expect((usedBytes() - before) / 2 ** 20).toBeLessThan(8)
    expect(verdictOf(some[0] as Buffer, running)).toBe(true)
  })

  test('the application takes the word of its threads, so the tests above would see a wrong one', async () => {
    const running = start(1, worker(LIAR))
    await whenUsed(running)
    let verdicts: readonly boolean[]
    do {
      running.handOver(some)
      await sleep(50)
      verdicts = some.map((tx) => verdictOf(tx, running))
    } while (!verdicts.includes(false))
  })
})

test.each([
  [1, 0],
  [2, 0],
  [3, 0],
  [4, 2],
  [64, 2],
])('on %d cores auto means %d threads', (cores, threads) => {
  expect(autoThreads(cores)).toBe(threads)
})

test('--verify-threads takes auto and 0 to 16', () => {
  expect(['0', '1', '16'].map((text) => parseVerifyThreads(text, '--verify-threads'))).toEqual([0, 1, 16])
  expect(parseVerifyThreads('auto', '--verify-threads')).toBe(autoThreads())
  for (const text of ['', '-1', '17', '1.5', 'on', '0x2'])
    expect(() => parseVerifyThreads(text, '--verify-threads')).toThrow(
      `--verify-threads: expected auto, or a whole number from 0 to 16, got ${JSON.stringify(text)}`,
    )
})
