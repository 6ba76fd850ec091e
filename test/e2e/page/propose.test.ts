import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { Svc } from '../../../src/client/index.ts'
import { startGateway } from '../../../src/gateway/gateway.ts'
import { silentLogger } from '../support/gateways.ts'
import { startLight } from '../support/light.ts'
import { devnetPages, openPage, withBrowser } from '../support/page.ts'
import { openAccount, signSheet } from '../support/wallet.ts'

/** Votes on the proposal that the page shows. */
async function vote(page: Page, answer: 'yes' | 'no'): Promise<void> {
  await page.getByRole('button', { name: `Vote ${answer}` }).click()
  await signSheet(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
}

withBrowser('proposing and voting in the page', () => {
  const site = devnetPages({ fast: true })

  /** The form of a kind of proposal, with an account of the devnet that acts. */
  async function openForm(kind: string, account = 0) {
    const opened = await site.open(`proposals/new/${kind}`)
    await openAccount(opened.page, site.net.accounts[account]?.address ?? '')
    return opened
  }
  const propose = (page: Page) => page.getByRole('button', { name: 'Propose' }).click()

  test('a parameter is changed: checked while typing, proposed, approved, and in its history', async () => {
    const { page, goTo } = await openForm('change_param')
    await page.getByLabel('Parameter', { exact: true }).selectOption({ label: 'max_vals: 4 validators' })
    await page.getByText('Now 4 validators. A proposal may set an integer of 1 to 200.').waitFor()
    await page.getByLabel('New value').fill('201')
    await page.getByText('Expected an integer of 1 to 200', { exact: true }).waitFor()
    await propose(page)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByLabel('New value').fill('4')
    await page.getByText('It is 4 validators already', { exact: true }).waitFor()
    await page.getByLabel('At a block').check()
    await page.getByLabel('Block height').fill('1')
    await page.getByText(/^Expected a block from \d+ to 1,000,\d+$/).waitFor()
    await propose(page)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByLabel('As the chain sets it').check()
    await page.getByLabel('New value').fill('9')
    await page.getByText('Expected an integer of 1 to 200', { exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Reason').fill('More of us should sign.')
    await propose(page)
    expect(await signSheet(page)).toMatch(/max_vals from 4 to 9\..*Open untilabout block \d+/)
    await page.getByRole('heading', { name: '#1 More of us should sign.' }).waitFor()
    await page.locator('.summary', { hasText: 'Set max_vals to 9 validators' }).waitFor()
    expect(page.url()).toMatch(/#\/proposals\/[\w-]{43}$/)
    expect(await page.getByRole('dialog').count()).toBe(0)

    await page.getByRole('button', { name: 'Vote yes' }).click()
    await page.getByRole('button', { name: 'Sign and send' }).waitFor()
    expect(await signSheet(page)).toMatch(/Voting endsblock \d+/)
    await page.locator('.status-line').getByText('Approved').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    expect(await page.locator('.large-tally dl').textContent()).toMatch(/Yes100 %.*Not voted0 %.*No0 %/)
    await page.getByRole('figure').getByText('More of us should sign.').waitFor()
    await site.net.mine()
    await goTo('parameters/max_vals')
    await page.getByRole('row', { name: /9 validators.*Set to 9/ }).waitFor()
  })

  test('a payment is held in escrow, and comes back when it is rejected', async () => {
    const [from, to] = [site.net.accounts[0].address, site.net.accounts[5]?.address ?? '']
    const { page } = await openForm('transfer_fund')
    await page.getByLabel('From', { exact: true }).selectOption(from)
    await page.getByText('The amount is held in escrow until the decision.', { exact: false }).waitFor()
    await page.getByLabel('To', { exact: true }).fill('0x12')
    await page.locator('.field-error', { hasText: 'expected' }).waitFor()
    await page.getByLabel('To', { exact: true }).fill(to)
    await page.getByLabel('Amount', { exact: true }).fill('2.5')
    // Locked in the middle: what pays is still named, as it would be proposed.
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    await page.getByRole('button', { name: 'Lock' }).click()
    await page.keyboard.press('Escape')
    await page.getByText('which does not act now').waitFor({ state: 'attached' })
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(from)
    await openAccount(page, from)
    await propose(page)
    expect(await signSheet(page)).toMatch(/Held until the proposal is decided2\.5 token/)
    await page.getByRole('heading', { name: /Pay 2\.5 token to/ }).waitFor()
    await vote(page, 'no')
    await page.locator('.status-line').getByText('Rejected').waitFor()
    await page.getByText('The amount went back from escrow to the proposer.').waitFor()
  })

  test('a library: name, version, URLs and MD5 are checked while typing; it expires in the block that it names', async () => {
    const { page } = await openForm('deploy_libeni')
    await page.getByLabel('Name').fill('Crypto')
    await page.getByLabel('Version').fill('1.0')
    await page.getByText('expected version, vX.Y.Z').waitFor()
    await page.getByLabel('ubuntu', { exact: true }).check()
    await page.getByLabel('URL for ubuntu').fill('javascript:alert(1)')
    await page.getByText('expected http:// or https:// and no spaces').waitFor()
    await page.getByLabel('MD5 for ubuntu').fill('abc')
    await page.getByText('expected 32 hex digits, there are 3 characters').waitFor()
    await propose(page)
    await page.getByText('Every system needs 1 to 8 URLs.').waitFor()
    await page.getByLabel('Name').fill('crypto')
    await page.getByLabel('Version').fill('v1.0.0')
    await page.getByLabel('URL for ubuntu').fill('https://example.com/crypto.so')
    await page.getByRole('button', { name: 'Another URL' }).click()
    await page.getByLabel('URL 2 for ubuntu').fill('http://mirror.example.org/crypto.so')
    await page.getByLabel('MD5 for ubuntu').fill('0123456789abcdef0123456789ABCDEF')
    // "From now" is from the newest block that the page has heard of.
    const height = await new Svc(site.net.url).async.blockNumber()
    await page.getByText(new RegExp(`^Block ${height}(,|$)`)).waitFor()
    await page.getByLabel('After a number of blocks').check()
    await page.getByLabel('Blocks from now').fill('4')
    await propose(page)
    await page.getByText('All that is signed').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('row', { name: /^ubuntu .*crypto\.so.*0123456789abcdef/ }).waitFor()
    const sheet = await signSheet(page)
    expect(sheet).toMatch(/Carried outblock \d+/)
    expect(sheet).not.toMatch(/[{}[\]"]/)
    await page.getByRole('heading', { name: 'Deploy the library crypto v1.0.0' }).waitFor()
    const link = page.getByRole('link', { name: 'http://mirror.example.org/crypto.so' })
    expect(await link.getAttribute('rel')).toContain('nofollow')
    // The page may show the proposal before it knows which block holds it.
    await page.locator('.status-line').filter({ hasText: '3 blocks' }).waitFor()
    await site.net.mine(4)
    await page.locator('.status-line').getByText('Expired').waitFor()
  })

  test('a retirement names those who are preserved and those who would be deactivated', async () => {
    const { page } = await openForm('retire_program')
    await propose(page)
    await page.getByText('This is needed.').waitFor()
    await page.getByRole('checkbox', { name: 'devnet' }).check()
    await page.getByText('1 preserved, 0 deactivated').waitFor()
    await propose(page)
    await page.getByRole('dialog').locator('button.danger').waitFor()
    expect(await signSheet(page)).toContain('every node stops for good')
    await page.getByRole('heading', { name: 'Retire program 1 and keep 1 validator' }).waitFor()
    await page.getByText('Preserved (1)').waitFor()
    await page.getByText('Would be deactivated (0)').waitFor()
  })

  test('what was typed stays while another account is chosen, in the dark on a phone too', async () => {
    const { page } = await site.open('proposals/new?name=gas_price', {
      viewport: { width: 390, height: 800 },
      colorScheme: 'dark',
    })
    await page.getByLabel('New value').fill('1500000000')
    await openAccount(page, site.net.accounts[3]?.address ?? '')
    await page.getByText('is not that of a validator', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'Propose' }).count()).toBe(0)
    await openAccount(page, site.net.accounts[0].address)
    await page.getByRole('button', { name: 'Propose' }).waitFor()
    expect(await page.getByLabel('New value').inputValue()).toBe('1500000000')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })

  test('a year in the field for a time has four digits: the next one goes to the hour', async () => {
    const { page } = await site.open('proposals/new/change_param')
    await openAccount(page, site.net.accounts[0].address)
    await page.getByLabel('At a time').check()
    const time = page.getByLabel('Date and time')
    await time.fill('2031-05-04T10:00')
    await time.focus()
    for (const digit of '060720299') await page.keyboard.press(digit)
    expect(await time.inputValue()).toBe('2029-06-07T09:00')
  })

  test('what was typed stays while one looks at another kind', async () => {
    const { page } = await site.open('proposals/new')
    await page.getByLabel('Reason').fill('Not sent yet.')
    await page.getByRole('link', { name: 'Payment' }).click()
    await page.getByLabel('Amount').waitFor()
    await page.getByRole('link', { name: 'Parameter', exact: true }).last().click()
    await page.getByLabel('New value').waitFor()
    expect(await page.getByLabel('Reason').inputValue()).toBe('Not sent yet.')
  })

  test('behind a proposal that was not watched into its block the form shows nothing that it does not send', async () => {
    const { page } = await openForm('change_param')
    const held = Promise.withResolvers<void>()
    await page.route('**/', async (route) => {
      if (route.request().postData()?.includes('"svc_proposeChangeParam"') === true) await held.promise
      return route.continue()
    })
    await page.getByLabel('Parameter', { exact: true }).selectOption('max_vals')
    await page.getByLabel('New value').fill('11')
    await page.getByLabel('After a number of blocks').check()
    await page.getByLabel('Blocks from now').fill('50')
    await propose(page)
    await signSheet(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    held.resolve()
    await page.locator('label:has(:checked)', { hasText: 'As the chain sets it' }).waitFor()
    expect(await page.getByLabel('Blocks from now').count()).toBe(0)
  })

  test('the upgrade that the chain does not implement is not sent, and who is no validator hears who may propose', async () => {
    const { page, goTo } = await openForm('upgrade_program', 3)
    await page.getByText('The chain does not implement this kind', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'Propose' }).count()).toBe(0)
    await goTo('proposals/new')
    await page.getByText('is not that of a validator', { exact: false }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'devnet' }).waitFor()
    expect(await page.getByRole('button', { name: 'Propose' }).count()).toBe(0)
  })
})

withBrowser('a vote among three validators', () => {
  const site = devnetPages({ validators: 3, blockTime: '300ms' })

  test('moves the tally while one looks at it, and the second of three approves', async () => {
    const svc = new Svc(site.net.url)
    const [first, second] = site.net.accounts.map(({ privateKey }) => svc.accounts.add(privateKey))
    const proposalId =
      (await svc.async.governance.proposeChangeParam({ from: first ?? '', name: 'max_vals', value: '5' })).deliver_tx
        .data ?? ''
    const { page, goTo } = await site.open()
    await goTo('proposals?state=open')
    await page.getByRole('link', { name: 'Set max_vals to 5 validators' }).click()
    const bar = page.getByRole('img', { name: /of the voting power/ })
    await page.getByRole('img', { name: 'Yes 0 %, no 0 % of the voting power' }).waitFor()
    await svc.async.governance.vote({ from: first ?? '', proposalId, answer: 'N' })
    await page.getByRole('img', { name: 'Yes 0 %, no 33.33 % of the voting power' }).waitFor()
    await svc.async.governance.vote({ from: first ?? '', proposalId, answer: 'Y' })
    await page.getByRole('img', { name: 'Yes 33.33 %, no 0 % of the voting power' }).waitFor()
    const row = page.getByRole('table', { name: 'Votes' }).getByRole('row').nth(1)
    expect(await row.textContent()).toContain('Yes')

    await openAccount(page, second ?? '')
    await page.getByRole('button', { name: 'Vote no', exact: true }).waitFor()
    const looks = await page.evaluate(
      "[...document.querySelectorAll('.vote-box .actions button')].map((it) => getComputedStyle(it).backgroundColor)",
    )
    expect(new Set(looks as string[]).size).toBe(2)
    await vote(page, 'yes')
    await page.locator('.status-line').getByText('Approved').waitFor()
    expect(await bar.getAttribute('aria-label')).toBe('Yes 66.67 %, no 0 % of the voting power')
    expect(await page.getByRole('button', { name: 'Vote yes' }).count()).toBe(0)
    await page.getByText(/^The tally as it was when the proposal ended, of a total power of [\d,]+\.$/).waitFor()
    expect(await page.getByRole('columnheader', { name: 'Power now' }).count()).toBe(0)
  })

  test('on a retirement names whom it would deactivate, and counts down to a time that is given', async () => {
    const svc = new Svc(site.net.url)
    const from = svc.accounts.add(site.net.accounts[0].privateKey)
    const preservedValidators = (await svc.async.stake.validator.query(from)).data?.pub_key.value ?? ''
    await svc.async.governance.proposeRetireProgram({ from, preservedValidators })
    const { time } = await svc.async.status()
    const expireTimestamp = Math.floor(Date.parse(time) / 1000) + 90_000
    await svc.async.governance.proposeChangeParam({ from, name: 'gas_price', value: '1', expireTimestamp })
    const { page, goTo } = await site.open()
    await goTo('proposals?type=retire_program')
    await page.getByRole('link', { name: 'Retire program 1 and keep 1 validator' }).click()
    await page.getByText('Would be deactivated (2)').waitFor()
    // The names may come after the numbers.
    const facts = page.locator('.facts').first()
    await facts.filter({ hasText: /Preserved \(1\)devnet.*deactivated \(2\)(node1node2|node2node1)/ }).waitFor()
    await goTo('proposals?state=open')
    await page.getByRole('link', { name: /Set gas_price/ }).click()
    await page.getByText(/^1 d( 5\d min| 1 h)?, about [\d,]+ blocks/).waitFor()
    const end = new Date(expireTimestamp * 1000).toISOString().slice(0, 19).replace('T', ' ')
    expect(await page.locator('.status-line').textContent()).toContain(`until ${end} UTC`)
  })

  test('is proven row by row where the gateway leads to a light client, and a row that was changed is told', async () => {
    const owner = site.net.accounts[0].address
    const light = await startLight(site.net.rpcUrl, join(site.net.home, 'light'))
    const gateway = await startGateway({ node: site.net.rpcUrl, port: 0, light: light.url, logger: silentLogger })
    const { page, failures, goTo, close } = await openPage(site.browser, gateway.url)
    try {
      await goTo(`accounts/${owner}`)
      await page.getByText('base units').first().waitFor()
      expect(await page.getByText('by the light client').count()).toBe(0)
      await page.getByRole('checkbox', { name: 'Verify rows' }).check()
      await page.getByText(/Proven at block [0-9,]+ by the light client/).waitFor()
      await goTo(`validators/${owner}`)
      await page.getByText(/Proven at block [0-9,]+ by the light client/).waitFor()
      await goTo('parameters/max_vals')
      await page.getByText(/^Proven at block .* that no later value was set\.$/).waitFor()
      await goTo('proposals')
      await page.getByRole('link', { name: 'Set max_vals to 5 validators' }).click()
      await page.getByText(/^Proven at block/).waitFor()
      expect(await page.getByText('is another value').count()).toBe(0)
      await page.route('**/', async (route) => {
        const answer = await route.fetch()
        const text = await answer.text()
        const asked = route.request().postData() ?? ''
        const lie = asked.includes('svc_getBalance') ? text.replace(/"result":"\d+"/, '"result":"1"') : text
        await route.fulfill({ response: answer, body: lie.replace(/"ExpireBlockHeight":\d+/, '"ExpireBlockHeight":7') })
      })
      await goTo(`accounts/${owner}`)
      await page.getByText(/What is proven at block [0-9,]+ is another value: balance \d{2,}/).waitFor()
      await goTo('proposals')
      await page.getByRole('link', { name: 'Set max_vals to 5 validators' }).click()
      await page.getByText(/is another value: expire_block_height \d{2,}/).waitFor()
      // What is on its way when the page closes is no failure.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      expect(failures).toEqual([])
    } finally {
      await close()
      await gateway.close()
      await light.stop()
    }
  })
})
