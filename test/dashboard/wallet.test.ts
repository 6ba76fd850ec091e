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

/** What the gateway answers to a transaction that it signs itself. */
const unsaid: Answer = { error: { code: -32603, message: 'Internal error' } }

function answerOf({ id, method, params }: { readonly id: number; readonly method: string; readonly params: unknown }) {
  const isSent = method === 'svc_sendRawTransaction'
  if (method === 'svc_transfer') return { jsonrpc: '2.0', id, ...unsaid }
  const answer = isSent ? (Array.isArray(params) ? toWait : toSend) : { result: results[method] ?? null }
  return { jsonrpc: '2.0', id, ...answer }
}

const kept = new Map<string, string>()

/** The gateway answers to a transaction, and to a question for a nonce, once this resolves. */
let held: Promise<void> = Promise.resolve()

Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
  fetch: async (_url: unknown, { body }: { readonly body: string }) => {
    const asked = JSON.parse(body) as Parameters<typeof answerOf>[0] | readonly Parameters<typeof answerOf>[0][]
    if (/"svc_(sendRawTransaction|getTransactionCount)"/.test(body)) await held
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
  held = Promise.resolve()
})

const inTime = <T>(look: () => T | undefined): Promise<T> => until(async () => look(), 20_000, 'it did not happen')

describe('a transaction of the page', () => {
  async function send(
    open = (): unknown => wallet.addKey(KEY.slice(), 'key'),
    onSent?: () => void,
    hold = Promise.resolve(),
  ): Promise<void> {
    open()
    void page.act('transfer', { to: addressOf(1), value: '5' }, onSent)
    await inTime(() => page.openReview.get()?.review)
    held = hold
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

  test('that fails behind a dialog which the reader has closed says in the list that nothing was sent', async () => {
    toSend = { error: { code: -32011, message: 'the chain has made no block for 40 s', data: { stalledMs: 40_000 } } }
    const { promise, resolve } = Promise.withResolvers<void>()
    await send(undefined, undefined, promise)
    page.closeReview()
    resolve()
    const one = await inTime(() => page.sent.get().find(({ progress }) => progress.state !== 'waiting'))
    const why = 'The chain has made no block for 40 s. Nothing was sent'
    expect(one.progress).toEqual({ state: 'failed', why })
  })

  test('that others have to sign too leaves the dialog of another one as it is', async () => {
    const { forgetSeveral, makeSeveral } = await import('../../src/dashboard/wallet/several.ts')
    const { promise, resolve } = Promise.withResolvers<void>()
    expect(makeSeveral(1, [addressOf(1), addressOf(2)])).toBeUndefined()
    await send(() => undefined, undefined, promise)
    page.closeReview()
    const from = wallet.currentAccount() ?? ''
    void page.act('transfer', { to: addressOf(3), value: '6' })
    resolve()
    await inTime(() => location.hash.startsWith('#/sign/') || undefined)
    expect(page.openReview.get()?.request.input).toEqual({ to: addressOf(3), value: '6' })
    expect(page.sent.get()).toEqual([])
    forgetSeveral(from)
  })

  test.each([
    ['nothing', undefined, 'It did not say why'],
    ['an error', { code: 4100, message: 'Unauthorized' }, 'Unauthorized'],
  ])('that a wallet ends with %s stands there as before, and nothing was sent', async (_, thrown, why) => {
    const { connect } = await import('../../src/dashboard/wallet/providers.ts')
    const provider = {
      request: async ({ method }: { readonly method: string }) => {
        if (method === 'eth_requestAccounts') return [addressOf(5)]
        throw thrown
      },
    }
    await connect({ id: '2', name: 'Wallet', provider })
    await send(() => undefined)
    const error = await inTime(() => page.openReview.get()?.error)
    expect(error.message).toBe(`${why}. Nothing was sent`)
    expect(page.sent.get()).toEqual([])
  })

  test('that the gateway signs, and does not say whether it sent it, has not failed', async () => {
    await send(() => wallet.addDevnetAccount(addressOf(6)))
    const one = await inTime(() => page.sent.get().find(({ progress }) => progress.state !== 'waiting'))
    expect(one.progress.state).toBe('unclear')
  })

  test('is told as sent before it is in a block, so that a form does not offer it again', async () => {
    toSend = { result: { height: 0, hash: 'CD'.repeat(32), check_tx: { fee: {} }, deliver_tx: { fee: {} } } }
    toWait = { error: { code: -32603, message: 'Internal error' } }
    let isTold = false
    await send(undefined, () => {
      isTold = true
    })
    await inTime(() => isTold || undefined)
    expect(page.sent.get()[0]?.progress.state).not.toBe('done')
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

test('of two wallets with one account, the one that was connected last signs, and only it closes the account', async () => {
  const { connect } = await import('../../src/dashboard/wallet/providers.ts')
  const asked: string[] = []
  const closed = new Map<string, (given?: unknown) => void>()
  for (const name of ['first', 'last']) {
    const request = ({ method }: { readonly method: string }): Promise<unknown> => {
      if (method === 'eth_requestAccounts') return Promise.resolve([addressOf(8)])
      asked.push(name)
      return new Promise(() => {})
    }
    const on = (event: string, listener: (given: unknown) => void) =>
      event === 'disconnect' && closed.set(name, listener)
    await connect({ id: name, name, provider: { request, on } })
  }
  void page.act('transfer', { to: addressOf(1), value: '5' })
  await inTime(() => page.openReview.get()?.review)
  void page.sign()
  await inTime(() => asked[0])
  expect(asked).toEqual(['last'])
  closed.get('first')?.()
  expect(wallet.currentAccount()).toBe(addressOf(8))
  closed.get('last')?.()
  expect(wallet.currentAccount()).toBeUndefined()
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

test('no account that the page knows not to be of Ethereum becomes a member by its address', async () => {
  const { forgetSeveral, makeSeveral, several } = await import('../../src/dashboard/wallet/several.ts')
  for (const { address } of several.get()) forgetSeveral(address)
  expect(makeSeveral(1, [addressOf(1), addressOf(2)])).toBeUndefined()
  const inner = several.get()[0]?.address ?? ''
  const refused = `${inner} is no account of Ethereum: name its public key, or its members`
  expect(makeSeveral(2, [inner, addressOf(3)])).toBe(refused)
  wallet.lock()
  expect(makeSeveral(2, [`0x${inner.slice(2).toUpperCase()}`, addressOf(3)])).toBe(refused)
  wallet.addDevnetAccount(addressOf(4))
  expect(makeSeveral(2, [addressOf(3), addressOf(4)])).toContain(addressOf(4))
  expect(several.get()).toHaveLength(1)
  const own = wallet.addKey(KEY.slice(), 'key')
  expect(makeSeveral(2, [addressOf(3), own])).toBeUndefined()
})
