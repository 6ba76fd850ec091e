import { type Browser, chromium } from 'playwright-core'

/** The browser that tests and benchmarks drive. */
export const CHROMIUM = process.env['SVCD_CHROMIUM'] ?? '/usr/bin/chromium'

/** Starts headless Chromium, with `flags` beside those that every test needs. */
export const startBrowser = (flags: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  })
