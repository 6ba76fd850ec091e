import type { Page } from 'playwright-core'

/** Opens the wallet of the page with a public account of the devnet. */
export async function openAccount(page: Page, address: string): Promise<void> {
  await page
    .getByRole('banner')
    .getByRole('button', { name: /wallet$/i })
    .click()
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
