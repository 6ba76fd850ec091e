import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { type Devnet, makePlace, startDevnet } from './support/devnet.ts'
import { startBrowser, withBrowser } from './support/page.ts'
import { testFolder } from './support/testFolder.ts'

const checkout = join(import.meta.dirname, '../..')

/** The published client as a page has it: one file, as a bundler makes it for a browser. */
async function bundle(): Promise<string> {
  execFileSync(process.execPath, [join(checkout, 'tools/build.ts')], { cwd: checkout })
  const { outputFiles } = await build({
    stdin: { contents: "import { Svc } from './dist/client/index.js'\nglobalThis.Svc = Svc", resolveDir: checkout },
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
  })
  return outputFiles[0]?.text ?? ''
}

/** What the page's own scripts see. */
type InPage = { Svc: typeof import('../../src/client/index.ts').Svc }

withBrowser('in headless Chromium', () => {
  const folder = testFolder(async () => {
    server.close()
    await browser.close()
    await net.stop()
  })
  let net: Devnet
  let browser: Browser
  let server: Server
  let page: Page
  const failures: string[] = []

  beforeAll(async () => {
    net = await startDevnet(await makePlace(folder))
    browser = await startBrowser()
    page = await browser.newPage()
    page.on('pageerror', (error) => failures.push(error.message))
    const script = await bundle()
    // A development server on this machine, at another origin than the gateway.
    const html = `<!doctype html><script>${script}</script>`
    server = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(html))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/page`)
  })

  test('a declare that the page signs is committed, and the key never leaves the page', async () => {
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    const pubKey = randomBytes(32).toString('base64')
    const { from, result } = await page.evaluate(
      async ({ url, mnemonic, key }) => {
        const svc = new (globalThis as unknown as InPage).Svc(url)
        const address = svc.accounts.add(mnemonic, 3)
        const declared = await svc.async.stake.validator.declare({
          from: address,
          pubKey: key,
          description: { name: 'from a page' },
        })
        return { from: address, result: declared }
      },
      { url: net.url, mnemonic: PUBLIC_MNEMONIC, key: pubKey },
    )
    expect(result.height).toBeGreaterThan(0)
    const { data } = await net.call<{ data: { pub_key: { value: string }; owner_address: string } }>(
      'svc_queryValidator',
      [from],
    )
    expect([data.pub_key.value, data.owner_address]).toEqual([pubKey, from])
    expect(sent.some((body) => body.includes('svc_sendRawTransaction'))).toBe(true)
    expect(sent.join()).not.toContain('junk')
    expect(failures).toEqual([])
  })

  test('the synchronous form throws an Error that shows the line to write instead', async () => {
    const message = await page.evaluate((url) => {
      const svc = new (globalThis as unknown as InPage).Svc(url)
      try {
        return `returned ${JSON.stringify(svc.stake.validator.list())}`
      } catch (error) {
        return (error as Error).message
      }
    }, net.url)
    expect(message).toMatch(/without a callback.*Write instead: .*await svc\.async\.stake\.validator\.list/)
  })

  test('the callback form answers', async () => {
    const list = await page.evaluate(
      (url) =>
        new Promise<unknown>((done) => {
          const svc = new (globalThis as unknown as InPage).Svc(url)
          svc.stake.validator.list((error, answer) => done(error ?? answer))
        }),
      net.url,
    )
    const validator = expect.objectContaining({ state: 'Validator' })
    expect(list).toMatchObject({ height: expect.any(Number), data: expect.arrayContaining([validator]) })
  })

  test('a page hears of each block as it is made', async () => {
    const heights = await page.evaluate(async (url) => {
      const svc = new (globalThis as unknown as InPage).Svc(url)
      const heard: number[] = []
      const three = Promise.withResolvers<void>()
      const subscription = await svc.subscribe('newBlock', (block) => {
        heard.push(block.height)
        if (heard.length === 3) three.resolve()
      })
      await three.promise
      subscription.unsubscribe()
      return heard
    }, net.url)
    const [first = 0] = heights
    expect(heights).toEqual([first, first + 1, first + 2])
  })

  test('a page of another machine gets no answer, and the 403 names the flag that lets it in', async () => {
    const elsewhere = await browser.newPage()
    await elsewhere.route('http://wallet.example/page', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    )
    await elsewhere.goto('http://wallet.example/page')
    const outcome = await elsewhere.evaluate(
      (url) => fetch(`${url}/healthz`).then(({ status }) => `status ${status}`, String),
      net.url,
    )
    expect(outcome).toMatch(/Failed to fetch/)
    const refused = await fetch(`${net.url}/healthz`, { headers: { origin: 'http://wallet.example' } })
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('--allow-origin')])
  })
})
