/** Wallets that people already have, in the page: one that announces itself by EIP-6963 and signs by @metamask/eth-sig-util. */
import { beforeAll, expect, test } from '@jest/globals'
import { signTypedData, SignTypedDataVersion } from '@metamask/eth-sig-util'
import type { BrowserContextOptions } from 'playwright-core'
import { compareBytes } from '../../../src/base/bytes.ts'
import { Svc } from '../../../src/client/index.ts'
import { printDraft } from '../../../src/tx/draft.ts'
import { encodeBody, type TxBody } from '../../../src/tx/envelope.ts'
import { encodeMultisig, multisigAddress } from '../../../src/tx/multisig.ts'
import { signerOfSeed } from '../../../src/tx/sign.ts'
import { addressBytes } from '../../../src/values/address.ts'
import { ethWallet, privateKey } from '../../support/wallet.ts'
import { findings } from '../support/axe.ts'
import { deadKey, devnetPages, type WebPage, withBrowser } from '../support/page.ts'
import { openKey, openWay, signAndClose, signSheet } from '../support/wallet.ts'

/** A key of the page. */
const OWN_KEY = '5a'.repeat(32)

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const

/** Announces a wallet in the page, whose calls `walletRequest` answers; `walletEmit` is how it tells of something. */
const ANNOUNCE = `{
  const listeners = {}
  const provider = {
    request: async (call) => {
      const { result, error } = await walletRequest(call)
      if (error !== undefined) throw error
      return result
    },
    on: (event, listener) => void (listeners[event] = listener),
  }
  globalThis.walletEmit = (event, given) => listeners[event]?.(given)
  const announce = (uuid, name) => dispatchEvent(new CustomEvent('eip6963:announceProvider', {
    detail: { info: { uuid, name, icon: 'data:image/svg+xml,<svg/>', rdns: 'test' }, provider },
  }))
  addEventListener('eip6963:requestProvider', () => {
    announce('1', 'Test Wallet')
    announce('2', '<img src=x onerror="globalThis.hacked=1">' + 'x'.repeat(1000))
    announce(3, 'no wallet')
  })
}`

/** What the wallet of a page does. */
interface TestWallet {
  /** Its private key, by number. */
  number: number
  isRefusing: boolean
  /** The typed data that it showed. */
  readonly shown: { readonly primaryType: string; readonly message: Readonly<Record<string, unknown>> }[]
}

interface Call {
  readonly method: string
  readonly params?: readonly [string, string]
}

function answer(wallet: TestWallet, { method, params = ['', ''] }: Call): unknown {
  // As wallets write addresses: with a checksum of letters.
  if (method === 'eth_requestAccounts') return [ethWallet(wallet.number).address.toUpperCase().replace('0X', '0x')]
  if (method !== 'eth_signTypedData_v4') throw new Error(`no call of the page: ${method}`)
  const data = JSON.parse(params[1])
  wallet.shown.push(data)
  return signTypedData({
    privateKey: Buffer.from(privateKey(wallet.number)),
    data,
    version: SignTypedDataVersion.V4,
  })
}

withBrowser('wallets that people already have', () => {
  const site = devnetPages({ fast: true, balance: '20000000token' })
  let svc: Svc
  const [first, second] = [ethWallet(1).address, ethWallet(2).address]
  const addressOf = (index: number): string => site.net.accounts[index]?.address as string

  beforeAll(async () => {
    svc = new Svc(site.net.url)
    // The second buys the shares of the devnet's candidacy.
    const { data } = await svc.async.stake.validator.query(addressOf(0))
    const value = Svc.fromTokens('20000')
    await svc.async.transfer({ from: addressOf(1), to: first, value })
    await svc.async.transfer({ from: addressOf(1), to: second, value: value + BigInt(data?.shares ?? 0) })
  })

  /** Opens a page with a wallet in it. */
  async function openWith(number: number, view: string, options?: BrowserContextOptions) {
    const web = await site.open('', options)
    const wallet: TestWallet = { number, isRefusing: false, shown: [] }
    await web.page.exposeFunction('walletRequest', (call: Call) => {
      if (wallet.isRefusing) return { error: { code: 4001, message: 'User rejected the request.' } }
      return { result: answer(wallet, call) }
    })
    await web.page.addInitScript(ANNOUNCE)
    await web.page.reload()
    await web.goTo(view)
    return { ...web, wallet }
  }

  async function connect({ page }: Pick<WebPage, 'page'>): Promise<void> {
    await openWay(page, 'Connect wallet')
    await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  test('lists the wallets that announce themselves, as text; a refusal is said and nothing is lost', async () => {
    const { page, wallet } = await openWith(1, `send?to=${addressOf(2)}&value=1.5`, PHONE)
    await openWay(page, 'Connect wallet')
    const list = page.locator('.pick li', { hasText: 'calls itself' })
    await list.first().waitFor()
    expect(await list.locator('.user-text').allTextContents()).toEqual([
      'Test Wallet',
      '<img src=x onerror="globalThis.hacked=1">'.slice(0, 40),
    ])
    expect(await findings(page)).toEqual([])
    wallet.isRefusing = true
    await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
    await page.getByText('You refused it in the wallet.').waitFor()
    wallet.isRefusing = false
    await page.getByRole('button', { name: 'Connect Test Wallet' }).click()
    await page.getByRole('button', { name: 'is open. Show the wallet' }).click()
    expect(await page.getByRole('radio', { name: `Act as ${first}` }).isChecked()).toBe(true)
    await page.getByRole('dialog').getByText('in a wallet', { exact: true }).waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Your wallet will show it too').waitFor()
    wallet.isRefusing = true
    await signSheet(page)
    await page.getByText('You refused it in the wallet. Nothing was sent.').waitFor()
    expect(await page.getByRole('region', { name: 'Your transactions' }).count()).toBe(0)
    wallet.isRefusing = false
    expect(await signAndClose(page)).toBe(`Send 1.5 token to ${addressOf(2)}.`)
    expect(wallet.shown).toMatchObject([
      {
        primaryType: 'Transfer',
        message: { from: first, nonce: '0', to: addressOf(2), value: String(Svc.fromTokens('1.5')) },
      },
    ])
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
  })

  test('declares and delegates; with another account of the wallet takes a candidacy over, proposes and votes', async () => {
    const { page, goTo, wallet } = await openWith(1, 'validators/declare')
    await connect({ page })
    const pubKey = deadKey()
    await page.getByLabel("Public key of the validator's node").fill(pubKey)
    await page.getByLabel('Name').fill('Elm')
    await page.getByRole('button', { name: 'Declare', exact: true }).click()
    await page.getByText('Your wallet will show it too').waitFor()
    await signAndClose(page)
    await page.getByRole('heading', { level: 1, name: /Elm/ }).waitFor()

    await goTo(`validators/${addressOf(0)}/stake`)
    await page.getByLabel('Amount').fill('25')
    await page.locator('main').getByRole('button', { name: 'Stake' }).click()
    expect(await signAndClose(page)).toBe(`Stake 25 token with the validator ${addressOf(0)}.`)
    await page.getByRole('row', { name: /devnet/ }).waitFor()

    await svc.async.stake.validator.updateAccount({ from: addressOf(0), newCandidateAccount: second })
    wallet.number = 2
    await page.evaluate(`walletEmit('accountsChanged', ['${second}'])`)
    await page.getByRole('button', { name: 'Accept request 1' }).click()
    await signAndClose(page)
    expect((await svc.async.stake.validator.query(second)).data).not.toBeNull()

    await goTo('proposals/new/change_param')
    await page.getByLabel('Parameter', { exact: true }).selectOption({ label: 'max_vals: 4 validators' })
    await page.getByLabel('New value').fill('9')
    await page.getByRole('button', { name: 'Propose' }).click()
    await signSheet(page)
    await page.getByRole('heading', { name: 'Set max_vals to 9 validators' }).waitFor()
    await page.getByRole('button', { name: 'Vote yes' }).click()
    await signSheet(page)
    await page.locator('.status-line').getByText('Approved').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    expect(wallet.shown.map(({ primaryType, message: { from } }) => [primaryType, from])).toEqual([
      ['DeclareCandidacy', first],
      ['Delegate', first],
      ['AcceptCandidacyAccountUpdate', second],
      ['ProposeChangeParam', second],
      ['Vote', second],
    ])

    await page.evaluate(`walletEmit('disconnect', { code: 4900 })`)
    await page.getByRole('button', { name: 'Open wallet' }).first().waitFor()
  })

  test('two of two, a key of the page and a wallet, send a transfer that is passed on as a link', async () => {
    const { page, goTo } = await site.open('', { acceptDownloads: true })
    const own = new Svc(site.net.url).accounts.add(OWN_KEY)
    await openKey(page, OWN_KEY)
    await openWay(page, 'Several keys')
    await page.getByRole('button', { name: 'Make the account' }).click()
    await page.getByText('Members: expected 2 to 16, got 0').waitFor()
    await page.getByLabel('Members').fill(first)
    await page.getByRole('button', { name: /^Add 0x/ }).click()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Make the account' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const signed = signerOfSeed(Buffer.from(OWN_KEY, 'hex'))
    const members = [signed.member, addressBytes(first)].sort(compareBytes)
    const multisig = encodeMultisig({ threshold: 2, members })
    const from = multisigAddress(multisig)
    await svc.async.transfer({ from: addressOf(1), to: from, value: Svc.fromTokens('10') })
    await goTo('account')
    await page.getByText('2 of these 2 have to').waitFor()
    await page.locator('main').getByText(from).waitFor()
    expect(await page.evaluate('localStorage.getItem("svcd-several")')).not.toContain(OWN_KEY)

    await goTo(`send?to=${addressOf(3)}&value=2.5`)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('2 of 2 keys have to sign it.').waitFor()
    await page.getByRole('button', { name: 'Go on to the signatures' }).click()
    await page.getByText('2 are missing').waitFor()
    await page.getByText('To sign, open the account of a member').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Sign as ${own}` }).click()
    await page.getByText('one is missing').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as a file' }).click()
    const file = await (await downloading).path()
    const link = page.url()

    const other = await openWith(1, `sign/${new URL(link).hash.split('/')[2]}`, PHONE)
    await other.page.getByText(`Send 2.5 token to ${addressOf(3)}.`).waitFor()
    await connect(other)
    other.wallet.isRefusing = true
    await other.page.getByRole('button', { name: `Sign as ${first}` }).click()
    await other.page.getByText('You refused it in the wallet. Nothing was signed.').waitFor()
    expect(await findings(other.page)).toEqual([])
    other.wallet.isRefusing = false
    await other.page.getByRole('button', { name: `Sign as ${first}` }).click()
    await other.page.getByText('Enough have signed.').waitFor()
    expect(other.wallet.shown).toMatchObject([{ primaryType: 'Transfer', message: { from, nonce: '0' } }])
    const before = BigInt(await svc.async.getBalance(addressOf(3)))
    await other.page.getByRole('button', { name: 'Send', exact: true }).click()
    await other.page.locator('main').getByRole('status').getByText('Done, in block').waitFor()
    expect(BigInt(await svc.async.getBalance(addressOf(3))) - before).toBe(Svc.fromTokens('2.5'))

    await goTo('sign')
    await page.getByLabel('File').setInputFiles(file)
    await page.getByText('Its nonce 0 has passed').waitFor()
    const body: TxBody = {
      chainId: 'another-chain',
      nonce: 1,
      from: addressBytes(from),
      operation: 'transfer',
      message: { to: addressBytes(first), value: '1' },
    }
    const draft = printDraft({ bodyBytes: encodeBody(body), body, multisig, parts: [] })
    await goTo(`sign/${Buffer.from(draft).toString('base64url')}`)
    await page.getByText('This is for the chain another-chain').waitFor()
    const strange: TxBody = {
      ...body,
      operation: 'proposeChangeParam',
      message: { name: 'max_vals', value: `\u202E${'<img src=x onerror="globalThis.hacked=1">'}`, reason: '' },
    }
    const ofStranger = printDraft({ bodyBytes: encodeBody(strange), body: strange, multisig, parts: [] })
    await goTo(`sign/${Buffer.from(ofStranger).toString('base64url')}`)
    await page.getByText('to [U+202E]<img src=x onerror="globalThis.hacked=1">.').waitFor()
    await page.getByText('proposeChangeParam', { exact: true }).waitFor()
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
    await goTo('sign/e30')
    await page.getByText('This is no transaction to be signed').waitFor()
  })

  test('a signature that is not of the transaction is no part of it, and is made again; what was refused is sent again', async () => {
    const { page, goTo, failures } = await site.open()
    const own = signerOfSeed(Buffer.from(OWN_KEY, 'hex'))
    const third = ethWallet(3)
    const members = [own.member, addressBytes(first), addressBytes(third.address)].sort(compareBytes)
    const multisig = encodeMultisig({ threshold: 2, members })
    const body: TxBody = {
      chainId: site.net.chainId,
      nonce: 0,
      from: addressBytes(multisigAddress(multisig)),
      operation: 'transfer',
      message: { to: addressBytes(first), value: '1' },
    }
    const at = (member: Uint8Array): number => members.findIndex((one) => compareBytes(one, member) === 0)
    const parts = [
      // Of another transaction of the same account.
      { member: at(own.member), signature: own.signBody({ ...body, nonce: 1 }) },
      { member: at(addressBytes(third.address)), signature: third.sign(body) },
    ].sort((a, b) => a.member - b.member)
    const draft = printDraft({ bodyBytes: encodeBody(body), body, multisig, parts })
    await goTo(`sign/${Buffer.from(draft).toString('base64url')}`)
    await page.getByText(`The signature that came as that of ${own.address}`).waitFor()
    const row = (address: string) => page.locator('main li.row', { hasText: address })
    expect(await row(own.address).getByText('wrong signature').count()).toBe(1)
    expect(await row(third.address).getByText('signed', { exact: true }).count()).toBe(1)
    await page.getByText('one is missing').waitFor()
    expect(await page.getByRole('button', { name: 'Send', exact: true }).count()).toBe(0)
    expect(await findings(page)).toEqual([])
    await openKey(page, OWN_KEY)
    await page.getByRole('button', { name: `Sign as ${own.address}` }).click()
    await page.getByText('Enough have signed.').waitFor()
    // It is checked behind the next frame.
    await row(own.address).getByText('signed', { exact: true }).waitFor()
    expect(await page.getByText('wrong signature').count()).toBe(0)

    const send = page.getByRole('button', { name: 'Send', exact: true })
    await send.click()
    await page.locator('main').getByText('The chain refused it').waitFor()
    await svc.async.transfer({ from: addressOf(1), to: multisigAddress(multisig), value: Svc.fromTokens('1') })
    await send.click()
    await page.locator('main').getByText('Done, in block').waitFor()
    expect(failures).toEqual([])
  })
})
