/**
 * A problem that the user can solve, such as a missing Go, a bad path or a port in use. `message` is one line that says
 * what to do; the CLI prints it and exits with status 2. Test for it with `code`, because `instanceof` does not hold
 * across realms.
 */
export class CometError extends Error {
  readonly code = 'COMET'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CometError'
  }
}

/**
 * Why a call to the node failed. `NodeUnreachable`: there was no connection, or it broke. `NodeTimeout`: no complete
 * answer came in time; a transaction may still have arrived. `NodeBusy`: the call was not sent, because too many calls
 * are under way. `MempoolFull`: try again later. `TxInCache`: the node has received these bytes before, which is no
 * failure for a caller that waits for the hash. `TxTooLarge`: the transaction exceeds `mempool.max_tx_bytes`.
 * `NotFound`: the transaction or height does not exist, does not exist yet, or was pruned. `NodeFailed`: the node
 * itself failed, as it does while it stops or when it has lost its application. `RpcFailed`: the node refused the form
 * of the call. `BadAnswer`: the answer was not the JSON that CometBFT writes.
 */
export type NodeErrorCode =
  | 'NodeUnreachable'
  | 'NodeTimeout'
  | 'NodeBusy'
  | 'MempoolFull'
  | 'TxInCache'
  | 'TxTooLarge'
  | 'NotFound'
  | 'NodeFailed'
  | 'RpcFailed'
  | 'BadAnswer'

/** A failed call to a node's RPC. `code` says why; `message` names the method and quotes the node. */
export class NodeError extends Error {
  readonly code: NodeErrorCode
  constructor(code: NodeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NodeError'
    this.code = code
  }
}

/** True when `error` is a NodeError, with that code if one is given. Works across realms. */
export const isNodeError = (error: unknown, code?: NodeErrorCode): error is NodeError =>
  typeof error === 'object' &&
  error !== null &&
  (error as { name?: unknown }).name === 'NodeError' &&
  (code === undefined || (error as { code?: unknown }).code === code)

/** The first line of an error's message, to be quoted in a message of one line. */
export const reasonOf = (error: unknown): string =>
  String((error as { message?: unknown } | null)?.message ?? error).split('\n')[0] ?? ''
