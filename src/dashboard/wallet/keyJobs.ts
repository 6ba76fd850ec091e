/**
 * What the worker does with keys: deriving one from a password takes seconds and from words a noticeable moment, and the
 * page must not stand still for it.
 */
export interface KeyJobs {
  /** The seed in a keystore file. */
  readonly openKeystore: { readonly text: string; readonly password: string }
  /** The seed of an account of a mnemonic. */
  readonly openWords: { readonly words: string; readonly index: number }
  /** The text of a keystore file for a seed. */
  readonly seal: { readonly seed: Uint8Array; readonly password: string }
  /** A new mnemonic. */
  readonly newWords: Readonly<Record<string, never>>
}

/** What each of them answers. */
export interface KeyAnswers {
  readonly openKeystore: Uint8Array
  readonly openWords: Uint8Array
  readonly seal: string
  readonly newWords: string
}

/** What a reader gave that does not open a key. */
export type KeyField = 'file' | 'password' | 'words' | 'index' | 'key'

/** Why a key could not be opened, and by which field; undefined where none of them is to blame. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
  readonly field: KeyField | undefined
  constructor(message: string, field?: KeyField) {
    super(message)
    this.field = field
  }
}

/** A job as it is sent to the worker. */
export type KeyRequest = {
  readonly [J in keyof KeyJobs]: { readonly job: J; readonly given: KeyJobs[J] }
}[keyof KeyJobs]

/** What the worker sends back. */
export type KeyReply =
  | { readonly answer: KeyAnswers[keyof KeyAnswers] }
  | { readonly why: string; readonly field: KeyField | undefined }
