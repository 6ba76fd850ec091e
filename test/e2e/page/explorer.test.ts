import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { addressOfKey } from '../../../src/values/address.ts'
import { fromBase64 } from '../../../src/base/bytes.ts'
import { Svc, type SvcTxError, type TransactionResult } from '../../../src/client/index.ts'
import { gatewayClient } from '../support/client.ts'
import { devnetPages, openPage, proposalPath, type WebPage, withBrowser } from '../support/page.ts'
import { openAccount } from '../support/wallet.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'

/** More than a page of a history holds. */
const TRANSFERS = 25

/** What a transaction that must fail is answered with. */
const failureOf = (sending: Promise<TransactionResult>): Promise<SvcTxError> =>
  sending.then(
    () => Promise.reject(new Error('it went through')),
    (error: SvcTxError) => error,
  )

/** The view of a proposal: its id in the URL-safe alphabet. */
const proposalAt = (id: string): string => `#/${proposalPath(id)}`

withBrowser('blocks, transactions, accounts and the search', () => {
  const site = devnetPages()
  let web: WebPage
  let page: Page
  let svc: Svc
  let [alice, bob, carol] = ['', '', '']
  let library = ''
  let made: TransactionResult
  let paid: TransactionResult

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    ;[alice, bob, carol] = site.net.accounts.map(({ address }) => address) as [string, string, string]
    for (const { privateKey } of site.net.accounts.slice(0, 3)) svc.accounts.add(privateKey)
    const { validator } = svc.async.stake
    for (let count = 0; count < TRANSFERS; count++) await svc.async.transfer({ from: bob, to: carol, value: 5n })
    paid = await svc.async.transfer({ from: bob, to: carol, value: Svc.fromTokens('2.5') })
    const [first, second] = [7, 9].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
    await validator.declare({ from: bob, pubKey: first, description: { name: 'Bob’s node' } })
    await validator.withdraw({ from: bob })
    await validator.declare({
      from: carol,
      pubKey: second,
      description: { name: `Carol ${HOSTILE}`, website: 'https://carol.example' },
    })
    made = await svc.async.governance.proposeChangeParam({
      from: alice,
      name: 'max_vals',
      value: '7',
      reason: HOSTILE,
    })
    const forBoth = (value: unknown): string => JSON.stringify({ ubuntu: value, centos: value })
    const offered = await svc.async.governance.proposeDeployLibEni({
      from: alice,
      name: 'keccak-fast',
      version: 'v1.2.3',
      fileUrl: forBoth(['http://127.0.0.1:9/keccak.so']),
      md5: forBoth('00'.repeat(16)),
    })
    library = offered.deliver_tx.data as string
    web = await openPage(site.browser, site.net.url)
    page = web.page
  })

  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
  const seen = (text: string | RegExp) => page.getByText(text).first().waitFor()
  const row = (name: string | RegExp) => page.getByRole('row', { name })
  const address = () => new URL(page.url()).hash

  test('blocks: the latest ones are shown as they come, and older ones by pages', async () => {
    await web.goTo('blocks')
    const height = await site.net.mine(1)
    await row(new RegExp(`^${height} `)).waitFor()
    await page.getByRole('link', { name: 'Older →' }).click()
    await row(new RegExp(`^${height - 25} `)).waitFor()
    expect(address()).toBe(`#/blocks?from=${height - 25}`)
    expect(await row(new RegExp(`^${height} `)).count()).toBe(0)
    await page.goBack()
    await row(new RegExp(`^${height} `)).waitFor()
  })

  test('blocks: the table can be taken along as CSV', async () => {
    await web.goTo('blocks')
    const height = await site.net.mine(1)
    await row(new RegExp(`^${height} `)).waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
    expect(file.suggestedFilename()).toBe('blocks.csv')
    const block = await svc.async.getBlock(height)
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n')
    expect(lines.slice(0, 2)).toEqual([
      'Height,Time,Proposer,Transactions,Hash',
      [height, block?.time, block?.proposer_address, 0, block?.hash].join(),
    ])
  })

  test('a block: its proposer by name, its transactions, its events, and the blocks beside it', async () => {
    await web.goTo(`blocks/${paid.height}`)
    await heading(`Block ${paid.height}`)
    await page.getByRole('link', { name: 'devnet', exact: true }).waitFor()
    await row(/Send 2.5 token to 0x/).waitFor()
    await page.getByRole('link', { name: 'Next →' }).click()
    await heading(`Block ${paid.height + 1}`)
    await page.getByRole('link', { name: '← Previous' }).click()
    await heading(`Block ${paid.height}`)
    const { hash } = (await svc.async.getBlock(paid.height)) as { hash: string }
    await web.goTo(`blocks/${hash.toLowerCase()}`)
    await heading(`Block ${paid.height}`)
  })

  test('a page beyond the last one is no sign that there is nothing', async () => {
    await web.goTo(`blocks/${paid.height}?offset=50`)
    await seen('1 transaction')
    await seen('That page does not exist.')
    expect(await page.getByText('This block has no transactions.').count()).toBe(0)
  })

  test('a block that is not made yet appears as soon as it is', async () => {
    const next = (await svc.async.blockNumber()) + 1
    await web.goTo(`blocks/${next}`)
    await seen('This block is not made yet')
    await site.net.mine(1)
    await seen('App hash')
  })

  test('transactions: the latest ones, those of blocks before the page was opened and new ones', async () => {
    await web.goTo('transactions')
    await row(/Propose to set max_vals to 7/).waitFor()
    await svc.async.transfer({ from: carol, to: bob, value: Svc.fromTokens('1.25') })
    await row(/Send 1.25 token to 0x/).waitFor()
  })

  test('a transaction: its words, its fields, both results as the interface shows them, and what it led to', async () => {
    await web.goTo(`transactions/${made.hash}`)
    await heading('Propose a new value of a parameter')
    await seen(HOSTILE)
    const deliver = page.getByRole('region', { name: 'deliver_tx' })
    await deliver.getByText('0.004').waitFor()
    await deliver.getByText('JSON').click()
    await deliver.getByText('"gasUsed": "2000000"').waitFor()
    await deliver.getByText('"key": "R2FzRmVl"').waitFor()
    expect(await deliver.getByRole('link').getAttribute('href')).toBe(proposalAt(made.deliver_tx.data as string))
  })

  test('a transaction that failed in its block says why', async () => {
    const { time } = await svc.async.status()
    const expireTimestamp = Math.floor(Date.parse(time) / 1000) + 1
    // The block in which the proposal comes must be later than its end, while the head that CheckTx goes by is not.
    while (Date.now() < (expireTimestamp + 1) * 1000) await sleep(100)
    const { log, result } = await failureOf(
      svc.async.governance.proposeChangeParam({ from: alice, name: 'max_vals', value: '8', expireTimestamp }),
    )
    expect(log).toBe('Invalid expire timestamp')
    await web.goTo(`transactions/${result.hash}`)
    await page.getByRole('region', { name: 'deliver_tx' }).getByText(log, { exact: true }).waitFor()
    await page.getByText('failed', { exact: true }).waitFor()
    // The index of histories may be behind the blocks.
    await gatewayClient(site.net.url).waitForIndex(await svc.async.blockNumber())
    for (const view of [
      `blocks/${result.height || (await svc.async.getTransaction(result.hash))?.height}`,
      `accounts/${alice}`,
    ]) {
      await web.goTo(view)
      await row(/code 20: Invalid expire timestamp.* failed/).waitFor()
    }
  })

  test('a transaction that a balance was too low for says what it lacked', async () => {
    const sending = svc.async.transfer({ from: bob, to: carol, value: Svc.fromTokens('1000000') })
    const { result } = await failureOf(sending)
    await web.goTo(`transactions/${result.hash}`)
    await seen('It needed 1,000,000')
    await seen('too little')
  })

  test('a transaction that this page sent and the chain refused says so, and not that it waits', async () => {
    const poor = site.net.accounts[6]?.address as string
    const own = await site.open(`send?to=${bob}&value=50000`)
    await openAccount(own.page, poor)
    await own.page.getByRole('button', { name: 'Send', exact: true }).click()
    const sign = own.page.getByRole('dialog').getByRole('button', { name: 'Sign and send' })
    await sign.waitFor()
    // Between the sheet and the signature most of the balance goes.
    await svc.async.transfer({ from: poor, to: bob, value: Svc.fromTokens('90000') })
    await sign.click()
    await own.page.getByText('It failed').waitFor()
    await own.page.getByRole('dialog').locator('.actions').getByRole('button', { name: 'Close' }).click()
    await own.goTo('account')
    const sent = own.page.getByRole('region', { name: 'Your transactions' })
    await sent.getByText(/refused it with code 20, Insufficient balance/).waitFor()
    await sent.getByRole('link').click()
    await own.page
      .getByRole('main')
      .getByText(/Insufficient balance.* It is in no block and waits for none/)
      .waitFor()
    expect(await own.page.getByText('This node does not know').count()).toBe(0)
  })

  test('a transaction that the node does not know: what that can mean, and never that it waits', async () => {
    const { nonce } = (await svc.async.getTransaction(paid.hash)) ?? {}
    const { result } = await failureOf(svc.async.transfer({ from: bob, to: carol, value: 1n, nonce: nonce ?? 0 }))
    for (const hash of [result.hash, 'AB'.repeat(32)]) {
      await web.goTo(`transactions/${hash}`)
      await seen(/^This node does not know this transaction: none of its blocks holds it.* That can mean:$/)
      await seen('It was refused. Then nothing of it happened')
      await site.net.mine(2)
      await seen(/holds it, nor any of the \d+ made since you came\. That can mean:/)
      expect(await page.getByRole('main').textContent()).not.toMatch(/may wait|waits for|watches/)
    }
  })

  test('a transaction that is in no block yet is shown as soon as it is in one', async () => {
    const other = site.net.accounts[5]
    const signer = new Svc(site.net.url)
    signer.accounts.add(other?.privateKey ?? '')
    let hash = ''
    await page.route('**/', (route) =>
      // The node answers as if the block were not there yet.
      route.request().postData()?.includes('svc_getTransaction"') === true && hash !== ''
        ? route.fulfill({ json: { jsonrpc: '2.0', id: 1, result: null } })
        : route.continue(),
    )
    hash = (await signer.async.transfer({ from: other?.address ?? '', to: bob, value: 9n })).hash
    await web.goTo(`transactions/${hash}`)
    await seen('This node does not know this transaction')
    await page.unroute('**/')
    await site.net.mine(1)
    await page.getByRole('region', { name: 'deliver_tx' }).waitFor()
  })

  test('an account: balance, candidacy, unbonding with its date, and its transactions by pages', async () => {
    await site.net.mine(2)
    await web.goTo(`accounts/${bob.toUpperCase().replace('0X', '0x')}`)
    await seen('base units')
    await seen('Withdrawn')
    await row(/1,000 its candidacy .*about \d{4}-\d\d-\d\d/).waitFor()
    await row(/Withdraw the candidacy/).waitFor()
    await page.getByRole('link', { name: 'Older →' }).click()
    await page.getByRole('link', { name: '← Newest' }).waitFor()
    await row(/Send <0.0001 token/)
      .first()
      .waitFor()
    expect(address()).toMatch(/\?before=\d/)
    expect(await row(/Withdraw the candidacy/).count()).toBe(0)
    await page.goBack()
    await row(/Withdraw the candidacy/).waitFor()
    await svc.async.transfer({ from: bob, to: alice, value: Svc.fromTokens('3.75') })
    await row(/Send 3.75 token/).waitFor()
  })

  test('an account offers the hand-overs that wait for it', async () => {
    const { deliver_tx } = await svc.async.stake.validator.updateAccount({ from: carol, newCandidateAccount: bob })
    const id = Buffer.from(deliver_tx.data as string, 'base64').toString()
    await web.goTo(`accounts/${bob}`)
    await seen('Open hand-over requests')
    await seen(`Request ${id}`)
  })

  test('an account that nobody has used says so', async () => {
    await web.goTo(`accounts/0x${'77'.repeat(20)}`)
    await seen('Nobody has used this account yet')
    await seen('No transaction of this account')
  })

  const cometAddress = async (): Promise<string> => {
    const { data } = await svc.async.stake.validator.queryValidatorSet()
    const own = data.find(({ owner_address: owner }) => owner === alice)
    return addressOfKey(fromBase64(own?.pub_key.value ?? '') as Uint8Array)
  }
  const id = () => made.deliver_tx.data as string
  const targets: readonly (readonly [what: string, text: () => string | Promise<string>, view: () => string])[] = [
    ['a height', () => '3', () => '#/blocks/3'],
    [
      'a hash of a transaction, in lower case with 0x',
      () => `0x${paid.hash.toLowerCase()}`,
      () => `#/transactions/${paid.hash}`,
    ],
    [
      'a hash of a block',
      async () => (await svc.async.getBlock(paid.height))?.hash ?? '',
      () => `#/blocks/${paid.height}`,
    ],
    ['an unused address without 0x', () => '77'.repeat(20), () => `#/accounts/0x${'77'.repeat(20)}`],
    ['a part of a name in any case', () => 'cAROL <IMG', () => `#/validators/${carol}`],
    ['a website', () => 'carol.example', () => `#/validators/${carol}`],
    ['a public key', () => Buffer.alloc(32, 9).toString('base64'), () => `#/validators/${carol}`],
    [
      'CometBFT’s address of a key',
      async () => (await cometAddress()).slice(2).toUpperCase(),
      () => `#/validators/${alice}`,
    ],
    ['a parameter', () => 'gas_pr', () => '#/parameters/gas_price'],
    ['a library', () => 'Keccak', () => proposalAt(library)],
    ['the id of a proposal', id, () => proposalAt(id())],
    [
      'the id of a proposal in the URL-safe alphabet',
      () => id().replaceAll('+', '-').replaceAll('/', '_').replace('=', ''),
      () => proposalAt(id()),
    ],
  ]

  test.each(targets)('search: %s leads straight to it', async (_what, text, view) => {
    await web.goTo('')
    await heading('Overview')
    await page.keyboard.press('/')
    await page.keyboard.type(await text())
    await page.keyboard.press('Enter')
    const link = view()
    await page.waitForURL((url) => url.hash === link)
    await page.goBack()
    await heading('Overview')
  })

  test('search: several hits are listed by kind, and markup in the text stays text', async () => {
    await web.goTo(`search/${encodeURIComponent(alice)}`)
    await page.getByRole('heading', { level: 2, name: 'Accounts' }).waitFor()
    await page.getByRole('heading', { level: 2, name: 'Validators' }).waitFor()
    await web.goTo(`search/${encodeURIComponent(`${HOSTILE} nothing`)}`)
    await seen('Nothing on this chain is named')
    await seen('What can be searched')
    expect(await page.locator('main img').count()).toBe(0)
    await web.goTo('search')
    await seen('What can be searched')
    expect(await page.getByText('Nothing on this chain').count()).toBe(0)
  })

  test('search: hits are offered while a reader types, and chosen with the arrow keys', async () => {
    await web.goTo('')
    await heading('Overview')
    await page.keyboard.press('/')
    await page.keyboard.type('ca')
    const carolsOption = page.getByRole('option', { name: /Validator Carol/ })
    await carolsOption.waitFor()
    const box = page.getByRole('combobox')
    while ((await carolsOption.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
    expect(await box.getAttribute('aria-activedescendant')).toBe(await carolsOption.getAttribute('id'))
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.hash === `#/validators/${carol}`)
    expect(await box.inputValue()).toBe('')
  })

  test('search: what came while the text stood in the field is found', async () => {
    await web.goTo('')
    await heading('Overview')
    await page.keyboard.press('/')
    const { total } = await svc.async.governance.listProposals({ newest: true, limit: 1 })
    await page.keyboard.type(`#${Number(total) + 1}`)
    // The field has asked, and found nothing.
    await new Promise((done) => setTimeout(done, 1_500))
    const { deliver_tx: made } = await svc.async.governance.proposeChangeParam({
      from: alice,
      name: 'max_vals',
      value: '8',
    })
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.hash === proposalAt(made.data as string))
  })

  test('blocks that the node does not have any more: which the first one is that it has, and no link below', async () => {
    const first = (await svc.async.blockNumber()) - 30
    const id = '0'.repeat(64)
    await web.goTo(`blocks/${id}`)
    await page.getByText(/^The node has no such block\.$/).waitFor()
    await page.route('**/', async (route) => {
      // A document that comes from the test counts as one of another network, and may open no websocket here.
      if (route.request().method() === 'GET') return route.continue()
      const answer = await route.fetch()
      const text = (await answer.text()).replace(/"earliest_height":1\b/, `"earliest_height":${first}`)
      await route.fulfill({ response: answer, body: text })
    })
    await page.reload()
    await page.getByText(`The node has no such block. The first one that it still has is ${first}.`).waitFor()
    const link = (name: string) => page.getByRole('link', { name })
    for (const [path, name, below] of [
      [`blocks/${first}`, '← Previous', `blocks/${first + 1}`],
      [`blocks?from=${first + 24}`, 'Older →', `blocks?from=${first + 25}`],
    ] as const) {
      await web.goTo(below)
      await link(name).waitFor()
      await web.goTo(path)
      await link(name).waitFor({ state: 'detached' })
      await page.getByText(name).waitFor()
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('nothing that the page did was refused, and no script of a stranger ran', () => {
    expect(web.failures).toEqual([])
  })
})
