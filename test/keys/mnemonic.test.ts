import { describe, expect, test } from '@jest/globals'
import { entropyToMnemonic, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { deriveSeed, faultOfMnemonic, PUBLIC_MNEMONIC, seedOfMnemonic } from '../../src/keys/mnemonic.ts'
import { keyPairOfSeed as inBrowser, signDetached as signInBrowser } from '../../src/base/ed25519.browser.ts'
import { keyPairOfSeed, signDetached } from '../../src/base/ed25519.ts'
import { decodeTx, encodeBody, signBytes, txHash } from '../../src/tx/envelope.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'

describe('derivation', () => {
  // SLIP-0010, test vectors 1 and 2 for ed25519: path below the seed, private key.
  const seed1 = '000102030405060708090a0b0c0d0e0f'
  const seed2 =
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a2' +
    '9f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542'
  test.each([
    [seed1, [], '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7'],
    [seed1, [0], '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3'],
    [seed1, [0, 1], 'b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2'],
    [seed1, [0, 1, 2], '92a5b23c0b8a99e37d07df3fb9966917f5d06e02ddbd909c7e184371463e9fc9'],
    [seed1, [0, 1, 2, 2], '30d1dc7e5fc04c31219ab25a27ae00b50f6fd66622f6e9c913253d6511d1e662'],
    [seed1, [0, 1, 2, 2, 1000000000], '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793'],
    [seed2, [], '171cb88b1b3c1db25add599712e36245d75bc65a1a5c9e18d76f9f2b1eab4012'],
    [seed2, [0], '1559eb2bbec5790b0c65d8693e4d0875b1747f4970ae8b650486ed7470845635'],
    [seed2, [0, 2147483647], 'ea4f5bfe8694d8bb74b7b59404632fd5968b774ed545e810de9c32a4fb4192f4'],
    [seed2, [0, 2147483647, 1, 2147483646, 2], '551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d'],
  ])('SLIP-0010 vectors: %s below %j', (seed, path, key) => {
    expect(toHex(deriveSeed(fromHex(seed) as Uint8Array, path))).toBe(key)
  })

  test('an index that cannot be hardened is refused', () => {
    for (const index of [-1, 0.5, 2 ** 31]) {
      expect(() => deriveSeed(new Uint8Array(16), [index])).toThrow('path: expected an index from 0 to 2^31 - 1')
    }
  })

  // The official vectors of BIP-0039, whose passphrase is TREZOR: entropy, words, seed.
  test.each([
    [
      '00000000000000000000000000000000',
      `${'abandon '.repeat(11)}about`,
      'c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e5349553' +
        '1f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04',
    ],
    [
      '7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f',
      'legal winner thank year wave sausage worth useful legal winner thank yellow',
      '2e8905819b8723fe2c1d161860e5ee1830318dbf49a83bd451cfb8440c28bd6f' +
        'a457fe1296106559a3c80937a1c1069be3a3a5bd381ee6260e8d9739fce1f607',
    ],
    [
      'ffffffffffffffffffffffffffffffff',
      `${'zoo '.repeat(11)}wrong`,
      'ac27495480225222079d7be181583751e86f571027b0497b5b5d11218e0a8a13' +
        '332572917f0f8e5a589620c6f15b11c61dee327651a14c34e18231052e48c069',
    ],
  ])('BIP-0039 vectors: %s', (entropy, words, seed) => {
    expect(entropyToMnemonic(fromHex(entropy) as Uint8Array, wordlist)).toBe(words)
    expect(toHex(mnemonicToSeedSync(words, 'TREZOR'))).toBe(seed)
  })

  test('accounts of the public mnemonic are what the README shows', () => {
    expect(signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, 0)).address).toBe('0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27')
    expect(signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, 1)).address).toBe('0xe3ec4a3291a2afef136a1f347e8f5a596ae48497')
  })

  test('words that are no mnemonic are refused and not repeated', () => {
    const secret = 'zebra zebra zebra zebra zebra zebra zebra zebra zebra zebra zebra zebra'
    expect(() => seedOfMnemonic(secret, 0)).toThrow('12 to 24 English BIP-39 words')
    expect(() => seedOfMnemonic(secret, 0)).not.toThrow('zebra')
  })
})

describe('signing', () => {
  const seed = fromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60') as Uint8Array

  test('RFC 8032, test 1, with both implementations', () => {
    const signature =
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
      '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'
    for (const [keys, sign] of [
      [keyPairOfSeed, signDetached],
      [inBrowser, signInBrowser],
    ] as const) {
      const pair = keys(seed)
      expect(toHex(pair.publicKey)).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
      expect(toHex(sign(new Uint8Array(0), pair.secretKey))).toBe(signature)
    }
  })

  test("a signed transaction decodes to what was signed, and is its sender's", () => {
    const signer = signerOfSeed(seed)
    const bytes = signer.signTx({ chainId: 'c', nonce: 3, operation: 'withdrawCandidacy', message: {} })
    const tx = decodeTx(bytes)
    if ('why' in tx) throw new Error(tx.why)
    expect(tx.body).toMatchObject({ chainId: 'c', nonce: 3, operation: 'withdrawCandidacy', message: {} })
    expect(isSignedBySender(tx)).toBe(true)
    expect(isSignedBySender({ ...tx, signature: new Uint8Array([...tx.signature, 0]) })).toBe(false)
    expect(isSignedBySender({ ...tx, bodyBytes: encodeBody({ ...tx.body, nonce: 4 }) })).toBe(false)
    expect(isSignedBySender({ ...tx, body: { ...tx.body, from: new Uint8Array(20) } })).toBe(false)
    expect(txHash(bytes)).toMatch(/^[0-9A-F]{64}$/)
  })

  test('what is signed begins with the purpose, so that a signature serves no other', () => {
    expect(new TextDecoder().decode(signBytes(new Uint8Array(0)))).toBe('svc/tx/v1\n')
  })
})

test.each([
  ['legal winner thank year wave sausage worth useful legal winner thank yellow', undefined],
  ['legal winner thank year wave sausages worth useful legal winner thank yellow', 'Word 6, “sausages”, is not'],
  [`legal ${'x'.repeat(500)}`, `Word 2, “${'x'.repeat(20)}”, is not`],
  ['', 'Word 1, “”, is not'],
  ['legal', 'This is one word.'],
  ['legal winner thank year wave sausage worth useful legal winner thank', 'These are 11 words.'],
  ['legal winner thank year wave sausage worth useful legal winner yellow thank', 'The checksum of the words fails'],
])('what is wrong with %j is said', (words, why) => {
  const fault = faultOfMnemonic(words)
  if (why === undefined) expect(fault).toBeUndefined()
  else expect(fault).toContain(why)
})
