/** The page on the narrowest phone, on a large chain whose people write what cannot be broken into lines. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { growLargeChain, largeChainOptions } from '../../support/largeChain.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { devnetPages, proposalPath, withBrowser } from '../support/page.ts'
import { openAccount } from '../support/wallet.ts'

const WIDTH = 320
const viewport = { width: WIDTH, height: 640 }

/** The least height of what a finger touches, in CSS pixels. Source: WCAG 2.2, 2.5.5. */
const TOUCH_PX = 44

const CHAIN = { candidacies: 40, proposals: 20 }
const { path: folder, remove } = tempFolder('phone')
const options = largeChainOptions(folder, CHAIN)
const genesis = options.genesis as string
// The longest id that a chain may have, without a place to break it.
writeFileSync(genesis, JSON.stringify({ ...JSON.parse(readFileSync(genesis, 'utf8')), chain_id: 'W'.repeat(50) }))

/** What a row of a list is: how high, and where a touch at its beginning, its middle and its end leads. */
interface TouchedRow {
  readonly text: string
  readonly height: number
  readonly links: readonly (string | null)[]
}

/** The rows of a view that lead somewhere: tables, proposals, parameters. */
const rowsOf = (page: Page): Promise<readonly TouchedRow[]> =>
  page.locator('main :is(.table tbody:not(.space) tr, .proposals li, .parameters li):visible').evaluateAll((rows) =>
    // A row may have gone since it was found.
    rows
      .filter(({ isConnected }) => isConnected)
      .map((row) => {
        row.scrollIntoView({ block: 'center' })
        const { left, right, top, bottom, height } = row.getBoundingClientRect()
        const points = [
          [left + 2, top + 2],
          [(left + right) / 2, (top + bottom) / 2],
          [left + 2, bottom - 3],
        ] as const
        const links = points.map(
          ([x, y]) => row.ownerDocument.elementFromPoint(x, y)?.closest('a')?.getAttribute('href') ?? null,
        )
        return { text: row.textContent ?? '', height, links }
      }),
  )

/** Buttons, and choices with their labels, that are lower than a finger; sorting a list and words in a line are not among them. */
const smallTargetsOf = (page: Page): Promise<readonly string[]> =>
  page
    .locator(
      'button:visible, .button:visible, select:visible, main label:has(:is([type="checkbox"], [type="radio"])):visible',
    )
    .evaluateAll(
      (all, least) =>
        all
          .filter((one) => one.closest('th') === null && one.getBoundingClientRect().height < least)
          .map((one) => one.textContent ?? ''),
      TOUCH_PX,
    )

withBrowser(`a phone of ${WIDTH} pixels`, () => {
  const site = devnetPages(options)
  let owner: string
  let views: readonly string[]

  beforeAll(async () => {
    await growLargeChain(site.net, CHAIN)
    const { governance, stake, getTransactions } = new Svc(site.net.url).async
    owner = site.net.accounts[0].address
    const { data: validators } = await stake.validator.list()
    const { data: proposals } = await governance.listProposals()
    const { data: txs } = await getTransactions({ limit: 100 })
    views = [
      '',
      'account',
      'validators',
      'validators?state=candidate&sort=-return',
      ...validators.filter((_, at) => at % 6 === 4).map(({ owner_address }) => `validators/${owner_address}`),
      `validators/${owner}`,
      `validators/${owner}/stake`,
      `validators/${owner}/take-back`,
      'validators/declare',
      'proposals',
      ...proposals.slice(0, 8).map(({ Id }) => proposalPath(Id)),
      ...['', '/change_param', '/deploy_libeni', '/retire_program', '/transfer_fund'].map(
        (kind) => `proposals/new${kind}`,
      ),
      'parameters',
      'parameters/gas_price',
      'blocks',
      `blocks/${txs[0]?.height}`,
      'transactions',
      'transactions?operation=vote',
      ...txs.slice(0, 12).map(({ hash }) => `transactions/${hash}`),
      `accounts/${owner}`,
      `accounts/${site.net.accounts.at(-1)?.address}`,
      'send',
      'sign',
      'search/o',
      `search/${'M'.repeat(200)}`,
      'nowhere',
    ]
  })
  afterAll(remove)

  test('no view scrolls sideways, and every row of a list is a link that a finger can touch', async () => {
    const { page, goTo, settled } = await site.open('', { viewport, hasTouch: true })
    await openAccount(page, owner)
    const wide: string[] = []
    const small: unknown[] = []
    let touched = 0
    for (const view of views) {
      await goTo(view)
      await settled()
      const { scrollWidth, clientWidth } = await page
        .locator('html')
        .evaluate(({ ownerDocument: { scrollingElement: it } }) => ({
          scrollWidth: it?.scrollWidth ?? 0,
          clientWidth: it?.clientWidth ?? 0,
        }))
      if (scrollWidth > clientWidth) wide.push(`${view}: ${scrollWidth}`)
      small.push(...(await smallTargetsOf(page)).map((text) => ({ view, text })))
      // Of a value that genesis gave there is no view.
      const rows = (await rowsOf(page)).filter(
        ({ text }) => !text.includes('genesis') || view !== 'parameters/gas_price',
      )
      touched += rows.length
      small.push(
        ...rows
          .filter(({ height, links }) => height < TOUCH_PX || links.includes(null))
          .map((row) => ({ view, ...row })),
      )
    }
    expect(wide).toEqual([])
    expect(small).toEqual([])
    expect(touched).toBeGreaterThan(200)
  })

  test.each([WIDTH, 390])('at %d pixels a row names first what it is about, and ends at the edge', async (width) => {
    // Before the page asks for whole lists, of which a gateway answers one at a time.
    const { data: open } = await new Svc(site.net.url).async.governance.listProposals({ state: 'open', limit: 1 })
    const { page, goTo, settled } = await site.open('', { viewport: { ...viewport, width } })
    for (const view of ['validators', 'blocks', 'transactions', `accounts/${owner}`, proposalPath(open[0]?.Id)]) {
      await goTo(view)
      await settled()
      const order = await page.locator('main tbody:not(.space) tr').evaluateAll((rows) =>
        rows.map((row) => {
          const cells = [...row.querySelectorAll('td')].filter((cell) => cell.getBoundingClientRect().width > 0)
          const first = cells.toSorted((a, b) => {
            const [one, other] = [a.getBoundingClientRect(), b.getBoundingClientRect()]
            return one.left - other.left || one.top - other.top
          })[0]
          const boxes = cells.slice(1).map((cell) => cell.getBoundingClientRect())
          const below = boxes.filter(({ top }) => top < Math.min(...boxes.map((box) => box.top)) + 8)
          const gap = row.getBoundingClientRect().right - Math.max(...below.map(({ right }) => right))
          return first?.classList.contains('at-name') && gap < 1
        }),
      )
      expect([view, order.length > 0, order.includes(false)]).toEqual([view, true, false])
    }
  })

  test('the menu says where a reader is, shows all places, and closes behind the reader', async () => {
    const { page, goTo } = await site.open('', { viewport })
    const menu = page.getByRole('button', { name: /^Menu/ })
    const places = page.getByRole('navigation', { name: 'Views' })
    await page.getByRole('button', { name: 'Menu Overview' }).waitFor()
    expect(await places.isVisible()).toBe(false)
    await menu.click()
    const links = await places.getByRole('link').evaluateAll((all) =>
      all.map((link) => {
        const { left, right, height } = link.getBoundingClientRect()
        return { name: link.textContent, isInside: left >= 0 && right <= innerWidth, height }
      }),
    )
    expect(links.map(({ name }) => name).join(', ')).toBe(
      'Overview, My account, Validators, Proposals, Parameters, Blocks, Transactions',
    )
    expect(links.filter(({ isInside, height }) => !isInside || height < TOUCH_PX)).toEqual([])
    await places.getByRole('link', { name: 'Proposals' }).click()
    await page.getByRole('button', { name: 'Menu Proposals' }).waitFor()
    expect(await places.isVisible()).toBe(false)
    await menu.click()
    expect(await places.locator('[aria-current="page"]').textContent()).toBe('Proposals')
    await page.keyboard.press('Escape')
    await places.waitFor({ state: 'hidden' })
    await goTo(`accounts/${owner}`)
    await page.getByRole('button', { name: 'Menu Account' }).waitFor()
  })
})
