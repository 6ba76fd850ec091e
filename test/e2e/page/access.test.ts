import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import type { Devnet } from '../../../src/cli/devnet/startDevnet.ts'
import { Svc } from '../../../src/client/index.ts'
import { findings } from '../support/axe.ts'
import { openPage, startBrowser, withBrowser } from '../support/page.ts'
import { startDevnet } from '../support/recordedDevnet.ts'

withBrowser('a reader who uses no mouse or sees no screen', () => {
  let net: Devnet
  let browser: Browser
  let views: readonly string[]

  beforeAll(async () => {
    ;[net, browser] = await Promise.all([startDevnet(), startBrowser()])
    const svc = new Svc(net.url)
    const from = net.accounts[0].address
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

  afterAll(async () => {
    await browser?.close()
    await net?.close()
  })

  test.each(['light', 'dark'] as const)('axe finds nothing serious in any view (%s)', async (colorScheme) => {
    const { page, goTo, settled, close } = await openPage(browser, net.url, { colorScheme, reducedMotion: 'reduce' })
    const found: string[] = []
    for (const view of views) {
      await goTo(view)
      await settled()
      found.push(...(await findings(page)).map((finding) => `${view}: ${finding}`))
    }
    expect(found).toEqual([])
    await close()
  })

  test('can reach the content, the views and the search with the keyboard alone', async () => {
    const { page, close } = await openPage(browser, net.url)
    await page.locator('main h1').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
    for (let step = 0; step < 12; step++) {
      await page.keyboard.press('Tab')
      if ((await page.locator(':focus').textContent()) === 'Validators') break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Validators' }).waitFor()
    await close()
  })
})
