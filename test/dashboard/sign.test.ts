import { drawn } from './fakeDom.ts'
import { afterEach, beforeAll, expect, test } from '@jest/globals'
import { h } from 'preact'
import { until } from '../../bench/until.ts'
import { encodeBody } from '../../src/tx/envelope.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { addressBytes } from '../../src/values/address.ts'
import { parseRoute } from '../../src/dashboard/route.ts'

const results: Readonly<Record<string, unknown>> = {
  svc_getTransactionCount: 0,
  svc_getBalance: '1000000000000000000000',
  svc_estimateFee: { gas: 21_000, fee: '42000' },
  svc_queryParams: { height: 1, data: {} },
}

interface Call {
  readonly id: number
  readonly method: string
}

const answerOf = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: results[method] ?? null })

Object.assign(globalThis, {
  fetch: async (_url: unknown, { body }: { readonly body: string }) => {
    const asked = JSON.parse(body) as Call | readonly Call[]
    return Response.json(Array.isArray(asked) ? asked.map(answerOf) : answerOf(asked as Call))
  },
})

const KEY = new Uint8Array(32).fill(7)
const { address } = signerOfSeed(KEY)

let page: typeof import('../../src/dashboard/pages/Sign.tsx')
let wallet: typeof import('../../src/dashboard/wallet/wallet.ts')
let link: string

beforeAll(async () => {
  page = await import('../../src/dashboard/pages/Sign.tsx')
  // What the view loads when it is shown.
  await Promise.all([
    import('../../src/dashboard/parts/Message.tsx'),
    import('../../src/dashboard/wallet/verifyDraft.ts'),
  ])
  wallet = await import('../../src/dashboard/wallet/wallet.ts')
  const { linkOfDraft } = await import('../../src/dashboard/wallet/several.ts')
  const from = addressBytes(address)
  const body = { chainId: 'c', nonce: 0, from, operation: 'transfer', message: { to: from, value: '5' } }
  link = linkOfDraft({ bodyBytes: encodeBody(body), body, multisig: undefined, parts: [] })
})
afterEach(() => wallet.lock())

/** What stands at the sender in the signatures of a draft, once that shows. */
async function offered(): Promise<string | undefined> {
  const { text, end } = drawn(h(page.Sign, { path: parseRoute(link).path.slice(1) }))
  const pattern = new RegExp(`Signaturesone is missing${address}(Sign|not yet)`)
  const found = await until(
    () => pattern.exec(text()),
    20_000,
    () => text(),
  )
  end()
  return found[1]
}

test('a draft has a button for an account whose key is here', async () => {
  wallet.addKey(KEY.slice(), 'key')
  expect(await offered()).toBe('Sign')
})

test('a draft has no button for an account whose key the gateway has', async () => {
  wallet.addDevnetAccount(address)
  expect(await offered()).toBe('not yet')
})
