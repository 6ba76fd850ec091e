/**
 * A store that cannot be opened or used, for a reason that the operator of the node can act on. The message is one line
 * for that person, and `code` is for programs.
 *
 * @example
 * try {
 *   openSqliteStore({ path: 'state.db', tables: [balances] })
 * } catch (error) {
 *   if (!(error instanceof StoreError)) throw error
 *   console.error(error.code === 'inUse' ? 'the node runs already' : error.message)
 * }
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'

  /**
   * - `cannotOpen`: the file cannot be opened, for example because its folder is missing.
   * - `otherFile`: the file is no database, or not one of the store's.
   * - `otherRelease`: other columns, or another schema version, than this program has.
   * - `otherChain`: the state of another chain.
   * - `inUse`: another process writes the file.
   * - `notDurable`: SQLite cannot keep commits through a power cut there. The file may lie on a network disk.
   * - `noUndo`: nothing is kept that the block could be rolled back with.
   * - `damaged`: rows or the tree are not what was committed; they were changed by hand or by the disk.
   */
  readonly code:
    | 'cannotOpen'
    | 'otherFile'
    | 'otherRelease'
    | 'otherChain'
    | 'inUse'
    | 'notDurable'
    | 'noUndo'
    | 'damaged'

  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
