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
