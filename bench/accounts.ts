import { utf8 } from '../src/base/bytes.ts'
import { sha256 } from '../src/base/sha256.ts'
import { type Signer, signerOfSeed } from '../src/tx/sign.ts'

/** The chain of every benchmark: one set of signed transactions serves all of its fresh nodes. */
export const CHAIN_ID = 'svcd-benchmark-1'

const known = new Map<string, Signer>()

/** The signer of a name and number: the same in every process. */
export function signerAt(name: string, number: number): Signer {
  const id = `${name} ${number}`
  const found = known.get(id)
  if (found !== undefined) return found
  const made = signerOfSeed(sha256(utf8(`svcd bench ${id}`)))
  known.set(id, made)
  return made
}

/** Signers 0 to `count` − 1 of a name. */
export const signersOf = (name: string, count: number): readonly Signer[] =>
  Array.from({ length: count }, (_, at) => signerAt(name, at))
