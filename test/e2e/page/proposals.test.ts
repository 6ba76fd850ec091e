import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { devnetPages, proposalPath, withBrowser } from '../support/page.ts'

const HOSTILE = '<img src=x onerror=alert(1)> \u202Ejavascript:alert(2)\u202C <script>alert(3)</script>'

/** The proposals that the list shows, as text. */
const listed = (page: Page) => page.getByRole('list', { name: 'Proposals' }).getByRole('listitem')

withBrowser('proposals and parameters', () => {
  const site = devnetPages({ fast: true })
  let svc: Svc
  let owner: string

  /** Proposes; returns the ProposalID. */
  const propose = async (name: string, value: string, more: object = {}): Promise<string> =>
    (await svc.async.governance.proposeChangeParam({ name, value, ...more })).deliver_tx.data ?? ''
  const vote = (proposalId: string, answer: 'Y' | 'N') => svc.async.governance.vote({ proposalId, answer })

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    owner = svc.accounts.add(site.net.accounts[0].privateKey)
    svc.defaultAccount = owner
  })

  test('the list says how many it has, has filters and pages that stand in the address, and is live', async () => {
    const approved = await propose('max_vals', '7', { reason: 'More of us should sign.' })
    await vote(approved, 'Y')
    const rejected = await propose('gas_price', '1000000000')
    await vote(rejected, 'N')
    await propose('inflation_rate', '5')
    await site.net.mine(21)
    for (let value = 1; value <= 18; value++) await propose('inflation_rate', String(value))
    await svc.async.governance.proposeTransferFund({
      transferFrom: owner,
      transferTo: owner,
      amount: Svc.fromTokens('12.5'),
    })
    const { page, goTo } = await site.open()
    await goTo('proposals')
    const states = page.getByRole('navigation', { name: 'State' })
    await states.getByText('All 22').waitFor()
    // The answer with the rows counts what is shown. Each other count would be a question more.
    expect(await states.textContent()).toMatch(/All 22\s*Open\s*Approved\s*Rejected\s*Expired\s*$/)
    expect(await listed(page).count()).toBe(20)
    expect(await listed(page).first().textContent()).toContain('Pay 12.5 token')

    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('21–22 of 22 proposals').waitFor()
    expect(page.url()).toContain('page=2')
    expect(await listed(page).count()).toBe(2)

    await states.getByText('Expired').click()
    await listed(page).getByText('Set inflation_rate to 5 per cent a year').waitFor()
    expect(await listed(page).count()).toBe(1)
    expect(await states.textContent()).toMatch(/All\s*Open\s*Approved\s*Rejected\s*Expired 1\s*$/)
    await states.getByText('Open').click()
    await states.getByText('Open 19').waitFor()
    await states.getByText('Expired').click()
    await states.getByText('Expired 1').waitFor()
    await page.getByRole('navigation', { name: 'Type' }).getByText('Payment').click()
    await page.getByText('There is no such proposal.').waitFor()
    expect(page.url()).toMatch(/state=Expired.*type=transfer_fund/)

    await goTo('proposals?state=Rejected')
    await page.getByText('1 proposal').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('proposals-Rejected.csv')
    const [names, row, end] = readFileSync(await download.path(), 'utf8').split('\r\n')
    expect(names).toMatch(/^Number,Id,Title,Type,What,Reason,Proposer,/)
    const what = '"Set gas_price to 1,000,000,000 base units a gas"'
    expect(row).toContain(`2,${rejected},${what},change_param,${what},,${owner},`)
    expect(end).toBe('')

    await goTo('proposals?state=Approved')
    await listed(page).getByText('Set max_vals to 7 validators').waitFor()
    const live = await propose('max_vals', '9')
    await vote(live, 'Y')
    await listed(page).getByText('Set max_vals to 9 validators').waitFor()
  })

  test('a parameter tells what it was, from which block on and by which proposal', async () => {
    const { page, goTo } = await site.open()
    await goTo('parameters')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'max_vals' })
      .getByText(/since block/)
      .waitFor()
    await page.getByRole('link', { name: 'max_vals', exact: true }).click()
    const history = page.getByRole('table', { name: 'History of max_vals' })
    await history.getByRole('link', { name: 'Set to 9' }).waitFor()
    expect(await history.getByRole('row').count()).toBe(4)
    expect(await history.getByRole('row').last().textContent()).toMatch(/4 validators\s*genesis/)
    await page.locator('.plot canvas').waitFor()
    await history.getByRole('link', { name: 'Set to 7' }).click()
    await page.getByRole('heading', { name: 'More of us should sign.' }).waitFor()
    await page.locator('.summary', { hasText: 'Set max_vals to 7 validators' }).waitFor()
    await site.net.mine()
    await page
      .locator('.change', { hasText: /Before\s*4 validators.*From block.*7 validators.*In force now\s*9/s })
      .waitFor()
  })

  test('the values of a parameter are sorted as numbers, however many decimals they have', async () => {
    for (const value of ['0.5', '0.05']) await vote(await propose('stake_limit', value), 'Y')
    const { page, goTo } = await site.open()
    await goTo('parameters/stake_limit?sort=value')
    const cells = page.getByRole('table', { name: 'History of stake_limit' }).locator('tbody tr > :first-child')
    await cells.nth(2).waitFor()
    expect((await cells.allTextContents()).map((text) => Number.parseFloat(text))).toEqual([0.05, 0.12, 0.5])
  })

  test("a stranger's reason and URLs are text, and only http and https are links", async () => {
    const { data } = (
      await svc.async.governance.proposeDeployLibEni({
        name: 'crypto',
        version: 'v1.0.0',
        fileUrl: JSON.stringify({ ubuntu: ['https://example.com/<script>alert(4)</script>'] }),
        md5: JSON.stringify({ ubuntu: 'f'.repeat(32) }),
        reason: HOSTILE,
      })
    ).deliver_tx
    const { page } = await site.open(proposalPath(data), {
      viewport: { width: 390, height: 800 },
    })
    await page.locator('.prose').getByText('<script>alert(3)</script>').waitFor()
    const link = page.getByRole('link', { name: /example\.com/ })
    expect(await link.getAttribute('href')).toBe('https://example.com/<script>alert(4)</script>')
    expect(await link.getAttribute('rel')).toContain('noopener')
    expect(await page.locator('main img, main script').count()).toBe(0)
    // No part of the view is wider than the phone.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })

  test('an address that names no proposal says so', async () => {
    const { page, goTo } = await site.open()
    await goTo(`proposals/${'A'.repeat(43)}`)
    await page.getByText('This chain has no proposal with this ProposalID.').waitFor()
    await goTo('proposals/nonsense')
    await page.getByRole('heading', { name: 'Nothing here' }).waitFor()
  })
})
