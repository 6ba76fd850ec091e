import { afterEach, expect, test } from '@jest/globals'
import { TOKEN } from '../../src/base/amount.ts'
import type { GatewayOptions } from '../../src/gateway/gateway.ts'
import { FAUCET_CALLS_MAX, FAUCET_PAYMENTS_MAX } from '../../src/gateway/http/limits.ts'
import { addressBytes, addressOf } from '../../src/values/address.ts'
import { alice, bob, LIMITS, post, type RpcAnswer, signerOf, startPair } from './support.ts'

let pair: Awaited<ReturnType<typeof startPair>>
afterEach(() => pair.close())

/** What the faucet has sent: from whom, to whom and how much. */
const sent: unknown[] = []

async function start(options: Partial<GatewayOptions> = {}): Promise<void> {
  sent.length = 0
  const signers = [alice, signerOf(3)]
  pair = await startPair(
    {
      check: ({ body: { from, operation, message } }) => {
        sent.push([addressOf(from), operation, message])
        return {}
      },
    },
    { signers, limits: { ...LIMITS, trustProxies: ['127.0.0.1'] }, ...options },
  )
}

/** Asks for tokens as a caller of an address of its own. */
async function ask(caller: string, to: string, headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_faucet', params: [to] })
  const answer = await post(pair.gateway.url, body, { 'x-forwarded-for': caller, ...headers })
  return { status: answer.status, ...((await answer.json()) as RpcAnswer) }
}

const accountOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

test('sends 10 tokens from the last account, and answers with the result of the transfer', async () => {
  await start()
  const { result } = await ask('10.0.0.1', bob.address)
  expect(result).toMatchObject({ height: expect.any(Number), hash: expect.stringMatching(/^[0-9A-F]{64}$/) })
  const message = { to: addressBytes(bob.address), value: String(10n * TOKEN) }
  expect(sent).toEqual([[signerOf(3).address, 'transfer', message]])
})

test('refuses what is no address, and counts nothing then', async () => {
  await start()
  for (let times = 0; times <= FAUCET_CALLS_MAX; times++)
    expect(await ask('10.0.0.1', '0x12')).toMatchObject({ error: { code: -32602 } })
  expect(await ask('10.0.0.1', bob.address)).toMatchObject({ status: 200, result: {} })
})

test('one account gets a number of payments, whoever asks, and the next is refused with the time to wait', async () => {
  await start()
  for (let times = 0; times < FAUCET_PAYMENTS_MAX; times++)
    expect(await ask(`10.0.0.${times}`, bob.address)).toMatchObject({ status: 200 })
  expect(await ask('10.0.0.99', bob.address)).toMatchObject({
    status: 429,
    error: {
      code: -32015,
      message: `Too many requests, try again later: more than ${FAUCET_PAYMENTS_MAX} payments of svc_faucet to one account in 600 s`,
      data: { retryAfterMs: expect.any(Number) },
    },
  })
  expect(await ask('10.0.0.99', accountOf(1))).toMatchObject({ status: 200 })
  expect(sent).toHaveLength(FAUCET_PAYMENTS_MAX + 1)
})

test('callers of one address get a number of payments, to whomever, and others do not feel it', async () => {
  await start()
  for (let to = 1; to <= FAUCET_CALLS_MAX; to++)
    expect(await ask('10.0.0.1', accountOf(to))).toMatchObject({ status: 200 })
  expect(await ask('10.0.0.1', accountOf(1_000))).toMatchObject({
    error: {
      code: -32015,
      message: `Too many requests, try again later: more than ${FAUCET_CALLS_MAX} calls of svc_faucet from one address in 600 s`,
    },
  })
  expect(await ask('10.0.0.2', accountOf(1_000))).toMatchObject({ status: 200 })
  expect(sent).toHaveLength(FAUCET_CALLS_MAX + 1)
})

test('needs the token of a gateway that has one', async () => {
  const authToken = 'a-token-of-enough-characters'
  await start({ authToken })
  expect(await ask('10.0.0.1', bob.address)).toMatchObject({ error: { code: -32014 } })
  expect(await ask('10.0.0.1', bob.address, { authorization: `Bearer ${authToken}` })).toMatchObject({ status: 200 })
})
