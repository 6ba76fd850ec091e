import { describe, expect, test } from '@jest/globals'
import { type KeySigner, Svc } from '../../src/client/index.ts'
import { waitForTx } from '../../src/client/accountSender.ts'
import { abortable, type Call, type Transport } from '../../src/client/transport.ts'
import { type FakeGateway, fakeGateway, key, order, printed, senderOf } from './support.ts'

const valuesOf = ({ committed }: FakeGateway): readonly unknown[] => committed.map(({ body }) => body.message['value'])

/** A wallet that shows what it signs, and answers each dialog as `answer` says. */
function wallet(answer: (value: unknown) => Promise<void>) {
  const shown: unknown[] = []
  const signer: KeySigner = {
    ...key,
    signTx: async (body) => {
      shown.push(body.message['value'])
      await answer(body.message['value'])
      return key.signTx(body)
    },
  }
  return { shown, signer }
}

describe('a call that is given up before its transaction is sent', () => {
  test('is not sent when the gateway at last tells the nonce', async () => {
    const gateway = fakeGateway()
    const told = Promise.withResolvers<void>()
    const slow = { ...gateway, ask: (call: Call) => told.promise.then(() => gateway.ask(call)) }
    const sender = senderOf(slow)
    const abort = new AbortController()
    const [first, second] = [sender.submit(order(1), { signal: abort.signal }), sender.submit(order(2))]
    await Promise.resolve()
    abort.abort(new Error('no longer'))
    await expect(first).rejects.toThrow('no longer')
    told.resolve()
    await second
    expect(valuesOf(gateway)).toEqual(['2'])
  })

  test('is neither shown by a wallet that asks for another one, nor sent once its own dialog is accepted', async () => {
    const gateway = fakeGateway()
    const [own, next] = [new AbortController(), new AbortController()]
    const { shown, signer } = wallet(async (value) => {
      if (value !== '1') return
      own.abort(new Error('own'))
      next.abort(new Error('next'))
    })
    const sender = senderOf(gateway, signer)
    const calls = [own.signal, next.signal, undefined].map((signal, at) =>
      sender.submit(order(at + 1), signal && { signal }),
    )
    const results = await Promise.allSettled(calls)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(valuesOf(gateway)).toEqual(['3'])
    expect(shown).not.toContain('2')
  })

  test('is not sent in a later request, while the first of several is on its way', async () => {
    const gateway = fakeGateway()
    const abort = new AbortController()
    const sender = senderOf({
      ...gateway,
      askAll: async (calls) => {
        const replies = await gateway.askAll(calls)
        abort.abort(new Error('no longer'))
        return replies
      },
    })
    // One request takes eight of these.
    const values = Array.from({ length: 10 }, (_, at) => String(at).repeat(60_000))
    const calls = values.map((value, at) =>
      sender.submit(
        { ...order(0), message: { to: new Uint8Array(20), value } },
        at === 8 ? { signal: abort.signal } : {},
      ),
    )
    const results = await Promise.allSettled(calls)
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: abort.signal.reason },
    ])
    expect(valuesOf(gateway)).toEqual(values.filter((_, at) => at !== 8))
  })
})

test('after a transaction that its owner refuses, a wallet asks once for each of the others', async () => {
  const gateway = fakeGateway()
  const { shown, signer } = wallet(async (value) => {
    if (value === '2') throw new Error('refused')
  })
  const sender = senderOf(gateway, signer)
  const results = await Promise.allSettled([1, 2, 3, 4].map((value) => sender.submit(order(value))))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(shown).toEqual(['1', '2', '3', '4'])
  expect(valuesOf(gateway)).toEqual(['1', '3', '4'])
})

test('the hash that is told is that of what was signed, whatever the gateway says', async () => {
  const gateway = fakeGateway()
  const of = (answer: unknown): object => ({ ...(answer as object), hash: 'CD'.repeat(32) })
  const sender = senderOf({
    ...gateway,
    askAll: async (calls) => (await gateway.askAll(calls)).map((reply) => ({ result: of(Object(reply).result) })),
    askBlocking: (call, name) =>
      call.isTransaction ? of(gateway.askBlocking(call, name)) : gateway.askBlocking(call, name),
  })
  const told: string[] = []
  const { hash } = await sender.submit(order(1), { onSent: (sent) => void told.push(sent) })
  expect(hash).toMatch(/^(?!CDCD)[0-9A-F]{64}$/)
  expect(told).toEqual([hash])
  expect(sender.submitBlocking(order(2), 'transfer').hash).not.toMatch(/^CDCD/)
})

describe('waiting', () => {
  const hash = 'AB'.repeat(32)
  test.each([-1, Number.NaN, 20.5])('for %p ms ends with -32012', async (timeoutMs) => {
    const ask: Transport['ask'] = (_call, signal) => abortable(new Promise(() => undefined), signal)
    await expect(waitForTx({ ask }, hash, { timeoutMs })).rejects.toMatchObject({ code: -32012 })
  })

  test('for what a balance lacked ends with the signal: the failure is told without it', async () => {
    const failed = { height: 0, hash, check_tx: { code: 20, log: 'Insufficient balance', fee: {} }, deliver_tx: {} }
    const asked: string[] = []
    const answer = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      const { method } = JSON.parse(String(init?.body)) as { readonly method: string }
      if (asked.push(method) === 1) return Response.json({ jsonrpc: '2.0', id: 1, result: failed })
      return new Promise((_, ended) => init?.signal?.addEventListener('abort', () => ended(new Error('ended'))))
    }
    const svc = new Svc({ url: 'http://gateway', fetch: answer as typeof fetch })
    const from = `0x${'11'.repeat(20)}`
    const call = svc.async.transfer({ from, to: from, value: 1n }, { signal: AbortSignal.timeout(50) })
    await expect(call).rejects.toMatchObject({ name: 'SvcTxError', code: 20, shortfall: undefined })
    expect(asked).toEqual(['svc_transfer', 'svc_getShortfall'])
  })
})

/** What a program prints that begins with `svc`, whose gateway answers as `answer` says. */
function run(answer: string, program: string): Promise<string> {
  const client = new URL('../../src/client/index.ts', import.meta.url)
  return printed(`
    import { Svc } from '${client}'
    const svc = new Svc({ url: 'http://gateway', chainId: 'test', fetch: async (_, { body }) => {
      const replies = [JSON.parse(body)].flat().map((call) => ({ jsonrpc: '2.0', id: call.id, ...(${answer})(call) }))
      return Response.json(body.startsWith('[') ? replies : replies[0])
    } })
    ${program}`)
}

// In processes of their own: how a process ends is what is tested, and an uncaught error would be jest's.
describe('a program', () => {
  test('ends once it has given up, however late the gateway wants to be asked again', async () => {
    const error = `{ code: -32015, message: 'Too many requests', data: { retryAfterMs: 600_000 } }`
    const program = `await svc.async.waitForTx('AB', { timeoutMs: 50 }).catch(({ code }) => console.log(code))`
    expect(await run(`() => ({ error: ${error} })`, program)).toBe('-32012')
  })

  test('whose onSent throws still gets the result', async () => {
    const result = `{ height: 3, hash: '', check_tx: {}, deliver_tx: {} }`
    const program = `
      process.on('uncaughtException', ({ message }) => console.log(message))
      const from = svc.accounts.add('01'.repeat(32))
      const onSent = () => { throw new Error('mine') }
      console.log((await svc.async.transfer({ from, to: from, value: 1n }, { onSent })).height)`
    const answer = `({ method }) => ({ result: method === 'svc_getTransactionCount' ? 0 : ${result} })`
    expect(await run(answer, program)).toBe('mine\n3')
  })

  test('whose blocking form meets a wallet goes on when the owner refuses', async () => {
    const program = `
      const signTx = async () => { throw new Error('the owner refuses') }
      const from = svc.accounts.add({ address: '0x' + '11'.repeat(20), signTx })
      try {
        svc.transfer({ from, to: from, value: 1n, nonce: 0 })
      } catch ({ message }) {
        console.log(message)
      }
      await new Promise(setImmediate)
      console.log('on')`
    expect(await run('() => ({ result: null })', program)).toMatch(/a wallet asks its owner before it signs.*\non$/)
  })

  test('whose gateway answers null for a transaction that it signs gets that as an error in its callback', async () => {
    const program = `
      svc.transfer({ from: '0x1', to: '0x2', value: 1n }, ({ name, code }, result) => console.log(name, code, result))`
    expect(await run('() => ({ result: null })', program)).toBe('SvcRpcError undefined undefined')
  })
})
