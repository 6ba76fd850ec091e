import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// The same engine without what only windows need: a new page takes a quarter of the CPU.
const SHELL = '/usr/bin/chromium-headless-shell'

/** The browser that tests and benchmarks drive. */
export const CHROMIUM = process.env['SVCD_CHROMIUM'] ?? (existsSync(SHELL) ? SHELL : '/usr/bin/chromium')

/** Ends only a wait for what never happens, also on a machine that is busy with other things. */
const HANG_MS_MAX = 300_000

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync'

/** Starts headless Chromium, with `flags` beside those that every test needs. */
export async function startBrowser(flags: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    timeout: HANG_MS_MAX,
    args: [...FLAGS.split(' '), ...flags],
  })
  browser.on('context', (context) => context.setDefaultTimeout(HANG_MS_MAX))
  return browser
}
