import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { gatewayClient } from '../support/client.ts'
import { deadKey, devnetPages, openPage, proposalPath, withBrowser } from '../support/page.ts'
import { testFolder } from '../support/testFolder.ts'

const TOKEN = 10n ** 18n

/** The first cell's text of each row of the table in sight. */
const column = (page: Page, index: number): Promise<string[]> =>
  page.locator(`table[aria-label="Validators"] tbody:not(.space) td:nth-child(${index})`).allInnerTexts()

withBrowser('the pages of validators', () => {
  const site = devnetPages({ fast: true, accounts: 20, params: { max_vals: 3, gas_price: 0 } })
  let svc: Svc

  const addressOf = (index: number): string => site.net.accounts[index]?.address as string

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    const { declare, deactivate } = svc.async.stake.validator
    for (const [index, name] of ['Alder', 'Birch', 'Cedar', 'Douglas fir'].entries()) {
      await declare({
        from: addressOf(index + 1),
        pubKey: deadKey(),
        maxAmount: TOKEN * BigInt(1000 * (index + 1)),
        compRate: `0.${index + 1}`,
        description: { name, location: index % 2 === 0 ? 'Lisbon' : 'Oslo' },
      })
    }
    await deactivate({ from: addressOf(1) })
    await site.net.mine(3)
  })

  test('the list has everybody in rank order, and says who joins', async () => {
    const { page, goTo } = await site.open()
    await goTo('validators')
    await page.getByRole('row', { name: /Douglas fir/ }).waitFor()
    expect(await column(page, 1)).toEqual(['1', '2', '3', '4', '5'])
    expect(await column(page, 2)).toEqual(['devnet', 'Douglas fir', 'Cedar', 'Birch', 'Alder'])
    expect(await column(page, 9)).toEqual(['Validator', 'Joining', 'Joining', 'Candidate', 'Inactive'])
  })

  test('order, text and state stand in the address: a link shows the same rows, and CSV has them', async () => {
    const { page, failures, goTo, close } = await site.open()
    await goTo('validators')
    await page.getByRole('button', { name: 'Shares', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Name, address, key or place' }).fill('OSLO')
    await page.getByText('2 rows').waitFor()
    expect(await column(page, 2)).toEqual(['Birch', 'Douglas fir'])
    await page.waitForURL(/sort=shares/)
    await page.waitForURL(/q=OSLO/)
    const link = page.url()
    const other = await openPage(site.browser, link)
    await other.page.getByText('2 rows').waitFor()
    expect(await column(other.page, 2)).toEqual(['Birch', 'Douglas fir'])
    await other.close()
    await page.getByRole('button', { name: /^Candidates/ }).click()
    await page.getByText('1 row').waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
    expect(file.suggestedFilename()).toBe('validators.csv')
    const [names, row, rest] = readFileSync(await file.path(), 'utf8').split('\r\n')
    expect(names).toBe(
      'Rank,Validator,Owner,Public key,Verified,Active,Voting power,Share,Shares,Max shares,' +
        'Commission,Return,Room,Missed,State,Location,Website,Declared',
    )
    expect(row).toMatch(
      new RegExp(`^4,Birch,${addressOf(2)},'?[^,]{44},N,Y,0,0 %,200,2000,0.2,–,1800,,Candidate,Oslo,,20[^,]*Z$`),
    )
    expect(rest).toBe('')
    expect(failures).toEqual([])
    await close()
  })

  test('by the keyboard one reaches a validator, whose page says where it stands and what happened to it', async () => {
    const { page, goTo } = await site.open()
    await goTo('validators?q=Alder')
    const link = page.getByRole('link', { name: 'Alder', exact: true })
    await link.waitFor()
    await page.getByRole('searchbox', { name: 'Name, address, key or place' }).focus()
    for (let step = 0; step < 30 && !(await link.evaluate((it) => it.matches(':focus'))); step++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /Alder/ }).waitFor()
    expect(page.url()).toContain(`#/validators/${addressOf(1)}`)
    await page.getByText(/^Its owner deactivated it in block/).waitFor()
    await page.getByRole('row', { name: /Deactivated/ }).waitFor()
    await page.getByRole('row', { name: /Declared the candidacy with the key/ }).waitFor()
    const { data } = await svc.async.stake.validator.query(addressOf(1))
    await page.getByText(data?.pub_key.value as string, { exact: true }).waitFor()
  })

  test('awards of every 50th block are plotted, and the page says that what it adds up is an estimate', async () => {
    await site.net.mine(110 - (await svc.async.blockNumber()))
    // The index of histories may be behind the blocks.
    await gatewayClient(site.net.url).waitForIndex(110)
    const { data } = await svc.async.getAwards(addressOf(0))
    expect(data.map(({ height }) => height)).toEqual([100, 50])
    const { page, goTo } = await site.open()
    await goTo(`validators/${addressOf(0)}`)
    const sum = data.reduce((total, { amount }) => total + BigInt(amount), 0n) * 50n
    const about = Svc.toTokens(sum)
      .replace(/(\.\d{4}).*$/, '$1')
      .replace(/\.?0+$/, '')
    await page.getByText(`Estimated from these 2: about ${about} token in blocks 1 to 100.`).waitFor()
    await page.getByRole('figure').getByText('Award of a block, in tokens').waitFor()
  })
})

withBrowser('a chain of two validators', () => {
  const site = devnetPages({ validators: 2, blockTime: '300ms', balance: '20000000token' })

  test('a key that has not signed joins, and counts when its node signs: the page shows both as they happen', async () => {
    const svc = new Svc(site.net.url)
    const { validator } = svc.async.stake
    const from = (await validator.list()).data.find(({ description: { name } }) => name === 'node1')
    const owner = from?.owner_address as string
    const { page, goTo } = await site.open()
    await goTo(`validators/${owner}`)
    await page.getByText(/^In the validator set: it signs blocks/).waitFor()
    await validator.update({ from: owner, pubKey: deadKey() })
    await page.getByText(/^Its power is not proven yet/).waitFor()
    await page.getByRole('row', { name: /Joined the validator set/ }).waitFor()
    await page.getByText(/^It is missing now: it has signed no block since/).waitFor()
    await validator.update({ from: owner, pubKey: from?.pub_key.value as string })
    await page.getByText(/^In the validator set: it signs blocks/).waitFor()
    // On a busy machine it may miss a block more than once.
    await page
      .getByRole('row', { name: /Signed again after/ })
      .first()
      .waitFor()
    await page
      .getByRole('row', { name: /it signed again/ })
      .first()
      .waitFor()
    await page.getByText(/^It is missing now/).waitFor({ state: 'detached' })

    const { governance } = svc.async
    const proposed = await governance.proposeChangeParam({ from: owner, name: 'inflation_rate', value: '3' })
    const proposalId = String(proposed.deliver_tx.data)
    const hasVoted = async (): Promise<void> => {
      await goTo(proposalPath(proposalId))
      await page.getByRole('row', { name: /^node1 .*Yes/ }).waitFor()
    }
    await governance.vote({ from: owner, proposalId, answer: 'Y' })
    await hasVoted()

    // What it missed stays its history when somebody else owns it.
    const to = site.net.accounts[5]?.address as string
    const offered = await validator.updateAccount({ from: owner, newCandidateAccount: to })
    const accountUpdateRequestId = Number(atob(String(offered.deliver_tx.data)))
    await validator.acceptAccountUpdate({ from: to, accountUpdateRequestId })
    await goTo(`validators/${to}`)
    await page.getByText(/ blocks that it had to sign: it missed [1-9]/).waitFor()
    await page
      .getByRole('row', { name: /it signed again/ })
      .first()
      .waitFor()
    const history = page.getByRole('table', { name: 'History' })
    await history.getByRole('row', { name: /Took over the candidacy/ }).waitFor()
    await history
      .getByRole('row', { name: /^\d+ 0x.* joined the validator set/ })
      .first()
      .waitFor()

    // So do its votes, under who owns it now and with who sent them.
    await hasVoted()
    const vote = page.getByRole('row', { name: new RegExp(`^node1 sent by ${owner.slice(0, 8)}`) })
    await vote.waitFor()
    // Who is in the set is another question, whose answer may come later.
    await vote.getByText('not in the set').waitFor({ state: 'detached' })
    expect(
      await page
        .getByRole('table', { name: 'Votes' })
        .getByRole('row', { name: /^node1/ })
        .count(),
    ).toBe(1)
  })
})

withBrowser('a chain of many candidacies', () => {
  const folder = testFolder()
  const site = devnetPages({ genesis: writeGenesis(2_000) })

  /** A genesis file with this many candidacies, whose shares grow smaller. */
  function writeGenesis(count: number): string {
    const bytesOf = (text: string): Buffer => createHash('sha256').update(text).digest()
    const candidacies = Array.from({ length: count }, (_, index) => ({
      owner: `0x${bytesOf(`owner ${index}`).toString('hex').slice(0, 40)}`,
      pub_key: bytesOf(`key ${index}`).toString('base64'),
      shares: (TOKEN * BigInt(count - index)).toString(),
      max_shares: (TOKEN * BigInt(count)).toString(),
      comp_rate: '0.5',
      description: { name: `${index === 7 ? 'c' : 'C'}andidate ${index}` },
    }))
    const path = join(folder, 'genesis.json')
    const genesis = { genesis_time: '2026-11-20T00:00:00Z', chain_id: 'many', initial_height: '1', app_hash: '' }
    writeFileSync(path, JSON.stringify({ ...genesis, app_state: { candidacies } }))
    return path
  }

  test('a long list is drawn only where it is seen, down to its last row, and stays still there', async () => {
    const { page, goTo } = await site.open()
    await goTo('validators')
    await page.getByText('2,000 rows').waitFor()
    const rows = page.locator('table[aria-label="Validators"] tbody:not(.space) tr')
    expect(await rows.count()).toBeLessThan(80)
    await page.getByText('2,000 rows').scrollIntoViewIfNeeded()
    await page.getByRole('link', { name: 'Candidate 1999', exact: true }).waitFor()
    expect(await rows.count()).toBeLessThan(80)
    const html = page.locator('html')
    const top = await html.evaluate((it) => it.scrollTop)
    const height = await site.net.mine(2)
    await page.getByText(`Block ${height}`).waitFor()
    expect(await html.evaluate((it) => it.scrollTop)).toBe(top)
    await goTo('validators?sort=-rank&q=candidate+19')
    await page.getByText('111 rows').waitFor()
    // The window was far below the end of what is left: it shows the end.
    await rows.last().locator('td:nth-child(1)', { hasText: /^20$/ }).waitFor()
    await html.evaluate((it) => it.scrollTo(0, 0))
    await page.getByRole('link', { name: 'Candidate 1999', exact: true }).waitFor()
  })

  test('names stand as in a dictionary, and the numbers in them as they are counted', async () => {
    const { page, goTo } = await site.open()
    await goTo('validators?sort=name')
    const rows = page.locator('table[aria-label="Validators"] tbody:not(.space) tr')
    for (const index of [2, 7, 10])
      await rows
        .nth(index)
        .getByRole('link', { name: new RegExp(`^candidate ${index}$`, 'i') })
        .waitFor()
  })

  test('only a candidacy with room for a stake offers one', async () => {
    const { page, goTo } = await site.open()
    await goTo('validators')
    const link = (index: number) => page.getByRole('link', { name: `Stake with Candidate ${index}`, exact: true })
    await link(1).waitFor()
    expect(await link(0).count()).toBe(0)
    const button = page.locator('main').getByRole('link', { name: 'Stake', exact: true })
    for (const [index, buttons] of [
      [1, 1],
      [0, 0],
    ] as const) {
      await goTo('validators')
      await page
        .getByRole('link', { name: `Candidate ${index}`, exact: true })
        .first()
        .click()
      await page.getByRole('heading', { name: `Candidate ${index}` }).waitFor()
      await page.getByText('Commission', { exact: true }).first().waitFor()
      expect(await button.count()).toBe(buttons)
    }
  })
})
