import { randomUUID } from 'node:crypto'
import { isNodeError, type NodeErrorCode } from '../../comet/errors.ts'

/** Every JSON-RPC error that the gateway answers. Source: JSON-RPC 2.0, section 5.1; protocol.md §10. */
export const rpcErrors = {
  parse: { code: -32700, message: 'Parse error' },
  invalidRequest: { code: -32600, message: 'Invalid Request' },
  methodNotFound: { code: -32601, message: 'Method not found' },
  invalidParams: { code: -32602, message: 'Invalid params' },
  internal: { code: -32603, message: 'Internal error' },
  noKey: { code: -32010, message: 'The gateway has no key for from' },
  nodeAway: { code: -32011, message: 'The node cannot be reached, is catching up or stopping, or makes no blocks' },
  notInBlock: { code: -32012, message: 'Not in a block within the time limit' },
  mempoolFull: { code: -32013, message: "The node's mempool is full" },
  needsToken: { code: -32014, message: 'The gateway signs only for requests with its token (Authorization: Bearer)' },
  tooMany: { code: -32015, message: 'Too many requests, try again later' },
} as const

/** The name of a JSON-RPC error. */
export type RpcErrorName = keyof typeof rpcErrors

/** What a JSON-RPC error object holds. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** A call that is answered with a JSON-RPC error; `message` and `data` are shown to the caller. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown
  constructor(error: RpcErrorName | number, message: string, data?: unknown, options?: ErrorOptions) {
    super(message, options)
    this.code = typeof error === 'number' ? error : rpcErrors[error].code
    this.data = data
  }
}

const nameOf = (error: unknown): unknown => (error as { name?: unknown } | null | undefined)?.name

/** True when `error` is an RpcError. */
export const isRpcError = (error: unknown): error is RpcError => nameOf(error) === 'RpcError'

/** How long a caller should wait before it asks again when nothing says it better, in ms. */
export const RETRY_AFTER_MS = 1_000

/** Creates error -32015. `why` names the limit, and `data.retryAfterMs` says when it is worth trying again. */
export const tooMany = (why: string, retryAfterMs = RETRY_AFTER_MS): RpcError =>
  new RpcError('tooMany', `${rpcErrors.tooMany.message}: ${why}`, { retryAfterMs })

const NODE_FAILURES: { readonly [C in NodeErrorCode]?: readonly [RpcErrorName, string] } = {
  NodeUnreachable: ['nodeAway', 'the node cannot be reached'],
  NodeTimeout: ['nodeAway', 'the node does not answer in time'],
  NodeFailed: ['nodeAway', 'the node fails to answer: it is stopping, or it has lost its application'],
  BadAnswer: ['nodeAway', 'the node, or a proxy before it, gives an answer that is none'],
  MempoolFull: ['mempoolFull', "the node's mempool is full, try again later"],
}

/**
 * Returns a failure of the node as the caller sees it, or undefined when the node is not to blame. `data` goes into the
 * error. Its `cause` is for the log, not for the caller.
 */
export function nodeFailure(error: unknown, data?: unknown): RpcError | undefined {
  if (!isNodeError(error)) return undefined
  if (error.code === 'NodeBusy') return tooMany('too many queries to the node at once')
  const [name, message] = NODE_FAILURES[error.code] ?? []
  if (name === undefined || message === undefined) return undefined
  return new RpcError(
    name,
    message,
    data,
    error.code === 'NodeFailed' || error.code === 'BadAnswer' ? { cause: error } : {},
  )
}

/** Where defects go: a pino logger has this shape. */
export interface DefectLog {
  error: (about: object, message: string) => void
}

/**
 * Turns anything thrown into a JSON-RPC error object. What is not meant for the caller is logged under a new id, and the
 * caller sees only that id. Source: protocol.md §10, -32603.
 */
export function errorObject(thrown: unknown, log: DefectLog, method: string): RpcErrorObject {
  const error = isRpcError(thrown)
    ? thrown
    : nameOf(thrown) === 'FieldError'
      ? new RpcError('invalidParams', (thrown as Error).message)
      : nodeFailure(thrown)
  if (error?.cause !== undefined) log.error({ err: error.cause, method }, 'the node failed at a call')
  if (error !== undefined)
    return { code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) }
  const id = randomUUID()
  log.error({ err: thrown, id, method }, 'a call ended in a defect')
  return { ...rpcErrors.internal, data: { id } }
}
