import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from '@jest/globals'
import type { Response } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { findings } from '../support/axe.ts'
import { devnetPages, openPage, startBrowser, withBrowser } from '../support/page.ts'

withBrowser('the page of a devnet', () => {
  const site = devnetPages()
  let views: readonly string[]

  beforeAll(async () => {
    const svc = new Svc(site.net.url)
    const from = site.net.accounts[0].address
    const { hash, height, deliver_tx } = await svc.async.governance.proposeChangeParam({
      from,
      name: 'max_vals',
      value: '7',
    })
    const id = (deliver_tx.data ?? '').replaceAll('+', '-').replaceAll('/', '_')
    views = [
      '',
      'validators',
      `validators/${from}`,
      'validators/declare',
      `validators/${from}/stake`,
      `validators/${from}/take-back`,
      'account',
      'proposals',
      `proposals/${id}`,
      'proposals/new',
      'parameters',
      'blocks',
      `blocks/${height}`,
      'transactions',
      `transactions/${hash}`,
      `accounts/${from}`,
      'send',
      'search/max_vals',
    ]
  })

  test.each(['light', 'dark'] as const)('axe finds nothing serious in any view (%s)', async (colorScheme) => {
    const { page, goTo, settled } = await site.open('', { colorScheme, reducedMotion: 'reduce' })
    const found: string[] = []
    for (const view of views) {
      await goTo(view)
      await settled()
      found.push(...(await findings(page)).map((finding) => `${view}: ${finding}`))
    }
    expect(found).toEqual([])
  })

  test('in the colours of the system, what is chosen and the bars can be told from what is around them', async () => {
    const { page, goTo, settled } = await site.open('', { forcedColors: 'active' })
    const colours = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((it) => {
          const { color, backgroundColor } = getComputedStyle(it)
          return { color, backgroundColor }
        })
    const { backgroundColor: canvas } = await colours('body')
    await goTo('validators')
    await settled()
    for (const [chosen, other] of [
      ['.nav [aria-current]', '.nav a:not([aria-current])'],
      ['.choice-filter [aria-pressed="true"]', '.choice-filter [aria-pressed="false"]'],
    ] as const) {
      const { color, backgroundColor } = await colours(chosen)
      expect(backgroundColor).not.toBe((await colours(other)).backgroundColor)
      expect(color).not.toBe(backgroundColor)
    }
    expect((await colours('.power-strip a')).backgroundColor).not.toBe(canvas)
    await goTo(views.find((view) => /^proposals\/.{40}/.test(view)) ?? '')
    await settled()
    const all = await page
      .locator('.large-tally dt')
      .evaluateAll((parts) => parts.map((part) => getComputedStyle(part, '::before').backgroundColor))
    expect(new Set(all).size).toBe(3)
  })

  test('text of twice the size: on a phone no view scrolls sideways, and nothing in its head is cut or covered', async () => {
    const browser = await startBrowser(['--blink-settings=defaultFontSize=32'])
    const { page, goTo, settled } = await openPage(browser, site.net.url, { viewport: { width: 390, height: 844 } })
    expect(await page.locator('html').evaluate((it) => getComputedStyle(it).fontSize)).toBe('32px')
    const found: string[] = []
    for (const view of views) {
      await goTo(view)
      await settled()
      found.push(
        ...(await page.locator('html').evaluate(({ ownerDocument: { scrollingElement: it } }, where) => {
          const parts = [...document.querySelectorAll('.top > :not(.places), .menu')].map((part) => {
            const { top, bottom, left, right } = part.getBoundingClientRect()
            return { name: part.className, top, bottom, left, right, isCut: part.scrollWidth > part.clientWidth + 1 }
          })
          const covers = parts.filter((one, at) =>
            parts.some(
              (other, place) =>
                place !== at &&
                one.top < other.bottom &&
                other.top < one.bottom &&
                one.left < other.right &&
                other.left < one.right,
            ),
          )
          const bad = [...covers, ...parts.filter(({ isCut }) => isCut)].map(({ name }) => `${where}: ${name}`)
          return (it?.scrollWidth ?? 0) > (it?.clientWidth ?? 0) ? [...bad, `${where}: wide`] : bad
        }, view)),
      )
    }
    await browser.close()
    expect(found).toEqual([])
  })

  test('a reader who uses no mouse can reach the content, the views and the search with the keyboard alone', async () => {
    const { page } = await site.open()
    await page.locator('main h1').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
    for (let step = 0; step < 12; step++) {
      await page.keyboard.press('Tab')
      if ((await page.locator(':focus').textContent()) === 'Validators') break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Validators' }).waitFor()
    // A link that goes with its view leads on too, and no reader is left above everything.
    await page.getByRole('link', { name: 'Stake with devnet' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'Stake with devnet' }).waitFor()
  })

  test('the overview loads less than 150 kB, compressed, and nothing from elsewhere', async () => {
    const { page, settled, close } = await openPage(site.browser, 'about:blank')
    const loaded = new Map<string, Response>()
    page.on('response', (response) => loaded.set(response.url(), response))
    await page.goto(site.net.url)
    await settled()
    await page.locator('.plot canvas').nth(1).waitFor()
    const files = [...loaded].filter(([url]) => /\/(?:assets\/[^/]*)?$/.test(url))
    const bodies = await Promise.all(files.map(([, response]) => response.body()))
    const bytes = bodies.map((body) => gzipSync(body, { level: 9 }).length)
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(150_000)
    expect(files.length).toBeGreaterThan(3)
    expect([...loaded.keys()].filter((url) => !url.startsWith(site.net.url))).toEqual([])
    await close()
  })
})
