/**
 * Something the person at the keyboard can put right: no Go, a bad path, a port in use. `message` is one clear line
 * that names what to do; the CLI prints it and exits 2. Told from others by `code`, as `instanceof` does not hold
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
 * Why a call to the node failed. `NodeUnreachable`: no connection, or it broke. `NodeTimeout`: no whole answer in time;
 * a transaction may still have arrived. `NodeBusy`: not sent, as too many calls wait for a connection here.
 * `MempoolFull`: try again later. `TxInCache`: the node has had these bytes already, no failure for a caller that waits
 * by hash. `TxTooLarge`: over `mempool.max_tx_bytes`. `NotFound`: no such transaction, or no such height (yet, or any
 * more). `NodeFailed`: the node itself failed at the call, as one does that stops or has lost its application.
 * `RpcFailed`: the node refused the call's form. `BadAnswer`: not the JSON that CometBFT writes.
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

/** A failed call to a node's RPC, told apart by `code`; `message` names the method and carries the node's own words. */
export class NodeError extends Error {
  readonly code: NodeErrorCode
  constructor(code: NodeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NodeError'
    this.code = code
  }
}

/** True when `error` is a NodeError, of that code when one is given. Works across realms. */
export const isNodeError = (error: unknown, code?: NodeErrorCode): error is NodeError =>
  typeof error === 'object' &&
  error !== null &&
  (error as { name?: unknown }).name === 'NodeError' &&
  (code === undefined || (error as { code?: unknown }).code === code)

/** The first line of what `error` says, for one-line messages. */
export const reasonOf = (error: unknown): string =>
  String((error as { message?: unknown } | null)?.message ?? error).split('\n')[0] ?? ''
