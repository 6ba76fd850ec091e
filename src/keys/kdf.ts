import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { scrypt as nobleScrypt } from '@noble/hashes/scrypt.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { KeystoreError } from './errors.ts'

/**
 * How a key is derived from a password: the members of `crypto.kdfparams` without the salt. `n`: a power of 2. `c`:
 * rounds of HMAC-SHA-256.
 */
export type Kdf =
  | { readonly kdf: 'scrypt'; readonly n: number; readonly r: number; readonly p: number }
  | { readonly kdf: 'pbkdf2'; readonly c: number }

/** The length of a derived key in bytes: 16 for the cipher and 16 for the MAC. */
export const DERIVED_BYTES = 32

/** The most memory that scrypt may take, in bytes: a file from elsewhere chooses its parameters. */
const SCRYPT_BYTES_MAX = 1024 * 1024 * 1024
const SCRYPT_P_MAX = 16
const PBKDF2_ROUNDS_MAX = 10_000_000

const nodeCrypto =
  typeof process !== 'undefined' && typeof process.getBuiltinModule === 'function'
    ? process.getBuiltinModule('node:crypto')
    : undefined

/**
 * Throws a KeystoreError `unsupported` for parameters that are invalid, or that would take too much memory or time.
 */
export function checkKdf(kdf: Kdf): void {
  const whole = (value: number, max: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= max
  if (kdf.kdf === 'pbkdf2') {
    if (whole(kdf.c, PBKDF2_ROUNDS_MAX)) return
    throw new KeystoreError('unsupported', `pbkdf2: expected c from 1 to ${PBKDF2_ROUNDS_MAX}, got ${kdf.c}`)
  }
  const { n, r, p } = kdf
  const fits = whole(n, 2 ** 30) && n > 1 && Number.isInteger(Math.log2(n)) && whole(r, 1024) && whole(p, SCRYPT_P_MAX)
  if (!fits || 128 * n * r > SCRYPT_BYTES_MAX) {
    const limits = `n to be a power of 2, p at most ${SCRYPT_P_MAX}, and at most 1 GiB of memory`
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
