import { ctr } from '@noble/ciphers/aes.js'
import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { scrypt as nobleScrypt } from '@noble/hashes/scrypt.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { type Address, addressOfKey, parseAddress } from '../values/address.ts'
import { concat, equalBytes, fromBase64, fromHex, toBase64, toHex, utf8 } from '../base/bytes.ts'
import { keyPairOfSeed } from '../base/ed25519.ts'
import { isObject, parseJson } from '../base/json.ts'

/**
 * Why a keystore cannot be used. `malformed`: it is not a keystore, or it was cut short. `unsupported`: it has a
 * version, cipher or key derivation that svcd does not read. `otherCurve`: its key is not of the curve that is expected.
 * `wrongPassword`: the password is wrong or the file was changed, which cannot be told apart. `file`: the file is
 * missing, others can read it, or its name is taken.
 */
export type KeystoreProblem = 'malformed' | 'unsupported' | 'otherCurve' | 'wrongPassword' | 'file'

/** Thrown for a keystore that cannot be used. `message` is one line and holds no secret; `problem` is for programs. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
  readonly problem: KeystoreProblem
  constructor(problem: KeystoreProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

/** The curves of this chain's keys: svcd's own, and Ethereum's. */
export type Curve = 'ed25519' | 'secp256k1'

/** The length in bytes of an ed25519 seed, and of a secp256k1 private key. */
export const SEED_BYTES = 32

/** The most characters that a keystore's text may have. Our own have about 600. */
export const KEYSTORE_LENGTH_MAX = 16_384

/**
 * How a key is derived from a password: the members of `crypto.kdfparams` without the salt. `n`: a power of 2. `c`:
 * rounds of HMAC-SHA-256.
 */
export type Kdf =
  | { readonly kdf: 'scrypt'; readonly n: number; readonly r: number; readonly p: number }
  | { readonly kdf: 'pbkdf2'; readonly c: number }

/** The length of a derived key in bytes: 16 for the cipher and 16 for the MAC. */
const DERIVED_BYTES = 32

/**
 * The most memory that all passes of scrypt may write, in bytes: a file from elsewhere chooses its parameters. With r it
 * bounds the memory that is held at once too. A new file writes a quarter of it.
 */
const SCRYPT_BYTES_MAX = 1024 * 1024 * 1024
const SCRYPT_R_MAX = 1024
const PBKDF2_ROUNDS_MAX = 10_000_000

const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto')

/** Throws a KeystoreError `unsupported` for parameters that are invalid or would take too much memory or time. */
function checkKdf(kdf: Kdf): void {
  const whole = (value: number, max: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= max
  if (kdf.kdf === 'pbkdf2') {
    if (whole(kdf.c, PBKDF2_ROUNDS_MAX)) return
    throw new KeystoreError('unsupported', `pbkdf2: expected c from 1 to ${PBKDF2_ROUNDS_MAX}, got ${kdf.c}`)
  }
  const { n, r, p } = kdf
  const fits =
    whole(n, 2 ** 30) && whole(r, SCRYPT_R_MAX) && whole(p, 2 ** 30) && n > 1 && Number.isInteger(Math.log2(n))
  if (!fits || 128 * n * r * p > SCRYPT_BYTES_MAX) {
    const limits = `n to be a power of 2, r at most ${SCRYPT_R_MAX}, and 128 n r p at most 1 GiB`
    throw new KeystoreError('unsupported', `scrypt: expected ${limits}, got n ${n}, r ${r}, p ${p}`)
  }
}

/**
 * Derives 32 bytes from a password (as UTF-8) and a salt. With the parameters of new keystores this takes about 0.5 s
 * in Node and several seconds in a browser. node:crypto refuses n ≥ 2^(16 r) however much memory it may use; the
 * function then runs in JavaScript.
 */
export function deriveKey(kdf: Kdf, password: Uint8Array, salt: Uint8Array): Uint8Array {
  checkKdf(kdf)
  if (kdf.kdf === 'pbkdf2') {
    if (nodeCrypto !== undefined)
      return new Uint8Array(nodeCrypto.pbkdf2Sync(password, salt, kdf.c, DERIVED_BYTES, 'sha256'))
    return pbkdf2(sha256, password, salt, { c: kdf.c, dkLen: DERIVED_BYTES })
  }
  const { n, r, p } = kdf
  if (nodeCrypto !== undefined && Math.log2(n) < 16 * r) {
    const maxmem = 128 * n * r + 128 * r * (p + 2) + 1024 * 1024
    return new Uint8Array(nodeCrypto.scryptSync(password, salt, DERIVED_BYTES, { N: n, r, p, maxmem }))
  }
  return nobleScrypt(password, salt, { N: n, r, p, dkLen: DERIVED_BYTES, maxmem: 2 * SCRYPT_BYTES_MAX })
}

/** The parameters of new keystores. They are those of common wallets, and node:crypto accepts them. */
const OWN_SCRYPT = { kdf: 'scrypt', n: 2 ** 18, r: 8, p: 1 } as const

/** The members of a keystore that tell how its key is derived. */
const printKdf = ({ kdf, ...numbers }: Kdf, salt: string): Pick<SealedSeed, 'kdf' | 'kdfparams'> => ({
  kdf,
  kdfparams: { dklen: DERIVED_BYTES, ...numbers, ...(kdf === 'pbkdf2' ? { prf: 'hmac-sha256' } : {}), salt },
})

/** The part of a keystore that Web3's version 3 defines: the encrypted secret. Bytes are in hex without 0x. */
export interface SealedSeed {
  readonly cipher: 'aes-128-ctr'
  readonly cipherparams: { readonly iv: string }
  readonly ciphertext: string
  readonly kdf: 'scrypt' | 'pbkdf2'
  readonly kdfparams: Readonly<Record<string, number | string>>
  readonly mac: string
}

/** A keystore file: Web3's version 3, and members for the curve and the public key. Ethereum wallets write neither. */
export interface Keystore {
  readonly version: 3
  readonly id: string
  readonly address: Address
  readonly curve: Curve
  /** The ed25519 public key in base64, which an account of several keys is made of. Older files have none. */
  readonly public_key?: string
  readonly crypto: SealedSeed
}

/** The keystore of an Ethereum wallet, of which the definition requires no address: Foundry writes none. */
export type ForeignKeystore = Omit<Keystore, 'address'> & { readonly address: Address | undefined }

/** Whose key a keystore holds. */
export type KeyOwner = Pick<Keystore, 'address' | 'curve' | 'public_key'>

type Json = Readonly<Record<string, unknown>>

const malformed = (why: string): KeystoreError => new KeystoreError('malformed', `not a keystore, or cut short: ${why}`)

function object(value: unknown, member: string): Json {
  if (!isObject(value)) throw malformed(`${member}: expected an object`)
  return value
}

function hex(value: unknown, member: string, min: number, max = min): string {
  const digits = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  const bytes = digits.length > 2 * max ? undefined : fromHex(digits)
  const range = min === max ? String(min) : `${min} to ${max}`
  if (bytes === undefined || bytes.length < min) throw malformed(`${member}: expected hex of ${range} bytes`)
  return toHex(bytes)
}

function readKdf(name: unknown, params: Json): Kdf {
  const number = (member: string): number => (typeof params[member] === 'number' ? params[member] : Number.NaN)
  if (params['dklen'] !== DERIVED_BYTES) throw new KeystoreError('unsupported', `dklen: expected ${DERIVED_BYTES}`)
  if (name === 'scrypt') return { kdf: 'scrypt', n: number('n'), r: number('r'), p: number('p') }
  if (name !== 'pbkdf2') throw new KeystoreError('unsupported', 'kdf: expected scrypt or pbkdf2')
  if (params['prf'] !== 'hmac-sha256') throw new KeystoreError('unsupported', 'prf: expected hmac-sha256')
  return { kdf: 'pbkdf2', c: number('c') }
}

/** Reads the `crypto` member of a version 3 file, of any curve. Throws a KeystoreError `malformed` or `unsupported`. */
export function readSealedSeed(value: unknown): SealedSeed {
  const sealed = object(value, 'crypto')
  if (sealed['cipher'] !== 'aes-128-ctr') throw new KeystoreError('unsupported', 'cipher: expected aes-128-ctr')
  const params = object(sealed['kdfparams'], 'kdfparams')
  const kdf = readKdf(sealed['kdf'], params)
  checkKdf(kdf)
  return {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: hex(object(sealed['cipherparams'], 'cipherparams')['iv'], 'iv', 16) },
    ciphertext: hex(sealed['ciphertext'], 'ciphertext', 1, 1024),
    ...printKdf(kdf, hex(params['salt'], 'salt', 1, 1024)),
    mac: hex(sealed['mac'], 'mac', 32),
  }
}

function readCurve(curve: unknown): Curve {
  // The keystores of Ethereum wallets name none.
  if (curve === undefined || curve === 'secp256k1') return 'secp256k1'
  if (curve === 'ed25519') return curve
  const held = JSON.stringify(curve).slice(0, 40)
  throw new KeystoreError('otherCurve', `the keystore holds a key of the curve ${held}: expected ed25519 or secp256k1`)
}

/** The public key of a file. Throws a KeystoreError `malformed` for one that is not of the address. */
function readPublicKey(given: unknown, address: Address | undefined): Pick<Keystore, 'public_key'> {
  if (given === undefined) return {}
  const bytes = typeof given === 'string' ? fromBase64(given) : undefined
  if (bytes === undefined || addressOfKey(bytes) !== address)
    throw malformed(`public_key: expected the key of ${address} in base64`)
  return { public_key: toBase64(bytes) }
}

/**
 * Reads a keystore from its text or JSON. `isForeign`: it may lack the address, unless it says that its key is one of
 * ed25519. Throws a KeystoreError `malformed`, `unsupported` or `otherCurve`.
 */
export function readKeystore(given: unknown): Keystore
export function readKeystore(given: unknown, isForeign: true): ForeignKeystore
export function readKeystore(given: unknown, isForeign = false): ForeignKeystore {
  let json = given
  if (typeof given === 'string') {
    if (given.length > KEYSTORE_LENGTH_MAX) throw malformed(`it has more than ${KEYSTORE_LENGTH_MAX} characters`)
    json = parseJson(given)
    if (json === undefined) throw malformed('expected JSON')
  }
  const file = object(json, 'the file')
  const { version, id, address } = file
  if (version === undefined) throw malformed('version: expected 3')
  if (version !== 3) throw new KeystoreError('unsupported', 'version: expected 3')
  // ethers writes the member with a capital letter.
  const sealed = readSealedSeed(file['crypto'] ?? file['Crypto'])
  const curve = readCurve(file['curve'])
  const named =
    typeof address === 'string' ? parseAddress(address.startsWith('0x') ? address : `0x${address}`) : undefined
  const mayLackAddress = isForeign && curve === 'secp256k1' && address === undefined
  if (named === undefined && !mayLackAddress) throw malformed('address: expected 40 hex digits')
  if (typeof id !== 'string' || id.length > 64) throw malformed('id: expected text')
  const publicKey = curve === 'ed25519' ? readPublicKey(file['public_key'], named) : {}
  return { version: 3, id, address: named, curve, ...publicKey, crypto: sealed }
}

/** Normalizes a password, so that one that looks the same is the same, whatever keyboard wrote it. */
const passwordBytes = (password: string): Uint8Array => utf8(password.normalize('NFKC'))

const macOf = (key: Uint8Array, ciphertext: Uint8Array): Uint8Array => keccak_256(concat(key.subarray(16), ciphertext))

/**
 * Decrypts the secret. `bytesOf`: the bytes of the password, where they are others than in our own files. Throws a
 * KeystoreError `wrongPassword`, also when the file was changed.
 */
export function openSealed(sealed: SealedSeed, password: string, bytesOf = passwordBytes): Uint8Array {
  const bytes = (text: unknown): Uint8Array => fromHex(String(text)) as Uint8Array
  const { kdfparams } = sealed
  const key = deriveKey(readKdf(sealed.kdf, kdfparams), bytesOf(password), bytes(kdfparams['salt']))
  const ciphertext = bytes(sealed.ciphertext)
  if (!equalBytes(macOf(key, ciphertext), bytes(sealed.mac))) {
    throw new KeystoreError('wrongPassword', 'the password is wrong, or the keystore was changed')
  }
  return ctr(key.subarray(0, 16), bytes(sealed.cipherparams.iv)).decrypt(ciphertext)
}

/**
 * Decrypts the secret of a keystore. `ownerOf` computes whose it is. Throws a KeystoreError: `wrongPassword`, and
 * `malformed` for a file whose address is not that of the key.
 */
export function openSecret(
  keystore: ForeignKeystore,
  password: string,
  ownerOf: (secret: Uint8Array) => KeyOwner,
  bytesOf?: (password: string) => Uint8Array,
): Uint8Array {
  const secret = openSealed(keystore.crypto, password, bytesOf)
  if (secret.length !== SEED_BYTES) throw malformed(`expected a key of ${SEED_BYTES} bytes, got ${secret.length}`)
  const { address: owner } = ownerOf(secret)
  if ((keystore.address ?? owner) !== owner)
    throw malformed(`address: ${keystore.address} is not the address of the key`)
  return secret
}

/**
 * Decrypts the 32-byte ed25519 seed of a keystore, which may be given as text, as JSON or as a Keystore. Throws a
 * KeystoreError with any problem but `file`, among them an address that is not that of the key.
 */
export function openKeystore(given: unknown, password: string): Uint8Array {
  const keystore = readKeystore(given)
  if (keystore.curve !== 'ed25519')
    throw new KeystoreError('otherCurve', 'the keystore holds an Ethereum key (secp256k1): expected an ed25519 key')
  return openSecret(keystore, password, ownerOfSeed)
}

/** Whose an ed25519 seed is. */
export function ownerOfSeed(seed: Uint8Array): KeyOwner {
  const { publicKey } = keyPairOfSeed(seed)
  return { address: addressOfKey(publicKey), curve: 'ed25519', public_key: toBase64(publicKey) }
}

/** True for scrypt with less memory than that of new keystores, and for pbkdf2: the password is cheaper to guess. */
export function isWeak({ crypto: { kdf, kdfparams } }: ForeignKeystore): boolean {
  return kdf !== 'scrypt' || Number(kdfparams['n']) * Number(kdfparams['r']) < OWN_SCRYPT.n * OWN_SCRYPT.r
}

/** Creates the random id of a version 3 file: a version 4 UUID. */
function newId(): string {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Creates a keystore that encrypts a 32-byte secret of an owner with a password. */
export function sealSecret(secret: Uint8Array, owner: KeyOwner, password: string, kdf: Kdf = OWN_SCRYPT): Keystore {
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const key = deriveKey(kdf, passwordBytes(password), salt)
  const ciphertext = ctr(key.subarray(0, 16), iv).encrypt(secret)
  return {
    version: 3,
    id: newId(),
    ...owner,
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: toHex(iv) },
      ciphertext: toHex(ciphertext),
      ...printKdf(kdf, toHex(salt)),
      mac: toHex(macOf(key, ciphertext)),
    },
  }
}

/** Creates a keystore that encrypts a 32-byte ed25519 seed with a password. Weaker key derivations are for tests. */
export function createKeystore(seed: Uint8Array, password: string, kdf: Kdf = OWN_SCRYPT): Keystore {
  if (seed.length !== SEED_BYTES) throw new RangeError(`seed: expected ${SEED_BYTES} bytes, got ${seed.length}`)
  return sealSecret(seed, ownerOfSeed(seed), password, kdf)
}
