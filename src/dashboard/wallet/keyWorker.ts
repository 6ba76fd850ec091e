import { createKeystore, KeystoreError, openKeystore } from '../../keys/keystore.ts'
import { faultOfMnemonic, newMnemonic, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { KeyError, type KeyReply } from './keyError.ts'

const jobs = {
  /** The seed in a keystore file. */
  openKeystore,
  /** The seed of an account of a mnemonic. */
  openWords(words: string, index: number): Uint8Array {
    const fault = faultOfMnemonic(words)
    if (fault !== undefined) throw new KeyError(fault, 'words')
    return seedOfMnemonic(words, index)
  },
  /** The text of a keystore file for a seed. */
  seal: (seed: Uint8Array, password: string): string => JSON.stringify(createKeystore(seed, password), undefined, 2),
  /** A new mnemonic. */
  newWords: (): string => newMnemonic(),
}

/**
 * What the worker does with keys: deriving one from a password takes seconds and from words a noticeable moment, and the
 * page must not stand still for it.
 */
export type KeyJobs = typeof jobs

export interface KeyRequest {
  readonly job: keyof KeyJobs
  readonly given: readonly unknown[]
}

function fieldOf(error: unknown): KeyError['field'] {
  if (error instanceof KeyError) return error.field
  if (!(error instanceof KeystoreError)) return undefined
  return error.problem === 'wrongPassword' ? 'password' : 'file'
}

function replyTo({ job, given }: KeyRequest): KeyReply {
  try {
    return { answer: (jobs[job] as (...given: readonly unknown[]) => unknown)(...given) }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error), field: fieldOf(error) }
  }
}

addEventListener('message', ({ data }: MessageEvent<KeyRequest>) => postMessage(replyTo(data)))
