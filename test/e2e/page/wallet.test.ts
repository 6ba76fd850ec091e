import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { createKeystore } from '../../../src/keys/keystore.ts'
import { devnetPages, type WebPage, withBrowser } from '../support/page.ts'
import { openAccount, openKey, openWallet, openWay, showNewWords } from '../support/wallet.ts'

const PASSWORD = 'a pass phrase of several words'
const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

/** A file as the file input of the page takes it. The parameters make it quick to open. */
function keystoreFile(privateKey: string): { name: string; mimeType: string; buffer: Buffer } {
  const keystore = createKeystore(Buffer.from(privateKey, 'hex'), PASSWORD, { kdf: 'scrypt', n: 2 ** 12, r: 8, p: 1 })
  return { name: 'key.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(keystore)) }
}

/** Everything that a page sends, as text. */
function recordSent(page: Page): () => string {
  const all: string[] = []
  page.on('request', (request) => all.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers())))
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => all.push(String(payload))))
  return () => all.join('\n')
}

/** Everything that a page has stored or stands in its elements, as text. */
const readKept = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const stored = { ...localStorage, ...sessionStorage }
    const [databases, cached] = [await indexedDB.databases(), await caches.keys()]
    return JSON.stringify([stored, document.cookie, location.href, history.state, databases, cached]).concat(
      document.documentElement.outerHTML,
    )
  })

withBrowser('the wallet', () => {
  const site = devnetPages()
  let web: WebPage
  let svc: Svc
  const address = (index: number): string => site.net.accounts[index]?.address ?? ''

  beforeAll(async () => {
    svc = new Svc(site.net.url)
  })

  beforeEach(async () => {
    web = await site.open('', { acceptDownloads: true })
  })

  const act = () => web.page.getByRole('button', { name: 'Send', exact: true }).click()

  /** Opens an account of the devnet and fills the form of a transfer, up to the sheet. */
  async function review(amount: string, words = amount): Promise<void> {
    const { page, goTo } = web
    await goTo(`send?to=${address(2)}&value=${amount}`)
    await openAccount(page, address(1))
    await act()
    await page.getByText(`Send ${words} token to ${address(2)}.`).waitFor()
  }

  test('opens a keystore file with its password, and sends nothing of it', async () => {
    const { page } = web
    const sentText = recordSent(page)
    const key = site.net.accounts[3]?.privateKey ?? ''
    await openWay(page, 'Keystore file')
    await page.getByLabel('Keystore file', { exact: true }).last().setInputFiles(keystoreFile(key))
    const password = page.getByLabel('Password')
    await password.fill('another one')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText('This password does not open the keystore.').waitFor()
    await password.and(page.locator(':focus[aria-invalid]')).waitFor()
    await password.fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'is open. Show the wallet' }).waitFor()
    await web.goTo(`send?to=${address(2)}&value=0.25`)
    const before = await svc.async.getBalance(address(2))
    await act()
    await page.getByRole('button', { name: 'Sign and send' }).click()
    await page.getByText('Done, in block').waitFor()
    expect(BigInt(await svc.async.getBalance(address(2))) - BigInt(before)).toBe(Svc.fromTokens('0.25'))
    const seen = `${sentText()}\n${await readKept(page)}`
    expect(seen).toContain('svc_sendRawTransaction')
    const base64 = Buffer.from(key, 'hex').toString('base64')
    for (const secret of [key, base64, PASSWORD, 'another one', 'ciphertext']) expect(seen).not.toContain(secret)
  })

  test('opens an account of words, and of a private key, and sends neither', async () => {
    const { page } = web
    const sentText = recordSent(page)
    await openWay(page, 'Words')
    await page.getByLabel('Words').last().fill('these are no words of a mnemonic at all')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText('Word 1, “these”, is not in the list').waitFor()
    await page.getByLabel('Words').last().fill(WORDS)
    await page.getByLabel('Account', { exact: true }).fill('3')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    const own = new Svc(site.net.url).accounts.add(WORDS, 3)
    await page.getByRole('radio', { name: `Act as ${own}` }).waitFor()
    const key = site.net.accounts[4]?.privateKey ?? ''
    await page.getByRole('radio', { name: 'Private key' }).check()
    await page.getByLabel('Private key').last().fill(key)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    expect(await page.getByRole('radio', { name: `Act as ${address(4)}` }).isChecked()).toBe(true)
    const seen = `${sentText()}\n${await readKept(page)}`
    for (const secret of [key, 'sausage']) expect(seen).not.toContain(secret)
  })

  test('makes an account whose words are asked back, with a keystore file that opens', async () => {
    const { page } = web
    await openWallet(page)
    const words = await showNewWords(page)
    const kept = async () =>
      (await readKept(page))
        .replaceAll(/<[^>]*>/g, ' ')
        .match(/[a-z]+/g)
        ?.join(' ')
    await page.getByText('Write these down in this order.').waitFor()
    expect(await kept()).toContain(words.join(' '))
    expect(words).toHaveLength(24)
    await page.getByRole('button', { name: 'I have written them down' }).click()
    const asked = (await page.locator('dialog label', { hasText: /^Word / }).allTextContents()).map((label) =>
      Number(label.slice('Word '.length)),
    )
    expect(new Set(asked).size).toBe(3)
    for (const at of asked) await page.getByLabel(`Word ${at}`, { exact: true }).fill('abandon abandon')
    await page.getByRole('button', { name: 'Confirm' }).click()
    expect(await page.getByText('It is another word').count()).toBe(3)
    for (const at of asked) await page.getByLabel(`Word ${at}`, { exact: true }).fill(words[at - 1] ?? '')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByLabel('Password of the keystore file').fill(PASSWORD)
    await page.getByLabel('The password again').fill('another one of them')
    await page.getByRole('button', { name: 'Download the keystore file' }).click()
    await page.getByText('This is not the same password.').waitFor()
    await page.getByLabel('The password again').fill(PASSWORD)
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the keystore file' }).click()
    const file = await downloading
    const own = new Svc(site.net.url).accounts.add(words.join(' '))
    expect(file.suggestedFilename()).toBe(`${own}.json`)
    expect(await kept()).not.toContain(words.join(' '))
  })

  test('marks the accounts of a devnet', async () => {
    const { page } = web
    await openWallet(page)
    await page.getByText('Public keys of a devnet: anybody can use them').waitFor()
    await page.getByRole('button', { name: `Use ${address(1)}` }).click()
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    await page.getByText('public key of a devnet', { exact: true }).waitFor()
  })

  test('hears that it is on a devnet from a gateway that fails at first, and takes away nothing that was typed until then', async () => {
    const { page, failures } = web
    // Nothing that the first page still asks for may meet the refusal, which is for the second.
    await page.goto('about:blank')
    let asked = 0
    await page.route('**/page.json', (route) =>
      ++asked === 1 ? route.fulfill({ status: 503, body: 'busy' }) : route.continue(),
    )
    await page.goto(site.net.url)
    await openWay(page, 'Private key')
    await page.getByLabel('Private key').last().fill('7b')
    await page.getByRole('radio', { name: 'Devnet account' }).waitFor()
    expect(await page.getByLabel('Private key').last().inputValue()).toBe('7b')
    expect(failures.splice(0)).toEqual([expect.stringContaining('status of 503')])
  })

  test('says what a transfer does, what it costs and what is left, and sends it once however often one clicks', async () => {
    const { page } = web
    const before = await svc.async.getTransactionCount(address(1))
    const balance = BigInt(await svc.async.getBalance(address(1)))
    const { fee } = await svc.async.estimateFee('transfer')
    await review('1.5')
    const left = balance - BigInt(fee) - Svc.fromTokens('1.5')
    const fact = (name: string) => page.locator('dialog .facts > div', { hasText: name }).locator('.number')
    expect(await fact('Left after it').getAttribute('title')).toBe(`${left} base units`)
    expect(await fact('Fee').getAttribute('title')).toBe(`${fee} base units`)
    expect(await fact('Payment').getAttribute('title')).toBe('1500000000000000000 base units')
    const describedBy = await page.locator('button:focus').getAttribute('aria-describedby')
    expect(await page.locator(`[id="${describedBy?.split(' ')[0]}"]`).textContent()).toContain('Send 1.5 token to')
    await page.getByRole('button', { name: 'Sign and send' }).evaluate((button: HTMLElement) => {
      for (let times = 0; times < 5; times++) button.click()
    })
    await page.getByText('Done, in block').waitFor()
    expect(await svc.async.getTransactionCount(address(1))).toBe(before + 1)
    expect(await svc.async.getBalance(address(1))).toBe(String(left))
    await page.getByRole('button', { name: 'Close' }).last().click()
    await web.goTo('account')
    await page.getByRole('region', { name: 'Your transactions' }).getByText('done').waitFor()
  })

  test('signs nothing with the second click of a double click, nor when it is cancelled', async () => {
    const { page } = web
    const before = await svc.async.getTransactionCount(address(1))
    await review('2')
    await page.getByRole('button', { name: 'Sign and send' }).click({ clickCount: 2, delay: 1 })
    await page.getByText('Done, in block').waitFor()
    await page.getByRole('button', { name: 'Close' }).last().click()
    await web.goTo(`send?to=${address(2)}&value=3`)
    await act()
    await page.getByText('Send 3 token').waitFor()
    // Where the focus is in the moment in which the dialog is gone.
    const body = page.locator('body')
    await body.evaluate((it) => {
      const observer = new MutationObserver(() => {
        if (it.querySelector('dialog') !== null) return
        observer.disconnect()
        it.dataset['focused'] = it.ownerDocument.activeElement?.textContent ?? ''
      })
      observer.observe(it, { childList: true, subtree: true })
    })
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await body.getAttribute('data-focused')).toBe('Send')
    await act()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await svc.async.getTransactionCount(address(1))).toBe(before + 1)
  })

  test('signs nothing with a key that is held since before the dialog', async () => {
    const { page } = web
    const before = await svc.async.getTransactionCount(address(1))
    await review('6')
    await page.keyboard.press('Escape')
    await page.getByLabel('Amount').focus()
    await page.keyboard.down('Enter')
    const sign = page.locator('button.main:focus', { hasText: 'Sign and send' })
    await sign.waitFor()
    for (let times = 0; times < 5; times++) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    expect(await sign.count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByText('Done, in block').waitFor()
    expect(await svc.async.getTransactionCount(address(1))).toBe(before + 1)
  })

  test('what a gateway does not answer to is told instead of the sheet, and can be begun again', async () => {
    const { page } = web
    await page.clock.install()
    await page.reload()
    await web.goTo(`send?to=${address(2)}&value=1`)
    await openAccount(page, address(1))
    const isAsked = Promise.withResolvers<void>()
    await page.route('**/', async (route) => {
      if (route.request().postData()?.includes('svc_queryParams')) isAsked.resolve()
      else await route.continue()
    })
    await act()
    await isAsked.promise
    await page.clock.fastForward('00:31')
    await page.getByRole('dialog').getByText('The gateway has said nothing for 30 s.').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.keyboard.press('Escape')
    await act()
    await page.getByRole('button', { name: 'Sign and send' }).waitFor()
  })

  test('refuses what the balance does not cover, and says what is needed and what is there', async () => {
    const { page } = web
    await review('99999999', '99,999,999')
    await page.getByText(/99,999,999\.000042 token are needed, and there are [0-9,.]+ token\./).waitFor()
    expect(await page.getByRole('button', { name: 'Sign and send' }).isDisabled()).toBe(true)
  })

  test('what is typed while a transaction waits for its block stays as it is', async () => {
    const { page } = web
    const held = Promise.withResolvers<void>()
    const isTransfer = (text: string | null): boolean => text?.includes('"svc_transfer"') === true
    await page.route('**/', async (route) => {
      if (isTransfer(route.request().postData())) await held.promise
      return route.continue()
    })
    await review('4')
    await page.getByRole('button', { name: 'Sign and send' }).click()
    await page.getByText('Waiting for a block.').waitFor()
    await page.getByRole('button', { name: 'Close' }).last().click()
    await page.getByLabel('Amount').fill('7')
    const answered = page.waitForResponse((response) => isTransfer(response.request().postData()))
    held.resolve()
    await (await answered).finished()
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await page.getByLabel('Amount').inputValue()).toBe('7')
  })

  test('goes on looking for a transaction that is in no block in time', async () => {
    const { page } = web
    let isHidden = true
    const late = Promise.withResolvers<void>()
    await page.clock.install()
    type Asked = { readonly id: number; readonly method: string; readonly params: unknown }
    await page.route('**/', async (route) => {
      const calls = JSON.parse(route.request().postData() ?? '[]') as Asked | readonly Asked[]
      const all = [calls].flat() as readonly Asked[]
      const isWait = all.some(({ method, params }) => method === 'svc_sendRawTransaction' && Array.isArray(params))
      if (!isHidden || !(isWait || all.some(({ method }) => method === 'svc_getTransaction'))) return route.continue()
      if (isWait) await late.promise
      const told = isWait
        ? { error: { code: -32012, message: 'Not in a block within the time limit' } }
        : { result: null }
      const answers = all.map(({ id }) => ({ jsonrpc: '2.0', id, ...told }))
      return route.fulfill({ json: Array.isArray(calls) ? answers : answers[0] })
    })
    await page.reload()
    await openKey(page, site.net.accounts[5]?.privateKey ?? '')
    await web.goTo(`send?to=${address(2)}`)
    await page.getByLabel('Amount').fill('1.25')
    await act()
    expect(await page.evaluate('sessionStorage.getItem("svcd-drafts")')).toContain('"1.25"')
    await page.getByRole('button', { name: 'Sign and send' }).click()
    await page.getByText('Waiting for a block.').waitFor()
    await page.getByText('Transaction', { exact: true }).waitFor()
    late.resolve()
    await page.getByText('this page goes on looking').waitFor()
    // A page that is loaded now has nothing in its form that would be sent twice.
    expect(await page.evaluate('sessionStorage.getItem("svcd-drafts")')).not.toContain('"1.25"')
    // Its own view says the same of it, and not that the node knows nothing.
    const hash = await page.getByRole('dialog').locator('.facts .mono').first().textContent()
    await web.goTo(`transactions/${hash}`)
    await page.locator('main').getByText('this page goes on looking').waitFor()
    expect(await page.getByText('This node does not know').count()).toBe(0)
    isHidden = false
    await page.clock.fastForward('00:05')
    await page.getByRole('dialog').getByText('Done, in block').waitFor()
    // What is on its way when the page closes is no failure.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('a link in a dialog leads to its view, and takes the dialog away', async () => {
    const { page } = web
    const dialog = page.getByRole('dialog')
    await review('0.75')
    await dialog.getByRole('button', { name: 'Sign and send' }).click()
    await dialog.getByText('Done, in block').getByRole('link').click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('h1:focus', { hasText: /^Block [0-9]/ }).waitFor()
    await openWallet(page)
    await dialog.locator(`a[href="#/accounts/${address(1)}"]`).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('h1:focus').waitFor()
    expect(page.url()).toContain(`#/accounts/${address(1)}`)
  })

  test('takes a whole transfer by the keyboard alone', async () => {
    const { page } = web
    const keys = page.keyboard
    /** Goes on with Tab to what has this name. */
    const tabTo = async (name: string): Promise<void> => {
      for (let steps = 0; steps < 60; steps++) {
        await keys.press('Tab')
        const at = await page.evaluate(() => {
          const one = document.activeElement
          const label = one?.id ? document.querySelector(`label[for="${one.id}"]`) : null
          return one?.ariaLabel ?? label?.textContent ?? one?.textContent ?? ''
        })
        if (at === name) return
      }
      throw new Error(`no Tab leads to ${name}`)
    }
    await web.goTo('send')
    await tabTo('To')
    await keys.type('0x12')
    await tabTo('Amount')
    await page.getByText('expected an address (0x and 40 hex digits)').waitFor()
    await keys.type('0.5')
    await keys.press('Shift+Tab')
    await keys.press('Control+A')
    await keys.type(address(2))
    await keys.press('Enter')
    await page.getByRole('button', { name: `Use ${address(6)}` }).waitFor()
    await tabTo(`Use ${address(6)}`)
    await keys.press('Enter')
    await page.getByText(`Send 0.5 token to ${address(2)}.`).waitFor()
    await page.locator('button.main:focus', { hasText: 'Sign and send' }).waitFor()
    await keys.press('Enter')
    await page.getByText('Done, in block').waitFor()
    await page.locator('button.main:focus', { hasText: 'Close' }).waitFor()
    await keys.press('Enter')
    expect(await svc.async.getTransactionCount(address(6))).toBe(1)
  })
})
