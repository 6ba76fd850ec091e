import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { addKeyFile, findKey, listKeyFiles, readKeyFile, removeKeyFile, replaceKeyFile } from '../../src/keys/files.ts'
import {
  isWeak,
  createKeystore,
  openKeystore,
  openSealed,
  readKeystore,
  readSealedSeed,
  deriveKey,
  KeystoreError,
} from '../../src/keys/keystore.ts'
import { newMnemonic, seedOfMnemonic } from '../../src/keys/mnemonic.ts'
import { tempFolder } from '../support/tempFolder.ts'

const WEAK = { kdf: 'scrypt', n: 1024, r: 8, p: 1 } as const
const seed = fromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60') as Uint8Array
const keystore = createKeystore(seed, 'correct horse', WEAK)

const problemOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return error instanceof KeystoreError ? error.problem : `threw ${String(error)}`
  }
  return 'none'
}

// The test vectors of the Web3 Secret Storage Definition and of go-ethereum's accounts/keystore (v3_test_vector.json):
// public facts.
const VECTORS = [
  [
    'pbkdf2',
    'testpassword',
    '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d',
    {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
  ],
  [
    'scrypt whose n only JavaScript takes (n 262144, r 1, p 8)',
    'testpassword',
    '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d',
    {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
      ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
      kdf: 'scrypt',
      kdfparams: {
        dklen: 32,
        n: 262144,
        p: 8,
        r: 1,
        salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
      },
      mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
    },
  ],
] as const

describe('the secret under a password', () => {
  test.each(VECTORS)('opens as Web3 says: %s', (_name, password, secret, crypto) => {
    expect(toHex(openSealed(readSealedSeed(crypto), password))).toBe(secret)
  })

  test('scrypt of RFC 7914, by Node and by JavaScript', () => {
    const bytes = (text: string) => new TextEncoder().encode(text)
    // RFC 7914 section 12: the first 32 bytes of the 64 are those of a dkLen of 32.
    expect(toHex(deriveKey({ kdf: 'scrypt', n: 1024, r: 8, p: 16 }, bytes('password'), bytes('NaCl')))).toBe(
      'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162',
    )
    expect(toHex(deriveKey({ kdf: 'scrypt', n: 16, r: 1, p: 1 }, bytes(''), bytes('')))).toBe(
      '77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442',
    )
  })
})

describe('a keystore', () => {
  test.each([
    ['less memory', { kdf: 'scrypt', n: 2 ** 17, r: 8, p: 1 }, true],
    ['more passes over less', { kdf: 'scrypt', n: 2 ** 16, r: 1, p: 16 }, true],
    ['pbkdf2', { kdf: 'pbkdf2', c: 1_000 }, true],
    ['as new ones', { kdf: 'scrypt', n: 2 ** 18, r: 8, p: 1 }, false],
  ] as const)('with %s is weak: %j %s', (_name, kdf, weak) => {
    const { kdf: name, ...numbers } = kdf
    expect(
      isWeak({
        ...keystore,
        crypto: { ...keystore.crypto, kdf: name, kdfparams: { dklen: 32, ...numbers, salt: '00' } },
      }),
    ).toBe(weak)
  })

  test('opens to what went in, as JSON and as text, with scrypt and with pbkdf2', () => {
    expect(openKeystore(keystore, 'correct horse')).toEqual(seed)
    expect(openKeystore(JSON.stringify(createKeystore(seed, 'x', { kdf: 'pbkdf2', c: 10 })), 'x')).toEqual(seed)
  })

  test('is made with scrypt of n 2^18, r 8, p 1, and names its curve', () => {
    const { version, curve, address, crypto } = createKeystore(seed, 'x')
    expect({ version, curve, address, kdf: crypto.kdf }).toEqual({
      version: 3,
      curve: 'ed25519',
      address: '0x21fe31dfa154a261626bf854046fd2271b7bed4b',
      kdf: 'scrypt',
    })
    expect(crypto.kdfparams).toMatchObject({ n: 262144, r: 8, p: 1, dklen: 32 })
  })

  test('two of one seed and password share no salt, iv, id or ciphertext', () => {
    const other = createKeystore(seed, 'correct horse', WEAK)
    for (const part of [
      other.id,
      other.crypto.ciphertext,
      other.crypto.cipherparams.iv,
      String(other.crypto.kdfparams['salt']),
    ]) {
      expect(JSON.stringify(keystore)).not.toContain(part)
    }
    expect(other.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test('a password is the same however its letters were composed', () => {
    expect(openKeystore(createKeystore(seed, 'caf\u00e9', WEAK), 'cafe\u0301')).toEqual(seed)
  })

  test.each([
    ['wrong password', () => openKeystore(keystore, 'correct hors'), 'wrongPassword'],
    [
      'a changed ciphertext',
      () => openKeystore({ ...keystore, crypto: { ...keystore.crypto, ciphertext: '00'.repeat(32) } }, 'correct horse'),
      'wrongPassword',
    ],
    [
      'another address',
      () => openKeystore({ ...keystore, address: `0x${'1'.repeat(40)}` }, 'correct horse'),
      'malformed',
    ],
    ['cut short', () => openKeystore(JSON.stringify(keystore).slice(0, 300), 'correct horse'), 'malformed'],
    ['no JSON object', () => readKeystore('[]'), 'malformed'],
    [
      'a member missing',
      () => readKeystore({ ...keystore, crypto: { ...keystore.crypto, mac: undefined } }),
      'malformed',
    ],
    [
      'an iv that is a byte too long',
      () =>
        openKeystore(
          { ...keystore, crypto: { ...keystore.crypto, cipherparams: { iv: '00'.repeat(17) } } },
          'correct horse',
        ),
      'malformed',
    ],
    [
      'a mac that is a byte too long',
      () => openKeystore({ ...keystore, crypto: { ...keystore.crypto, mac: '00'.repeat(33) } }, 'correct horse'),
      'malformed',
    ],
    ['too long a text', () => readKeystore(' '.repeat(16_385)), 'malformed'],
    ['another version', () => readKeystore({ ...keystore, version: 1 }), 'unsupported'],
    [
      'another cipher',
      () => readKeystore({ ...keystore, crypto: { ...keystore.crypto, cipher: 'aes-128-cbc' } }),
      'unsupported',
    ],
    ['another curve', () => readKeystore({ ...keystore, curve: 'p256' }), 'otherCurve'],
    ['a key of Ethereum', () => openKeystore({ ...keystore, curve: 'secp256k1' }, 'correct horse'), 'otherCurve'],
    ['an Ethereum file', () => openKeystore({ ...keystore, curve: undefined }, 'correct horse'), 'otherCurve'],
    [
      'the public key of another account',
      () => readKeystore({ ...keystore, public_key: createKeystore(new Uint8Array(32), 'x', WEAK).public_key }),
      'malformed',
    ],
    ['an n of no power of 2', () => createKeystore(seed, 'x', { kdf: 'scrypt', n: 1000, r: 8, p: 1 }), 'unsupported'],
    [
      'more memory than 1 GiB',
      () => createKeystore(seed, 'x', { kdf: 'scrypt', n: 2 ** 21, r: 8, p: 1 }),
      'unsupported',
    ],
    [
      'more passes than 1 GiB',
      () => createKeystore(seed, 'x', { kdf: 'scrypt', n: 2 ** 18, r: 8, p: 5 }),
      'unsupported',
    ],
    ['blocks of 512 MiB', () => createKeystore(seed, 'x', { kdf: 'scrypt', n: 2, r: 2 ** 22, p: 1 }), 'unsupported'],
    ['endless pbkdf2', () => createKeystore(seed, 'x', { kdf: 'pbkdf2', c: 10_000_001 }), 'unsupported'],
  ])('%s has an error of its own', (_name, work, problem) => {
    expect(problemOf(work)).toBe(problem)
  })

  test('no error says the password or the seed', () => {
    for (const work of [() => openKeystore(keystore, 'hunter2hunter2'), () => readKeystore('hunter2hunter2')]) {
      expect(work).toThrow(/^(?!.*hunter2)/s)
    }
  })
})

describe('key files', () => {
  let folder: string
  let remove: () => void
  beforeEach(() => {
    ;({ path: folder, remove } = tempFolder('keys'))
  })
  afterEach(() => remove())

  test('are mode 0600 in a folder of mode 0700, and nothing else is left behind', () => {
    const inside = join(folder, 'keystore')
    const path = addKeyFile(inside, 'alice', keystore)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(inside).mode & 0o777).toBe(0o700)
    expect(readdirSync(inside)).toEqual(['alice.json'])
    expect(readKeyFile(path)).toEqual(keystore)
  })

  test('are found by name and by address of any letter case', () => {
    addKeyFile(folder, 'alice', keystore)
    expect(findKey(folder, 'alice').keystore).toEqual(keystore)
    expect(findKey(folder, `0x${keystore.address.slice(2).toUpperCase()}`).name).toBe('alice')
    expect(problemOf(() => findKey(folder, 'bob'))).toBe('file')
    expect(problemOf(() => findKey(folder, `0x${'0'.repeat(40)}`))).toBe('file')
  })

  test('a name that is taken, an account that is there, and a name that leads elsewhere are refused', () => {
    addKeyFile(folder, 'alice', keystore)
    const before = readFileSync(join(folder, 'alice.json'), 'utf8')
    const other = createKeystore(new Uint8Array(32).fill(1), 'x', WEAK)
    expect(() => addKeyFile(folder, 'alice', other)).toThrow(/already has a key named alice/)
    expect(() => addKeyFile(folder, 'bob', keystore)).toThrow(/already has the key of .*, named alice/)
    for (const name of ['../evil', '', '.hidden', 'a/b', `0x${'1'.repeat(40)}`, 'x'.repeat(65)]) {
      expect(problemOf(() => addKeyFile(folder, name, other))).toBe('file')
    }
    expect(readFileSync(join(folder, 'alice.json'), 'utf8')).toBe(before)
    expect(readdirSync(folder)).toEqual(['alice.json'])
    // As of another process that takes the name meanwhile, it only shows when the file is put in its place.
    symlinkSync('nowhere', join(folder, 'bob.json'))
    expect(() => addKeyFile(folder, 'bob', other)).toThrow(KeystoreError)
    expect(readdirSync(folder)).toEqual(['alice.json', 'bob.json'])
  })

  test('one that others may read is refused, and the message says what to do', () => {
    const path = addKeyFile(folder, 'alice', keystore)
    chmodSync(path, 0o640)
    expect(() => readKeyFile(path)).toThrow(`${path}: mode 0640 lets others read or write it; run chmod 600 ${path}`)
  })

  test('a new password replaces the file whole, for the same account only', () => {
    addKeyFile(folder, 'alice', keystore)
    replaceKeyFile(findKey(folder, 'alice'), createKeystore(seed, 'new', WEAK))
    expect(openKeystore(findKey(folder, 'alice').keystore, 'new')).toEqual(seed)
    expect(statSync(join(folder, 'alice.json')).mode & 0o777).toBe(0o600)
    const other = createKeystore(new Uint8Array(32).fill(1), 'x', WEAK)
    expect(problemOf(() => replaceKeyFile(findKey(folder, 'alice'), other))).toBe('file')
    removeKeyFile(findKey(folder, 'alice'))
    expect(existsSync(join(folder, 'alice.json'))).toBe(false)
  })

  test('a bad file is listed with its problem and hides no other', () => {
    addKeyFile(folder, 'zoe', keystore)
    writeFileSync(join(folder, 'bad.json'), JSON.stringify(keystore).slice(0, 100), { mode: 0o600 })
    writeFileSync(join(folder, 'notes.txt'), 'x')
    const listed = listKeyFiles(folder)
    expect(listed.map(({ name }) => name)).toEqual(['bad', 'zoe'])
    expect(listed[0]).toMatchObject({ problem: expect.stringContaining('cut short') })
    writeFileSync(join(folder, 'bad.json'), JSON.stringify(keystore).padEnd(16_385), { mode: 0o600 })
    const tooLong = expect.stringMatching(/bad.json: expected a keystore of at most 16384 bytes, got 16385$/)
    expect(listKeyFiles(folder)[0]).toMatchObject({ problem: tooLong })
    expect(listKeyFiles(join(folder, 'absent'))).toEqual([])
  })
})

test('a new mnemonic has 24 or 12 words, is never the same, and leads to a seed', () => {
  expect(newMnemonic().split(' ')).toHaveLength(24)
  expect(newMnemonic(12).split(' ')).toHaveLength(12)
  expect(newMnemonic()).not.toBe(newMnemonic())
  expect(seedOfMnemonic(newMnemonic(), 0)).toHaveLength(32)
})
