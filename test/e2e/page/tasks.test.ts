import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { devnetPages, openPage, type WebPage, withBrowser } from '../support/page.ts'

/** A key that nobody has used before. */
const KEY = '7c'.repeat(32)
const PASSWORD = 'correct horse battery staple'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const

/** A newcomer's hand: it taps, and fills a field after a tap on it. */
function handOn(page: Page) {
  let taps = 0
  return {
    tap: async (target: Locator): Promise<void> => {
      taps++
      await target.tap()
    },
    type: async (field: Locator, text: string): Promise<void> => {
      taps++
      await field.fill(text)
    },
    /** The taps since it was asked last. */
    taps: (): number => {
      const counted = taps
      taps = 0
      return counted
    },
    page,
  }
}
type Hand = ReturnType<typeof handOn>

const named = ({ page }: Hand, role: 'button' | 'link' | 'radio', name: string | RegExp): Locator =>
  page.getByRole(role, { name, exact: true }).first()

const wallet = ({ page }: Hand): Locator => page.getByRole('banner').getByRole('button', { name: /wallet$/i })

async function goBy(hand: Hand, view: string): Promise<void> {
  await hand.tap(hand.page.getByRole('button', { name: /^Menu/ }))
  await hand.tap(hand.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }))
}

/** The link that a row of a list is. */
const rowOf = ({ page }: Hand, name: string | RegExp): Locator =>
  page.locator('main tbody').getByRole('link', { name, exact: true }).first()

/** Signs what the page shows, waits for the block, and goes on. */
async function sign(hand: Hand): Promise<void> {
  const dialog = hand.page.getByRole('dialog')
  await hand.tap(dialog.getByRole('button', { name: 'Sign and send' }))
  await dialog.getByText(/^Done, in block/).waitFor()
  await hand.tap(dialog.locator('.actions').getByRole('button', { name: 'Close' }))
  // Its end gives the focus back, which a hand that is faster than anybody's would take again.
  await dialog.waitFor({ state: 'detached' })
}

withBrowser('what a newcomer does on a phone, and how many taps it takes', () => {
  const site = devnetPages()
  let web: WebPage
  let hand: Hand
  let svc: Svc
  let hash: string

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    web = await openPage(site.browser, site.net.url, PHONE)
    hand = handOn(web.page)
    const [{ address: from }, second] = site.net.accounts
    await svc.async.governance.proposeChangeParam({ from, name: 'max_vals', value: '7', reason: 'More of us.' })
    hash = (await svc.async.transfer({ from, to: second?.address ?? '', value: Svc.fromTokens('3') })).hash
  })
  beforeEach(() => void hand.taps())
  afterAll(async () => {
    expect(web?.failures).toEqual([])
    await web?.close()
  })

  test('opens an account with its private key', async () => {
    await hand.tap(wallet(hand))
    await hand.tap(named(hand, 'radio', 'Private key'))
    // Not by its label: the choice before it has the same one, and a tap works a moment after it was made.
    await hand.type(hand.page.locator('input[type=password]'), KEY)
    await hand.tap(named(hand, 'button', 'Open'))
    await hand.page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(hand.taps()).toBe(4)
  })

  test('backs the key up', async () => {
    await hand.tap(wallet(hand))
    await hand.tap(hand.page.getByRole('button', { name: /^Save as a file/ }))
    await hand.type(hand.page.getByLabel('Password of the keystore file'), PASSWORD)
    await hand.type(hand.page.getByLabel('The password again'), PASSWORD)
    const downloading = hand.page.waitForEvent('download')
    await hand.tap(named(hand, 'button', 'Download the keystore file'))
    await downloading
    expect(hand.taps()).toBe(5)
  })

  test('gets tokens of a devnet', async () => {
    await hand.tap(hand.page.getByRole('dialog').getByRole('button', { name: 'Get tokens' }))
    await hand.page.getByText('The tokens came').waitFor()
    await hand.tap(hand.page.getByRole('dialog').getByRole('button', { name: 'Close' }))
    expect(hand.taps()).toBe(2)
  })

  test('sees what it has', async () => {
    await goBy(hand, 'My account')
    await hand.page.getByText('You have staked nothing with a validator.').waitFor()
    expect(hand.taps()).toBe(2)
  })

  test('stakes', async () => {
    await hand.tap(hand.page.getByRole('link', { name: 'Choose a validator' }))
    await hand.tap(rowOf(hand, 'devnet'))
    await hand.tap(hand.page.getByRole('link', { name: 'Stake', exact: true }))
    await hand.type(hand.page.getByLabel('Amount'), '4')
    await hand.tap(hand.page.locator('main').getByRole('button', { name: 'Stake' }))
    await sign(hand)
    expect(hand.taps()).toBe(7)
  })

  test('takes half of it back', async () => {
    await hand.tap(hand.page.getByRole('link', { name: 'Take back from devnet' }))
    await hand.type(hand.page.getByLabel('Amount'), '2')
    await hand.tap(hand.page.locator('main').getByRole('button', { name: 'Take back' }))
    await sign(hand)
    expect(hand.taps()).toBe(5)
  })

  test('sends tokens', async () => {
    await hand.tap(wallet(hand))
    await hand.tap(hand.page.getByRole('dialog').getByRole('link', { name: 'Send tokens' }))
    await hand.type(hand.page.getByLabel('To', { exact: true }), site.net.accounts[3]?.address ?? '')
    await hand.type(hand.page.getByLabel('Amount', { exact: true }), '1')
    await hand.tap(hand.page.locator('main').getByRole('button', { name: 'Send', exact: true }))
    await sign(hand)
    expect(hand.taps()).toBe(7)
  })

  test('finds a transaction by its hash', async () => {
    const box = hand.page.getByRole('combobox')
    await hand.type(box, hash)
    await box.press('Enter')
    await hand.page.getByText('deliver_tx').first().waitFor()
    expect(hand.taps()).toBe(1)
  })

  test('sees how well a validator signs', async () => {
    await goBy(hand, 'Validators')
    await hand.tap(rowOf(hand, 'devnet'))
    await hand.page
      .getByText(/^100 %/)
      .first()
      .waitFor()
    expect(hand.taps()).toBe(3)
  })

  test('reads a proposal, and votes with the account of a validator', async () => {
    await goBy(hand, 'Proposals')
    await hand.tap(hand.page.getByRole('link', { name: /More of us/ }))
    await hand.page.getByRole('heading', { level: 1, name: '#1 More of us.' }).waitFor()
    expect(hand.taps()).toBe(3)
    await hand.tap(wallet(hand))
    await hand.tap(named(hand, 'radio', 'Devnet account'))
    await hand.tap(hand.page.getByRole('button', { name: `Use ${site.net.accounts[0].address}` }))
    expect(hand.taps()).toBe(3)
    await hand.tap(named(hand, 'button', 'Vote yes'))
    await sign(hand)
    await hand.page.locator('.status-line').getByText('Approved').waitFor()
    expect(hand.taps()).toBe(3)
  })
})
