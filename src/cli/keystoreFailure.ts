import { isKeystoreError } from '../keys/errors.ts'
import { Failed } from './failed.ts'

/** Runs `work`; what is wrong with a key file becomes a Failed with the same words. */
export function asFailed<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isKeystoreError(error))
      throw new Failed(error.message, { error: { message: error.message, problem: error.problem } })
    throw error
  }
}
