/** What a reader does with an address, and with a form that is not sent yet. */
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { Svc } from '../../../src/client/index.ts'
import { FAUCET_PAYMENTS_MAX } from '../../../src/gateway/http/limits.ts'
import { findings } from '../support/axe.ts'
import { devnetPages, withBrowser } from '../support/page.ts'
import { openAccount, openKey, openWay, signAndClose } from '../support/wallet.ts'

withBrowser('addresses and drafts', () => {
  const site = devnetPages()
  let svc: Svc
  const addressOf = (index: number): string => site.net.accounts[index]?.address as string

  beforeAll(() => {
    svc = new Svc(site.net.url)
  })

  async function openDevnetAccount(page: Page, index: number): Promise<void> {
    await openAccount(page, addressOf(index))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  test('an address is copied, and the page says so only where it was', async () => {
    const { page } = await site.open(`accounts/${addressOf(2)}`, { permissions: ['clipboard-read', 'clipboard-write'] })
    // "Copied" disappears after 1.5 s, before a busy machine may have looked. Here it stays until the test calls forget().
    await page.evaluate(`{
      const { setTimeout: later } = globalThis
      globalThis.setTimeout = (run, ms, ...given) => (ms === 1500 ? void (globalThis.forget = run) : later(run, ms, ...given))
    }`)
    await page.getByRole('button', { name: 'Copy the address' }).click()
    await page.getByText('Copied').first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(addressOf(2))
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))')
    await page.evaluate('forget()')
    await page.getByText('Copied').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Copy the address' }).click()
    await page.getByText('Not copied').first().waitFor()
    await page.evaluate('forget()')
    await page.getByText('Not copied').first().waitFor({ state: 'detached' })
    // As over plain http beyond this machine.
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.getByRole('button', { name: 'Copy the address' }).click()
    await page.getByText('Not copied').first().waitFor()
  })

  test.each(['light', 'dark'] as const)('an address is a QR code, dark on light (%s)', async (colorScheme) => {
    const { page } = await site.open(`accounts/${addressOf(2)}`, { colorScheme })
    await page.getByRole('button', { name: 'QR code' }).click()
    const code = page.getByRole('img', { name: `QR code of the address ${addressOf(2)}` })
    await code.waitFor()
    expect(await findings(page)).toEqual([])
    const path = (await code.locator('path').getAttribute('d')) ?? ''
    const drawn = [...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`)
    const { data } = encode(addressOf(2), { ecc: 'M', border: 4 })
    expect(drawn).toEqual(data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : []))))
    const fills = await code.locator('> *').evaluateAll((all) => all.map((one) => one.getAttribute('fill')))
    expect(fills).toEqual(['#fff', '#000'])
  })

  test('a label stands wherever the address does, stays in this browser, and can be removed', async () => {
    const { page, goTo, settled } = await site.open(`accounts/${addressOf(3)}`)
    await page.getByRole('button', { name: 'Add a label' }).click()
    const field = page.getByLabel('Your label for this address')
    await field.and(page.locator(':focus')).waitFor()
    await field.fill(`  Mum's ${'x'.repeat(50)}`)
    expect((await field.inputValue()).length).toBeLessThanOrEqual(30)
    await field.fill("Mum's")
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Save the label' }).click()
    const label = page.locator('.own-label', { hasText: "Mum's" })
    await label.waitFor()
    // What the page of another reader shows.
    const other = await site.open(`accounts/${addressOf(3)}`)
    await other.settled()
    expect(await other.page.locator('.own-label').count()).toBe(0)

    await openDevnetAccount(page, 1)
    await goTo(`send?to=${addressOf(3)}&value=0.5`)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Send 0.5 token').waitFor()
    await page.getByRole('dialog').locator('.labels-in .own-label').waitFor()
    expect(await findings(page)).toEqual([])
    await signAndClose(page)
    await goTo('transactions')
    await settled()
    await page.getByRole('row', { name: /your label: Mum's/ }).waitFor()
    await page.reload()
    await page.getByRole('row', { name: /your label: Mum's/ }).waitFor()
    await goTo('account')
    await page.getByRole('button', { name: "Remove the label Mum's" }).click()
    await label.first().waitFor({ state: 'detached' })
    expect(await page.evaluate('localStorage.getItem("svcd-labels")')).toBe('{}')
  })

  test('a validator that calls itself like a label does not look like one', async () => {
    const { page } = await site.open(`accounts/${addressOf(4)}`)
    await page.evaluate(`localStorage.setItem('svcd-labels', JSON.stringify({ '${addressOf(4)}': 'devnet' }))`)
    await page.reload()
    await page.locator('.own-label', { hasText: 'devnet' }).waitFor()
    await page.goto(`${site.net.url}/#/validators`)
    await page.getByRole('row', { name: /devnet/ }).waitFor()
    expect(await page.locator('.own-label').count()).toBe(0)
  })

  test('a label stands beside the name of a validator where one chooses among them, and beside those of blocks', async () => {
    const { page, goTo } = await site.open('validators')
    await page.evaluate(`localStorage.setItem('svcd-labels', JSON.stringify({ '${addressOf(0)}': 'Ours' }))`)
    await page.reload()
    await page.getByRole('row', { name: /devnet your label: Ours/ }).waitFor()
    await goTo('blocks')
    await page
      .getByRole('row', { name: /devnet your label: Ours/ })
      .first()
      .waitFor()
  })

  test('a validator whose name is spaces is shown by its address', async () => {
    await svc.async.stake.validator.update({ from: addressOf(0), description: { name: '   ' } })
    const { page, goTo } = await site.open('blocks')
    const link = page.locator('td', { hasText: addressOf(0).slice(0, 8) }).first()
    await link.waitFor()
    await goTo(`search/${addressOf(0)}`)
    await page
      .locator('.hits', { hasText: addressOf(0) })
      .last()
      .getByRole('link', { name: addressOf(0) })
      .waitFor()
    await svc.async.stake.validator.update({ from: addressOf(0), description: { name: 'devnet' } })
  })

  test('labels that another program wrote are left out, and no more than 100 are kept', async () => {
    const { page } = await site.open(`accounts/${addressOf(5)}`)
    const many = Object.fromEntries(
      Array.from({ length: 120 }, (_, at) => [`0x${String(at).padStart(40, '0')}`, `label ${at}`]),
    )
    const odd = { ...many, 'not an address': 'x', [addressOf(5)]: { no: 'text' } }
    await page.evaluate(`localStorage.setItem('svcd-labels', ${JSON.stringify(JSON.stringify(odd))})`)
    await page.reload()
    await page.getByRole('button', { name: 'Add a label' }).click()
    await page.getByLabel('Your label for this address').fill('one more')
    await page.getByRole('button', { name: 'Save the label' }).click()
    await page.getByText('This browser keeps 100 labels already.').waitFor()
    await page.evaluate(`localStorage.setItem('svcd-labels', '[')`)
    await page.reload()
    await page.getByRole('button', { name: 'Add a label' }).waitFor()
  })

  test('"Max" is the balance less the fee, and the balance stands beside the amount', async () => {
    const { page } = await site.open('send')
    await openDevnetAccount(page, 6)
    const balance = BigInt(await svc.async.getBalance(addressOf(6)))
    const { fee } = await svc.async.estimateFee('transfer')
    await page.getByText('your balance is').waitFor()
    await page.getByRole('button', { name: 'Max' }).click()
    expect(await page.getByLabel('Amount').inputValue()).toBe(Svc.toTokens(balance - BigInt(fee)))
    await page.getByLabel('To', { exact: true }).fill(addressOf(7))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await signAndClose(page)
    expect(await svc.async.getBalance(addressOf(6))).toBe('0')
  })

  test('a reload keeps what was typed into a form, until it is sent, and never a key', async () => {
    const { page, goTo } = await site.open('send')
    await page.getByLabel('To', { exact: true }).fill(addressOf(2))
    await page.getByLabel('Amount').fill('0.125')
    await openWay(page, 'Private key')
    await page.getByLabel('Private key').last().fill('3c'.repeat(32))
    await page.getByRole('radio', { name: 'Words' }).check()
    await page.getByLabel('Words').last().fill('legal winner thank year')
    const kept = String(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'))
    expect(kept).toContain('0.125')
    for (const secret of ['3c3c', 'winner']) expect(kept).not.toContain(secret)
    await page.reload()
    expect(await page.getByLabel('Amount').inputValue()).toBe('0.125')
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe(addressOf(2))
    // A link that says something else begins anew.
    await goTo(`send?to=${addressOf(3)}`)
    expect(await page.getByLabel('Amount').inputValue()).toBe('')
    await goTo('send')
    expect(await page.getByLabel('Amount').inputValue()).toBe('0.125')
    await openDevnetAccount(page, 1)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await signAndClose(page)
    await page.reload()
    await page.getByLabel('Amount').waitFor()
    expect(await page.getByLabel('Amount').inputValue()).toBe('')
  })

  test('a reload and a step back give what was typed over a link, and the link anew what it says', async () => {
    const { page, goTo } = await site.open('validators')
    const to = page.getByLabel('To', { exact: true })
    await goTo(`send?to=${addressOf(2)}`)
    await to.fill(addressOf(3))
    await page.reload()
    expect(await to.inputValue()).toBe(addressOf(3))
    await goTo('validators')
    await goTo(`send?to=${addressOf(2)}`)
    expect(await to.inputValue()).toBe(addressOf(2))
    await page.goBack()
    await to.waitFor({ state: 'detached' })
    await page.goBack()
    expect(await to.inputValue()).toBe(addressOf(3))
  })

  test('a reload keeps a proposal with its parameter, its end and its files', async () => {
    const { page, goTo } = await site.open('proposals/new/change_param')
    await page.getByLabel('Parameter', { exact: true }).selectOption({ label: 'max_vals: 4 validators' })
    await page.getByLabel('New value').fill('9')
    await page.getByRole('radio', { name: 'At a block' }).check()
    await page.getByLabel('Block height').fill('123456')
    await page.reload()
    await page.getByLabel('New value').waitFor()
    expect(await page.getByLabel('New value').inputValue()).toBe('9')
    expect(await page.getByLabel('Block height').inputValue()).toBe('123456')
    await goTo('proposals/new/deploy_libeni')
    await page.getByLabel('ubuntu', { exact: true }).check()
    await page.getByLabel('URL for ubuntu').fill('https://files.example/libsvc.so')
    await page.getByLabel('MD5 for ubuntu').fill('d41d8cd98f00b204e9800998ecf8427e')
    await page.reload()
    await page.getByLabel('URL for ubuntu').waitFor()
    expect(await page.getByLabel('URL for ubuntu').inputValue()).toBe('https://files.example/libsvc.so')
    expect(await page.getByLabel('MD5 for ubuntu').inputValue()).toBe('d41d8cd98f00b204e9800998ecf8427e')
  })

  test('"Get tokens" brings tokens on a devnet, from the wallet too, until it is too often', async () => {
    const { page } = await site.open('account')
    await openKey(page, '4d'.repeat(32))
    const address = new Svc(site.net.url).accounts.add('4d'.repeat(32))
    await page.getByRole('button', { name: 'Get tokens' }).click()
    await page.getByText(/The tokens came in block \d+\./).waitFor()
    expect(await svc.async.getBalance(address)).toBe(String(Svc.fromTokens('10')))
    await page.locator('.figures').getByText('10', { exact: true }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Get tokens' }).click()
    await page.getByRole('dialog').getByText('The tokens came').waitFor()
    expect(await findings(page)).toEqual([])
    for (let times = 2; times < FAUCET_PAYMENTS_MAX; times++) await svc.async.faucet(address)
    await page.getByRole('dialog').getByRole('button', { name: 'Get tokens' }).click()
    await page.getByText(/more than 10 payments of svc_faucet to one account in 600 s/).waitFor()
  })

  test('offers no tokens where the gateway gives none', async () => {
    const { page } = await site.open('')
    await page.route('**/page.json', (route) => route.fulfill({ json: { devnet: false, light: false } }))
    await page.reload()
    await openKey(page, '4d'.repeat(32))
    await page.goto(`${site.net.url}/#/account`)
    await page.getByRole('link', { name: 'Send tokens' }).waitFor()
    expect(await page.getByRole('button', { name: 'Get tokens' }).count()).toBe(0)
  })
})
