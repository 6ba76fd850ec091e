import { hash } from 'node:crypto'

/** sha256, 32 bytes: the one hash function of state, addresses and transaction hashes. */
export const sha256 = (bytes: Uint8Array): Uint8Array =>
  // A short string and its copy cost Node half as much as the Buffer that `hash` could return.
  Buffer.from(hash('sha256', bytes, 'binary'), 'latin1')
