import { fromHex, toHex } from './bytes.ts'
import { sha256 } from './sha256.ts'

declare const brand: unique symbol

/** An account: `0x` and 40 lower-case hex digits. Source: protocol.md §1. */
export type Address = string & { readonly [brand]: 'address' }

/** Bytes of an address. */
export const ADDRESS_BYTES = 20

/** The address whose 20 bytes these are. Throws on another length: check what came from outside first. */
export function addressOf(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError(`an address has ${ADDRESS_BYTES} bytes, got ${bytes.length}`)
  return `0x${toHex(bytes)}` as Address
}

/** The address in `text`, any letter case; undefined unless it is 0x and 40 hex digits. */
export function parseAddress(text: string): Address | undefined {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? (text.toLowerCase() as Address) : undefined
}

/** The 20 bytes of an address. */
export const addressBytes = (address: Address): Uint8Array => fromHex(address.slice(2)) as Uint8Array

/** The address of an ed25519 public key: the first 20 bytes of its sha256, as CometBFT has it. */
export const addressOfKey = (publicKey: Uint8Array): Address => addressOf(sha256(publicKey).subarray(0, ADDRESS_BYTES))

/** 20 zero bytes: no account's key is known to lead here. */
export const ZERO_ADDRESS: Address = addressOf(new Uint8Array(ADDRESS_BYTES))
