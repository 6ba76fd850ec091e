/**
 * A problem that the user can solve, such as a missing Go, a bad path or a port in use. `message` is one line that says
 * what to do; the CLI prints it and exits with status 2. Test for it with `code`, because `instanceof` does not hold
 * across realms.
 */
export class CometError extends Error {
  override readonly name = 'CometError'
  readonly code = 'COMET'
}

/** Why a call to the node failed. */
export type NodeErrorCode =
  | 'NodeUnreachable' // There was no connection, or it broke.
  | 'NodeTimeout' // No complete answer came in time; a transaction may still have arrived.
  | 'NodeBusy' // The call was not sent, because too many calls are under way.
  | 'MempoolFull' // Try again later.
  | 'TxInCache' // The node has received these bytes before. A caller that waits for the hash may go on waiting.
  | 'TxTooLarge' // The transaction exceeds `mempool.max_tx_bytes`.
  | 'NotFound' // The transaction or height does not exist, does not exist yet, or was pruned.
  | 'NodeFailed' // The node itself failed, as it does while it stops or when it has lost its application.
  | 'RpcFailed' // The node refused the form of the call.
  | 'BadAnswer' // The answer was not the JSON that CometBFT writes.

/** A failed call to a node's RPC. `code` says why; `message` names the method and quotes the node. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code: NodeErrorCode
  constructor(code: NodeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True when `error` is a NodeError, with that code if one is given. Works across realms. */
export const isNodeError = (error: unknown, code?: NodeErrorCode): error is NodeError => {
  const found = error as Partial<NodeError> | null | undefined
  return found?.name === 'NodeError' && (code === undefined || found.code === code)
}

/** The first line of an error's message, to be quoted in a message of one line. */
export const reasonOf = (error: unknown): string =>
  String((error as { message?: unknown } | null)?.message ?? error).split('\n')[0] ?? ''
