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

/** What the worker sends back. */
export type KeyReply = { readonly answer: unknown } | { readonly why: string; readonly field: KeyField | undefined }
