import { type Browser, chromium } from 'playwright-core'

/** The browser that tests and benchmarks drive. */
export const CHROMIUM = process.env['SVCD_CHROMIUM'] ?? '/usr/bin/chromium'

/** Starts headless Chromium. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
