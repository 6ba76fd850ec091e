/**
 * Why a keystore cannot be used. `malformed`: not a keystore, or cut short. `unsupported`: a version, cipher or
 * derivation that we do not read. `otherCurve`: the key is not ed25519. `wrongPassword`: or the file was changed, which
 * nobody can tell apart. `file`: the file itself: its mode, its absence, a name that is taken.
 */
export type KeystoreProblem = 'malformed' | 'unsupported' | 'otherCurve' | 'wrongPassword' | 'file'

/** A keystore that cannot be used. `message` is one line for people and holds no secret; `problem` is for programs. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
  readonly problem: KeystoreProblem
  constructor(problem: KeystoreProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

/** True when `error` is a KeystoreError, of that problem when one is given. Works across realms. */
export function isKeystoreError(error: unknown, problem?: KeystoreProblem): error is KeystoreError {
  const { name, problem: given } = (error ?? {}) as { name?: unknown; problem?: unknown }
  return name === 'KeystoreError' && (problem === undefined || given === problem)
}
