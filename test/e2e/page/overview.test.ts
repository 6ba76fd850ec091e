import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Response } from 'playwright-core'
import type { Devnet } from '../../../src/cli/devnet/startDevnet.ts'
import { openPage, startBrowser, withBrowser } from '../support/page.ts'
import { startDevnet } from '../support/recordedDevnet.ts'

withBrowser('the overview', () => {
  let net: Devnet
  let browser: Browser

  beforeAll(async () => {
    ;[net, browser] = await Promise.all([startDevnet(), startBrowser()])
  })

  afterAll(async () => {
    await browser?.close()
    await net?.close()
  })

  test('shows a new block without being asked', async () => {
    const { page, failures, shot, close } = await openPage(browser, net.url)
    const height = await net.mine(12)
    await page.getByRole('link', { name: String(height), exact: true }).waitFor({ timeout: 10_000 })
    await shot('overview', true)
    expect(failures).toEqual([])
    await close()
  })

  test('loads less than 150 kB, compressed, and nothing from elsewhere', async () => {
    const { page, settled, close } = await openPage(browser, 'about:blank')
    const loaded = new Map<string, Response>()
    page.on('response', (response) => loaded.set(response.url(), response))
    await page.goto(net.url)
    await settled()
    await page.locator('.plot canvas').nth(1).waitFor()
    const files = [...loaded].filter(([url]) => /\/(?:assets\/[^/]*)?$/.test(url))
    const bodies = await Promise.all(files.map(([, response]) => response.body()))
    const bytes = bodies.map((body) => gzipSync(body, { level: 9 }).length)
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(150_000)
    expect(files.length).toBeGreaterThan(3)
    expect([...loaded.keys()].filter((url) => !url.startsWith(net.url))).toEqual([])
    await close()
  })
})
