/** That a reader does not lose a key: by a slip, by the clock, or because the page did not say what is wrong. */
import { readFileSync } from 'node:fs'
import { beforeEach, expect, test } from '@jest/globals'
import { Svc } from '../../../src/client/index.ts'
import { createKeystore, openKeystore } from '../../../src/keys/keystore.ts'
import { findings } from '../support/axe.ts'
import { devnetPages, type WebPage, withBrowser } from '../support/page.ts'
import { openKey, openWallet, openWay, showNewWords } from '../support/wallet.ts'

const PASSWORD = 'a pass phrase of several words'
const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const KEY = '7b'.repeat(32)

const fileOf = (text: string) => ({ name: 'key.json', mimeType: 'application/json', buffer: Buffer.from(text) })

withBrowser('keys of the page', () => {
  const site = devnetPages()
  let web: WebPage

  beforeEach(async () => {
    web = await site.open('', { acceptDownloads: true })
  })

  /** Waits until the field with this label has the focus, which it takes behind the next frame. */
  const hasFocus = (label: string): Promise<void> =>
    web.page.getByLabel(label, { exact: true }).and(web.page.locator(':focus')).waitFor()

  test('the words of a new account are asked about before they go, however one leaves them', async () => {
    const { page } = web
    const question = page.getByRole('alertdialog')
    await openWallet(page)
    const words = await showNewWords(page)
    await page.locator(':focus', { hasText: 'Write these down in this order.' }).waitFor()
    // Of two Escapes a browser asks the page about the first one only.
    for (const _ of [1, 2, 3]) {
      await page.keyboard.press('Escape')
      await question.waitFor()
      await page.locator(':focus', { hasText: 'Keep the words' }).waitFor()
      expect(await page.locator('ol.words').isVisible()).toBe(false)
      await page.keyboard.press('Escape')
      await question.waitFor({ state: 'detached' })
      await page.locator(':focus', { hasText: 'Write these down' }).waitFor()
    }
    await page.getByRole('radio', { name: 'Private key' }).click()
    await question.waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Keep the words' }).click()
    expect(await page.getByRole('radio', { name: 'New account' }).isChecked()).toBe(true)
    expect(await page.locator('ol.words li').allTextContents()).toEqual(words)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Leave them' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('that no words could be made is said, and they are made when the gateway is back', async () => {
    const { page, failures } = web
    await openWay(page, 'New account')
    await page.route(/keyWorker/, (route) => route.abort())
    await page.getByRole('button', { name: 'Show the words' }).click()
    await page.getByText('The browser could not run the part that opens keys.').waitFor()
    expect(failures.splice(0).filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
    await page.unroute(/keyWorker/)
    await page.getByRole('button', { name: 'Show the words' }).click()
    await page.locator('ol.words').waitFor()
  })

  test('a wallet that answers late takes no words of a new account away', async () => {
    const { page } = web
    const connected = Promise.withResolvers<readonly string[]>()
    await page.exposeFunction('walletRequest', () => connected.promise)
    await page.evaluate(`{
      const detail = { info: { uuid: '1', name: 'Late Wallet' }, provider: { request: walletRequest } }
      addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })))
    }`)
    await openWay(page, 'Connect wallet')
    await page.getByRole('button', { name: 'Connect Late Wallet' }).click()
    const words = await showNewWords(page)
    connected.resolve([`0x${'ab'.repeat(20)}`])
    await page.getByRole('heading', { name: 'Open accounts' }).waitFor()
    expect(await page.locator('ol.words li').allTextContents()).toEqual(words)
  })

  test('a browser that closes the dialog by itself gets it back with the question', async () => {
    const { page } = web
    await openWallet(page)
    await showNewWords(page)
    await page.locator('dialog').evaluate((dialog) => (dialog as unknown as { close: () => void }).close())
    await page.getByRole('alertdialog').waitFor()
    await page.getByRole('button', { name: 'Keep the words' }).click()
    expect(await page.locator('ol.words li').count()).toBe(24)
  })

  test('each step of a new account takes the focus, and leads back to the same words', async () => {
    const { page } = web
    await openWallet(page)
    const words = await showNewWords(page)
    const labels = page.locator('dialog label', { hasText: /^Word / })
    const asked: string[] = []
    for (let times = 0; times < 6; times++) {
      await page.getByRole('button', { name: 'I have written them down' }).click()
      await labels.first().waitFor()
      const all = await labels.allTextContents()
      await hasFocus(all[0] ?? '')
      asked.push(all.join())
      await page.getByRole('button', { name: 'Back to the words' }).click()
      expect(await page.locator('ol.words li').allTextContents()).toEqual(words)
    }
    // By chance: that six times of 2,024 are the same is as good as impossible.
    expect(new Set(asked).size).toBeGreaterThan(1)
    await page.getByRole('button', { name: 'I have written them down' }).click()
    for (const label of await labels.allTextContents())
      await page.getByLabel(label, { exact: true }).fill(words[Number(label.slice('Word '.length)) - 1] ?? '')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await hasFocus('Password of the keystore file')
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Back to the words' }).click()
    expect(await page.locator('ol.words li').allTextContents()).toEqual(words)
  })

  test('an open account is saved as a keystore at any time', async () => {
    const { page } = web
    const address = new Svc(site.net.url).accounts.add(KEY)
    await openKey(page, KEY)
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    await page.getByRole('button', { name: `Save as a file the key of ${address}` }).click()
    await page.getByLabel('Password of the keystore file').fill('short')
    await page.getByRole('button', { name: 'Download the keystore file' }).click()
    await page.getByText('Take a password of at least 8 characters.').waitFor()
    await page.getByLabel('Password of the keystore file').fill(PASSWORD)
    await page.getByLabel('The password again').fill(PASSWORD)
    expect(await findings(page)).toEqual([])
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the keystore file' }).click()
    const file = await downloading
    expect(file.suggestedFilename()).toBe(`${address}.json`)
    const keystore = JSON.parse(readFileSync(await file.path(), 'utf8'))
    expect(Buffer.from(openKeystore(keystore, PASSWORD)).toString('hex')).toBe(KEY)
    await page.getByRole('dialog').getByRole('link', { name: 'Send tokens' }).waitFor()
    // The gateway has the keys of its own accounts.
    await page.getByRole('radio', { name: 'Devnet account' }).check()
    await page.getByRole('button', { name: `Use ${site.net.accounts[1]?.address}` }).click()
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    await page.getByText('public key of a devnet', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^Save as a file/ }).count()).toBe(1)
  })

  test('a wrong phrase names the word that is not in the list, or says that the checksum fails', async () => {
    const { page } = web
    await openWay(page, 'Words')
    const field = page.getByLabel('Words').last()
    for (const [words, why] of [
      [WORDS.replace('sausage', 'sausages'), 'Word 6, “sausages”, is not in the list of English words.'],
      [WORDS.replace('sausage', 'winner'), 'The checksum of the words fails'],
      [WORDS.replace(' yellow', ''), 'These are 11 words.'],
    ] as const) {
      await field.fill(words)
      await page.getByRole('button', { name: 'Open', exact: true }).click()
      await page.getByText(why).waitFor()
      await page.locator('textarea[aria-invalid]:focus').waitFor()
    }
    await field.fill(WORDS)
    await page.getByLabel('Account', { exact: true }).fill('first')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('input[aria-invalid]:focus').waitFor()
    expect(await page.locator('textarea[aria-invalid]').count()).toBe(0)
  })

  test('a bad file is told at the file, and a wrong password at the password', async () => {
    const { page } = web
    await openWay(page, 'Keystore file')
    const file = page.locator('input[type=file]')
    const describedBy = (field: typeof file): Promise<string | null> =>
      field.evaluate((one) => {
        const ids = one.getAttribute('aria-describedby')
        return document.getElementById(ids?.split(' ').at(-1) ?? '')?.textContent ?? null
      })
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('input[type=file][aria-invalid]').waitFor()
    expect(await describedBy(file)).toBe('Choose a keystore file first.')
    await file.setInputFiles(fileOf('{"version":3}'))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('input[type=file][aria-invalid]:focus').waitFor()
    expect(await page.locator('input[type=password][aria-invalid]').count()).toBe(0)
    const keystore = createKeystore(Buffer.from(KEY, 'hex'), PASSWORD, { kdf: 'scrypt', n: 2 ** 12, r: 8, p: 1 })
    await file.setInputFiles(fileOf(JSON.stringify(keystore)))
    await page.getByLabel('Password').fill('another one')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('input[type=password][aria-invalid]:focus').waitFor()
    expect(await page.locator('input[type=file][aria-invalid]').count()).toBe(0)
  })

  test('the lock is told a minute before and afterwards, and what was typed is still there', async () => {
    const { page } = web
    await page.clock.install()
    await page.reload()
    await openKey(page, KEY)
    await web.goTo('send')
    await page.getByLabel('Amount').fill('1.25')
    // The clock stands still while the moment matters: a busy machine takes seconds for a step.
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 60_000)
    await page.keyboard.press('Shift')
    const soon = page.getByText('Your accounts will be locked in a minute')
    const locked = page.getByText('Your accounts were locked, because nothing was done here for 10 minutes.')
    await page.clock.fastForward('08:59')
    expect(await soon.count()).toBe(0)
    await page.clock.fastForward('00:02')
    await soon.waitFor()
    await page.clock.resume()
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Shift')
    await soon.waitFor({ state: 'detached' })
    await page.clock.fastForward('09:01')
    await soon.waitFor()
    await page.clock.fastForward('01:00')
    await locked.waitFor()
    await page.getByRole('button', { name: 'Open wallet' }).waitFor()
    expect(await soon.count()).toBe(0)
    expect(await findings(page)).toEqual([])
    expect(await page.getByLabel('Amount').inputValue()).toBe('1.25')
    // What a reader does after that does not take the reason away.
    await page.keyboard.press('Shift')
    await page.locator('main').click()
    await locked.waitFor()
    await openKey(page, KEY)
    await locked.waitFor({ state: 'detached' })
    // Who locks by hand knows why.
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    await page.getByRole('button', { name: 'Lock' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Open wallet' }).waitFor()
    expect(await locked.count()).toBe(0)
  })
})
