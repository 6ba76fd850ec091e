import { beforeAll, expect, test } from '@jest/globals'
import { Svc } from '../../../src/client/index.ts'
import { deadKey, devnetPages, withBrowser } from '../support/page.ts'
import { openAccount, signAndClose as sign } from '../support/wallet.ts'

const TOKEN = 10n ** 18n

withBrowser('what an owner does with a candidacy', () => {
  const site = devnetPages({ fast: true, params: { max_vals: 1 } })
  let svc: Svc

  const addressOf = (index: number): string => site.net.accounts[index]?.address as string
  const recordOf = async (owner: string) => (await svc.async.stake.validator.query(owner)).data

  beforeAll(async () => {
    svc = new Svc(site.net.url)
  })

  test('declare with what cometbft show-validator prints, update what changed, deactivate, activate', async () => {
    const owner = addressOf(1)
    const pubKey = deadKey()
    const { page, goTo } = await site.open()
    await goTo('validators/declare')
    await openAccount(page, owner)
    await page
      .getByLabel("Public key of the validator's node")
      .fill(`{"type":"tendermint/PubKeyEd25519","value":"${pubKey}"}`)
    expect(await page.getByLabel("Public key of the validator's node").inputValue()).toBe(pubKey)
    await page.getByLabel('Name').fill('Alder')
    await page.getByLabel('Website').fill('https://alder.example')
    await page.getByLabel('Max shares').fill('2000')
    await page.getByText('You stake 200 token').waitFor()
    await page.getByRole('button', { name: 'Declare', exact: true }).click()
    expect(await sign(page)).toBe(`Declare a candidacy for the key ${pubKey}, staking 200 token.`)
    await page.getByRole('heading', { level: 1, name: /Alder/ }).waitFor()
    expect(await recordOf(owner)).toMatchObject({ shares: (200n * TOKEN).toString(), comp_rate: '0.5' })

    await page.getByRole('button', { name: 'Update' }).click()
    const save = page.getByRole('button', { name: 'Save' })
    expect(await save.isDisabled()).toBe(true)
    await page.getByLabel('Max shares').fill('100')
    await page.getByText('expected at least the shares, 200 token').waitFor()
    await page.getByLabel('Max shares').fill('3000')
    await page.getByText(/you stake 100 token more/).waitFor()
    await page.getByLabel('Website').fill('')
    await page.getByLabel('Commission').fill('0.25')
    await save.click()
    await page.getByText('All that is signed').click()
    // The part of the page that shows the fields is loaded now.
    await page.getByRole('dialog').getByText('3,000 token', { exact: true }).waitFor()
    expect(await page.getByRole('dialog').locator('dt').allInnerTexts()).toEqual(
      expect.arrayContaining(['Website', 'Max shares', 'Commission']),
    )
    expect(
      await page
        .getByRole('dialog')
        .locator('dt', { hasText: /^Name$/ })
        .count(),
    ).toBe(0)
    await sign(page)
    await page.getByText('25 %').waitFor()
    expect(await recordOf(owner)).toMatchObject({
      comp_rate: '0.25',
      shares: (300n * TOKEN).toString(),
      description: { name: 'Alder', website: '' },
    })

    await page.getByRole('button', { name: 'Deactivate' }).click()
    await sign(page)
    await page.getByText(/^Its owner deactivated it in block/).waitFor()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await sign(page)
    await page.getByRole('button', { name: 'Deactivate' }).waitFor()
    expect(await recordOf(owner)).toMatchObject({ active: 'Y' })
  })

  test('a hand-over takes two: the owner offers, the other account accepts and pays', async () => {
    const [from, to] = [addressOf(2), addressOf(3)]
    await svc.async.stake.validator.declare({ from, pubKey: deadKey(), description: { name: 'Birch' } })
    const owner = await site.open()
    const other = await site.open()
    await owner.goTo(`validators/${from}`)
    await owner.page.getByText(/^Only its owner/).waitFor()
    expect(await owner.page.getByRole('button', { name: 'Hand over' }).count()).toBe(0)
    await openAccount(owner.page, from)
    await owner.page.getByRole('button', { name: 'Hand over' }).click()
    await owner.page.getByLabel('New account').fill(from.toUpperCase().replace('0X', '0x'))
    await owner.page.getByText('This account has the candidacy already').waitFor()
    await owner.page.getByLabel('New account').fill(addressOf(0))
    await owner.page.getByText('This account has a candidacy of its own').waitFor()
    await owner.page.getByRole('button', { name: 'Offer it' }).click()
    expect(await owner.page.getByRole('dialog').count()).toBe(0)
    await owner.page.getByLabel('New account').fill(to)
    await owner.page.getByRole('button', { name: 'Offer it' }).click()
    await sign(owner.page)
    await owner.page.getByText(/^Offered to/).waitFor()

    await other.goTo(`validators/${from}`)
    await openAccount(other.page, to)
    await other.page.getByText('You pay 1,000 token for its shares').waitFor()
    await other.page.getByRole('button', { name: 'Accept' }).click()
    await sign(other.page)
    await other.page.getByRole('heading', { name: 'Your candidacy' }).waitFor()
    expect(other.page.url()).toContain(to)
    expect(await recordOf(to)).toMatchObject({ description: { name: 'Birch' }, shares: (1000n * TOKEN).toString() })
    expect(await recordOf(from)).toBeNull()
    await owner.page.getByText(/owns no candidacy now/).waitFor()
  })

  test('withdraw says when and how much is paid, and until then the candidacy can come back', async () => {
    const owner = addressOf(4)
    await svc.async.stake.validator.declare({ from: owner, pubKey: deadKey(), description: { name: 'Cedar' } })
    const { page, goTo } = await site.open()
    await goTo(`validators/${owner}`)
    await openAccount(page, owner)
    await page.getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page
      .getByText(/1,000 token, leave the candidacy at once and are paid to your balance 20 blocks later/)
      .waitFor()
    await page.getByRole('button', { name: 'Withdraw the candidacy' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByText(/^Your validator leaves the set/).waitFor()
    await sheet.locator('button.danger').waitFor()
    // Until the page has heard of a block it says in how many blocks.
    await sheet
      .locator('.facts > div', { hasText: 'Paid out' })
      .filter({ hasText: /about block \d+/ })
      .waitFor()
    await sign(page)
    const { data } = await svc.async.stake.validator.queryUnbonding(owner)
    await page.getByText(/^Its owner withdrew it\. 1,000 token will be paid to/).waitFor()
    await page.getByText(`in block ${data[0]?.completion_height}`).first().waitFor()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await sign(page)
    await page.getByRole('button', { name: 'Deactivate' }).waitFor()
    expect(await recordOf(owner)).toMatchObject({ shares: (1000n * TOKEN).toString(), active: 'Y' })
  })

  test('a long history is read page by page, what happens meanwhile comes on top, and votes say what was voted', async () => {
    const owner = addressOf(6)
    const { declare, deactivate, activate } = svc.async.stake.validator
    await declare({ from: owner, pubKey: deadKey(), description: { name: 'Elm' }, maxAmount: 2n * TOKEN * 10n })
    for (let round = 0; round < 30; round++) {
      await deactivate({ from: owner })
      await activate({ from: owner })
    }
    // What lies within the last hundred blocks the page reads by itself.
    await site.net.mine(100)
    const { page, goTo } = await site.open()
    await goTo(`validators/${owner}`)
    const history = page.locator('table[aria-label="History"]')
    const rows = async () => Number(await history.getAttribute('aria-rowcount')) - 1
    await history.waitFor()
    const first = await rows()
    expect(await history.getByRole('row', { name: /Declared the candidacy/ }).count()).toBe(0)
    for (const older = page.getByRole('button', { name: 'Older' }); (await older.count()) > 0; ) {
      const before = await history.getAttribute('aria-rowcount')
      await older.click()
      await page.locator(`table[aria-label="History"]:not([aria-rowcount="${before}"])`).waitFor()
    }
    await history.getByRole('row', { name: /Declared the candidacy/ }).waitFor()
    const all = await rows()
    expect(all).toBeGreaterThan(first)
    await page.getByRole('button', { name: /^The candidacy/ }).click()
    expect(await rows()).toBe(61)
    await page.getByRole('button', { name: /^All/ }).click()
    await deactivate({ from: owner })
    await page.getByText(/^Its owner deactivated it/).waitFor()
    await page.locator(`table[aria-label="History"][aria-rowcount="${all + 2}"]`).waitFor()
    await history.locator('tbody tr').first().getByText('Deactivated the candidacy').waitFor()
    await history.getByRole('row', { name: /Declared the candidacy/ }).waitFor()

    const from = addressOf(0)
    const { deliver_tx } = await svc.async.governance.proposeChangeParam({ from, name: 'max_vals', value: '7' })
    await svc.async.governance.vote({ from, proposalId: deliver_tx.data as string, answer: 'N' })
    await goTo(`validators/${from}?events=governance`)
    await history.getByRole('row', { name: /Voted no on/ }).waitFor()
    expect(await rows()).toBe(2)
  })

  test('the foundation marks a candidacy as verified, and nobody else is offered to', async () => {
    const owner = addressOf(5)
    await svc.async.stake.validator.declare({ from: owner, pubKey: deadKey(), description: { name: 'Douglas fir' } })
    const { page, goTo } = await site.open()
    await goTo(`validators/${owner}`)
    await openAccount(page, owner)
    await page.getByRole('heading', { name: 'Your candidacy' }).waitFor()
    expect(await page.getByRole('button', { name: 'Mark as verified' }).count()).toBe(0)
    await openAccount(page, addressOf(0))
    await page.getByRole('button', { name: 'Mark as verified' }).click()
    await sign(page)
    await page.getByRole('button', { name: 'Take the verified mark away' }).waitFor()
    expect(await recordOf(owner)).toMatchObject({ verified: 'Y' })
  })
})
