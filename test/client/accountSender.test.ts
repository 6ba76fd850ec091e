import { describe, expect, test } from '@jest/globals'
import { DISCONNECTED, SvcRpcError } from '../../src/client/errors.ts'
import { type AccountSender, waitForTx } from '../../src/client/accountSender.ts'
import { fromBase64 } from '../../src/base/bytes.ts'
import { Svc } from '../../src/client/index.ts'
import { type Call, httpTransport, type Reply } from '../../src/client/transport.ts'
import { decodeTx, type Tx, txHash } from '../../src/tx/envelope.ts'
import { NONCES_OF_TX_MAX } from '../../src/tx/nonceQueue.ts'
import { type FakeGateway, fakeGateway, order, senderOf } from './support.ts'

const submitMany = (sender: AccountSender, count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => sender.submit(order(at + 1))))
const valuesOf = ({ committed }: FakeGateway): readonly number[] =>
  committed.map(({ body }) => Number((body.message as { value: string }).value))
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1)

describe('transactions of one account', () => {
  test('are committed in the order of the calls, each sent once when nobody else acts', async () => {
    const gateway = fakeGateway()
    const results = await submitMany(senderOf(gateway), 120)
    expect(valuesOf(gateway)).toEqual(upTo(120))
    expect(results.map(({ height }) => height)).toEqual(upTo(120))
    expect(gateway.seen()).toBe(120)
  })

  test('one that the chain refuses uses no nonce up: the others follow in order', async () => {
    const refused = new Set([3, 4, 5, 77])
    const gateway = fakeGateway((tx) =>
      refused.has(Number((tx.body.message as { value: string }).value))
        ? { code: 20, log: 'Insufficient balance' }
        : undefined,
    )
    const results = await submitMany(senderOf(gateway), 100)
    expect(valuesOf(gateway)).toEqual(upTo(100).filter((value) => !refused.has(value)))
    expect(results.flatMap(({ check_tx }, at) => (check_tx.code === 20 ? [at + 1] : []))).toEqual([3, 4, 5, 77])
  })

  test('two senders with one key overtake each other and both commit everything', async () => {
    const gateway = fakeGateway()
    const [one, other] = [senderOf(gateway), senderOf(gateway)]
    const all = [...upTo(200)].map((value) => (value % 2 === 0 ? one : other).submit(order(value)))
    const results = await Promise.all(all)
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(200)
    expect([...valuesOf(gateway)].sort((a, b) => a - b)).toEqual(upTo(200))
  })

  /** A sender whose queued transactions are signed (`signed`) and not sent until `open` is called. */
  const heldSenderOf = (gateway: ReturnType<typeof fakeGateway>) => {
    const signed = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const sender = senderOf({
      ...gateway,
      askAll: async (calls) => {
        signed.resolve()
        await gate.promise
        return gateway.askAll(calls)
      },
    })
    return { sender, signed: signed.promise, open: gate.resolve }
  }

  test('a synchronous call in the same words as one that waits is a second transaction', async () => {
    const gateway = fakeGateway()
    const { sender, signed, open } = heldSenderOf(gateway)
    const waiting = [sender.submit(order(1)), sender.submit(order(1))]
    await signed
    const second = sender.submitBlocking(order(1), 'transfer')
    open()
    const results = [second, ...(await Promise.all(waiting))]
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(3)
    expect(gateway.committed).toHaveLength(3)
  })

  test('a call after a synchronous one in the same words is another transaction', async () => {
    const gateway = fakeGateway()
    const sender = senderOf(gateway)
    const results = [await sender.submit(order(1)), sender.submitBlocking(order(1), 'transfer')]
    results.push(await sender.submit(order(1)))
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(3)
    expect(gateway.committed).toHaveLength(3)
  })

  test('a call after a synchronous one that overtook others in the same words is another transaction', async () => {
    const gateway = fakeGateway()
    const { sender, signed, open } = heldSenderOf(gateway)
    const first = sender.submit(order(1))
    await signed
    const results = [sender.submitBlocking(order(1), 'transfer')]
    open()
    results.push(await first, await sender.submit(order(1)))
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(3)
    expect(gateway.committed).toHaveLength(3)
  })

  test('a synchronous call takes no nonce of one that waits, at a node that has not heard of it yet', async () => {
    const gateway = fakeGateway()
    const nonces: number[] = []
    const isWait = ({ params }: Call): boolean => Array.isArray(params)
    const sender = senderOf({
      ...gateway,
      askAll: (calls) => (isWait(calls[0] as Call) ? new Promise(() => undefined) : gateway.askAll(calls)),
      // This gateway has another node, which hears of the first transaction after the second try.
      askBlocking: (call, name) => {
        if (call.method === 'svc_getTransactionCount') return 0
        if (isWait(call)) return gateway.askBlocking(call, name)
        const { transaction } = call.params as { readonly transaction: string }
        const { body } = decodeTx(fromBase64(transaction) as Uint8Array) as Tx
        const result = { height: 0, hash: '', check_tx: { fee: {} }, deliver_tx: { fee: {} } }
        if (nonces.push(body.nonce) > 2) return gateway.askBlocking(call, name)
        return body.nonce === 0 ? result : { ...result, check_tx: { code: 6, log: '', fee: {} }, expected_nonce: 0 }
      },
    })
    await new Promise<void>((sent) => void sender.submit(order(1), { onSent: () => sent() }))
    const { height } = sender.submitBlocking(order(2), 'transfer')
    expect([height, nonces]).toEqual([2, [1, 1, 1]])
    expect(valuesOf(gateway)).toEqual([1, 2])
  })

  test('a nonce is found out anew when somebody else has used it', async () => {
    const gateway = fakeGateway()
    const sender = senderOf(gateway)
    await sender.submit(order(1))
    gateway.overtake()
    expect((await sender.submit(order(2))).height).toBe(3)
    gateway.overtake()
    expect(sender.submitBlocking(order(3), 'transfer').height).toBe(5)
  })
})

describe('a transaction on its way', () => {
  const hash = 'AB'.repeat(32)
  const inBlock = { height: 7, hash, check_tx: { fee: {} }, deliver_tx: { fee: {} } }
  const isWait = ({ method, params }: Call): boolean => method === 'svc_sendRawTransaction' && Array.isArray(params)

  /** A sender whose waiting calls are answered by `answer` first, and by the gateway where that says nothing. */
  const waitingSenderOf = (gateway: FakeGateway, answer: (calls: readonly Call[]) => Reply | undefined) =>
    senderOf({
      ...gateway,
      askAll: async (calls) => {
        const said = isWait(calls[0] as Call) ? answer(calls) : undefined
        return said === undefined ? gateway.askAll(calls) : calls.map(() => said)
      },
    })

  test('costs three calls when it is the first of its account, and two from then on', async () => {
    const gateway = fakeGateway()
    const sender = senderOf(gateway)
    await sender.submit(order(1))
    expect(gateway.asked).toEqual(['svc_getTransactionCount', 'svc_sendRawTransaction', 'svc_sendRawTransaction'])
    await sender.submit(order(2))
    expect(gateway.asked.slice(3)).toEqual(['svc_sendRawTransaction', 'svc_sendRawTransaction'])
  })

  test('is waited for together with those that were sent with it', async () => {
    const waited: number[] = []
    const sender = waitingSenderOf(fakeGateway(), (calls) => {
      waited.push(calls.length)
      return undefined
    })
    await submitMany(sender, 70)
    expect(waited).toEqual([50, 20])
  })

  const tooMany = new SvcRpcError('svc_sendRawTransaction', -32015, 'Too many requests', { retryAfterMs: 1 })
  const behind = { ...inBlock, height: 0, check_tx: { code: 6, log: 'bad nonce: expected 0, got 5', fee: {} } }

  test('is waited for again after too many requests, and where a node has not heard of it', async () => {
    const answers: Reply[] = [{ error: tooMany }, { result: behind }, { error: tooMany }]
    const sender = waitingSenderOf(fakeGateway(), () => answers.shift())
    expect((await sender.submit(order(1))).height).toBe(1)
    expect(answers).toEqual([])
  })

  test('is waited for again by a synchronous call, too', () => {
    const gateway = fakeGateway()
    const answers = [tooMany, behind]
    const askBlocking = (call: Call, name: string): unknown => {
      const answer = isWait(call) ? answers.shift() : undefined
      if (answer instanceof SvcRpcError) throw answer
      return answer ?? gateway.askBlocking(call, name)
    }
    expect(senderOf({ ...gateway, askBlocking }).submitBlocking(order(1), 'transfer').height).toBe(1)
    expect(answers).toEqual([])
  })

  test.each(['soon', null, -1, 1e12])(
    'is given up at once with its hash, where it may be asked for after %p ms',
    async (retryAfterMs) => {
      const error = new SvcRpcError('svc_sendRawTransaction', -32015, 'Too many requests', { retryAfterMs })
      const gateway = fakeGateway()
      const askBlocking = (call: Call, name: string): unknown => {
        if (isWait(call)) throw error
        return gateway.askBlocking(call, name)
      }
      const givenUp = {
        name: 'SvcRpcError',
        code: -32015,
        data: { retryAfterMs, hash: expect.stringMatching(/^\w{64}$/) },
      }
      await expect(waitingSenderOf(gateway, () => ({ error })).submit(order(1))).rejects.toMatchObject(givenUp)
      const blocking = senderOf({ ...gateway, askBlocking })
      expect(() => blocking.submitBlocking(order(2), 'transfer')).toThrow(expect.objectContaining(givenUp))
      await expect(waitForTx({ ask: () => Promise.reject(error) }, hash)).rejects.toMatchObject(givenUp)
    },
  )

  test('that the mempool drops is told as the refusal that it now is, and frees its nonce', async () => {
    const gateway = fakeGateway()
    const closed = { height: 0, hash, check_tx: { code: 12, log: 'closed', fee: {} }, deliver_tx: { fee: {} } }
    let isLosing = true
    const sender = senderOf({
      ...gateway,
      askAll: async (calls) =>
        isLosing
          ? calls.map((call) => ({ result: isWait(call) ? closed : { ...closed, check_tx: { fee: {} } } }))
          : gateway.askAll(calls),
    })
    expect(await sender.submit(order(1))).toEqual({ ...closed, hash: expect.not.stringMatching(hash) })
    isLosing = false
    expect((await sender.submit(order(2))).height).toBe(1)
    expect(gateway.committed.map(({ body }) => body.nonce)).toEqual([0])
  })

  test.each([
    ['the gateway fails', new SvcRpcError('svc_sendRawTransaction', undefined, 'away')],
    ['no block holds it in time', new SvcRpcError('svc_sendRawTransaction', -32012, 'Not in a block')],
  ])('is given up with the hash when %s', async (_name, error) => {
    const sender = waitingSenderOf(fakeGateway(), () => ({ error }))
    await expect(sender.submit(order(1))).rejects.toMatchObject({
      code: error.code,
      data: { hash: expect.stringMatching(/^[0-9A-F]{64}$/) },
      cause: error,
    })
  })
})

const tooManyFor = (retryAfterMs: number): object => ({
  jsonrpc: '2.0',
  id: 1,
  error: { code: -32015, message: 'Too many requests', data: { retryAfterMs } },
})

describe('waitForTx', () => {
  const hash = 'AB'.repeat(32)
  const inBlock = { height: 7, hash, check_tx: { fee: {} }, deliver_tx: { fee: {} } }

  test('of one that failed in its block has height 0, as every result of a failure', async () => {
    const code = { code: 1, log: 'already activated', fee: {} }
    const found = { ...inBlock, check_tx: code, deliver_tx: code, index: 0, sender: null }
    expect(await waitForTx({ ask: async () => found }, hash)).toEqual({
      height: 0,
      hash,
      check_tx: code,
      deliver_tx: code,
    })
  })

  test('of one that comes into no block in time is error -32012 with its hash; what says when to ask again is waited out', async () => {
    const tooMany = new SvcRpcError('svc_getTransaction', -32015, 'Too many requests', { retryAfterMs: 1 })
    const behind = new SvcRpcError('svc_getTransaction', -32011, 'behind', { hash, retryAfterMs: 1 })
    const refusals = [tooMany, behind]
    let looks = 0
    const ask = async (): Promise<null> => {
      const refusal = refusals[looks++]
      if (refusal !== undefined) throw refusal
      return null
    }
    await expect(waitForTx({ ask }, hash, { timeoutMs: 2_000 })).rejects.toMatchObject({ code: -32012, data: { hash } })
    expect(looks).toBeGreaterThan(2)
  })

  test.each([
    ['says nothing', () => new Promise<never>(() => undefined)],
    ['wants to be asked again much later', async () => Response.json(tooManyFor(60_000), { status: 429 })],
  ])('ends in time where the gateway %s', async (_what, answer) => {
    const unlessEnded = (signal: AbortSignal | null | undefined): Promise<never> =>
      new Promise((_, failed) => signal?.addEventListener('abort', () => failed(signal.reason)))
    const given: typeof fetch = (_url, init) => Promise.race([answer(), unlessEnded(init?.signal)])
    const svc = new Svc({ url: 'http://127.0.0.1:1', fetch: given })
    await expect(svc.async.waitForTx(hash, { timeoutMs: 50 })).rejects.toMatchObject({ code: -32012, data: { hash } })
    const signal = AbortSignal.timeout(50)
    await expect(svc.async.waitForTx(hash, { timeoutMs: Infinity, signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })

  test('is given up with the hash when the gateway fails', async () => {
    const away = new SvcRpcError('svc_getTransaction', undefined, 'away')
    const ask = () => Promise.reject(away)
    await expect(waitForTx({ ask }, hash)).rejects.toMatchObject({ code: undefined, data: { hash }, cause: away })
  })
})

describe('a gateway that lies', () => {
  /** Answers whatever is sent with `said`, and keeps the bytes. */
  const liar = (said: (nonce: number) => object) => {
    const kept = new Map<string, number>()
    const gateway = fakeGateway()
    const answer = (call: Call): unknown => {
      if (call.method === 'svc_getTransactionCount') return 7
      const [waiting, { transaction }] = [Array.isArray(call.params), call.params as { readonly transaction: string }]
      const text = waiting ? (call.params as readonly [string])[0] : transaction
      if (call.method === 'svc_getTransaction') return resultOf(text)
      const bytes = fromBase64(text) as Uint8Array
      const { body } = decodeTx(bytes) as Tx
      kept.set(txHash(bytes), body.nonce)
      return waiting ? resultOf(txHash(bytes)) : { ...resultOf(txHash(bytes)), height: 0, ...said(body.nonce) }
    }
    const resultOf = (hash: string) => ({ height: 9, hash, check_tx: { fee: {} }, deliver_tx: { fee: {} } })
    const sender = senderOf({
      ...gateway,
      ask: async (call) => answer(call),
      askAll: async (calls) => calls.map((call) => ({ result: answer(call) })),
      askBlocking: answer,
    })
    return { sender, nonces: () => [...kept.values()] }
  }
  const forms = [
    ['a promise', async (sender: AccountSender) => sender.submit(order(1))],
    ['synchronous', async (sender: AccountSender) => sender.submitBlocking(order(1), 'transfer')],
  ] as const

  test.each(forms)(
    'and says that it knows the bytes gets one transaction out of a call (%s)',
    async (_form, submit) => {
      const { sender, nonces } = liar(() => ({ known: true }))
      expect(await submit(sender)).toMatchObject({ height: 9 })
      expect(nonces()).toEqual([7])
    },
  )

  /** Lower nonces are as good to it as higher ones. */
  const JUMPS: Readonly<Record<number, number>> = { 8: 3, 4: 9 }

  test.each(forms)('and always expects another nonce gets a bounded number of them (%s)', async (_form, submit) => {
    const check = { code: 6, log: 'bad nonce', fee: {} }
    const { sender, nonces } = liar((nonce) => ({ check_tx: check, expected_nonce: JUMPS[nonce] ?? nonce + 1 }))
    expect(await submit(sender)).toMatchObject({ height: 0, check_tx: check })
    expect(nonces().slice(0, 5)).toEqual([7, 8, 3, 4, 9])
    expect(new Set(nonces()).size).toBe(NONCES_OF_TX_MAX)
  })
})

describe('what goes wrong', () => {
  test('a nonce that is refused again though the account has not moved comes back after one new try', async () => {
    const stuck = { ...fakeGateway(), tries: 0 }
    const refusal = {
      height: 0,
      hash: '',
      check_tx: { code: 6, log: 'bad nonce: expected 4, got 9', fee: {} },
      deliver_tx: { fee: {} },
    }
    const refuse = { ...refusal, expected_nonce: 4 }
    stuck.askAll = async (calls) => {
      stuck.tries += 1
      return calls.map(() => ({ result: refuse }))
    }
    expect(await senderOf(stuck).submit(order(1))).toEqual(refusal)
    expect(stuck.tries).toBe(2)
    stuck.tries = 0
    const ask = stuck.askBlocking
    stuck.askBlocking = (call, name) => {
      if (call.method !== 'svc_sendRawTransaction') return ask(call, name)
      stuck.tries += 1
      return refuse
    }
    expect(senderOf(stuck).submitBlocking(order(1), 'transfer')).toEqual(refusal)
    expect(stuck.tries).toBe(2)
  })

  test('an answer that does not come is an error with the hash, and is not sent again; later calls go on', async () => {
    const gateway = fakeGateway((tx) =>
      Number((tx.body.message as { value: string }).value) === 2
        ? new SvcRpcError('svc_sendRawTransaction', DISCONNECTED, 'the gateway cannot be reached')
        : undefined,
    )
    const sender = senderOf(gateway)
    const results = await Promise.allSettled([1, 2, 3].map((value) => sender.submit(order(value))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const data = { hash: expect.stringMatching(/^[0-9A-F]{64}$/) }
    expect(results[1]).toMatchObject({ reason: { name: 'SvcRpcError', code: DISCONNECTED, data } })
    expect(valuesOf(gateway)).toEqual([1, 3])
  })

  test.each([
    [
      'the chain stands still',
      new SvcRpcError('svc_sendRawTransaction', -32011, 'no block', { stalledMs: 1, height: 7 }),
    ],
    ['the mempool is full', new SvcRpcError('svc_sendRawTransaction', -32013, 'full')],
  ])(
    'a transaction that the gateway did not send, as %s, has no hash: the error stays as it is',
    async (_why, error) => {
      await expect(senderOf(fakeGateway(() => error)).submit(order(1))).rejects.toBe(error)
      expect(() => senderOf(fakeGateway(() => error)).submitBlocking(order(1), 'transfer')).toThrow(error)
    },
  )

  const others = [{ check_tx: {} }, { deliver_tx: {} }, {}, null, 'sent', 7]
  const bodies: readonly (readonly [string, (id: number) => unknown])[] = [
    ...others.map((result) => [JSON.stringify({ result }), (id: number) => ({ id, result })] as const),
    ['null', () => null],
    ['an error that names another hash', (id) => ({ id, error: { code: -32603, message: '', data: { hash: 'ABC' } } })],
  ]
  test.each(bodies)(
    '%s for an answer is an error with the hash, and the others of its batch go on',
    async (_what, made) => {
      const good = { height: 0, hash: '', check_tx: { code: 20, log: '', fee: {} }, deliver_tx: { fee: {} } }
      const answer = async (_url: unknown, init?: RequestInit): Promise<Response> => {
        const calls = JSON.parse(String(init?.body)) as { readonly id: number; readonly method: string }[]
        if (!Array.isArray(calls)) return Response.json({ jsonrpc: '2.0', id: 1, result: 0 })
        return Response.json(calls.map(({ id }) => (id === 0 ? made(id) : { id, result: good, error: null })))
      }
      const sender = senderOf(httpTransport({ url: 'http://gateway', fetch: answer }))
      const [first, second] = await Promise.allSettled([sender.submit(order(1)), sender.submit(order(2))])
      const data = { hash: expect.stringMatching(/^[0-9A-F]{64}$/) }
      expect(first).toMatchObject({ reason: { name: 'SvcRpcError', data } })
      expect(second).toEqual({ status: 'fulfilled', value: good })
    },
  )

  test('what waits is given up when the gateway is away, and the next call begins anew', async () => {
    const gateway = fakeGateway()
    const { ask } = gateway
    let isAway = true
    const sender = senderOf({
      ...gateway,
      ask: (call) => (isAway ? Promise.reject(new SvcRpcError(call.method, undefined, 'away')) : ask(call)),
    })
    await expect(sender.submit(order(1))).rejects.toMatchObject({ name: 'SvcRpcError', code: undefined })
    isAway = false
    expect((await sender.submit(order(2))).height).toBe(1)
  })

  test('onSent is told the hash as soon as the node has taken the transaction, and not of one that is refused', async () => {
    const gateway = fakeGateway((tx) =>
      (tx.body.message as { value: string }).value === '2' ? { code: 20, log: 'Insufficient balance' } : undefined,
    )
    const sender = senderOf(gateway)
    const told: string[] = []
    const onSent = (hash: string): void => void told.push(hash)
    const [first] = await Promise.all([1, 2].map((value) => sender.submit(order(value), { onSent })))
    expect(told).toEqual([first?.hash])
  })
})
