import { addressOfKey } from '../../values/address.ts'
import { fromBase64 } from '../../base/bytes.ts'

/**
 * The address that CometBFT gives to a validator's key, as the gateway writes it; empty for what is no key. Blocks name
 * their proposer by it. Source: protocol.md §1.
 */
export function cometAddressOf(pubKey: string): string {
  const bytes = fromBase64(pubKey)
  return bytes === undefined ? '' : addressOfKey(bytes)
}
