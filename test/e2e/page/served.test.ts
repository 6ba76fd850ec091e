/** What a gateway lets a page do, in a real browser. test/gateway/page.test.ts has what it answers. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { type Devnet, makePlace, startDevnet } from '../support/devnet.ts'
import { openPage, startBrowser, type WebPage, withBrowser } from '../support/page.ts'
import { testFolder } from '../support/testFolder.ts'

const folder = testFolder(() => net?.stop())

let net: Devnet
beforeAll(async () => {
  net = await startDevnet(await makePlace(join(folder, 'browsed')))
})

withBrowser('the page in Chromium', () => {
  let browser: Browser
  let web: WebPage

  beforeAll(async () => {
    browser = await startBrowser()
    web = await openPage(browser, net.url)
    await web.page.getByRole('row').first().waitFor()
  })
  afterAll(() => browser?.close())

  /** What an expression comes to in the page: its value, or what it throws or rejects with. */
  const inPage = (expression: string): Promise<unknown> =>
    web.page.evaluate(`(async () => ${expression})().catch((error) => error.name)`)

  test('loads from the gateway only, and nothing that it does is refused', async () => {
    const own = await inPage('performance.getEntriesByType("resource").map(({ name }) => new URL(name).origin)')
    expect([...new Set(own as readonly string[])]).toEqual([net.url])
    for (const view of ['validators', 'proposals', 'parameters', 'blocks', 'nowhere']) {
      await web.goTo(view)
      await web.settled()
    }
    expect(web.failures).toEqual([])
  })

  test.each([
    ['text as markup', 'document.body.insertAdjacentHTML("beforeend", "<b>x</b>")', 'TypeError'],
    ['to vouch for markup', 'trustedTypes.createPolicy("any", { createHTML: (text) => text })', 'TypeError'],
    ['text as script', 'Object.assign(document.createElement("script"), { text: "x = 1" })', 'TypeError'],
    [
      'cameras, microphones, positions and USB devices',
      '["camera", "microphone", "geolocation", "usb"].filter((name) => document.featurePolicy.allowsFeature(name))',
      [],
    ],
  ])('is refused %s', async (_what, expression, outcome) => {
    expect(await inPage(expression)).toEqual(outcome)
  })

  test('is refused styles that stand in it', async () => {
    const done = await inPage(`{
      const refused = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective))
      const add = (name, text) => {
        const made = document.createElement(name)
        made.append(text)
        document.body.append(made)
      }
      add('style', 'body { color: red }')
      const button = document.createElement('button')
      button.setAttribute('style', 'color: red')
      document.body.append(button)
      await new Promise((next) => setTimeout(next, 100))
      return [...new Set(refused)].sort()
    }`)
    expect(done).toEqual(['style-src-attr', 'style-src-elem'])
  })

  test('is refused calls to another origin, and is shown in no frame of one', async () => {
    const server = createServer((_request, response) =>
      response
        .setHeader('content-type', 'text/html')
        .setHeader('access-control-allow-origin', '*')
        .end(`<!doctype html><iframe src="${net.url}/"></iframe>`),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const context = await browser.newContext()
    try {
      expect(await inPage(`fetch(${JSON.stringify(other)}).then(({ status }) => status)`)).toBe('TypeError')
      const page = await context.newPage()
      // The browser may tell of it after the page is loaded.
      const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
      await page.goto(other, { waitUntil: 'load' })
      await refused
      const [, frame] = page.frames()
      expect(await frame?.title()).not.toBe('svcd')
    } finally {
      await context.close()
      server.close()
    }
  })
})

test('svcd devnet names the page where its gateway serves one, and --no-page turns it off', async () => {
  const without = await startDevnet(await makePlace(join(folder, 'without')), ['--no-page'])
  for (const [one, isServed] of [
    [net, true],
    [without, false],
  ] as const) {
    const { status } = await fetch(`${one.url}/`)
    const { stdout } = await one.stop()
    expect([status, stdout.includes(`\npage          ${one.url}/\n`)]).toEqual([isServed ? 200 : 404, isServed])
  }
})
