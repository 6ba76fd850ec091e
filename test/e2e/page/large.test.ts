import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { growLargeChain, HOSTILE_NAMES, largeChainOptions } from '../../support/largeChain.ts'
import { devnetPages, proposalPath, withBrowser } from '../support/page.ts'
import { testFolder } from '../support/testFolder.ts'

const widthOf = (page: Page): Promise<number> => page.locator('html').evaluate((it) => it.scrollWidth)

withBrowser('a chain of hundreds of candidacies', () => {
  const chain = { candidacies: 300, proposals: 1 }
  const site = devnetPages(largeChainOptions(testFolder(), chain))
  let proposal: string
  beforeAll(async () => {
    await growLargeChain(site.net, chain)
    // Before any page asks for whole lists, of which a gateway answers one at a time.
    const { data: proposals } = await new Svc(site.net.url).async.governance.listProposals()
    proposal = proposalPath(proposals[0]?.Id)
  })

  test.each(['', 'validators'])('the strip of power in #/%s is to scale, and no wider than a phone', async (view) => {
    const { page, goTo, settled } = await site.open('', { viewport: { width: 320, height: 640 } })
    await goTo(view)
    await settled()
    const strip = page.locator('.power-strip')
    await strip.getByRole('link', { name: /^\d+ others: / }).waitFor()
    expect(await widthOf(page)).toBe(320)
    const [whole, mark, parts] = await strip.evaluate((it) => {
      const box = (of: { getBoundingClientRect: () => { left: number; width: number } }) => of.getBoundingClientRect()
      const mark = it.querySelector('.two-thirds')
      return [box(it), mark === null ? undefined : box(mark), [...it.querySelectorAll('li')].map(box)] as const
    })
    expect(((mark?.left ?? 0) - whole.left) / whole.width).toBeCloseTo(2 / 3, 2)
    expect(parts.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(whole.width, 0)
    // The node has four fifths of all, and 200 members share the rest.
    expect((parts[0]?.width ?? 0) / whole.width).toBeGreaterThan(0.75)
    await page.getByText(/^Old Harbour alone has two thirds of the voting power or more/).waitFor()
  })

  test.each([390, 320])('on a phone of %d pixels a row is a whole name, and the numbers below it', async (width) => {
    const { page, goTo, settled } = await site.open('', { viewport: { width, height: 800 } })
    await goTo('validators')
    await settled()
    const rows = page.locator('table[aria-label="Validators"] tbody:not(.space) tr')
    await page.mouse.move(width / 2, 400)
    // Among the first fifty are names of every kind.
    for (let steps = 0; steps < 4; steps++) {
      await rows.nth(2).waitFor()
      const cut = await rows.evaluateAll((all) =>
        all.flatMap((row) => {
          const isCut = (cell: typeof row) =>
            cell.scrollWidth > cell.clientWidth || cell.scrollHeight > cell.clientHeight
          const cells = [...row.querySelectorAll('td:not(.minor)')] as (typeof row)[]
          const [name, ...others] = cells
          const bottom = name?.getBoundingClientRect().bottom ?? 0
          const isBelow = others.every((cell) => cell.getBoundingClientRect().top >= bottom - 1)
          return isBelow && !cells.some(isCut) ? [] : [row.textContent]
        }),
      )
      expect(cut).toEqual([])
      await page.mouse.wheel(0, 800)
      await page.waitForTimeout(300)
    }
    // Rows whose names take several lines do not hide the last one.
    const last = page.locator('table[aria-label="Validators"] tr[aria-rowindex="301"]')
    while ((await last.count()) === 0) {
      await page.getByText('300 rows').scrollIntoViewIfNeeded()
      await page.waitForTimeout(100)
    }
    expect(await rows.count()).toBeLessThan(100)
    // Both in one moment: what is drawn may still move.
    const foot = await page.getByText('300 rows').elementHandle()
    const gap = await last.evaluate(
      (row, below) => (below?.getBoundingClientRect().top ?? Infinity) - row.getBoundingClientRect().bottom,
      foot,
    )
    expect(gap).toBeLessThan(40)
    expect(await widthOf(page)).toBe(width)
  })

  test.each([706, 768, 1024, 1440])('at %d pixels no table hides a column, and names are whole', async (width) => {
    const { page, goTo, settled } = await site.open('', { viewport: { width, height: 1024 } })
    const owner = site.net.accounts[0].address
    for (const view of [
      '',
      'validators',
      `validators/${owner}`,
      `validators/${site.net.accounts[1]?.address}`,
      'transactions',
      'blocks',
      `accounts/${owner}`,
      'parameters/gas_price',
      proposal,
    ]) {
      await goTo(view)
      await settled()
      const tables = page.locator('main .table')
      await tables.first().waitFor()
      const cut = await tables.evaluateAll((all) =>
        all.flatMap((table) => {
          const edge = table.getBoundingClientRect().right + 1
          const cells = [...table.querySelectorAll('th, td.at-name, td.number')] as (typeof table)[]
          return cells
            .filter((cell) => cell.getBoundingClientRect().right > edge || cell.scrollWidth > cell.clientWidth)
            .map((cell) => cell.textContent)
        }),
      )
      expect([view, cut, await widthOf(page)]).toEqual([view, [], width])
    }
  })

  test('what is shown of a longer list says so', async () => {
    const { page, goTo } = await site.open()
    await goTo('search/harbour')
    await page.getByText(/^20 of \d\d: a longer text finds fewer$/).waitFor()
    expect(await page.locator('.hits li').count()).toBe(20)
    await goTo(`validators/${site.net.accounts[0].address}`)
    await page.getByText('1–20 of 45').waitFor()
    await page.getByRole('link', { name: 'Next →' }).click()
    await page.getByText('21–40 of 45').waitFor()
  })

  test('columns stand where they stood while a list is scrolled', async () => {
    const { page, goTo, settled } = await site.open('', { viewport: { width: 1440, height: 900 } })
    await goTo(proposal)
    await settled()
    const heads = page.locator('table[aria-label="Votes"] th')
    const lefts = () => heads.evaluateAll((all) => all.map((head) => head.getBoundingClientRect().left))
    await heads.nth(4).waitFor()
    const first = await lefts()
    const last = page.locator('table[aria-label="Votes"] tr[aria-rowindex="201"]')
    while ((await last.count()) === 0) {
      await page.getByText('200 rows').scrollIntoViewIfNeeded()
      await page.waitForTimeout(100)
    }
    expect(await lefts()).toEqual(first)
  })

  test('names that deceive are shown with what they hide', async () => {
    const { page, goTo, settled } = await site.open('', { viewport: { width: 1440, height: 900 } })
    await goTo('validators?sort=rank&q=edon')
    await settled()
    const name = page
      .getByRole('row')
      .getByRole('link', { name: /^U\+202Eedon/ })
      .first()
    await name.waitFor()
    const text = await page.locator('main').textContent()
    expect(HOSTILE_NAMES[0]).toContain('\u202E')
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B\u00A0\u3164]/)
    await name.click()
    await page.getByRole('heading', { level: 1, name: /^U\+202Eedon/ }).waitFor()
    // The title follows behind the next frame.
    await page.waitForFunction(() => document.title.startsWith('[U+202E]edon'))
  })

  test('the last blocks that a validator signed and missed stand side by side on a phone', async () => {
    const { page, goTo } = await site.open('', { viewport: { width: 320, height: 640 } })
    for (const [at, words] of [
      [0, /^Signed 100 % of the last \d+ blocks that it had to sign: it missed none/],
      [1, /^Signed 0 % of the last \d+ blocks that it had to sign: it missed \d+/],
    ] as const) {
      await goTo(`validators/${site.net.accounts[at]?.address}`)
      await page.getByText(words).waitFor()
      // A new block takes the first cell away, so one that was found may be gone when it is measured.
      await page.waitForFunction(() => (document.querySelector('ol.commits a')?.getBoundingClientRect().width ?? 0) > 5)
      expect(await widthOf(page)).toBe(320)
      await page.getByRole('list', { name: /^The last \d+ blocks$/ }).scrollIntoViewIfNeeded()
    }
  })

  test('validators sort by the blocks that they have missed', async () => {
    const { page, goTo } = await site.open('', { viewport: { width: 1440, height: 900 } })
    await goTo('validators')
    await page.getByRole('button', { name: 'Missed', exact: true }).click()
    await page.waitForURL(/sort=missed/)
    const first = page.locator('table[aria-label="Validators"] tbody:not(.space) tr').first()
    await first.getByRole('link', { name: 'Old Harbour', exact: true }).waitFor()
    await first.locator('td:nth-child(8)', { hasText: /^0$/ }).waitFor()
  })
})
