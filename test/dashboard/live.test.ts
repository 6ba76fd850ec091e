/** What changes while blocks come. */
import { drawn } from './fakeDom.ts'
import { afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { h } from 'preact'
import { until } from '../../bench/until.ts'
import type { Connection, SubscribeOptions, SvcSubscription, SvcTopics } from '../../src/client/index.ts'
import type { BlockHead } from '../../src/dashboard/data/chain.ts'
import { svc } from '../../src/dashboard/data/gateway.ts'

// What the test does not answer fails.
Object.assign(globalThis, { fetch: () => Promise.reject(new Error('away')) })

let chain: typeof import('../../src/dashboard/data/chain.ts')

beforeAll(async () => {
  chain = await import('../../src/dashboard/data/chain.ts')
})
afterEach(() => void jest.restoreAllMocks())

const blockAt = (height: number): BlockHead => ({
  height,
  hash: String(height).padStart(64, '0'),
  parent_hash: '',
  time: new Date(height * 1_000).toISOString(),
  proposer_address: '',
  app_hash: '',
  transaction_count: 0,
})

/** The page has heard of the last 100 blocks up to this one. */
function reach(height: number): void {
  chain.recentBlocks.set(Array.from({ length: 100 }, (_, at) => blockAt(height - 99 + at)))
  chain.head.set(blockAt(height))
}

const txAt = (height: number): SvcTopics['tx'] => ({
  height,
  hash: String(height).padStart(64, '0'),
  index: 0,
  sender: null,
  nonce: 0,
  operation: 'transfer',
  message: { to: '', value: `${height}${'0'.repeat(18)}` },
  check_tx: { fee: {} },
  deliver_tx: { fee: {} },
})

type SubscribeTo<T extends keyof SvcTopics> = (
  topic: T,
  options: SubscribeOptions,
  onEvent: (event: SvcTopics[T]) => void,
) => Promise<SvcSubscription>

/** What the page subscribes to on a topic, in place of the gateway. */
const subscriptionsTo = <T extends keyof SvcTopics>() =>
  jest.spyOn(svc, 'subscribe') as unknown as jest.Mock<SubscribeTo<T>>

/** Long enough for the page to draw. */
const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 60))

test('a page of older blocks stays while blocks come, and is asked once', async () => {
  const asked: number[] = []
  jest.spyOn(svc.async, 'getBlock').mockImplementation(((of: { readonly block: number }) => {
    asked.push(of.block)
    if (asked.length > 25) return new Promise(() => {})
    return Promise.resolve({ ...blockAt(of.block), transactions: [], events: [] })
  }) as never)
  location.hash = '#/blocks?from=120'
  dispatchEvent(new Event('hashchange'))
  const { Blocks } = await import('../../src/dashboard/pages/Blocks.tsx')
  reach(110)
  const { text, end } = drawn(h(Blocks, { path: [] }))
  for (const height of [119, 190]) {
    await turn()
    expect(text()).not.toContain('1–25 of')
    reach(height)
  }
  await until(
    () => text().includes('71–95 of 190') || undefined,
    20_000,
    () => text(),
  )
  for (let height = 200; height < 206; height++) {
    reach(height)
    await turn()
    expect(text()).toContain(`of ${height}`)
    expect(text()).not.toContain('Loading')
  }
  expect(asked).toEqual(Array.from({ length: 25 }, (_, at) => 120 - at))
  end()
})

test('the latest blocks are those of the latest heights, also while older ones are missing', async () => {
  location.hash = '#/blocks'
  dispatchEvent(new Event('hashchange'))
  const { Blocks } = await import('../../src/dashboard/pages/Blocks.tsx')
  chain.recentBlocks.set([1, 2, 3, 151, 152, 153].map(blockAt))
  chain.head.set(blockAt(153))
  const { text, end } = drawn(h(Blocks, { path: [] }))
  await until(
    () => text().includes('1–3 of 153') || undefined,
    20_000,
    () => text(),
  )
  end()
})

test('transactions behind a gap in what the page hears stand above those that are asked for then, and none before it', async () => {
  let newest = 3
  jest.spyOn(svc.async, 'getTransactions').mockImplementation((async () => {
    const data = [txAt(newest), txAt(newest - 1)]
    return { data, next: null, height: newest, earliest_height: 1 }
  }) as never)
  const subscribe = subscriptionsTo<'tx'>()
  subscribe.mockResolvedValue({ unsubscribe: () => {} })
  const { TxHistory } = await import('../../src/dashboard/parts/TxHistory.tsx')
  const { text, end } = drawn(h(TxHistory, { label: 'Transactions' }))
  const shows = (...heights: readonly number[]): Promise<true> =>
    until(
      () => String([...text().matchAll(/Send (\d+) token/g)].map(([, height]) => height)) === String(heights),
      20_000,
      () => text(),
    )
  chain.line.set({ state: 'live', reason: '', isAnswered: false, since: 0 })
  await shows(3, 2)
  const [, { onState }, tell] = await until(() => subscribe.mock.calls[0], 20_000, 'nothing was subscribed to')
  tell(txAt(4))
  await shows(4, 3, 2)
  newest = 200
  onState?.({ state: 'gap', from: 5, to: 150 })
  tell(txAt(201))
  await shows(201, 200, 199)
  end()
})

test('a list does not begin with the transactions of the list shown before it', async () => {
  const { useLive } = await import('../../src/dashboard/data/useTransactions.ts')
  const subscribe = subscriptionsTo<'tx'>()
  subscribe.mockResolvedValue({ unsubscribe: () => {} })
  const Heights = ({ from }: { readonly from: number | undefined }) =>
    JSON.stringify(useLive(from).map((tx) => tx.height))
  const { text, draw, end } = drawn(h(Heights, { from: 103 }))
  const [, , tell] = await until(() => subscribe.mock.calls[0], 20_000, 'nothing was subscribed to')
  tell(txAt(104))
  await until(
    () => text() === '[104]',
    20_000,
    () => text(),
  )
  draw(h(Heights, { from: undefined }))
  await turn()
  draw(h(Heights, { from: 160 }))
  await until(() => subscribe.mock.calls[1], 20_000, 'nothing was subscribed to')
  expect(text()).toBe('[]')
  end()
})

test('what happens to a proposal while the page subscribes is told, or asked for where the page knows no block', async () => {
  const { useProposalNews } = await import('../../src/dashboard/data/proposals.ts')
  const subscribe = subscriptionsTo<'proposal'>()
  // The gateway is a block further than the page by then.
  subscribe.mockImplementation(async (_, { from = 302, onState }, tell) => {
    onState?.({ state: 'open' })
    if (Number(from) <= 301)
      tell({ height: 301, hash: null, type: 'svc.governance.vote', attributes: { proposal_id: 'one' } })
    return { unsubscribe: () => {} }
  })
  const hears = async (heights: readonly number[]): Promise<void> => {
    const { text, end } = drawn(h(() => JSON.stringify([...useProposalNews().values()]), {}))
    await until(
      () => text() === JSON.stringify(heights),
      20_000,
      () => text(),
    )
    end()
  }
  chain.head.set(undefined)
  await hears([1])
  reach(300)
  await hears([1, 301])
})

test.each([
  ['a page that knows a block', 300, 300],
  ['one that knew none', undefined, 500],
])('what happens to proposals in a gap of a line that stays open is asked for by %s', async (_, known, last) => {
  const { useProposalNews } = await import('../../src/dashboard/data/proposals.ts')
  const { useTold } = await import('../../src/dashboard/data/useAnswer.ts')
  const subscribe = subscriptionsTo<'proposal'>()
  subscribe.mockResolvedValue({ unsubscribe: () => {} })
  let asked = 0
  const Heard = () => String(Math.max(0, ...useProposalNews().values()))
  const Told = () => `, asked ${useTold('proposal', `gap/${last}`, async () => ++asked).data} times`
  if (known === undefined) chain.head.set(undefined)
  else reach(known)
  const { text, end } = drawn([h(Heard, {}), h(Told, {})])
  const shows = (what: string): Promise<true> =>
    until(
      () => text() === what,
      20_000,
      () => text(),
    )
  const [, , tell] = await until(() => subscribe.mock.calls[0], 20_000, 'nothing was subscribed to')
  tell({ height: last + 2, hash: null, type: 'svc.governance.vote', attributes: { proposal_id: 'one' } })
  await shows(`${last + 2}, asked 1 times`)
  const say = (state: Connection): void => {
    for (const [, { onState }] of subscribe.mock.calls) onState?.(state)
  }
  say({ state: 'gap', from: last + 3, to: last + 150 })
  await shows(`${last + 150}, asked 2 times`)
  say({ state: 'lost', reason: '' })
  await turn()
  expect(text()).toBe(`${last + 150}, asked 2 times`)
  end()
})

test('a transaction that is in a block at last says what it lacked there', async () => {
  const { Transaction } = await import('../../src/dashboard/pages/Transaction.tsx')
  const failed = { ...txAt(400), deliver_tx: { fee: {}, code: 20, log: 'no' } }
  const find = jest.spyOn(svc.async, 'getTransaction').mockResolvedValue(null)
  const ask = jest.spyOn(svc.async, 'getShortfall').mockResolvedValue(null)
  const { text, end } = drawn(h(Transaction, { hash: failed.hash }))
  await until(() => ask.mock.calls.length > 0, 20_000, 'nobody asked')
  find.mockResolvedValue(failed)
  ask.mockResolvedValue({ account: '', needed: '3', fee: '1', available: '2' })
  await turn()
  reach(400)
  await until(
    () => text().includes('too little'),
    20_000,
    () => text(),
  )
  end()
})
