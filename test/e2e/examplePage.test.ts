/** examples/page as its users get it: the packed client, an empty folder, Vite, a real browser and a real node. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { examplesRunBy } from '../docs/examples.ts'
import { findings } from './support/axe.ts'
import { type Devnet, makePlace, type Place, startDevnet } from './support/devnet.ts'
import { packOnce } from './support/installed.ts'
import { startBrowser, withBrowser } from './support/page.ts'
import { freePorts } from './support/processes.ts'
import { type StaticSite, serveSite } from './support/staticSite.ts'
import { testFolder } from './support/testFolder.ts'

const checkout = join(import.meta.dirname, '../..')
const NOBODY = `0x${'7'.repeat(40)}`
/** Lets a test see the key that the page makes. */
const KEEP_RANDOM = `globalThis.random = []
  const make = crypto.getRandomValues.bind(crypto)
  crypto.getRandomValues = (bytes) => {
    globalThis.random.push([...make(bytes)])
    return bytes
  }`
const env = { ...process.env, NODE_OPTIONS: '', npm_config_prefer_offline: 'true', npm_config_audit: 'false' }

withBrowser('in headless Chromium', () => {
  const folder = testFolder(async () => {
    site?.close()
    await browser?.close()
    await net?.stop()
  })
  const example = join(folder, 'checkout/examples/page')
  const failures: string[] = []
  let place: Place
  let net: Devnet | undefined
  let browser: Browser | undefined
  let site: StaticSite | undefined
  let page: Page

  /** Runs a program to its end in the example's folder. Throws with what it printed when it fails. */
  const run = (command: string, args: readonly string[]): string =>
    execFileSync(command, args, { cwd: example, env, encoding: 'utf8' })

  async function open(url: string): Promise<Page> {
    const opened = await (browser as Browser).newPage()
    opened.on('pageerror', (error) => failures.push(error.message))
    await opened.addInitScript(KEEP_RANDOM)
    await opened.goto(url)
    return opened
  }

  /** Waits until an element of the page has a text like this. */
  const shown = async (id: string, text: RegExp): Promise<string> => {
    const element = page.locator(`#${id}`, { hasText: text })
    await element.waitFor()
    return (await element.textContent()) ?? ''
  }

  /** Waits until the page shows a height above this one. */
  async function shownAbove(height: number): Promise<number> {
    for (;;) {
      const now = Number(await page.locator('#height').textContent())
      if (now > height) return now
      await page.waitForTimeout(20)
    }
  }

  /** Fills in the fields of a form, by their labels, and submits it. */
  async function submit(form: string, typed: Readonly<Record<string, string>>): Promise<void> {
    const fields = page.locator(`#${form}`)
    for (const [label, text] of Object.entries(typed)) await fields.getByLabel(label, { exact: true }).fill(text)
    await fields.getByRole('button').click()
  }

  beforeAll(async () => {
    const [{ code }] = examplesRunBy('test/e2e/examplePage.test.ts')
    const [pack, install = '', dev] = code.trim().split('\n')
    expect([pack, dev]).toEqual(['npm run pack --prefix ../..', 'npm run dev'])
    packOnce()
    mkdirSync(join(folder, 'checkout/examples'), { recursive: true })
    symlinkSync(join(checkout, '.cache'), join(folder, 'checkout/.cache'))
    for (const file of ['README.md', 'index.html', 'main.ts', 'package.json'])
      cpSync(join(checkout, 'examples/page', file), join(example, file))
    place = await makePlace(join(folder, 'home'))
    // The line that its reader changes for another gateway.
    const main = readFileSync(join(example, 'main.ts'), 'utf8')
    writeFileSync(join(example, 'main.ts'), main.replace('127.0.0.1:8545', `127.0.0.1:${place.ports[0]}`))
    run('sh', ['-c', install])
    run('npm', ['run', 'build'])
    site = await serveSite(join(example, 'dist'), '/')
    browser = await startBrowser()
    page = await open(site.url)
  })

  test('the page says that the gateway is away, and once it is there the height of each block', async () => {
    await shown('gateway', /^away \(.*cannot be reached/)
    net = await startDevnet(place)
    await shown('gateway', /^there$/)
    await shownAbove(await shownAbove(0))
    expect(await findings(page)).toEqual([])
  })

  test('it shows a balance, and says what is wrong with what was typed', async () => {
    const [owner = ''] = await (net as Devnet).call<readonly string[]>('svc_accounts')
    await submit('balance', { Address: owner })
    await shown('balance-answer', /^[\d.]+ tokens$/)
    await submit('balance', { Address: 'alice' })
    await shown('balance-answer', /expected an address \(0x and 40 hex digits\), got "alice"$/)
    await submit('transfer', { To: 'alice', Tokens: '1' })
    await shown('transfer-answer', /expected an address \(0x and 40 hex digits\), got "alice"$/)
    await submit('transfer', { To: NOBODY, Tokens: 'one' })
    await shown('transfer-answer', /expected decimal text .*, got one$/)
    await submit('transfer', { To: NOBODY, Tokens: '1000' })
    await shown('transfer-answer', /^The chain refused it: Insufficient balance$/)
  })

  test('a transfer whose answer is lost is found on the chain, and paid once; the key never leaves the page', async () => {
    let lost = 0
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    await page.route(`${net?.url}/`, (route) => {
      const sent = route.request().postData() ?? ''
      // The call that waits for the block, after the one with which the node has taken the transaction.
      const isWaiting = sent.includes('svc_sendRawTransaction') && !sent.includes('"wait":false')
      return isWaiting && lost++ === 0 ? route.abort('connectionreset') : route.continue()
    })
    await submit('transfer', { To: NOBODY, Tokens: '1.5' })
    const [, height, hash = ''] =
      /^Paid in block (\d+), by transaction (\w+)$/.exec(await shown('transfer-answer', /^Paid/)) ?? []
    await page.unrouteAll()
    expect(lost).toBe(1)
    const keys = (await page.evaluate<number[][]>('random'))
      .filter(({ length }) => length === 32)
      .map((key) => Buffer.from(key))
    expect(keys.length).toBeGreaterThan(0)
    expect(sent.join()).toContain('svc_sendRawTransaction')
    for (const key of keys)
      for (const secret of [key.toString('hex'), key.toString('base64')]) expect(sent.join()).not.toContain(secret)
    await net?.waitForIndex(Number(height))
    const { sender } = await (net as Devnet).call<{ sender: string }>('svc_getTransaction', [hash])
    expect(await net?.call('svc_getTransactionCount', [sender])).toBe(1)
    expect(await net?.call('svc_getBalance', [NOBODY])).toBe('1500000000000000000')
  })

  test('when the gateway stops it is away, and there again when it is started', async () => {
    await net?.stop()
    await shown('gateway', /^away/)
    await submit('balance', { Address: NOBODY })
    await shown('balance-answer', /^The gateway is away/)
    const height = Number(await page.locator('#height').textContent())
    net = await startDevnet(place)
    await shown('gateway', /^there$/)
    await shownAbove(height)
    await submit('balance', { Address: NOBODY })
    await shown('balance-answer', /^1\.5 tokens$/)
    expect(failures).toEqual([])
  })

  test('npm run dev shows the same page', async () => {
    const [port] = await freePorts(1)
    const args = ['run', 'dev', '--', '--host', '127.0.0.1', '--port', String(port), '--strictPort']
    const child = spawn('npm', args, { cwd: example, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    try {
      let printed = ''
      child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
      while (!stripVTControlCharacters(printed).includes(`127.0.0.1:${port}`)) {
        if (child.exitCode !== null) throw new Error(`npm run dev ended with ${child.exitCode}: ${printed}`)
        await page.waitForTimeout(20)
      }
      await page.close()
      page = await open(`http://127.0.0.1:${port}/`)
      await shown('gateway', /^there$/)
      await shownAbove(0)
    } finally {
      process.kill(-(child.pid as number), 'SIGTERM')
      await ended
    }
    expect(failures).toEqual([])
  })
})
