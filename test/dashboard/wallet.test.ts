import './browser.ts'
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '../../bench/until.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { encodeMultisig } from '../../src/tx/multisig.ts'

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: object } }

const addressOf = (digit: number): string => `0x${String(digit).repeat(40)}`
const KEY = new Uint8Array(32).fill(7)

/** What the gateway answers to a transaction that it need not wait for, and to one whose block it waits for. */
let [toSend, toWait]: [Answer, Answer] = [{ result: null }, { result: null }]

const results: Record<string, unknown> = {
  svc_status: { chain_id: 'wallet-test' },
  svc_getTransactionCount: 0,
  svc_getBalance: '1000000000000000000000',
  svc_estimateFee: { gas: 21_000, fee: '42000' },
  svc_queryParams: { height: 1, data: {} },
}

function answerOf({ id, method, params }: { readonly id: number; readonly method: string; readonly params: unknown }) {
  const isSent = method === 'svc_sendRawTransaction'
  const answer = isSent ? (Array.isArray(params) ? toWait : toSend) : { result: results[method] ?? null }
  return { jsonrpc: '2.0', id, ...answer }
}

const kept = new Map<string, string>()

Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
  fetch: async (_url: unknown, { body }: { readonly body: string }) => {
    const asked = JSON.parse(body) as Parameters<typeof answerOf>[0] | readonly Parameters<typeof answerOf>[0][]
    return new Response(JSON.stringify(Array.isArray(asked) ? asked.map(answerOf) : answerOf(asked as never)))
  },
})

let page: typeof import('../../src/dashboard/wallet/act.ts')
let wallet: typeof import('../../src/dashboard/wallet/wallet.ts')

beforeAll(async () => {
  page = await import('../../src/dashboard/wallet/act.ts')
  wallet = await import('../../src/dashboard/wallet/wallet.ts')
})
afterEach(() => {
  page.closeReview()
  page.sent.set([])
  wallet.lock()
})

const inTime = <T>(look: () => T | undefined): Promise<T> =>
  until(
    async () => look(),
    20_000,
    () => 'it did not happen',
  )

describe('a transaction of the page', () => {
  async function send(): Promise<void> {
    wallet.addKey(KEY.slice(), 'key')
    void page.act('transfer', { to: addressOf(1), value: '5' })
    await inTime(() => page.openReview.get()?.review)
    void page.sign()
  }

  test('that the gateway did not send stands there as before, with why', async () => {
    toSend = { error: { code: -32011, message: 'the chain has made no block for 40 s', data: { stalledMs: 40_000 } } }
    await send()
    const error = await inTime(() => page.openReview.get()?.error)
    expect(error.message).toBe('The chain has made no block for 40 s. Nothing was sent')
    expect(page.sent.get()).toEqual([])
    expect(page.openReview.get()?.sentId).toBeUndefined()
  })

  test('that the node has taken is looked for, whatever goes wrong with the gateway then', async () => {
    toSend = { result: { height: 0, hash: 'AB'.repeat(32), check_tx: { fee: {} }, deliver_tx: { fee: {} } } }
    toWait = { error: { code: -32603, message: 'Internal error' } }
    await send()
    await inTime(() => page.sent.get().find(({ progress }) => progress.state === 'late'))
    results['svc_getTransaction'] = { height: 9, hash: 'AB'.repeat(32), check_tx: { fee: {} }, deliver_tx: { fee: {} } }
    await inTime(() => page.sent.get().find(({ progress }) => progress.state === 'done'))
  })
})

test('another account of a wallet acts only where the one before it did', async () => {
  const { connect } = await import('../../src/dashboard/wallet/providers.ts')
  let accounts = [addressOf(1)]
  let onAccounts: ((given: unknown) => void) | undefined
  const provider = {
    request: async () => accounts,
    on: (event: string, listener: (given: unknown) => void) => {
      if (event === 'accountsChanged') onAccounts = listener
    },
  }
  const change = async (to: string): Promise<void> => {
    accounts = [to]
    onAccounts?.(accounts)
    await inTime(() => wallet.openAccount(to))
  }
  await connect({ id: '1', name: 'Wallet', provider } as Parameters<typeof connect>[0])
  await change(addressOf(2))
  expect(wallet.currentAccount()).toBe(addressOf(2))
  const own = wallet.addKey(KEY.slice(), 'keystore')
  await change(addressOf(3))
  await inTime(() => wallet.currentAccount() === own || undefined)
  expect(wallet.openAccount(addressOf(2))).toBeUndefined()
})

test('an account of several keys that another tab has made stays when one is forgotten here', async () => {
  const { forgetSeveral, makeSeveral, several } = await import('../../src/dashboard/wallet/several.ts')
  expect(makeSeveral(1, [addressOf(1), addressOf(2)])).toBeUndefined()
  const members = [3, 4].map((digit) => new Uint8Array(20).fill(digit))
  const others = toBase64(encodeMultisig({ threshold: 1, members }))
  const [own = ''] = JSON.parse(kept.get('svcd-several') ?? '[]') as readonly string[]
  kept.set('svcd-several', JSON.stringify([own, others]))
  dispatchEvent(Object.assign(new Event('storage'), { key: 'svcd-several' }))
  expect(several.get().map(({ bytes }) => toBase64(bytes))).toEqual([own, others])
  kept.set('svcd-several', JSON.stringify([own, others, toBase64(encodeMultisig({ threshold: 2, members }))]))
  forgetSeveral(several.get()[0]?.address ?? '')
  expect(several.get()).toHaveLength(2)
})
