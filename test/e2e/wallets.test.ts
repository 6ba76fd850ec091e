import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { Wallet } from 'ethers'
import { privateKeyToAccount } from 'viem/accounts'
import { toBase64, toHex } from '../../src/base/bytes.ts'
import { ethersSigner, type KeySigner, providerSigner, Svc, viemSigner } from '../../src/client/index.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { type Draft, parseDraft, printDraft, signDraft } from '../../src/tx/draft.ts'
import { encodeBody } from '../../src/tx/envelope.ts'
import { run as startCommand } from '../cli/support.ts'
import { goodTransfer, signerRows, TEAM_ADDRESS } from '../conformance/signerRows.ts'
import { browserWallet, hexKey, privateKey } from '../support/wallet.ts'
import type { TransactionResult } from '../../src/tx/result.ts'
import { type Devnet, type Ended, makePlace, startDevnet, svcd } from './support/devnet.ts'
import { expectRefused } from './support/expect.ts'
import { freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

type Json = Readonly<Record<string, unknown>>

const folder = testFolder(() => net.stop())
const metaMask = browserWallet([21, 22])
const WALLETS: readonly (readonly [string, () => Promise<KeySigner>])[] = [
  ['@metamask/eth-sig-util behind an EIP-1193 provider', () => providerSigner(metaMask)],
  ['viem', async () => viemSigner(privateKeyToAccount(hexKey(23)))],
  ['ethers', () => ethersSigner(new Wallet(hexKey(24)))],
]
let net: Devnet
let owner = ''
let rich = ''
let proposalId = ''
let chainId = ''

const newKey = (): string => randomBytes(32).toString('base64')
const tokens = (count: number): string => Svc.fromTokens(String(count)).toString()
const fund = async (to: string, count: number): Promise<unknown> =>
  net.commit('svc_transfer', { from: rich, to, value: tokens(count) })
const validator = async (address: string): Promise<Json | null> =>
  (await net.call<{ data: Json | null }>('svc_queryValidator', [address])).data

beforeAll(async () => {
  net = await startDevnet(await makePlace(folder), ['--os', 'ubuntu', '--balance', '100000000token'])
  ;[owner = '', rich = ''] = await net.call<string[]>('svc_accounts')
  const proposed = await net.commit('svc_proposeChangeParam', { from: owner, name: 'max_vals', value: '8' })
  proposalId = proposed.deliver_tx.data ?? ''
  chainId = (await net.call<{ chain_id: string }>('svc_status')).chain_id
})

describe('wallets that sign with code that is not ours', () => {
  test.each(WALLETS)(
    '%s: its account transfers, declares, updates, delegates, hands over and votes',
    async (_name, open) => {
      const signer = await open()
      await fund(signer.address, 5000)
      const svc = new Svc(net.url, { signer })
      const { stake } = svc.async
      const to = `0x${toHex(randomBytes(20))}`
      await svc.async.transfer({ to, value: tokens(1) })
      expect(await svc.async.getBalance(to)).toBe(tokens(1))
      const key = newKey()
      await stake.validator.declare({
        pubKey: key,
        description: { name: 'né', website: 'https://a.example' },
        compRate: '0.50',
      })
      await stake.validator.update({ description: { location: 'here' }, maxAmount: tokens(11_000) })
      await stake.validator.deactivate({})
      expect(await validator(signer.address)).toMatchObject({
        owner_address: signer.address,
        pub_key: { value: key },
        active: 'N',
        description: { name: 'né', location: 'here' },
      })
      await stake.validator.activate({})
      await stake.delegator.accept({
        validatorAddress: owner,
        amount: tokens(10),
      })
      const { deliver_tx: request } = await stake.validator.updateAccount({ newCandidateAccount: rich })
      expect(Number(Buffer.from(request.data ?? '', 'base64').toString())).toBeGreaterThan(0)
      const { height } = await svc.async.governance.vote({ proposalId, answer: 'Y' })
      expect(height).toBeGreaterThan(0)
    },
  )

  test('what MetaMask was shown is every field, under the name of the chain', () => {
    const shown = metaMask.shown.map((text) => JSON.parse(text) as { primaryType: string; message: Json })
    expect(shown.map(({ primaryType }) => primaryType).slice(0, 3)).toEqual([
      'Transfer',
      'DeclareCandidacy',
      'UpdateCandidacy',
    ])
    for (const { message } of shown) expect(message['chain']).toBe(chainId)
  })

  test("a wallet takes over the devnet's validator, proposes and votes", async () => {
    const signer = viemSigner(privateKeyToAccount(hexKey(25)))
    await fund(signer.address, 20_000_000)
    const { deliver_tx: asked } = await net.commit('svc_updateCandidacyAccount', {
      from: owner,
      newCandidateAccount: signer.address,
    })
    const svc = new Svc(net.url, { signer })
    const accountUpdateRequestId = Number(Buffer.from(asked.data ?? '', 'base64').toString())
    await svc.async.stake.validator.acceptAccountUpdate({ accountUpdateRequestId })
    const { deliver_tx: made } = await svc.async.governance.proposeChangeParam({ name: 'max_vals', value: '9' })
    await svc.async.governance.vote({ proposalId: made.data ?? '', answer: 'Y' })
    const { data } = await net.call<{ data: readonly Json[] }>('svc_queryProposals')
    expect(data.find((one) => one['Id'] === made.data)).toMatchObject({ Result: 'Approved', Proposer: signer.address })
  })
})

describe('signatures of an account of several keys', () => {
  test('what two of the three signed is executed', async () => {
    await fund(TEAM_ADDRESS, 10)
    const bytes = toBase64(goodTransfer(chainId))
    expect(await net.call<TransactionResult>('svc_sendRawTransaction', [bytes])).toMatchObject({
      check_tx: { fee: {} },
    })
    expect(await net.call('svc_getTransactionCount', [TEAM_ADDRESS])).toBe(1)
  })

  const NAMES = signerRows('').map(([name]) => name)
  test.each(NAMES)('%s: a gateway answers code and log, and nothing is sent', async (name) => {
    const [, code, log, bytes] = signerRows(chainId).find(([one]) => one === name) ?? ['', 0, '', new Uint8Array(0)]
    expectRefused(await net.call<TransactionResult>('svc_sendRawTransaction', [toBase64(bytes)]), code, log)
    expect(await net.call('svc_getTransactionCount', [TEAM_ADDRESS])).toBe(1)
  })
})

describe('a candidacy of two of three people', () => {
  const password = join(folder, 'password.txt')
  const keystore = join(folder, 'keys')
  const file = join(folder, 'tx.json')
  const key = newKey()
  let team = ''

  const personEnv = (): NodeJS.ProcessEnv => ({
    ...process.env,
    SVCD_HOME: join(folder, 'person'),
    SVCD_KEYSTORE: keystore,
    SVCD_GATEWAY: net.url,
    SVCD_PASSWORD_FILE: password,
  })
  const run = (...args: readonly string[]): Promise<Ended> => svcd(args, personEnv())
  const done = async (...args: readonly string[]): Promise<string> => {
    const ended = await run(...args)
    expect([args, ended]).toMatchObject([args, { status: 0 }])
    return ended.stdout
  }
  const refused = async (why: RegExp | string, ...args: readonly string[]): Promise<void> => {
    const ended = await run(...args)
    expect([args, ended]).toMatchObject([args, { status: expect.any(Number), stdout: '' }])
    expect(ended.stderr).toMatch(why)
    expect(ended.status).not.toBe(0)
  }
  const draft = (): Draft => {
    const read = parseDraft(readFileSync(file, 'utf8'))
    if ('why' in read) throw new Error(read.why)
    return read
  }
  const sign = (name: string): Promise<string> => done('tx', 'sign', file, '--from', name, '--yes')
  /** Signs the file with MetaMask, as somebody without svcd does. */
  const signWithMetaMask = async (): Promise<void> => {
    const signed = await signDraft(draft(), await providerSigner(metaMask))
    if ('why' in signed) throw new Error(signed.why)
    writeFileSync(file, printDraft(signed))
  }
  const write = (...args: readonly string[]): Promise<string> =>
    done('tx', ...args, '--from', 'team', '--unsigned', file)

  test('keys: one of ed25519, one in MetaMask, and one imported from Ethereum', async () => {
    writeFileSync(password, 'correct horse\n', { mode: 0o600 })
    const secret = join(folder, 'secret.txt')
    await done('keys', 'new', 'alice')
    writeFileSync(secret, `0x${toHex(privateKey(26))}\n`, { mode: 0o600 })
    await done('keys', 'import', 'carol', '--ethereum', '--private-key', '--secret-file', secret)
    writeFileSync(secret, `${PUBLIC_MNEMONIC}\n`)
    await done('keys', 'import', 'mallory', '--ethereum', '--mnemonic', '--secret-file', secret)
    const { address } = await providerSigner(metaMask)
    team = (
      JSON.parse(await done('keys', 'multisig', 'team', '--threshold', '2', 'alice', 'carol', address, '--json')) as {
        address: string
      }
    ).address
    expect(await done('keys', 'show', 'team')).toMatch(/signers +2 of 3/)
    await fund(team, 20_000)
  })

  test('it declares a candidacy, with one ed25519 signature and one of MetaMask', async () => {
    const transfer = `tx transfer --from team --to ${team} --value 1`.split(' ')
    await refused(/team is an account of several keys: .*--unsigned FILE/, ...transfer)
    await write('stake', 'declare', '--pub-key', key, '--description-name', 'The team')
    await refused(/2 signature\(s\) missing: signed by nobody/, 'tx', 'send', file)
    const { stderr } = await run('tx', 'sign', file, '--from', 'alice', '--yes')
    for (const shown of [/operation +declareCandidacy/, /description\.name +The team/, key, chainId, team, /nonce +0/])
      expect(stderr).toMatch(shown)
    await refused(/1 signature\(s\) missing: signed by alice \(0x/, 'tx', 'send', file)
    await refused(/has signed already/, 'tx', 'sign', file, '--from', 'alice', '--yes')
    await refused(/is no member of/, 'tx', 'sign', file, '--from', 'mallory', '--yes')
    await signWithMetaMask()
    expect(await done('tx', 'send', file)).toMatch(/^result +ok/)
    expect(await validator(team)).toMatchObject({ pub_key: { value: key }, description: { name: 'The team' } })
  })

  test('it raises it, with the two keys of Ethereum', async () => {
    await write('stake', 'update', '--max-amount', '20000token')
    await signWithMetaMask()
    await sign('carol')
    await done('tx', 'send', file)
    expect(await validator(team)).toMatchObject({ max_shares: tokens(20_000) })
  })

  test('a draft of another chain is not sent, and nothing but the bytes is believed', async () => {
    await write('stake', 'deactivate')
    await sign('alice')
    await sign('carol')
    const given = draft()
    const body = { ...given.body, chainId: 'other' }
    // Members of a team that is misled sign what is shown to them: the chain stands in it.
    writeFileSync(file, printDraft({ ...given, parts: [], body, bodyBytes: encodeBody(body) }))
    await sign('alice')
    await sign('carol')
    await refused(/the transaction is for the chain other, and the gateway is of /, 'tx', 'send', file)
    const changed = { ...given.body, operation: 'activateCandidacy', message: {} }
    writeFileSync(file, printDraft({ ...given, body: changed, bodyBytes: encodeBody(changed) }))
    await refused(/the signature of 0x[0-9a-f]{40} is not one of this transaction/, 'tx', 'send', file)
  })

  test('it hands it over to the key of a person', async () => {
    const { address } = JSON.parse(await done('keys', 'show', 'carol', '--json')) as { address: string }
    await fund(address, 20_000)
    await write('stake', 'update-account', '--new-candidate-account', address)
    await sign('alice')
    await sign('carol')
    const [, request] = /request id +(\d+)/.exec(await done('tx', 'send', file)) ?? []
    await done(...`tx stake accept-account-update --from carol --account-update-request-id ${request}`.split(' '))
    expect([await validator(team), await validator(address)]).toEqual([
      null,
      expect.objectContaining({ owner_address: address, pub_key: expect.objectContaining({ value: key }) }),
    ])
  })

  test('a gateway signs with an unlocked key of Ethereum, and with no account of several keys', async () => {
    const [port = 0] = await freePorts(1)
    const token = join(folder, 'token.txt')
    writeFileSync(token, 'sixteen-letters-long\n', { mode: 0o600 })
    const node = `http://127.0.0.1:${net.place.ports[1]}`
    const args = ['gateway', '--listen', `127.0.0.1:${port}`, '--node', node, '--auth-token-file', token, '--no-page']
    await refused(/team is an account of several keys/, ...args, '--unlock', 'team')
    const gateway = await startCommand(
      { folder, env: personEnv(), remove: () => undefined },
      [...args, '--unlock', 'carol'],
      /gateway ready/,
    )
    try {
      const svc = new Svc({ url: `http://127.0.0.1:${port}`, token: 'sixteen-letters-long' })
      const [carol = ''] = await svc.async.getAccounts()
      expect(gateway.said()).toContain(`signs for ${carol}`)
      expect(await svc.async.transfer({ from: carol, to: team, value: tokens(1) })).toMatchObject({
        height: expect.any(Number),
      })
    } finally {
      await gateway.stop()
    }
  })

  test('--typed-data prints what the wallet signs, and sends nothing', async () => {
    const transfer = `tx transfer --from carol --to ${team} --value 1token --typed-data --nonce 7`.split(' ')
    const printed = JSON.parse(await done(...transfer)) as { primaryType: string; message: Json }
    expect([printed.primaryType, printed.message]).toEqual([
      'Transfer',
      expect.objectContaining({ chain: chainId, nonce: '7', to: team, value: tokens(1) }),
    ])
  })
})
