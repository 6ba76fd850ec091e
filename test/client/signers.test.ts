import { describe, expect, test } from '@jest/globals'
import { Wallet } from 'ethers'
import { privateKeyToAccount } from 'viem/accounts'
import { compareBytes, toHex } from '../../src/base/bytes.ts'
import { ed25519Signer } from '../../src/client/accounts.ts'
import { ethersSigner, multisigSigner, providerSigner, viemSigner } from '../../src/client/signers.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'
import { finishDraft, missingSignatures, parseDraft, printDraft, signDraft, type Draft } from '../../src/tx/draft.ts'
import { decodeTx, encodeBody, type TxBody } from '../../src/tx/envelope.ts'
import { encodeMultisig, multisigAddress } from '../../src/tx/multisig.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { addressBytes } from '../../src/values/address.ts'
import { browserWallet, ethWallet, hexKey } from '../support/wallet.ts'

const given: Omit<TxBody, 'from'> = {
  chainId: 'c',
  nonce: 2,
  operation: 'declareCandidacy',
  message: { pubKey: new Uint8Array(32).fill(1), description: { name: 'né' }, compRate: '0.50' },
}

/** Whether a node takes the bytes, and whom they are from. */
function read(bytes: Uint8Array): { readonly isSigned: boolean; readonly from: string } {
  const tx = decodeTx(bytes)
  if ('why' in tx) throw new Error(tx.why)
  return { isSigned: isSignedBySender(tx), from: `0x${toHex(tx.body.from)}` }
}

describe('signers of wallets', () => {
  test.each([0, 27])('an EIP-1193 wallet that takes %i from v signs, and shows every field', async (parity) => {
    const wallet = browserWallet([3, 4], parity)
    const signer = await providerSigner(wallet)
    expect(signer.address).toBe(ethWallet(3).address)
    expect(read(await signer.signTx(given))).toEqual({ isSigned: true, from: signer.address })
    const { message, primaryType } = JSON.parse(wallet.shown[0] as string) as Record<string, unknown>
    expect([primaryType, message]).toEqual([
      'DeclareCandidacy',
      {
        chain: 'c',
        from: signer.address,
        nonce: '2',
        pubKey: Buffer.alloc(32, 1).toString('base64'),
        description: { name: 'né' },
        compRate: '0.50',
      },
    ])
  })

  test('another account of the wallet is chosen by its address; one that it lacks is refused', async () => {
    const { address } = ethWallet(4)
    expect((await providerSigner(browserWallet([3, 4]), address)).address).toBe(address)
    await expect(providerSigner(browserWallet([3]), address)).rejects.toThrow(`wallet: it has no account ${address}`)
    await expect(providerSigner(browserWallet([]))).rejects.toThrow('wallet: expected an account, got none')
  })

  test('accounts of viem and ethers sign', async () => {
    for (const signer of [viemSigner(privateKeyToAccount(hexKey(5))), await ethersSigner(new Wallet(hexKey(5)))]) {
      expect(signer.address).toBe(ethWallet(5).address)
      expect(read(await signer.signTx(given))).toEqual({ isSigned: true, from: signer.address })
    }
  })

  test('a wallet is not asked to sign what the chain would refuse, also as a member: the call says why', async () => {
    const wallet = browserWallet([3])
    const signer = await providerSigner(wallet)
    const team = multisigSigner({ threshold: 1, members: [signer.member, new Uint8Array(32)] }, [signer])
    const [name, amount] = ['n'.repeat(129), String(10n ** 36n + 1n)]
    for (const one of [signer, team]) {
      await expect(
        (async () => one.signTx({ ...given, message: { ...given.message, description: { name } } }))(),
      ).rejects.toThrow(
        'the chain would refuse this transaction: description.name: expected at most 128 bytes, got 129',
      )
      await expect(
        (async () => one.signTx({ ...given, message: { ...given.message, maxAmount: amount } }))(),
      ).rejects.toThrow(/refuse this transaction: maxAmount: expected decimal text of 0 to 10+, got/)
    }
    expect(wallet.shown).toEqual([])
  })

  test('a wallet that answers no signature, or refuses, fails the call', async () => {
    const wallet = browserWallet([3])
    const signer = await providerSigner({
      request: async (call) => (call.method === 'eth_requestAccounts' ? wallet.request(call) : '0x00'),
    })
    await expect(signer.signTx(given)).rejects.toThrow('wallet: expected a signature of 65 bytes in hex')
  })
})

describe('accounts of several keys', () => {
  const ed = ed25519Signer(new Uint8Array(32).fill(1))
  const viem = viemSigner(privateKeyToAccount(hexKey(5)))
  const third = signerOfSeed(new Uint8Array(32).fill(2))
  const members = [ed, viem, third].map(({ member }) => member).sort(compareBytes)
  const account = { threshold: 2, members }

  test('as many of the signers as it needs are asked', async () => {
    const signer = multisigSigner(account, [ed, viem, third])
    expect(read(await signer.signTx(given))).toEqual({ isSigned: true, from: signer.address })
    const shuffled = { ...account, members: [...members].reverse() }
    expect(multisigSigner(shuffled, [ed, viem]).address).toBe(signer.address)
    expect(() => multisigSigner(account, [ed])).toThrow('multisig: expected signers of 2 members, got 1')
  })

  const multisig = encodeMultisig(account)
  const body: TxBody = { ...given, from: addressBytes(multisigAddress(multisig)) }
  const draft: Draft = { bodyBytes: encodeBody(body), body, multisig, parts: [] }
  const passed = (one: Draft): Draft => {
    const read = parseDraft(printDraft(one))
    if ('why' in read) throw new Error(read.why)
    return read
  }

  test('a draft goes from signer to signer as text, until enough have signed', async () => {
    expect([missingSignatures(draft), finishDraft(draft)]).toEqual([2, undefined])
    const once = passed((await signDraft(passed(draft), viem)) as Draft)
    expect(missingSignatures(once)).toBe(1)
    expect(await signDraft(once, viem)).toEqual({ why: `${viem.address} has signed already` })
    const stranger = signerOfSeed(new Uint8Array(32).fill(9))
    expect(await signDraft(once, stranger)).toEqual({
      why: `${stranger.address} is no member of ${multisigAddress(multisig)}`,
    })
    const twice = passed((await signDraft(once, ed)) as Draft)
    expect(read(finishDraft(twice) as Uint8Array)).toEqual({ isSigned: true, from: multisigAddress(multisig) })
    // One more than the threshold needs is left out.
    const thrice = (await signDraft(twice, third)) as Draft
    expect(read(finishDraft(thrice) as Uint8Array).isSigned).toBe(true)
  })

  test.each([ed, viem])('a draft of an account of one key is signed by it alone: %#', async (signer) => {
    const own: TxBody = { ...given, from: addressBytes(signer.address) }
    const single: Draft = { bodyBytes: encodeBody(own), body: own, multisig: undefined, parts: [] }
    expect(await signDraft(single, third)).toEqual({ why: `${third.address} is not the sender` })
    const signed = passed((await signDraft(passed(single), signer)) as Draft)
    expect(read(finishDraft(signed) as Uint8Array)).toEqual({ isSigned: true, from: signer.address })
  })

  test.each([
    ['no JSON', '{', /expected JSON/],
    ['another type', '{"type":"x"}', /^type/],
    ['a body that is none', JSON.stringify({ type: 'svcd/draft/1', body: 'AAAA' }), /^body/],
    ['another account', printDraft({ ...draft, multisig: encodeMultisig({ ...account, threshold: 1 }) }), /^multisig/],
    [
      'a member that it lacks',
      printDraft({ ...draft, parts: [{ member: 7, signature: new Uint8Array(64) }] }),
      /^signatures/,
    ],
    ['a key of 33 bytes', printDraft({ ...draft, publicKey: new Uint8Array(33) }), /^publicKey: expected/],
    ['a key that is no base64', JSON.stringify({ ...JSON.parse(printDraft(draft)), publicKey: '?' }), /^publicKey/],
  ])('%s is no draft', (_what, text, why) => {
    const found = parseDraft(text)
    expect('why' in found ? found.why : '').toMatch(why)
  })
})
