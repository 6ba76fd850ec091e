/** What stands while another page of a list is on its way: whoever pages by the keyboard has the focus on a link there. */
import { drawn } from './fakeDom.ts'
import { afterEach, expect, jest, test } from '@jest/globals'
import { type ComponentChild, h } from 'preact'
import { until } from '../../bench/until.ts'
import { svc } from '../../src/dashboard/data/gateway.ts'
import type { Stake } from '../../src/dashboard/wallet/facts.ts'

// What the test does not answer fails.
Object.assign(globalThis, { fetch: () => Promise.reject(new Error('away')) })

afterEach(() => void jest.restoreAllMocks())

const goTo = (hash: string): void => {
  location.hash = hash
  dispatchEvent(new Event('hashchange'))
}

/** Long enough for the page to draw. */
const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 60))

/** Waits until the text of a view has this part. */
const shows = (text: () => string, part: string): Promise<true> => until(() => text().includes(part), 20_000, text)

/** Draws a list, goes to a page whose answer is held back, and returns the text while that loads and once it has. */
async function page(what: ComponentChild, to: string, answer: () => void, first: string, next: string) {
  const { text, end } = drawn(what)
  await shows(text, first)
  goTo(to)
  await turn()
  const meanwhile = text()
  answer()
  await shows(text, next)
  const then = text()
  end()
  return { meanwhile, then }
}

const HEAD = { hash: 'AB', parent_hash: '', time: new Date(0).toISOString(), proposer_address: '', app_hash: 'CD' }

const TX = { hash: '', index: 0, sender: null, operation: null, message: null, check_tx: {}, deliver_tx: {} }

test('a block and the links in it stay while another page of its transactions is on its way', async () => {
  const held = Promise.withResolvers<void>()
  jest.spyOn(svc.async, 'getBlock').mockImplementation((async ({ offset }: { readonly offset: number }) => {
    if (offset > 0) await held.promise
    const transactions = Array.from({ length: 50 }, (_, index) => ({
      ...TX,
      height: 5,
      hash: String(offset + index),
      index: offset + index,
    }))
    return { ...HEAD, height: 5, transaction_count: 150, transactions, events: [] }
  }) as never)
  goTo('#/blocks/5')
  const { Block } = await import('../../src/dashboard/pages/Block.tsx')
  const { meanwhile, then } = await page(
    h(Block, { id: '5' }),
    '#/blocks/5?offset=50',
    held.resolve,
    '1–50 of 150',
    '51–100 of 150',
  )
  expect(meanwhile).toMatch(/App hash.*Loading.*Later →/s)
  expect(meanwhile).not.toContain('of 150')
  expect(then).toContain('Later →')
})

test('the links of a list of delegators stay while another page is on its way', async () => {
  const held = Promise.withResolvers<void>()
  jest.spyOn(svc.async.stake.validator, 'queryDelegations').mockImplementation((async ({ offset = 0 }) => {
    if (offset > 0) await held.promise
    const data = Array.from({ length: 20 }, (_, index) => ({
      delegator_address: `0x${String(offset + index).padStart(40, '0')}`,
      shares: '5',
    }))
    return { data }
  }) as never)
  const owner = `0x${'1'.repeat(40)}`
  goTo(`#/validators/${owner}`)
  const { Delegators } = await import('../../src/dashboard/pages/validators/Delegators.tsx')
  const stake = { self_shares: '5', delegated_shares: '300', delegators: 60 } as Stake
  const { meanwhile, then } = await page(
    h(Delegators, { owner, stake }),
    `#/validators/${owner}?delegators=20`,
    held.resolve,
    '1–20 of 60',
    '21–40 of 60',
  )
  expect(meanwhile).toContain('Next →')
  expect(then).toContain('Next →')
})

test('the links of a list of transactions stay while another page is on its way', async () => {
  const held = Promise.withResolvers<void>()
  jest.spyOn(svc, 'subscribe').mockResolvedValue({ unsubscribe: () => {} })
  jest.spyOn(svc.async, 'getTransactions').mockImplementation((async ({ before }: { readonly before?: string }) => {
    if (before !== undefined) await held.promise
    const height = before === undefined ? 90 : 80
    const message = { to: '', value: `${height}${'0'.repeat(18)}` }
    const tx = { ...TX, height, operation: 'transfer', message }
    return { data: [tx], next: `${height}/0`, height: 90, earliest_height: 1 }
  }) as never)
  const answers = jest.mocked(svc.async.getTransactions).getMockImplementation() as (given: object) => Promise<unknown>
  goTo('#/transactions')
  const { TxHistory } = await import('../../src/dashboard/parts/TxHistory.tsx')
  const { meanwhile, then } = await page(
    h(TxHistory, { label: 'Transactions' }),
    '#/transactions?before=90%2F0',
    held.resolve,
    'Send 90 token',
    'Send 80 token',
  )
  expect(meanwhile).toMatch(/Loading.*Older →/s)
  expect(then).toContain('Older →')

  // Of another filter that link would leave out the newest.
  const votes = Promise.withResolvers<unknown>()
  jest.mocked(svc.async.getTransactions).mockReturnValue(votes.promise as never)
  const { text, end } = drawn(h(TxHistory, { label: 'Transactions' }))
  goTo('#/transactions')
  await shows(text, 'Older →')
  goTo('#/transactions?operation=vote')
  await shows(text, 'Loading')
  expect(text()).not.toContain('Older →')
  votes.resolve({ ...((await answers({})) as object), next: null })
  await until(
    () => !text().includes('Loading'),
    20_000,
    () => text(),
  )
  end()

  const newest = Promise.withResolvers<unknown>()
  // Behind an older page stands what the first one leads to only by and by.
  jest
    .mocked(svc.async.getTransactions)
    .mockImplementation(((given: { readonly before?: string }) =>
      given.before === undefined ? newest.promise : answers(given)) as never)
  goTo('#/transactions?operation=transfer&before=85%2F0')
  const older = drawn(h(TxHistory, { label: 'Transactions' }))
  await shows(older.text, 'Send 80 token')
  goTo('#/transactions?operation=transfer')
  await shows(older.text, 'Loading')
  expect(older.text()).not.toContain('Older →')
  newest.resolve(await answers({}))
  await shows(older.text, 'Send 90 token')
  expect(older.text()).toContain('Older →')
  older.end()
})
