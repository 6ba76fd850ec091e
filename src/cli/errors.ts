import { isNodeError } from '../comet/errors.ts'
import { isKeystoreError } from '../keys/errors.ts'

/**
 * A mistake that the user can correct. `message` is one line; the program prints it and exits with status 2.
 */
export class UserError extends Error {
  override readonly name = 'UserError'
}

const NAMES = new Set(['UserError', 'StoreError', 'GenesisError', 'GatewayStartError', 'FolderError'])

/** True for errors whose message is written for the user. */
export function isUserError(error: unknown): error is Error {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return (typeof name === 'string' && NAMES.has(name)) || code === 'COMET' || isNodeError(error)
}

/**
 * An operation that failed. The program prints `message` and exits with status 1; with `--json` it prints `answer` to
 * stdout.
 */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly answer: unknown
  constructor(message: string, answer?: unknown) {
    super(message)
    this.answer = answer ?? { error: { message } }
  }
}

/** True when `error` is a Failed. */
export const isFailed = (error: unknown): error is Failed =>
  (error as { name?: unknown } | null | undefined)?.name === 'Failed'

/** Runs `work` and turns a KeystoreError into a Failed with the same message. */
export function asFailed<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isKeystoreError(error))
      throw new Failed(error.message, { error: { message: error.message, problem: error.problem } })
    throw error
  }
}
