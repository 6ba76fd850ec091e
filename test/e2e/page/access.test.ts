import { beforeAll, expect, test } from '@jest/globals'
import { Svc } from '../../../src/client/index.ts'
import { findings } from '../support/axe.ts'
import { devnetPages, withBrowser } from '../support/page.ts'

withBrowser('a reader who uses no mouse or sees no screen', () => {
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

  test('can reach the content, the views and the search with the keyboard alone', async () => {
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
  })
})
