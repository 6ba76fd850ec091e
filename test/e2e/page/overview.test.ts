import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import type { Response } from 'playwright-core'
import { devnetPages, openPage, withBrowser } from '../support/page.ts'

withBrowser('the overview', () => {
  const site = devnetPages()

  test('shows a new block without being asked', async () => {
    const { page, shot } = await site.open()
    const height = await site.net.mine(12)
    await page.getByRole('link', { name: String(height), exact: true }).waitFor()
    await shot('overview', true)
  })

  test('loads less than 150 kB, compressed, and nothing from elsewhere', async () => {
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
