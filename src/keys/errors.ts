/**
 * Why a keystore cannot be used. `malformed`: it is not a keystore, or it was cut short. `unsupported`: it has a
 * version, cipher or key derivation that svcd does not read. `otherCurve`: its key is not ed25519. `wrongPassword`: the
 * password is wrong or the file was changed, which cannot be told apart. `file`: the file is missing, others can read
 * it, or its name is taken.
 */
export type KeystoreProblem = 'malformed' | 'unsupported' | 'otherCurve' | 'wrongPassword' | 'file'

/** Thrown for a keystore that cannot be used. `message` is one line and holds no secret; `problem` is for programs. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
  readonly problem: KeystoreProblem
  constructor(problem: KeystoreProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

/** True when `error` is a KeystoreError, with that problem if one is given. Works across realms. */
export function isKeystoreError(error: unknown, problem?: KeystoreProblem): error is KeystoreError {
  const { name, problem: given } = (error ?? {}) as { name?: unknown; problem?: unknown }
  return name === 'KeystoreError' && (problem === undefined || given === problem)
}
