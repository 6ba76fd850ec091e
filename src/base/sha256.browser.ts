/** For browsers, which have no synchronous sha256 of their own. */
export { sha256 } from '@noble/hashes/sha2.js'
