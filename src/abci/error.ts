/** Why input is refused (`overlong`, `oversize`, `undecodable`), or no server starts (`inUse`, `address`). */
export type AbciErrorCode = 'overlong' | 'oversize' | 'undecodable' | 'inUse' | 'address'

/** An Error with a `code`, which other code goes by; the message is for people. */
export function abciError(code: AbciErrorCode, message: string): Error & { code: AbciErrorCode } {
  return Object.assign(new Error(message), { code })
}
