/** What a reader gave that is to blame. */
export type KeyField = 'file' | 'password' | 'words' | 'index' | 'key' | 'again'

/** Why a key could not be opened or saved, and by which field; undefined where none of them is to blame. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
  readonly field: KeyField | undefined
  constructor(message: string, field?: KeyField) {
    super(message)
    this.field = field
  }
}

/** What the worker sends back. */
export type KeyReply = { readonly answer: unknown } | { readonly why: string; readonly field: KeyField | undefined }
