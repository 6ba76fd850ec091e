import type { Page } from 'playwright-core'

export const openWallet = (page: Page): Promise<void> =>
  page
    .getByRole('banner')
    .getByRole('button', { name: /wallet$/i })
    .click()

/** Opens the wallet of the page at one of the ways to open an account. */
export async function openWay(page: Page, way: string): Promise<void> {
  await openWallet(page)
  await page.getByRole('radio', { name: way }).check()
}

export async function openKey(page: Page, key: string): Promise<void> {
  await openWay(page, 'Private key')
  await page.getByLabel('Private key').last().fill(key)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Has the page show the words of a new account, and returns them. */
export async function showNewWords(page: Page): Promise<string[]> {
  await page.getByRole('radio', { name: 'New account' }).check()
  await page.getByRole('button', { name: 'Show the words' }).click()
  await page.locator('ol.words').waitFor()
  return page.locator('ol.words li').allTextContents()
}

/** Opens the wallet of the page with a public account of the devnet. */
export async function openAccount(page: Page, address: string): Promise<void> {
  await openWallet(page)
  await page.getByRole('button', { name: `Use ${address}` }).click()
}

/** Signs what the page asks to sign, and returns what it said in words. */
export async function signSheet(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: 'Sign and send' })
  await button.waitFor()
  const text = (await dialog.textContent()) ?? ''
  await button.click()
  return text
}

/** Signs what the page shows, waits for the block, closes the dialog, and returns the words that were signed. */
export async function signAndClose(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog')
  const words = await dialog.locator('.words-signed').textContent()
  await signSheet(page)
  await dialog.getByText(/^Done, in block/).waitFor()
  await dialog.locator('.actions').getByRole('button', { name: 'Close' }).click()
  return words ?? ''
}
