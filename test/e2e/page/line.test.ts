/** The line between the page and its gateway: lost and back, a long sleep, another chain, limits. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import type { Devnet } from '../../../src/cli/devnet/startDevnet.ts'
import { Svc } from '../../../src/client/index.ts'
import { type Gateway, startGateway } from '../../../src/gateway/gateway.ts'
import { silentLogger as logger } from '../support/gateways.ts'
import { freePorts } from '../support/processes.ts'
import { openPage, startBrowser, type WebPage, withBrowser } from '../support/page.ts'
import { startDevnet } from '../support/recordedDevnet.ts'

withBrowser('the line to the gateway', () => {
  let net: Devnet
  let other: Devnet
  let browser: Browser
  let port: number
  let gateway: Gateway
  let web: WebPage
  let page: Page

  beforeAll(async () => {
    ;[net, other, browser, [port = 0]] = await Promise.all([
      startDevnet(),
      startDevnet({ chainId: 'another-chain' }),
      startBrowser(),
      freePorts(1),
    ])
  })
  afterAll(async () => {
    await browser?.close()
    await Promise.all([net?.close(), other?.close()])
  })
  beforeEach(async () => {
    gateway = await startGateway({ node: net.rpcUrl, port, logger })
    web = await openPage(browser, `${gateway.url}/#/blocks`)
    page = web.page
  })
  afterEach(async () => {
    await web.close()
    await gateway.close()
  })

  const rowOf = (height: number, of = page) => of.getByRole('row', { name: new RegExp(`^${height} `) })
  const lostBar = () => page.getByText('No connection to the gateway for')
  const restart = async (node = net.rpcUrl): Promise<void> => {
    gateway = await startGateway({ node, port, logger })
  }
  /** A refused connection is what a lost line looks like; anything else would be a fault of the page. */
  const faults = () => web.failures.filter((text) => !/net::ERR_|WebSocket connection/.test(text))

  test('two tabs show a new block without asking for it', async () => {
    const second = await page.context().newPage()
    await second.goto(page.url())
    const tabs = [page, second]
    for (const tab of tabs) await tab.getByRole('table').waitFor()
    // No question has an answer any more: what comes now comes by the subscription.
    for (const tab of tabs) await tab.route('**/', (route) => route.abort())
    const height = await net.mine(1)
    for (const tab of tabs) await rowOf(height, tab).waitFor()
    expect(faults()).toEqual([])
  })

  test('while the gateway is away the page keeps what it has and says how old it is; then it goes on by itself', async () => {
    const height = await net.mine(1)
    await rowOf(height).waitFor()
    await gateway.close()
    await lostBar().waitFor()
    await page.getByText(`What you see is as of block ${height}.`).waitFor()
    // A screen reader hears it once, and not again with each second.
    const bar = page.locator('.line-bar')
    const [seen, heard] = [await bar.textContent(), await bar.ariaSnapshot()]
    expect(heard).toContain('No connection to the gateway')
    while ((await bar.textContent()) === seen) await page.waitForTimeout(100)
    expect(await bar.ariaSnapshot()).toBe(heard)
    await rowOf(height).waitFor()
    const missed = await net.mine(3)
    await restart()
    await rowOf(missed).waitFor()
    await lostBar().waitFor({ state: 'hidden' })
    for (let one = height; one <= missed; one++) await rowOf(one).waitFor()
    const next = await net.mine(1)
    await rowOf(next).waitFor()
    expect(faults()).toEqual([])
  })

  test('after more blocks than a subscription goes back, as when a laptop slept, the page begins anew', async () => {
    const height = await net.mine(1)
    await rowOf(height).waitFor()
    await gateway.close()
    await lostBar().waitFor()
    const head = await net.mine(150)
    await restart()
    await rowOf(head).waitFor()
    expect(await rowOf(height).count()).toBe(0)
    await web.goTo('')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await rowOf(head).waitFor()
    expect(faults()).toEqual([])
  })

  test('a view that a reader goes to while the gateway is away is shown when it is back', async () => {
    await page.getByRole('table').waitFor()
    await gateway.close()
    await lostBar().waitFor()
    const [{ address }] = net.accounts
    await web.goTo(`accounts/${address}`)
    await page
      .getByText(/gateway at .* cannot be reached/)
      .first()
      .waitFor()
    await restart()
    await page.getByText('base units').waitFor()
    await page
      .getByText(/gateway at .* cannot be reached/)
      .first()
      .waitFor({ state: 'hidden' })
    expect(faults()).toEqual([])
  })

  test('on a machine whose clock is wrong by hours, a block is as old as it is', async () => {
    const height = await net.mine(1)
    for (const hours of [-5, 5]) {
      await page.clock.install({ time: Date.now() + hours * 3_600_000 })
      await page.reload()
      await rowOf(height).waitFor()
      await rowOf(height).filter({ hasText: /\d h/ }).waitFor({ state: 'detached' })
    }
    expect(faults()).toEqual([])
  })

  test('a node that is away behind a gateway that is there is named as what is missing', async () => {
    await gateway.close()
    await restart('http://127.0.0.1:9')
    await page.reload()
    await page.getByText('The gateway has had no blocks to show for').waitFor()
    await page.getByText('The node behind the gateway does not answer now.').first().waitFor()
    expect(faults()).toEqual([])
  })

  test('another chain behind the same address: the page is loaded anew', async () => {
    // It has heard of a block, so it follows this chain.
    await rowOf(await net.mine(1)).waitFor()
    await page.getByText('svcd-devnet').waitFor()
    await page.evaluate('window.before = true')
    await gateway.close()
    await restart(other.rpcUrl)
    await page.getByText('another-chain').waitFor()
    expect(await page.evaluate('window.before')).toBe(undefined)
    const height = await other.mine(1)
    await rowOf(height).waitFor()
    expect(faults()).toEqual([])
  })

  test('another chain, before the page has heard of a block of the first one', async () => {
    const subscribed = Promise.withResolvers<void>()
    let isFirst = true
    // The page that was loaded first has its socket by then, and opens no other one.
    await page.getByRole('table').waitFor()
    // Without waiting, the page would sometimes be loaded before its sockets are routed.
    await page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer()
      if (!isFirst) return
      isFirst = false
      server.onMessage((message) => {
        if (String(message).includes('"method"')) return
        socket.send(message)
        subscribed.resolve()
      })
    })
    await page.reload()
    await subscribed.promise
    await page.getByText('svcd-devnet').waitFor()
    await gateway.close()
    await restart(other.rpcUrl)
    await page.getByText('another-chain').waitFor()
  })

  test('another chain, between the answer that named the first one and the subscription', async () => {
    await page.getByRole('table').waitFor()
    let isFirst = true
    await page.routeWebSocket(/./, async (socket) => {
      if (isFirst) {
        isFirst = false
        await gateway.close()
        await restart(other.rpcUrl)
      }
      socket.connectToServer()
    })
    await page.reload()
    await page.getByText('another-chain').waitFor()
  })

  test('a chain that was taken back: the page is loaded anew, without the blocks that are no more', async () => {
    const kept = await net.mine(1)
    const snapshot = await net.snapshot()
    const gone = await net.mine(5)
    await rowOf(gone).waitFor()
    await page.evaluate('window.before = true')
    await gateway.close()
    await net.revert(snapshot)
    await restart()
    await rowOf(gone).waitFor({ state: 'detached' })
    await rowOf(kept).waitFor()
    expect(await page.evaluate('window.before')).toBe(undefined)
    expect(faults()).toEqual([])
  })

  test('a gateway that is asked too often is waited for, and nothing is shown as missing', async () => {
    await page.getByRole('table').waitFor()
    await gateway.close()
    await lostBar().waitFor()
    gateway = await startGateway({ node: net.rpcUrl, port, logger, limits: { callsPerSecond: 2 } })
    // A line that is lost is what the page speaks of first.
    await lostBar().waitFor({ state: 'hidden' })
    const svc = new Svc(gateway.url)
    const [{ address }] = net.accounts
    const isAnswered = (): Promise<boolean> =>
      svc.async.getBalance(address).then(
        () => true,
        () => false,
      )
    // More at once than are let through in a while: one by one, on a busy machine, may never be too many.
    const areAnswered = async (): Promise<boolean> =>
      (await Promise.all(Array.from({ length: 30 }, isAnswered))).every(Boolean)
    // Somebody else of the same address asks all the time, until the page has been told to wait.
    let isAsking = true
    let isFree = true
    while (isFree) isFree = await areAnswered()
    const asking = (async () => {
      while (isAsking) await areAnswered()
    })()
    await web.goTo(`accounts/${address}`)
    await page.getByText(/The gateway answers again in \d+ s/).waitFor()
    isAsking = false
    await asking
    expect(await page.locator('main').textContent()).not.toContain('Too many')
    // It comes without a step of the reader's.
    await page.getByText('base units').waitFor()
    expect(faults()).toEqual([])
  })
})
