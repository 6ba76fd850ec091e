import type { CatalogueError } from '../../src/base/txError.ts'
import { type RpcErrorName, rpcErrors } from '../../src/gateway/rpc/errors.ts'
import { delegationErrors } from '../../src/modules/delegation/errors.ts'
import { kernelErrors } from '../../src/modules/errors.ts'
import { governanceErrors } from '../../src/modules/governance/errors.ts'
import { stakeErrors } from '../../src/modules/stake/errors.ts'
import { table } from './markdown.ts'

/** When the gateway answers with each error. A new error without a line here does not compile. */
export const WHEN: Readonly<Record<RpcErrorName, string>> = {
  parse: 'The body is not JSON.',
  invalidRequest: 'The body is JSON, but not a JSON-RPC 2.0 call or batch.',
  methodNotFound: 'No method has this name.',
  invalidParams:
    'A parameter is missing, unknown or malformed. The message names it, the form expected and the value given.',
  internal: 'A defect of the gateway. `data.id` is the id under which the gateway logged it.',
  noKey: 'The gateway was asked to sign for `from` and does not hold its key.',
  nodeAway:
    'The node cannot be reached, is catching up or stopping, its chain makes no blocks (`data.stalledMs`, `data.height`), or ' +
    'its index of histories has not reached the head (`data.retryAfterMs`).',
  notInBlock:
    'The transaction was sent but is not in a block yet. `data.hash` is its hash: look it up later, or send the same bytes again.',
  mempoolFull: "The node's mempool is full, or the gateway waits for as many transactions as it can.",
  needsToken: 'The gateway signs only for requests that carry its token.',
  tooMany: 'A limit was reached. `data.retryAfterMs` says when to try again; a single call also has HTTP status 429.',
}

/** The JSON-RPC errors of the gateway. */
export const rpcErrorsTable = (): string =>
  table(
    ['Code', 'Message', 'When'],
    (Object.keys(rpcErrors) as RpcErrorName[]).map((name) => [
      String(rpcErrors[name].code),
      rpcErrors[name].message,
      WHEN[name],
    ]),
  )

/** The errors of a catalogue; where the log holds what was given, an ellipsis stands for it. */
const listed = (catalogue: Readonly<Record<string, unknown>>): CatalogueError[] =>
  Object.values(catalogue)
    .map((error) => (typeof error === 'function' ? (error('…', '…') as CatalogueError) : (error as CatalogueError)))
    .filter(({ code }) => code !== 0)

/** The errors of transactions that fail and of queries that are refused, by code; each code and log once. */
export function listedTxErrors(): readonly CatalogueError[] {
  const seen = new Map<string, CatalogueError>()
  for (const error of [kernelErrors, stakeErrors, delegationErrors, governanceErrors].flatMap(listed)) {
    const key = `${error.code} ${error.log}`
    if (!seen.has(key)) seen.set(key, error)
  }
  return [...seen.values()].sort((a, b) => a.code - b.code)
}

/** Codes and logs of transactions that fail and of queries that are refused, by code. */
export const txErrorsTable = (): string =>
  table(
    ['Code', 'Log', 'Defined in'],
    listedTxErrors().map(({ code, log, source }) => [String(code), `\`${log}\``, source]),
  )
