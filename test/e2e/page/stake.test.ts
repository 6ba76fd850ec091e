import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { findings } from '../support/axe.ts'
import { deadKey, devnetPages, withBrowser } from '../support/page.ts'
import { openAccount, signAndClose } from '../support/wallet.ts'

const TOKEN = 10n ** 18n

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const

withBrowser('a holder of tokens who has no candidacy', () => {
  const site = devnetPages({ fast: true, balance: '1000000token' })
  let svc: Svc
  let owner: string
  let holder: string

  const stakeOf = async (account: string) => (await svc.async.stake.delegator.query(account)).data[0]

  /** The text of a figure of My account. */
  const figure = (page: Page, name: string) =>
    page.locator('.figures > div', { has: page.getByText(name, { exact: true }) }).locator('dd')

  /** Makes blocks, which pay awards for the time between them, until `isThere`. */
  async function mineUntil(page: Page, isThere: () => Promise<boolean>): Promise<void> {
    while (!(await isThere())) {
      await site.net.mine(1)
      await page.waitForTimeout(250)
    }
  }

  async function stakeWithDevnet(page: Page, amount: string): Promise<string> {
    await page.getByLabel('Amount').fill(amount)
    await page.locator('main').getByRole('button', { name: 'Stake' }).click()
    return signAndClose(page)
  }

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    owner = site.net.accounts[0].address
    holder = site.net.accounts[1]?.address as string
    // So that the clock of the chain is known.
    await site.net.mine(3)
  })

  test('stakes, sees the first award, takes half back, and is paid', async () => {
    const { page, goTo } = await site.open()
    await goTo('account')
    await page.getByText('Open your account to see what it has').waitFor()
    await openAccount(page, holder)
    await page.getByText('You have staked nothing with a validator.').waitFor()

    await page.getByRole('link', { name: 'Choose a validator' }).click()
    await page.waitForURL(/sort=-return/)
    const stake = page.getByRole('link', { name: 'Stake with devnet' })
    await stake.waitFor()
    await stake.click()
    await page.getByRole('heading', { level: 1, name: 'Stake with devnet' }).waitFor()
    await page.getByText('the validator keeps 50 % of what your stake earns').waitFor()
    await page.getByText(/^about [\d.]+ % a year/).waitFor()
    await page.getByRole('button', { name: 'Max' }).click()
    const [balance, { fee }] = await Promise.all([svc.async.getBalance(holder), svc.async.estimateFee('delegate')])
    expect(await page.getByLabel('Amount').inputValue()).toBe(Svc.toTokens(BigInt(balance) - BigInt(fee)))
    await page.getByLabel('Amount').fill('0.5')
    await page.getByText('Expected at least 1 token').waitFor()
    expect(await stakeWithDevnet(page, '900000')).toBe(`Stake 900,000 token with the validator ${owner}.`)
    await page.locator('h1:focus', { hasText: 'My account' }).waitFor()

    await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor()
    const row = page.getByRole('row', { name: /devnet/ })
    await row.waitFor()
    const earned = row.getByRole('cell').nth(2)
    await mineUntil(page, async () => /^0\.\d{4}$|^[1-9]/.test((await earned.textContent()) ?? ''))
    const { award_amount: award = '0', shares } = (await stakeOf(holder)) ?? {}
    expect(award).not.toBe('0')
    expect(shares).toBe(String(900_000n * TOKEN + BigInt(award)))

    await row.getByRole('link', { name: 'Take back from devnet' }).click()
    await page.getByText(/^in block \d+ if you take it back now/).waitFor()
    await page.getByRole('button', { name: 'Take back' }).click()
    await page.getByText('This is needed.').waitFor()
    await page.getByLabel('Amount').fill('900001')
    await page.getByText(/which your stake is worth now$/).waitFor()
    await page.getByLabel('Amount').fill('450000')
    await page.getByRole('button', { name: 'Take back' }).click()
    expect(await signAndClose(page)).toBe(
      `Take 450,000 token of your stake back from the validator ${owner}. It is paid out after about 20 blocks.`,
    )
    await page.getByRole('heading', { name: 'Unbonding' }).waitFor()
    const pending = (await stakeOf(holder))?.pending[0]
    expect(pending?.amount).toBe(String(450_000n * TOKEN))
    // When it is to be expected goes by how long the blocks of this test took, and by how long ago the last one was.
    const about = '(in \\d+ (s|min)|just now|\\d+ (s|min) .*ago)'
    await page.getByRole('row', { name: new RegExp(`450,000 devnet ${pending?.completion_height} ${about}`) }).waitFor()
    // A file has tokens as the page has, and no time that is right only now.
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('section', { hasText: 'Unbonding' }).getByRole('button', { name: 'CSV' }).last().click(),
    ])
    expect(readFileSync(await file.path(), 'utf8').split('\r\n')).toEqual([
      'Amount,From,In block,Key of the candidacy',
      expect.stringMatching(new RegExp(`^450000,${owner},${pending?.completion_height},`)),
      '',
    ])
    const before = BigInt(await svc.async.getBalance(holder))
    await site.net.mine(22)
    await page.getByRole('heading', { name: 'Unbonding' }).waitFor({ state: 'detached' })
    expect(BigInt(await svc.async.getBalance(holder)) - before).toBe(450_000n * TOKEN)
    await figure(page, 'Balance').getByText('549,999.').waitFor()
    await goTo(`accounts/${holder}`)
    await page.getByRole('row', { name: /devnet/ }).waitFor()
    expect(await page.getByRole('link', { name: /^Take back/ }).count()).toBe(0)
  })

  test('on a phone: takes all of it back, and sees what unbonds and how its validator voted', async () => {
    const { page, goTo } = await site.open('', PHONE)
    const { deliver_tx } = await svc.async.governance.proposeChangeParam({ from: owner, name: 'max_vals', value: '7' })
    await goTo(`validators/${owner}`)
    await openAccount(page, holder)
    await page.getByRole('table', { name: 'Delegators' }).getByRole('link', { name: holder, exact: true }).waitFor()
    await goTo('account')
    const ballot = page.locator('.events li', { hasText: 'Set max_vals to 7' })
    await ballot.getByText('not yet').waitFor()
    await svc.async.governance.vote({ from: owner, proposalId: deliver_tx.data as string, answer: 'Y' })
    await ballot.getByText('yes').waitFor()
    await page.getByRole('link', { name: 'Take back from devnet' }).click()
    await page.getByLabel('All of it').check()
    await page.getByRole('button', { name: 'Take back' }).click()
    expect(await signAndClose(page)).toMatch(/^Take your whole stake back from the validator/)
    await page.getByText('You have staked nothing with a validator.').waitFor()
    await page.getByRole('heading', { name: 'Unbonding' }).waitFor()
    expect(await stakeOf(holder)).toMatchObject({ shares: '0' })
    await goTo(`validators/${owner}/stake`)
    await page.getByLabel('Amount').waitFor()
    await goTo('validators?sort=-return')
    await page.getByRole('row', { name: /devnet/ }).waitFor()
  })

  test('every view of a holder fits 320 px, and axe finds nothing serious in it', async () => {
    const { page, goTo, settled } = await site.open('', {
      viewport: { width: 320, height: 640 },
    })
    await openAccount(page, holder)
    const { accept, withdraw } = svc.async.stake.delegator
    await accept({ from: holder, validatorAddress: owner, amount: 300_000n * TOKEN })
    await withdraw({ from: holder, validatorAddress: owner, amount: 123_456n * TOKEN })
    const widths: unknown[] = []
    const views = [
      'account',
      'validators',
      `validators/${owner}`,
      `validators/${owner}/stake`,
      `validators/${owner}/take-back`,
    ]
    for (const view of views) {
      await goTo(view)
      await settled()
      if (view === 'account') await page.getByRole('heading', { name: 'Unbonding' }).waitFor()
      expect(await findings(page)).toEqual([])
      widths.push([view, await page.locator('html').evaluate((it) => it.scrollWidth)])
    }
    expect(widths).toEqual(views.map((view) => [view, 320]))
  })

  test('the owner counts with its own shares, and a raise of the commission waits', async () => {
    const [second, third] = [site.net.accounts[2]?.address as string, site.net.accounts[3]?.address as string]
    const { validator, delegator } = svc.async.stake
    await validator.declare({ from: second, pubKey: deadKey(), description: { name: 'Alder' } })
    await delegator.accept({ from: holder, validatorAddress: second, amount: 8_000n * TOKEN })
    const { page, goTo } = await site.open()
    await goTo(`validators/${second}/stake`)
    await openAccount(page, third)
    await page.getByRole('button', { name: 'Max' }).click()
    // 1,000 are left, of which it may earn some before the stake is in its block.
    expect(await page.getByLabel('Amount').inputValue()).toBe('999.982')
    await delegator.accept({ from: holder, validatorAddress: second, amount: 1_000n * TOKEN })
    await page.getByText('There is no room left').waitFor()
    await goTo(`validators/${second}`)
    await openAccount(page, second)
    await figure(page, 'Its own stake').getByText('1,000', { exact: true }).waitFor()
    await figure(page, 'Delegated').getByText('9,000', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Update' }).click()
    await page.getByLabel('Max shares').fill('20000')
    await page.getByText(/you stake 1,000 token more/).waitFor()
    await page.getByLabel('Commission').fill('0.75')
    await page.getByText(/A commission of 75 % is more than today's/).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await signAndClose(page)).toBe(
      'Change your candidacy: it may hold at most 20,000 token, you stake 1,000 token more and its commission becomes 75 % in 20 blocks.',
    )
    await page.getByText(/^Its commission rises to 75 % in block/).waitFor()

    await page.getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByText(/^All of your own shares, 2,000 token, leave the candidacy/).waitFor()
    await page.getByText(/that one account has staked with it are paid back from the same block on/).waitFor()

    await validator.updateAccount({ from: second, newCandidateAccount: third })
    await openAccount(page, third)
    await goTo('account')
    await page.getByRole('button', { name: /^Accept request/ }).click()
    await page
      .getByText(`Take over the candidacy of ${second} and pay them 2,000 token for their own shares.`)
      .waitFor()
    await signAndClose(page)
    expect((await validator.queryStake(third)).data).toMatchObject({ self_shares: String(2_000n * TOKEN) })
    await page.getByRole('button', { name: /^Accept request/ }).waitFor({ state: 'detached' })
  })
})
