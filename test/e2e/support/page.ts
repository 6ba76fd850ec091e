import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import type { Devnet, DevnetOptions } from '../../../src/cli/devnet/startDevnet.ts'
import { CHROMIUM, startBrowser } from './browser.ts'
import { startDevnet } from './recordedDevnet.ts'

export { startBrowser } from './browser.ts'

// skip: no Chromium on this machine (.ci/run installs Debian's; SVCD_CHROMIUM names another)
export const withBrowser = existsSync(CHROMIUM) ? describe : describe.skip

export type WebPage = Awaited<ReturnType<typeof openPage>>

/** Opens the page of the gateway at `url` in a context of its own: nothing is shared with other pages. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(error.message))
  page.on('console', (message) => {
    // Blocks that come in a burst make the page ask often. It waits and asks again when the gateway tells it to.
    if (message.type() === 'error' && !message.text().includes('status of 429')) failures.push(message.text())
  })
  await page.goto(url)
  return {
    page,
    /** Errors in the console, uncaught exceptions and refusals of the CSP, but for calls that come too often. */
    failures,
    /** Goes to a view: `validators`, `proposals?state=open`. */
    goTo: async (view: string) => {
      // The page draws the view when the browser fires hashchange. The title and the focus of a field are set one frame
      // later.
      await page.evaluate(
        (hash) =>
          new Promise<void>((done) => {
            const onDrawn = (): void => void requestAnimationFrame(() => setTimeout(done))
            const before = location.href
            addEventListener('hashchange', onDrawn, { once: true })
            location.hash = hash
            if (location.href !== before) return
            removeEventListener('hashchange', onDrawn)
            onDrawn()
          }),
        `#/${view}`,
      )
    },
    /** Waits until the view shows all that it has asked for. */
    settled: async () => {
      await page.locator('main h1').waitFor({ state: 'attached' })
      while ((await page.locator('main [aria-busy="true"]').count()) > 0) await page.waitForTimeout(20)
    },
    close: () => context.close(),
  }
}

/** Starts a devnet and a browser for the tests of the describe that calls it, and ends them behind the last one. */
export function devnetPages(options: DevnetOptions = {}) {
  let site: { readonly net: Devnet; readonly browser: Browser }
  const pages: WebPage[] = []
  beforeAll(async () => {
    const [net, browser] = await Promise.all([startDevnet(options), startBrowser()])
    site = { net, browser }
  })
  afterEach(async () => {
    const opened = pages.splice(0)
    await Promise.all(opened.map(({ close }) => close()))
    expect(opened.flatMap(({ failures }) => failures)).toEqual([])
  })
  afterAll(async () => {
    await site?.browser.close()
    await site?.net.close()
  })
  return {
    get net() {
      return site.net
    },
    get browser() {
      return site.browser
    },
    /** Opens a view of the page, by default the first one. It is closed after the test, in which nothing may have failed. */
    open: async (view = '', more: BrowserContextOptions = {}) => {
      const { browser, net } = site
      const page = await openPage(browser, view === '' ? net.url : `${net.url}/#/${view}`, more)
      pages.push(page)
      return page
    },
  }
}

export const proposalPath = (id = ''): string => `proposals/${Buffer.from(id, 'base64').toString('base64url')}`

/** A public key of a validator that no node holds. */
export const deadKey = (): string => randomBytes(32).toString('base64')
