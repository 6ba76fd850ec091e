import { afterEach, describe, expect, test } from '@jest/globals'
import { toBase64, utf8 } from '../../src/base/bytes.ts'
import { txHash, type Tx } from '../../src/tx/envelope.ts'
import { REBROADCAST_MS, RESIGNS_MAX } from '../../src/tx/nonceQueue.ts'
import { encodeShortfall } from '../../src/tx/shortfall.ts'
import { badNonce, type Verdict } from './stubNode.ts'
import { alice, bob, startPair, until } from './support.ts'
import { signTransfer } from '../support/signTransfer.ts'

interface Result {
  height: number
  hash: string
  check_tx: { code?: number; log?: string }
  deliver_tx: { code?: number }
}

let pair: Awaited<ReturnType<typeof startPair>>
afterEach(() => pair.close())

const transfer = (more: object = {}) =>
  pair.rpc('svc_transfer', [{ from: alice.address, to: bob.address, value: '5', ...more }])
const resultOf = async (answer: ReturnType<typeof transfer>): Promise<Result> => (await answer).result as Result
const many = <T>(count: number, make: (place: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, place) => make(place)))
const amountOf = (tx: Tx): number => Number((tx.body.message as { value: string }).value)
const signed = (nonce: number, value = '5', signer = bob) =>
  signTransfer(signer, nonce, { value, chainId: pair.node.chainId })
const sendRaw = (bytes: Uint8Array) => pair.rpc('svc_sendRawTransaction', [toBase64(bytes)])
const pendingCount = async (address: string = alice.address): Promise<unknown> =>
  (await pair.rpc('svc_getTransactionCount', [address, 'pending'])).result

describe('nonces', () => {
  test('1,000 calls of one account at once end in 1,000 transactions, no gap and no duplicate', async () => {
    pair = await startPair({ latencyMs: () => Math.random() * 2 })
    const results = await many(1000, () => resultOf(transfer()))
    expect(results.filter(({ height }) => height > 0)).toHaveLength(1000)
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(1000)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(1000)
    expect(pair.node.count('broadcast_tx_sync')).toBe(1000)
  })

  test('what CheckTx refuses in the middle uses up no nonce and stops nobody', async () => {
    pair = await startPair({ check: (tx) => (amountOf(tx) % 3 === 0 ? { code: 20, log: 'Insufficient balance' } : {}) })
    const results = await many(90, (place) => resultOf(transfer({ value: String(place) })))
    expect(results.map(({ height }) => height > 0)).toEqual(results.map((_, place) => place % 3 !== 0))
    const refused = { code: 20, log: 'Insufficient balance', fee: {} }
    expect(results[0]).toEqual({ height: 0, hash: results[0]?.hash, check_tx: refused, deliver_tx: { fee: {} } })
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(60)
  })

  test('what a balance lacked is told of a transaction that CheckTx refused for it, until it takes it', async () => {
    const shortfall = { account: bob.address, needed: '7', fee: '1', available: '6' }
    let verdict: Verdict = { code: 20, log: 'Insufficient balance', data: utf8(encodeShortfall(shortfall)) }
    pair = await startPair({ check: () => verdict })
    const { hash } = await resultOf(sendRaw(signed(0)))
    expect((await pair.rpc('svc_getShortfall', [hash])).result).toEqual(shortfall)
    verdict = {}
    expect(await resultOf(sendRaw(signed(0)))).toMatchObject({ hash, height: expect.any(Number) })
    expect((await pair.rpc('svc_getShortfall', [hash])).result).toBeNull()
  })

  test('what a balance lacked in a block is the info of its result; nothing is said of another failure', async () => {
    const shortfall = { account: alice.address, needed: '7', fee: '0', available: '6' }
    const info = encodeShortfall(shortfall)
    pair = await startPair({
      deliver: (tx) => (amountOf(tx) === 1 ? { code: 20, info } : { code: 1, info: `${info} ` }),
    })
    const [low, other] = await many(2, (place) => resultOf(transfer({ value: String(place + 1) })))
    const ask = async (hash = ''): Promise<unknown> => (await pair.rpc('svc_getShortfall', [hash])).result
    expect([await ask(low?.hash), await ask(other?.hash), await ask('0'.repeat(64))]).toEqual([shortfall, null, null])
  })

  test('what fails in its block uses up its nonce and is told in check_tx and deliver_tx at height 0', async () => {
    pair = await startPair({ deliver: (tx) => (amountOf(tx) === 1 ? { code: 1, log: 'already activated' } : {}) })
    const [failed, done] = await many(2, (place) => resultOf(transfer({ value: String(place + 1) })))
    const failure = { code: 1, log: 'already activated', fee: {} }
    expect(failed).toEqual({ height: 0, hash: failed?.hash, check_tx: failure, deliver_tx: failure })
    expect(done?.height).toBeGreaterThan(0)
    const { result } = await pair.rpc('svc_getTransaction', [`0x${failed?.hash.toLowerCase()}`])
    expect(result).toMatchObject({
      sender: alice.address,
      nonce: 0,
      operation: 'transfer',
      check_tx: failure,
      deliver_tx: failure,
    })
    expect((result as Result).height).toBeGreaterThan(0)
  })

  test('what the mempool drops is told as the refusal that it now is, and frees its nonce', async () => {
    const lost = new Set<number>()
    let isOver = false
    const closed = { code: 12, log: 'the proposal is closed' }
    // Both are lost once, before the next block. What is offered after that is refused.
    pair = await startPair({
      blocks: false,
      check: () => (lost.size < 2 || isOver ? {} : closed),
      lose: ({ body }) => !isOver && lost.add(body.nonce).size > 0,
    })
    const answers = many(2, () => resultOf(transfer()))
    await until(() => lost.size === 2)
    pair.node.step()
    const results = await answers
    expect(results[0]).toMatchObject({ height: 0, check_tx: closed })
    // The first one has left a hole before the second.
    expect(results[1]).toMatchObject({ height: 0, check_tx: { code: 6, log: 'bad nonce: expected 0, got 1' } })
    isOver = true
    const last = resultOf(transfer())
    await until(() => pair.node.ledger.waiting() === 1)
    pair.node.step()
    expect((await last).height).toBeGreaterThan(0)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(1)
  })

  test('a nonce that others have used is signed again with the expected one', async () => {
    pair = await startPair({ blocks: false })
    const waiting = [transfer({ nonce: 0 })]
    await until(() => pair.node.ledger.waiting() === 1)
    // As another gateway with the same key would, unseen by this one.
    pair.node.ledger.check(signed(1, '7', alice))
    waiting.push(transfer())
    await until(() => pair.node.ledger.waiting() === 3)
    pair.node.step()
    expect((await Promise.all(waiting)).map(({ result }) => (result as Result).height)).toEqual([2, 2])
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(3)
  })

  test('calls one after the other ask the node for the nonce once, and see what others sent in between', async () => {
    let asked = 0
    pair = await startPair({
      query: (path) => {
        if (path.startsWith('/accounts/')) asked += 1
        return {}
      },
    })
    for (let at = 0; at < 3; at++) expect((await resultOf(transfer())).height).toBeGreaterThan(0)
    expect(asked).toBe(1)
    pair.node.ledger.check(signed(3, '7', alice))
    expect((await resultOf(transfer())).height).toBeGreaterThan(0)
    expect(asked).toBe(1)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(5)
  })

  test('a node that always expects another nonce is asked a bounded number of times', async () => {
    pair = await startPair({
      check: (tx) => badNonce(tx.body.nonce + 1, tx),
    })
    expect((await resultOf(transfer())).check_tx.code).toBe(6)
    expect(pair.node.count('broadcast_tx_sync')).toBe(RESIGNS_MAX + 1)
  })

  test('the same said by another gateway with the same nonce is not taken for this call', async () => {
    pair = await startPair({ blocks: false })
    pair.node.ledger.check(signed(0, '5', alice))
    const call = pair.rpc('svc_transfer', [{ from: alice.address, to: `0x${'09'.repeat(20)}`, value: '5' }])
    await until(() => pair.node.ledger.waiting() === 2)
    pair.node.step()
    expect(((await call).result as Result).height).toBe(2)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(2)
  })

  test("a caller's nonce is used as given, once", async () => {
    pair = await startPair()
    expect((await resultOf(transfer({ nonce: 3 }))).check_tx).toEqual({
      code: 6,
      log: 'bad nonce: expected 0, got 3',
      fee: {},
    })
    expect((await resultOf(transfer({ nonce: '0x0' }))).height).toBeGreaterThan(0)
    expect(pair.node.count('broadcast_tx_sync')).toBe(2)
  })

  test('calls of a batch are sent in their order', async () => {
    pair = await startPair({ blocks: false, latencyMs: () => Math.random() * 3 })
    const answer = pair.batch(Array.from({ length: 20 }, (_, at) => ['svc_sendRawTransaction', [toBase64(signed(at))]]))
    await until(() => pair.node.ledger.waiting() === 20)
    expect(await pendingCount(bob.address)).toBe(20)
    pair.node.step()
    expect((await answer).map(({ result }) => (result as Result).height)).toEqual(Array(20).fill(2))
    expect(await pendingCount(bob.address)).toBe(20)
  })
})

describe('a full mempool', () => {
  test('is error -32013, uses up no nonce, and the account goes on', async () => {
    pair = await startPair({ blocks: false, mempoolMax: 5 })
    const calls = many(8, () => transfer())
    await until(() => pair.node.count('broadcast_tx_sync') === 8)
    pair.node.step()
    const answers = await calls
    expect(answers.map(({ error }) => error?.code)).toEqual([...Array(5).fill(undefined), -32013, -32013, -32013])
    pair.node.script.blocks = true
    expect((await resultOf(transfer())).height).toBeGreaterThan(0)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(6)
  })
})

describe('a transaction that lands in no block', () => {
  test('is error -32012 with its hash, and later calls do not build on the hole', async () => {
    const lost = new Set<string>()
    const lose = (tx: Tx): boolean => amountOf(tx) === 13 && !lost.has('13') && lost.add('13') !== undefined
    // No block comes between the two: it would tell the second that the first is lost. Nor is either sent again before.
    pair = await startPair({ lose, blocks: false }, { waitMs: REBROADCAST_MS - 1_000 })
    const first = transfer({ value: '13' })
    await until(() => pair.node.count('broadcast_tx_sync') === 1)
    const second = transfer({ value: '14' })
    await until(() => pair.node.count('broadcast_tx_sync') === 2)
    pair.node.script.blocks = true
    const [dropped, above] = await Promise.all([first, second])
    for (const { error } of [dropped, above]) {
      expect(error?.code).toBe(-32012)
      expect(error?.data?.hash).toMatch(/^[0-9A-F]{64}$/)
    }
    expect(dropped?.error?.data?.hash).not.toBe(above?.error?.data?.hash)
    expect(await pendingCount()).toBe(0)
    const results = await many(5, () => resultOf(transfer()))
    expect(results.filter(({ height }) => height > 0)).toHaveLength(5)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(5)
  })

  test('is counted as pending while it waits', async () => {
    pair = await startPair({ blocks: false })
    const call = transfer()
    await until(async () => (await pendingCount()) === 1)
    expect((await pair.rpc('svc_getTransactionCount', [alice.address])).result).toBe(0)
    pair.node.step()
    await call
    expect((await pair.rpc('svc_getTransactionCount', [alice.address, 'latest'])).result).toBe(1)
  })

  test('is answered with its hash when the gateway stops', async () => {
    pair = await startPair({ blocks: false })
    const call = transfer()
    await until(() => pair.node.ledger.waiting() === 1)
    await pair.gateway.close()
    expect((await call).error?.code).toBe(-32012)
  })
})

describe('resending the same bytes', () => {
  test.each([[true], [false]])(
    'answers the committed result and executes nothing (mempool remembers: %s)',
    async (cache) => {
      pair = await startPair({ cache })
      const bytes = signed(0)
      const first = (await sendRaw(bytes)).result as Result
      expect(first).toMatchObject({ hash: txHash(bytes) })
      expect(first.height).toBeGreaterThan(0)
      expect((await sendRaw(bytes)).result).toEqual(first)
      expect(pair.node.ledger.nonces.get(bob.address)).toBe(1)
    },
  )

  test('to a node that fails when it is asked for their block: error -32011 with their hash', async () => {
    pair = await startPair({ cache: false, lookUpError: () => 'client is not running' })
    const bytes = signed(0)
    expect((await sendRaw(bytes)).result).toMatchObject({ hash: txHash(bytes) })
    expect((await sendRaw(bytes)).error).toMatchObject({ code: -32011, data: { hash: txHash(bytes) } })
  })

  test('while they wait answers both with the one block', async () => {
    pair = await startPair({ blocks: false })
    const calls = [sendRaw(signed(0))]
    await until(() => pair.node.ledger.waiting() === 1)
    calls.push(sendRaw(signed(0)))
    await until(async () => (await pair.metrics()).includes('svc_tx_waiting 2'))
    pair.node.step()
    const [one, other] = await Promise.all(calls)
    expect(one?.result).toEqual(other?.result)
    expect(pair.node.count('broadcast_tx_sync')).toBe(1)
    expect(pair.node.ledger.nonces.get(bob.address)).toBe(1)
  })
})

describe('a connection to the node that breaks after a transaction has arrived', () => {
  /** Breaks with the first transaction. */
  const breaksOnce = () => {
    let broadcasts = 0
    return (method: string): boolean => method === 'broadcast_tx_sync' && ++broadcasts === 1
  }

  test('costs nothing: the transaction is executed once', async () => {
    pair = await startPair({ breaks: breaksOnce(), blocks: false })
    const call = transfer()
    await until(() => pair.node.count('broadcast_tx_sync') === 2)
    pair.node.script.blocks = true
    expect((await resultOf(call)).height).toBeGreaterThan(0)
    expect(pair.node.ledger.nonces.get(alice.address)).toBe(1)
  })

  test('and that says only that the nonce is used up: error -32011 with the hash, and nothing is signed again', async () => {
    pair = await startPair({ breaks: breaksOnce(), blocks: false, cache: false })
    const { error } = await transfer()
    expect(error).toMatchObject({ code: -32011, data: { hash: expect.stringMatching(/^[0-9A-F]{64}$/) } })
    pair.node.step()
    const found = (await pair.rpc('svc_getTransaction', [error?.data?.hash])).result as Result
    expect(found.height).toBeGreaterThan(0)
    expect(pair.node.count('broadcast_tx_sync')).toBe(2)
  })

  test('does not mark a raw transaction as known', async () => {
    pair = await startPair({ breaks: breaksOnce() })
    const params = { transaction: toBase64(signed(0)), wait: false }
    expect((await pair.rpc('svc_sendRawTransaction', params)).result).not.toHaveProperty('known')
  })
})

describe('a transaction that the mempool forgot with the one before it', () => {
  /**
   * Sends nonce 1, which a block throws out because nonce 0 is lost, and waits until it was tried again in vain. Its
   * answer comes in an object, because an async function would wait for it.
   */
  const sendAbove = async () => {
    pair = await startPair({ blocks: false, lose: ({ body }) => body.nonce === 0 })
    pair.node.ledger.check(signed(0))
    const above = sendRaw(signed(1))
    await until(() => pair.node.count('broadcast_tx_sync') === 1)
    pair.node.step()
    await until(() => pair.node.count('broadcast_tx_sync') >= 2)
    return { above }
  }

  test('is sent again until that one is back', async () => {
    const { above } = await sendAbove()
    pair.node.script.lose = () => false
    pair.node.ledger.check(signed(0))
    await until(() => pair.node.ledger.waiting() === 2)
    pair.node.step()
    expect((await above).result).toMatchObject({ height: 3, hash: txHash(signed(1)) })
  })

  test('is refused when that one stays away', async () => {
    const { above } = await sendAbove()
    const { height, check_tx } = (await above).result as Result
    expect([height, check_tx]).toEqual([0, expect.objectContaining({ code: 6, log: 'bad nonce: expected 0, got 1' })])
    expect(pair.node.count('broadcast_tx_sync')).toBe(7)
  })
})

describe('a raw transaction that is not waited for', () => {
  const send = async (bytes: Uint8Array) =>
    (await pair.rpc('svc_sendRawTransaction', { transaction: toBase64(bytes), wait: false })).result

  test('is answered after CheckTx, at height 0, and counts as pending until its block', async () => {
    pair = await startPair({ blocks: false })
    const bytes = signed(0)
    const accepted = { height: 0, hash: txHash(bytes), check_tx: { fee: {} }, deliver_tx: { fee: {} } }
    expect(await send(bytes)).toEqual(accepted)
    expect(await pendingCount(bob.address)).toBe(1)
    expect((await pair.rpc('svc_getTransaction', [txHash(bytes)])).result).toBeNull()
    pair.node.step()
    await until(async () => (await pair.rpc('svc_getTransaction', [txHash(bytes)])).result !== null)
    expect(await pair.metrics()).toContain('svc_tx_results_total{operation="transfer",outcome="ok"} 1')
  })

  test('with a wrong nonce is refused with the nonce that comes next, in data', async () => {
    pair = await startPair({ blocks: false })
    await send(signed(0))
    const bytes = signed(7)
    expect(await send(bytes)).toEqual({
      height: 0,
      hash: txHash(bytes),
      check_tx: { code: 6, log: 'bad nonce: expected 1, got 7', fee: {} },
      deliver_tx: { fee: {} },
      expected_nonce: 1,
    })
  })

  test('that the node knows already is marked, in the mempool and in a block', async () => {
    pair = await startPair({ blocks: false })
    await send(signed(0))
    expect(await send(signed(0))).toMatchObject({ height: 0, known: true })
    pair.node.step()
    pair.node.ledger.forget()
    expect(await send(signed(0))).toMatchObject({ height: 0, known: true })
    expect(pair.node.ledger.nonces.get(bob.address)).toBe(1)
  })

  test('that the node knows, and whose block comes while the node is asked for it, is answered with that block', async () => {
    let isAsked = false
    pair = await startPair({
      blocks: false,
      query: (path) => {
        isAsked ||= path.startsWith('/history/transaction/')
        return {}
      },
      latencyMs: () => {
        if (!isAsked) return 0
        isAsked = false
        pair.node.step()
        return 200
      },
    })
    // Another node passed it on.
    pair.node.ledger.check(signed(0))
    expect((await sendRaw(signed(0))).result).toMatchObject({ height: 2, hash: txHash(signed(0)) })
  })

  test('takes its place among the transactions that wait until it has ended', async () => {
    pair = await startPair({ blocks: false }, { waitMs: REBROADCAST_MS - 1_000 })
    await send(signed(0))
    const waiting = async () => /^svc_tx_waiting (\d+)$/m.exec(await pair.metrics())
    expect((await waiting())?.[1]).toBe('1')
    await until(async () => (await waiting())?.[1] === '0')
  })
})

describe('bytes that are no transaction', () => {
  test.each([
    ['two bytes', 'AQI='],
    ['none', ''],
    ['hex', '0xff'],
  ])('%s: code 2 in a result object', async (_name, text) => {
    pair = await startPair()
    const { check_tx, height } = (await pair.rpc('svc_sendRawTransaction', [text])).result as Result
    expect({ height, code: check_tx.code }).toEqual({ height: 0, code: 2 })
  })

  test('or that nobody signed, or signed for another chain: the words of checks 2 and 3, and neither node nor queue is asked', async () => {
    pair = await startPair()
    const checked = async (bytes: Uint8Array) => ((await sendRaw(bytes)).result as Result).check_tx
    const body = {
      chainId: 'another',
      nonce: 0,
      operation: 'transfer',
      message: { to: new Uint8Array(20).fill(9), value: '5' },
    }
    const forged = (bytes: Uint8Array): Uint8Array => bytes.with(-1, (bytes.at(-1) ?? 0) ^ 1)
    const wrongChain = { code: 3, log: 'wrong chain id: expected gateway-test, got another', fee: {} }
    expect(await checked(bob.signTx(body))).toEqual(wrongChain)
    expect(await checked(forged(bob.signTx(body)))).toEqual(wrongChain)
    expect(await checked(forged(signed(0)))).toEqual({ code: 3, log: 'signature verification failed', fee: {} })
    expect(await checked(new Uint8Array([1]))).toMatchObject({
      code: 2,
      log: expect.stringMatching(/^cannot decode transaction: /),
    })
    expect(pair.node.count('broadcast_tx_sync')).toBe(0)
  })

  test('more than a transaction may have: the words of check 1, and the node is not asked', async () => {
    pair = await startPair()
    const { result } = await pair.rpc('svc_sendRawTransaction', [toBase64(new Uint8Array(65_537))])
    expect((result as Result).check_tx.log).toBe(
      'cannot decode transaction: size: expected at most 65536 bytes, got 65537',
    )
    expect(pair.node.count('broadcast_tx_sync')).toBe(0)
  })
})

describe('the node', () => {
  test('catching up is error -32011 for transactions', async () => {
    pair = await startPair({ catchingUp: true })
    expect((await transfer()).error).toMatchObject({ code: -32011, message: expect.stringMatching(/catching up/) })
    pair.node.script.catchingUp = false
    expect((await resultOf(transfer())).height).toBeGreaterThan(0)
  })

  test('losing the subscription loses no result', async () => {
    pair = await startPair()
    const calls = many(20, (place) => resultOf(transfer({ value: String(place) })))
    pair.node.drop()
    expect((await calls).every(({ height }) => height > 0)).toBe(true)
  })

  test('that sends null to its subscribers loses them, and no result', async () => {
    pair = await startPair()
    const calls = many(20, (place) => resultOf(transfer({ value: String(place) })))
    pair.node.say('null')
    expect((await calls).every(({ height }) => height > 0)).toBe(true)
    expect(JSON.stringify(pair.log.lines)).toContain('not JSON')
  })

  test('whose answer is no JSON may have the transaction: the error has its hash', async () => {
    pair = await startPair({ garbles: (method) => method === 'broadcast_tx_sync' })
    const { error } = await transfer()
    expect(error).toMatchObject({ code: -32011, data: { hash: expect.stringMatching(/^[0-9A-F]{64}$/) } })
    expect(pair.log.lines.at(-1)?.about).toMatchObject({ err: { code: 'BadAnswer' } })
  })

  test('away is error -32011', async () => {
    pair = await startPair()
    await pair.node.close()
    expect((await transfer()).error).toMatchObject({ code: -32011, message: 'the node cannot be reached' })
    expect((await pair.rpc('svc_blockNumber')).error?.code).toBe(-32011)
    await until(async () => (await fetch(`${pair.gateway.url}/readyz`)).status === 503)
    expect(await (await fetch(`${pair.gateway.url}/readyz`)).json()).toMatchObject({ ready: false })
    expect((await fetch(`${pair.gateway.url}/healthz`)).status).toBe(200)
  })
})
