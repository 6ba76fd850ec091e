/** Lists: transactions back to the first block and by what they are, proposals by number and title, and what is asked. */
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { devnetPages, openPage, withBrowser } from '../support/page.ts'
import { openAccount, signAndClose } from '../support/wallet.ts'

/** More blocks than a subscription goes back, so that the first transactions are known from the index alone. */
const BLOCKS = 130

/** Calls of the page to the gateway, by method, from now on. */
function countCalls(page: Page): Map<string, number> {
  const calls = new Map<string, number>()
  page.on('request', (asked) => {
    const { method } = (asked.method() === 'POST' ? asked.postDataJSON() : {}) as { readonly method?: string }
    if (method !== undefined) calls.set(method, (calls.get(method) ?? 0) + 1)
  })
  return calls
}

withBrowser('lists', () => {
  const site = devnetPages()
  let svc: Svc
  let [alice, bob, carol, dora] = ['', '', '', '']

  const listed = (page: Page) => page.getByRole('list', { name: 'Proposals' }).getByRole('listitem')

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    ;[alice, bob, carol, dora] = site.net.accounts.map(({ address }) => address) as [string, string, string, string]
    for (const { privateKey } of site.net.accounts.slice(0, 4)) svc.accounts.add(privateKey)
    const { transfer, stake } = svc.async
    await transfer({ from: bob, to: carol, value: Svc.fromTokens('7.5') })
    await stake.validator.update({ from: alice, description: { name: 'Node' } })
    for (const [at, from] of [carol, dora].entries())
      await stake.validator.declare({
        from,
        pubKey: Buffer.alloc(32, 3 + at).toString('base64'),
        description: { name: `Node ${at + 1}` },
      })
    for (let at = 0; at < 45; at++) await transfer({ from: bob, to: dora, value: 1n })
    await transfer({ from: dora, to: bob, value: Svc.fromTokens('1.25') })
    await stake.delegator.accept({ from: bob, validatorAddress: alice, amount: Svc.fromTokens('3') })
    await site.net.mine(BLOCKS)
  })

  test('transactions: pages lead back to the first one of the chain', async () => {
    const { page } = await site.open('transactions')
    const first = page.getByRole('row', { name: /Send 7.5 token/ })
    await page.getByRole('row', { name: /Stake 3 token with/ }).waitFor()
    for (let pages = 1; (await first.count()) === 0; pages++) {
      expect(pages).toBeLessThan(5)
      const older = page.getByRole('link', { name: 'Older →' })
      const left = page.locator(`a[href="${await older.getAttribute('href')}"]`)
      await older.click()
      // Until then the rows of the last page are still there.
      await left.waitFor({ state: 'detached' })
      await page.getByRole('table', { name: 'Transactions' }).waitFor()
    }
    expect(page.url()).toContain('before=')
    await page.getByRole('link', { name: '← Newest' }).click()
    await page.getByRole('row', { name: /Stake 3 token with/ }).waitFor()
    await svc.async.transfer({ from: bob, to: carol, value: Svc.fromTokens('0.125') })
    await page.getByRole('row', { name: /Send 0.125 token/ }).waitFor()
  })

  test('transactions: whoever pages by the keyboard stays at the links', async () => {
    const { page, settled } = await site.open('transactions')
    await page.getByRole('link', { name: 'Older →' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: '← Newest' }).waitFor()
    await settled()
    await page.locator('nav.steps :focus', { hasText: 'Older' }).waitFor()
  })

  test('transactions: a filter by operation says how far it looked', async () => {
    const { page } = await site.open('transactions')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('declareCandidacy')
    await page.getByText(/Looked through \d+ transactions, back to block 1, the first one/).waitFor()
    const rows = page.getByRole('table', { name: 'Transactions' }).locator('tbody tr')
    expect(await rows.count()).toBe(2)
    expect(page.url()).toContain('operation=declareCandidacy')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('proposeRetireProgram')
    await page.getByText('None of these.').waitFor()
  })

  test('an account: what came in and what went out, by direction and by operation', async () => {
    const { page } = await site.open(`accounts/${bob}`)
    const table = page.getByRole('table', { name: `Transactions of ${bob}` })
    await table.getByRole('row', { name: /Stake 3 token with .* −3 / }).waitFor()
    await table.getByRole('row', { name: /Send 1.25 token to .* \+1.25 / }).waitFor()
    await page.getByRole('combobox', { name: 'Direction' }).selectOption('in')
    await page.getByText(/Looked through \d+ transactions/).waitFor()
    expect(await table.locator('tbody tr').count()).toBe(1)
    await page.getByRole('combobox', { name: 'Direction' }).selectOption('out')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('delegate')
    await table.getByRole('row', { name: /Stake 3 token/ }).waitFor()
    await table.getByRole('row', { name: /^Send/ }).first().waitFor({ state: 'detached' })
    expect(await table.locator('tbody tr').count()).toBe(1)
    expect(page.url()).toMatch(/operation=delegate/)
    expect(page.url()).toMatch(/direction=out/)
  })

  test('search: a whole name comes before its parts, and a parameter is found by words', async () => {
    const { page, goTo } = await site.open()
    for (const [text, view] of [
      ['node', `#/validators/${alice}`],
      ['Node 2', `#/validators/${dora}`],
      ['most validators', '#/parameters/max_vals'],
      ['inflation rate', '#/parameters/inflation_rate'],
    ] as const) {
      await goTo(`search/${encodeURIComponent(text)}`)
      await page.waitForURL((url) => url.hash === view)
    }
    await goTo('search/nod')
    await page.getByRole('heading', { level: 2, name: 'Validators' }).waitFor()
    expect(await page.locator('.hits li').count()).toBe(3)
  })

  test('proposals: a number, a title, paragraphs and links; the list is asked once, whatever stands in it', async () => {
    const { proposeChangeParam } = svc.async.governance
    const reason =
      'More of us should sign\n\nSee https://forum.example/t/12?page=3#last. Or\nhttp://bob@evil.example/x, <b>not this</b>.'
    const made = []
    for (let value = 5; value < 10; value++)
      made.push(
        await proposeChangeParam({
          from: alice,
          name: 'max_vals',
          value: String(value),
          reason: value === 7 ? reason : '',
        }),
      )
    // A view that asks for no proposals itself.
    const { page, goTo, settled } = await site.open('nowhere')
    // Nothing is news by then.
    const height = await site.net.mine(1)
    await page.getByText(`Block ${height.toLocaleString('en')}`).waitFor()
    const calls = countCalls(page)
    await goTo('proposals')
    await listed(page).nth(4).waitFor()
    await settled()
    expect(await listed(page).nth(2).locator('a').first().textContent()).toBe('#3 More of us should sign')
    expect(await listed(page).nth(2).textContent()).toContain('Set max_vals to 7 validators')
    expect(await listed(page).nth(0).locator('a').first().textContent()).toBe('#5 Set max_vals to 9 validators')
    expect(calls.get('svc_queryProposal')).toBe(undefined)
    expect(calls.get('svc_queryProposals')).toBe(1)
    await goTo('proposals?state=open&type=change_param')
    await listed(page).nth(2).getByRole('link').first().click()
    await page.getByRole('heading', { level: 1, name: '#3 More of us should sign' }).waitFor()
    await page.getByText('Set max_vals to 7 validators').first().waitFor()
    const prose = page.locator('.prose')
    expect(await prose.locator('p').count()).toBe(2)
    const link = prose.getByRole('link')
    expect(await link.count()).toBe(1)
    expect(await link.textContent()).toBe('https://forum.example/t/12?page=3#last')
    expect(await link.getAttribute('href')).toBe('https://forum.example/t/12?page=3#last')
    expect((await link.getAttribute('rel'))?.split(' ')).toEqual(expect.arrayContaining(['noopener', 'noreferrer']))
    await prose.getByText('<b>not this</b>').waitFor()
    await goTo('search/%233')
    await page.waitForURL((url) => url.hash.startsWith('#/proposals/'))
    await page.getByRole('heading', { level: 1, name: '#3 More of us should sign' }).waitFor()
  })

  test('what the page has sent stands in My account, and nowhere else', async () => {
    const { page, goTo } = await site.open(`send?to=${carol}&value=2`)
    await openAccount(page, bob)
    await page.getByRole('main').getByRole('button', { name: 'Send' }).click()
    await signAndClose(page)
    const sent = page.getByRole('region', { name: 'Your transactions' })
    expect(await sent.count()).toBe(0)
    await goTo('account')
    await sent.getByText('done').waitFor()
  })

  test('the overview asks once a block, and hears of the rest', async () => {
    const { page, settled } = await site.open()
    await settled()
    const calls = countCalls(page)
    // Questions of another cause, as when the subscriptions begin or the line was lost for a moment, do not come three times in a row.
    const asked: unknown[] = []
    const onceEach = Array.from({ length: 3 }, () => ({ svc_getSupply: 1 }))
    while (asked.length < 40 && !isDeepStrictEqual(asked.slice(-3), onceEach)) {
      calls.clear()
      const height = await site.net.mine(1)
      await page.getByRole('link', { name: String(height), exact: true }).waitFor()
      while (!calls.has('svc_getSupply')) await page.waitForTimeout(50)
      // The page asks nothing twice a second.
      await page.waitForTimeout(1_200)
      asked.push(Object.fromEntries(calls))
    }
    expect(asked.slice(-3)).toEqual(onceEach)
    const open = page.locator('.figures > div', { hasText: 'Open proposals' })
    const before = Number(await open.getByRole('link').textContent())
    await svc.async.governance.proposeChangeParam({ from: alice, name: 'inflation_rate', value: '3' })
    await open.getByRole('link', { name: String(before + 1), exact: true }).waitFor()
  })

  test('a gateway that asks for patience is waited for: every figure comes, and nothing is shown as missing or as an error', async () => {
    await site.net.mine(1)
    const { page, close } = await openPage(site.browser, 'about:blank')
    const counts = new Map<string, number>()
    let refused = 0
    // Refuses each method twice, as a proxy with a limit of its own does, and then lets it through.
    await page.route(`${site.net.url}/`, async (route) => {
      const { method = '' } = (route.request().postDataJSON() ?? {}) as { readonly method?: string }
      const count = (counts.get(method) ?? 0) + 1
      counts.set(method, count)
      if (method === '' || count > 2) return route.continue()
      refused += 1
      return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, body: '<h1>Too many requests</h1>' })
    })
    await page.goto(site.net.url)
    const seen = new Set<string>()
    const figures = ['Validators', 'Open proposals', 'Supply in tokens'].map((name) =>
      page.locator('.figures > div', { hasText: name }).locator('dd').first(),
    )
    const isThere = async (): Promise<boolean> => {
      const texts = await Promise.all(figures.map((one) => one.textContent()))
      for (const text of texts) seen.add(text ?? '')
      return texts.every((text) => /\d/.test(text ?? ''))
    }
    while (!(await isThere())) await page.waitForTimeout(50)
    expect(refused).toBeGreaterThan(3)
    expect(seen.has('–')).toBe(false)
    expect(await page.getByRole('alert').count()).toBe(0)
    await close()
  })
})
