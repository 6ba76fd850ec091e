/** The documentation site as `make docs` builds it, below a path prefix, in a browser beside a devnet. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Devnet } from '../../src/cli/devnet/startDevnet.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { sitePages } from '../../tools/docs/navigation.ts'
import { gatewayClient } from './support/client.ts'
import { startBrowser, withBrowser } from './support/page.ts'
import { startDevnet } from './support/recordedDevnet.ts'
import { type StaticSite, serveSite } from './support/staticSite.ts'
import { testFolder } from './support/testFolder.ts'

const checkout = join(import.meta.dirname, '../..')
const BASE = '/projects/svcd/'

let site: StaticSite
let browser: Browser | undefined
let devnet: Devnet | undefined
const folder = testFolder(async () => {
  site.close()
  await browser?.close()
  await devnet?.close()
})
const built = join(folder, 'site')

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(checkout, 'tools/docs.ts'), '--base', BASE, '--out', built],
    { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } },
  )
  expect(stdout.trim().split('\n').at(-1)).toContain(`The site is in ${built}.`)
  site = await serveSite(built, BASE)
})

test('the site has every page of its sidebar, and each says something', () => {
  const missing = sitePages.filter(({ route }) => {
    const file = join(built, `${route.replace(/\/$/, '/index')}.html`)
    return !existsSync(file) || !/<h1[^>]*>/.test(readFileSync(file, 'utf8'))
  })
  expect(missing).toEqual([])
  expect(readFileSync(join(built, 'api/client.html'), 'utf8')).toContain('SvcTxError')
  expect(readFileSync(join(built, 'api/devnet.html'), 'utf8')).toContain('startDevnet')
})

test('a page asks no other host for anything: no address of one is in its styles, scripts or images', () => {
  const files = globSync('**/*.{html,css}', { cwd: built })
  const loaded = files.flatMap((file) =>
    [
      ...readFileSync(join(built, file), 'utf8').matchAll(
        /(?:<(?:script|img|link|iframe)[^>]*?(?:src|href)=|url\()["']?((?:https?:)?\/\/[^"')]+)/g,
      ),
    ].map(([, address]) => `${file}: ${address}`),
  )
  expect(files.length).toBeGreaterThan(60)
  expect(loaded).toEqual([])
})

/** Opens a page of the site. What is typed and clicked before its scripts have taken it over is lost. */
async function openAt(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.waitForFunction("document.querySelector('#app').__vue_app__ !== undefined")
}

withBrowser('in headless Chromium', () => {
  const problems: string[] = []

  beforeAll(async () => {
    devnet = await startDevnet()
    // Else it asks the reader whether a page from elsewhere may reach this machine, and nobody answers.
    browser = await startBrowser(['--disable-features=LocalNetworkAccessChecks'])
  })

  /** Runs `visit` on a page of the site; whatever the page complains of, and each request to another machine, is kept. */
  async function onPage(path: string, visit: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) {
    const context = await (browser as Browser).newContext({ viewport: { width: 1360, height: 850 }, ...options })
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${path}: ${message.text()}`)
    })
    page.on('pageerror', (error) => problems.push(`${path}: ${error.message}`))
    page.on('request', (request) => {
      if (!/^(?:http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) problems.push(`${path}: ${request.url()}`)
    })
    try {
      await openAt(page, `${site.url}${path}`)
      await visit(page)
      await page.waitForLoadState('networkidle')
    } finally {
      await context.close()
    }
    expect(problems).toEqual([])
  }

  const connect = async (page: Page, address: string): Promise<void> => {
    await page.getByLabel('Gateway').fill(address)
    await page.getByRole('button', { name: 'Connect' }).click()
  }
  const choose = (page: Page, method: string): Promise<void> =>
    page.getByRole('navigation', { name: 'Methods' }).getByRole('button', { name: method }).click()
  const answerOf = async (page: Page): Promise<unknown> =>
    JSON.parse((await page.locator('[data-answer]').textContent()) ?? '')
  /** Changes some of the parameters that are filled in, and calls. */
  async function call(page: Page, params: object = {}): Promise<unknown> {
    const field = page.getByLabel('Parameters')
    const recorded = JSON.parse(await field.inputValue()) as object
    await field.fill(JSON.stringify({ ...recorded, ...params }))
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('heading', { name: 'Answer', exact: true }).waitFor()
    return answerOf(page)
  }

  test('the home page says what svcd is, and leads to the first steps', () =>
    onPage('', async (page) => {
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('svcd')
      await page.locator('.home-actions').getByRole('link', { name: 'First steps' }).click()
      await page.getByRole('heading', { level: 2, name: 'A tour' }).waitFor()
      expect(new URL(page.url()).pathname).toBe(`${BASE}first-steps.html`)
    }))

  test('the search finds svc_vote, and the result is a page with it', () =>
    onPage('glossary.html', async (page) => {
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('searchbox').fill('svc_vote')
      const results = page.locator('#localsearch-list [role="option"] a')
      await results.first().waitFor()
      await results.first().click()
      await page.getByText('svc_vote').first().waitFor()
      expect(new URL(page.url()).pathname).toMatch(/client|methods|protocol|interface|api/)
    }))

  test('a reference page is dark when the reader asks for it, and when the machine does', async () => {
    const background = (page: Page): Promise<number> =>
      page.evaluate<number>('parseInt(getComputedStyle(document.body).backgroundColor.slice(4))')
    await onPage('reference/methods.html', async (page) => {
      expect(await page.getByRole('row').count()).toBeGreaterThan(methods.length)
      expect(await background(page)).toBeGreaterThan(240)
      await page.getByRole('switch').first().click()
      await page.waitForFunction("document.documentElement.classList.contains('dark')")
      expect(await background(page)).toBeLessThan(40)
    })
    await onPage('reference/errors.html', async (page) => expect(await background(page)).toBeLessThan(40), {
      colorScheme: 'dark',
    })
  })

  test.each(['', 'reference/methods.html', 'playground.html', 'api/client.html'])(
    'on a phone, /%s is as wide as the screen',
    (path) =>
      onPage(
        path,
        async (page) => {
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
        },
        { viewport: { width: 390, height: 844 } },
      ),
  )

  test('the playground shows recorded answers until it is connected, and then lists the methods of the gateway', () =>
    onPage('playground.html', async (page) => {
      expect(await page.getByText('Recorded answer').count()).toBe(1)
      expect(await page.getByRole('button', { name: 'Call', exact: true }).isDisabled()).toBe(true)
      await connect(page, (devnet as Devnet).url)
      await page.getByText('Connected.').waitFor()
      const names = page.getByRole('navigation', { name: 'Methods' }).getByRole('button')
      expect(await names.count()).toBe(methods.filter(({ name }) => name !== 'rpc.discover').length)
      expect(await names.filter({ hasText: 'signs' }).count()).toBe(methods.filter(({ signs }) => signs).length)
    }))

  test('the playground calls svc_queryValidators', () =>
    onPage('playground.html', async (page) => {
      await connect(page, (devnet as Devnet).url)
      await page.getByText('Connected.').waitFor()
      const owner = (devnet as Devnet).accounts[0].address
      expect(await call(page)).toMatchObject({
        result: { height: expect.any(Number), data: [{ owner_address: owner, state: 'Validator' }] },
      })
    }))

  test('the playground sends a svc_transfer of a devnet account, and explains the one that fails', () =>
    onPage('playground.html', async (page) => {
      const { url, accounts } = devnet as Devnet
      await connect(page, url)
      await page.getByText('Connected.').waitFor()
      await choose(page, 'svc_transfer')
      const to = '0x1111111111111111111111111111111111111111'
      const from = accounts[1]?.address
      expect(await call(page, { from, to, value: '5' })).toMatchObject({ result: { height: expect.any(Number) } })
      expect(await gatewayClient(url).call('svc_getBalance', [to])).toBe('5')

      await choose(page, 'svc_transfer')
      expect(await call(page, { from, to, value: '1000000000000000000000000000000' })).toMatchObject({
        result: { height: 0, check_tx: { code: 20 } },
      })
      expect(await page.getByRole('alert').textContent()).toMatch(/^The transaction failed with code 20, Insufficient/)

      await choose(page, 'svc_transfer')
      await call(page, { from: to, to, value: '5' })
      expect(await page.getByRole('alert').textContent()).toMatch(/^-32010: The gateway was asked to sign for from/i)
    }))
})

withBrowser('in headless Chromium, where the gateway cannot be read', () => {
  test('the playground tells a gateway that refuses the page from one that is not there', async () => {
    const context = await (browser as Browser).newContext()
    const page = await context.newPage()
    // The same pages from a host that the devnet does not know.
    await page.route('http://docs.example/**', async (route) => {
      const { pathname } = new URL(route.request().url())
      await route.fulfill({ path: join(built, pathname.slice(BASE.length)) })
    })
    await openAt(page, `http://docs.example${BASE}playground.html`)
    await page.getByRole('button', { name: 'Connect' }).waitFor()
    for (const [address, said] of [
      [(devnet as Devnet).url, '--allow-origin http://docs.example'],
      ['http://127.0.0.1:1', 'Nothing answers at this address'],
    ] as const) {
      await page.getByLabel('Gateway').fill(address)
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('status').getByText(said).waitFor()
    }
    expect(await page.getByText('Recorded answer').count()).toBe(1)
    await context.close()
  })
})
