import type { Signer } from '../../src/tx/sign.ts'
import { CHAIN_ID } from './testChain.ts'

/** A transfer that `from` has signed: 7 base units to an address that nobody has a key of, unless told otherwise. */
export function signTransfer(
  from: Signer,
  nonce: number,
  given: { readonly to?: Uint8Array; readonly value?: string; readonly chainId?: string } = {},
): Uint8Array {
  const { to = new Uint8Array(20).fill(9), value = '7', chainId = CHAIN_ID } = given
  return from.signTx({ chainId, nonce, operation: 'transfer', message: { to, value } })
}
