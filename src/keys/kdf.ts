import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { scrypt as nobleScrypt } from '@noble/hashes/scrypt.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { KeystoreError } from './errors.ts'

/**
 * How a password becomes a key: the members of `crypto.kdfparams` beside the salt. `n` a power of 2, `c` rounds of
 * HMAC-SHA-256.
 */
export type Kdf =
  | { readonly kdf: 'scrypt'; readonly n: number; readonly r: number; readonly p: number }
  | { readonly kdf: 'pbkdf2'; readonly c: number }

/** Bytes of every derived key: 16 for the cipher, 16 for the MAC. */
export const DERIVED_BYTES = 32

/** Memory that scrypt may take, in bytes: a file from outside decides its parameters. */
const SCRYPT_BYTES_MAX = 1024 * 1024 * 1024
const SCRYPT_P_MAX = 16
const PBKDF2_ROUNDS_MAX = 10_000_000

const nodeCrypto =
  typeof process !== 'undefined' && typeof process.getBuiltinModule === 'function'
    ? process.getBuiltinModule('node:crypto')
    : undefined

/**
 * Throws a KeystoreError `unsupported` for parameters that are none, or that would take more memory or time than we
 * give.
 */
export function checkKdf(kdf: Kdf): void {
  const whole = (value: number, max: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= max
  if (kdf.kdf === 'pbkdf2') {
    if (whole(kdf.c, PBKDF2_ROUNDS_MAX)) return
    throw new KeystoreError('unsupported', `pbkdf2 with c ${kdf.c}: expected 1 to ${PBKDF2_ROUNDS_MAX}`)
  }
  const { n, r, p } = kdf
  const fits = whole(n, 2 ** 30) && n > 1 && Number.isInteger(Math.log2(n)) && whole(r, 1024) && whole(p, SCRYPT_P_MAX)
  if (!fits || 128 * n * r > SCRYPT_BYTES_MAX) {
    const limits = `n a power of 2, p up to ${SCRYPT_P_MAX}, at most 1 GiB of memory`
    throw new KeystoreError('unsupported', `scrypt with n ${n}, r ${r}, p ${p}: expected ${limits}`)
  }
}

/**
 * The 32 bytes of a password (UTF-8 bytes) and salt. Cost: about 0.5 s for the keystore's own parameters in Node,
 * several seconds in a browser. node:crypto refuses n ≥ 2^(16 r) whatever memory it gets; then the same function runs
 * in JavaScript.
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
