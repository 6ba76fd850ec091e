import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'

// node:crypto is several times faster; a browser has no synchronous sha256 of its own.
const nodeCrypto =
  typeof process !== 'undefined' && typeof process.getBuiltinModule === 'function'
    ? process.getBuiltinModule('node:crypto')
    : undefined

/** sha256, 32 bytes: the one hash function of state, addresses and transaction hashes. */
export const sha256: (bytes: Uint8Array) => Uint8Array =
  nodeCrypto === undefined
    ? (bytes) => nobleSha256(bytes)
    : // A short string and its copy cost Node half as much as the Buffer that `hash` could return.
      (bytes) => Buffer.from(nodeCrypto.hash('sha256', bytes, 'binary'), 'latin1')
