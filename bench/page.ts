/**
 * `make bench-page`: the web page in headless Chromium on a chain with one validator and on a large one (200 validators,
 * 5,000 proposals, 100,000 accounts), in turn.
 *   --rounds N      how often each view is opened on each chain; 5 unless given
 *   --proposals N   of the large chain; 5,000 unless given
 *   --accounts N    of the large chain; 100,000 unless given
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { EntryType } from 'node:perf_hooks'
import type { Browser, Page } from 'playwright-core'
import { type Devnet, startDevnet } from '../src/cli/devnet/startDevnet.ts'
import { startBrowser } from '../test/e2e/support/browser.ts'
import { growLargeChain, type LargeChain, largeChainOptions } from '../test/support/largeChain.ts'
import { tempFolder } from '../test/support/tempFolder.ts'
import { medianOf } from './stats.ts'
import { programArgs } from '../tools/testing/programArgs.ts'

/** The views that are opened, and what is visible once they show the chain's data. */
const VIEWS: Readonly<Record<string, string>> = {
  '': 'text=Block time',
  validators: 'main tbody tr',
  proposals: 'main h1',
  blocks: 'main tbody tr',
}

/** What one opening of a view took, in ms. */
interface Opened {
  /** Until the browser painted something. */
  readonly paintMs: number
  /** Until the view showed data. */
  readonly dataMs: number
  /** The longest task of the page's thread, while it loaded and while it was scrolled. */
  readonly longestMs: number
  readonly elements: number
  /** What the browser loaded until then: requests of HTTP, and compressed kilobytes in all and of JavaScript. */
  readonly requests: number
  readonly kB: number
  readonly scriptKB: number
}

/** Counts what a page loads from now on. */
async function countLoads(page: Page): Promise<() => Pick<Opened, 'requests' | 'kB' | 'scriptKB'>> {
  const cdp = await page.context().newCDPSession(page)
  const scripts = new Set<string>()
  let [requests, bytes, scriptBytes] = [0, 0, 0]
  cdp.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    requests += 1
    bytes += encodedDataLength
    if (scripts.has(requestId)) scriptBytes += encodedDataLength
  })
  await cdp.send('Network.enable')
  return () => ({ requests, kB: Math.round(bytes / 1_000), scriptKB: Math.round(scriptBytes / 1_000) })
}

/** Runs in the page: what the browser saw of paints and of tasks over 50 ms. */
const watch = (): Pick<Opened, 'paintMs' | 'longestMs'> => {
  const seen = { paintMs: 0, longestMs: 0 }
  Object.assign(globalThis, { seen })
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') seen.paintMs = startTime
  }).observe({ type: 'paint' as EntryType, buffered: true })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longestMs = Math.max(seen.longestMs, duration)
  }).observe({ type: 'longtask' as EntryType, buffered: true })
  return seen
}

async function scroll(page: Page): Promise<void> {
  for (let step = 0; step < 20; step++) {
    await page.mouse.wheel(0, 1500)
    await page.waitForTimeout(50)
  }
}

async function openView(browser: Browser, url: string, view: string): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } })
  try {
    await page.addInitScript(watch)
    const loads = await countLoads(page)
    await page.goto(`${url}/#/${view}`)
    await page
      .locator(VIEWS[view] as string)
      .first()
      .waitFor({ timeout: 60_000 })
    const dataMs = await page.evaluate(() => performance.now())
    await page.waitForTimeout(1_500)
    const loaded = loads()
    await scroll(page)
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: ReturnType<typeof watch> }).seen)
    return { ...seen, ...loaded, dataMs, elements: await page.locator('*').count() }
  } finally {
    await page.close()
  }
}

const { values } = programArgs({
  options: { rounds: { type: 'string' }, proposals: { type: 'string' }, accounts: { type: 'string' } },
})
const rounds = Number(values.rounds ?? 5)

execFileSync(process.execPath, [join(import.meta.dirname, '../tools/page.ts')], { stdio: 'inherit' })
const home = tempFolder('page')
async function start(chain: LargeChain): Promise<Devnet> {
  const net = await startDevnet(largeChainOptions(home.path, chain))
  await growLargeChain(net, chain)
  return net
}
const small = await start({ candidacies: 1, proposals: 0 })
const large = await start({
  candidacies: 200,
  accounts: Number(values.accounts ?? 100_000),
  proposals: Number(values.proposals ?? 5_000),
})
const browser = await startBrowser()
try {
  process.stdout.write('of the large chain; × is by how much it is longer than on the small one\n')
  process.stdout.write(
    'view         first paint  until data   longest task elements     requests     all          JavaScript\n',
  )
  for (const view of Object.keys(VIEWS)) {
    const opened: { readonly small: Opened; readonly large: Opened }[] = []
    for (let round = 0; round < rounds; round++) {
      opened.push({
        small: await openView(browser, small.url, view),
        large: await openView(browser, large.url, view),
      })
    }
    const ratio = (figure: keyof Opened): string =>
      medianOf(opened.map((pair) => pair.large[figure] / pair.small[figure])).toFixed(2)
    const most = (figure: keyof Opened): number => Math.max(...opened.map((pair) => pair.large[figure]))
    const figures = [`×${ratio('paintMs')}`, `×${ratio('dataMs')}`, `${most('longestMs')} ms`, `${most('elements')}`]
    figures.push(`${most('requests')}`, `${most('kB')} kB`, `${most('scriptKB')} kB`)
    process.stdout.write(`${[view || 'overview', ...figures].map((text) => text.padEnd(12)).join(' ')}\n`)
  }
} finally {
  await browser.close()
  await small.close()
  await large.close()
  home.remove()
}
