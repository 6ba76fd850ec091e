import { isNodeError } from '../comet/errors.ts'

/**
 * Something the person at the keyboard can put right. `message` is one clear line; the program prints it and exits with
 * status 2.
 */
export class UserError extends Error {
  override readonly name = 'UserError'
}

const NAMES = new Set(['UserError', 'StoreError', 'GenesisError', 'GatewayStartError', 'FolderError'])

/** True for errors whose message is written for the person at the keyboard. */
export function isUserError(error: unknown): error is Error {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return (typeof name === 'string' && NAMES.has(name)) || code === 'COMET' || isNodeError(error)
}
