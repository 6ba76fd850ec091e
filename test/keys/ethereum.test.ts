import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { encryptKeystoreJsonSync, HDNodeWallet, Wallet } from 'ethers'
import { compareBytes, toHex } from '../../src/base/bytes.ts'
import { openKey, openSigner } from '../../src/cli/keySigner.ts'
import { isPrivateKey, ownerOfPrivateKey, privateKeyOfMnemonic } from '../../src/keys/ethereum.ts'
import { addKeyFile, addMultisigFile, findAccount, findKey, listKeyFiles, readKeyFile } from '../../src/keys/files.ts'
import { createKeystore, ownerOfSeed, readKeystore, sealSecret } from '../../src/keys/keystore.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { multisigAccount, printMultisig, readMultisig } from '../../src/keys/multisig.ts'
import { parseMember, printMember } from '../../src/tx/multisig.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'
import { decodeTx, type TxBody } from '../../src/tx/envelope.ts'
import { addressBytes } from '../../src/values/address.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { ethWallet, privateKey } from '../support/wallet.ts'

const WEAK = { kdf: 'scrypt', n: 2, r: 8, p: 1 } as const
const ETHEREUM_0 = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const seal = (secret: Uint8Array) => sealSecret(secret, ownerOfPrivateKey(secret), 'x', WEAK)

const transferOf = (nonce: number): Omit<TxBody, 'from'> => ({
  chainId: 'c',
  nonce,
  operation: 'transfer',
  message: { to: new Uint8Array(20).fill(2), value: '5' },
})

describe('keys of Ethereum', () => {
  test("a mnemonic gives the accounts of Ethereum's path, as ethers derives them", async () => {
    expect(ownerOfPrivateKey(await privateKeyOfMnemonic(PUBLIC_MNEMONIC, 0))).toEqual({
      address: ETHEREUM_0,
      curve: 'secp256k1',
    })
    for (const index of [1, 7, 999_999_999]) {
      const { address } = HDNodeWallet.fromPhrase(PUBLIC_MNEMONIC, '', `m/44'/60'/0'/0/${index}`)
      expect(ownerOfPrivateKey(await privateKeyOfMnemonic(PUBLIC_MNEMONIC, index)).address).toBe(address.toLowerCase())
    }
    await expect(privateKeyOfMnemonic(`${PUBLIC_MNEMONIC} zebra`, 0)).rejects.toThrow(/^(?!.*zebra)mnemonic: expected/)
  })

  test('a number that is no private key is none', () => {
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
    for (const hex of ['00'.repeat(32), order, 'ff'.repeat(32), '01'])
      expect([hex, isPrivateKey(new Uint8Array(Buffer.from(hex, 'hex')))]).toEqual([hex, false])
    expect(() => ownerOfPrivateKey(new Uint8Array(32))).toThrow('private key')
  })

  test('a key of the keystore signs as @metamask/eth-sig-util does, and a node takes it', () => {
    const signer = openSigner({ keystore: seal(privateKey(1)) }, 'x')
    const wallet = ethWallet(1)
    expect(signer.address).toBe(wallet.address)
    // Of forty signatures about half have each parity.
    for (let nonce = 0; nonce < 40; nonce++) {
      const bytes = signer.signTx(transferOf(nonce))
      const tx = decodeTx(bytes)
      expect('why' in tx || isSignedBySender(tx)).toBe(true)
      expect(toHex(bytes)).toBe(toHex(wallet.signTx(transferOf(nonce))))
    }
    const refused = { ...transferOf(0), message: { to: new Uint8Array(20), value: '05' } }
    expect(() => signer.signTx(refused)).toThrow('transfer: it has a field that the chain refuses')
  })

  test('a keystore of ethers opens, and one whose address is of another key does not', () => {
    const wallet = new Wallet(`0x${toHex(privateKey(2))}`)
    const text = encryptKeystoreJsonSync(wallet, 'x', { scrypt: { N: 2, r: 8, p: 1 } })
    const keystore = readKeystore(text)
    expect([keystore.curve, keystore.address]).toEqual(['secp256k1', wallet.address.toLowerCase()])
    expect(openKey(keystore, 'x')).toEqual(privateKey(2))
    expect(() => openKey({ ...keystore, address: ethWallet(1).address }, 'x')).toThrow('is not the address of the key')
    expect(() => openKey(keystore, 'y')).toThrow('the password is wrong')
  })

  test('a keystore without an address, as Foundry writes it, can be imported, but is none of ours', () => {
    const { address: _, ...json } = JSON.parse(
      encryptKeystoreJsonSync(new Wallet(`0x${toHex(privateKey(2))}`), 'x', { scrypt: { N: 2, r: 8, p: 1 } }),
    ) as Record<string, unknown>
    const text = JSON.stringify(json)
    expect(openKey(readKeystore(text, true), 'x')).toEqual(privateKey(2))
    expect(() => readKeystore(text)).toThrow('address: expected 40 hex digits')
    const ofEd25519 = JSON.stringify({ ...json, curve: 'ed25519' })
    expect(() => readKeystore(ofEd25519, true)).toThrow('address: expected 40 hex digits')
    expect(() => readKeystore({ ...json, address: 'f39f' }, true)).toThrow('address: expected 40 hex digits')
  })
})

describe('files of accounts of several keys', () => {
  let folder: string
  let remove: () => void
  beforeEach(() => {
    ;({ path: folder, remove } = tempFolder('keys'))
  })
  afterEach(() => remove())

  const alice = createKeystore(new Uint8Array(32).fill(1), 'x', WEAK)
  const members = [parseMember(alice.public_key ?? ''), addressBytes(ethWallet(1).address)] as Uint8Array[]
  const account = multisigAccount({ threshold: 2, members: members.sort(compareBytes) })

  test('a new key file has its public key, and that of an Ethereum account has none', () => {
    expect(alice.public_key).toBe(ownerOfSeed(new Uint8Array(32).fill(1)).public_key)
    expect(seal(privateKey(1)).public_key).toBeUndefined()
  })

  test('an account stands beside the keys: listed, found by name and address, and no key', () => {
    addKeyFile(folder, 'alice', alice)
    const path = addMultisigFile(folder, 'team', account)
    expect(readMultisig(JSON.parse(readFileSync(path, 'utf8')))).toEqual(account)
    expect(listKeyFiles(folder).map((one) => ['account' in one, one.name])).toEqual([
      [false, 'alice'],
      [true, 'team'],
    ])
    for (const name of ['team', account.address])
      expect(findAccount(folder, name)).toEqual({ name: 'team', path, account })
    expect(() => findKey(folder, 'team')).toThrow('team is an account of several keys')
    expect(() => addMultisigFile(folder, 'again', account)).toThrow(`${account.address}, named team`)
    expect(() => readKeyFile(path)).toThrow('version: expected 3')
  })

  test('a member is text, and text a member', () => {
    for (const member of members) expect(parseMember(printMember(member))).toEqual(member)
    for (const text of ['', 'alice', 'AAAA', '0x12']) expect(parseMember(text)).toBeUndefined()
  })

  test.each([
    ['another address', { ...printMultisig(account), address: ethWallet(2).address }, /address: expected 0x/],
    ['another threshold', { ...printMultisig(account), threshold: 1 }, /address: expected 0x/],
    ['a threshold that is text', { ...printMultisig(account), threshold: '2' }, /threshold: expected a number/],
    ['a threshold above the members', { ...printMultisig(account), threshold: 3 }, /threshold: expected 1 to the 2/],
    ['a member that is none', { ...printMultisig(account), members: ['alice', 'bob'] }, /members: expected keys/],
    ['no members', { ...printMultisig(account), members: undefined }, /members: expected 2 to 16, got 0/],
  ])('a file with %s cannot be used, and the list says so', (_what, content, why) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'team.json'), JSON.stringify(content), { mode: 0o600 })
    expect(listKeyFiles(folder)).toEqual([
      expect.objectContaining({ name: 'team', problem: expect.stringMatching(why) }),
    ])
    expect(() => findAccount(folder, 'team')).toThrow(why)
  })
})
