import { amount } from '../values/number.ts'
import { objectSchema } from '../values/shape.ts'
import type { JsonSchema } from '../values/valueType.ts'

/**
 * The verdict on a transaction before it is in a block. `code` and `log` are there when it failed. Source: interface,
 * Transaction result object.
 *
 * @example
 * const { check_tx } = svc.stake.validator.activate({ from })
 * if (check_tx.code !== undefined) console.log(`refused with code ${check_tx.code}: ${check_tx.log}`)
 */
export interface CheckTx {
  readonly code?: number
  readonly log?: string
  readonly fee: { readonly key?: string; readonly value?: string }
}

/**
 * What came of a transaction in its block. On success `gasUsed`, `fee` (in base units) and `data` (base64) may be there.
 *
 * @example
 * const { deliver_tx } = svc.stake.validator.updateAccount({ from, newCandidateAccount })
 * console.log(`request ${atob(deliver_tx.data ?? '')} costs ${deliver_tx.fee.value} base units`)
 */
export interface DeliverTx extends CheckTx {
  readonly gasUsed?: string
  readonly data?: string
}

/**
 * What every operation answers; the height is 0 when it failed. Source: interface, Transaction result object.
 *
 * @example
 * const result: TransactionResult = await svc.async.transfer({ from, to, value: Svc.fromTokens('1.5') })
 * console.log(`transaction ${result.hash} is in block ${result.height}`)
 */
export interface TransactionResult {
  readonly height: number
  readonly hash: string
  readonly check_tx: CheckTx
  readonly deliver_tx: DeliverTx
  /** Only with `wait: false` of svc_sendRawTransaction: the nonce that comes next, when another one was refused. */
  readonly expected_nonce?: number
  /** Only with `wait: false` of svc_sendRawTransaction: the node had these very bytes before. */
  readonly known?: true
}

const string: JsonSchema = { type: 'string' }
const integer: JsonSchema = { type: 'integer' }
/** JSON schema of a whole number in decimal text. */
export const decimal: JsonSchema = amount.schema

const fee = objectSchema({ key: string, value: decimal }, ['key', 'value'])

/** JSON schema of CheckTx. */
export const checkTxSchema: JsonSchema = objectSchema({ code: integer, log: string, fee }, ['code', 'log'])

/** JSON schema of DeliverTx. `returns` says what `data` carries. */
export const deliverTxSchema = (returns?: string): JsonSchema => {
  const data = { type: 'string', contentEncoding: 'base64', ...(returns === undefined ? {} : { description: returns }) }
  return objectSchema({ code: integer, log: string, gasUsed: decimal, fee, data }, ['code', 'log', 'gasUsed', 'data'])
}

/** JSON schema of Shortfall. */
export const shortfallSchema: JsonSchema = objectSchema({
  account: string,
  needed: decimal,
  fee: decimal,
  available: decimal,
})

/** JSON schema of TransactionResult. `returns` says what `deliver_tx.data` carries. */
export function transactionResultSchema(returns?: string, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  const parts = { height: integer, hash: string, check_tx: checkTxSchema, deliver_tx: deliverTxSchema(returns) }
  return { title: 'TransactionResult', ...objectSchema({ ...parts, ...more }, Object.keys(more)) }
}

/** JSON schema of what `svc_sendRawTransaction` answers, with and without `wait: false`. */
export const sentResultSchema: JsonSchema = {
  ...transactionResultSchema(undefined, { expected_nonce: integer, known: { enum: [true] } }),
  title: 'SentResult',
}
