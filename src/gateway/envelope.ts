import { isObject } from '../base/json.ts'
import { type DefectLog, errorObject, type RpcErrorObject, rpcErrors } from './errors.ts'
import { BATCH_ANSWER_LENGTH_MAX, BATCH_CALLS_MAX, PARAMS_DEPTH_MAX } from './limits.ts'

/** Params of a call: by position, by name, or none. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>> | undefined

/** What the envelope needs: `call` runs a method or throws; `parse` reads JSON or throws. */
export interface Server {
  readonly call: (method: string, params: Params) => Promise<unknown>
  readonly parse: (text: string) => unknown
  readonly log: DefectLog
}

type Id = string | number | null

interface Call {
  readonly method: string
  readonly params: Params
  /** Left out: a notification, which is run and not answered. */
  readonly id: Id | undefined
}

type Answer = { readonly id: Id } & ({ readonly result: unknown } | { readonly error: RpcErrorObject })

// A number that JavaScript cannot hold would come back as another one.
const isId = (value: unknown): value is Id => value === null || typeof value === 'string'
  || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)

const isDeeper = (value: unknown, depth: number): boolean => typeof value === 'object' && value !== null
  && (depth === 0 || Object.values(value).some((one) => isDeeper(one, depth - 1)))

const refusal = (why: string, id: Id = null): Answer =>
  ({ id, error: { code: rpcErrors.invalidRequest.code, message: `Invalid Request: ${why}` } })

function readCall(value: unknown): Call | Answer {
  if (!isObject(value)) return refusal('expected an object')
  const hasId = Object.hasOwn(value, 'id')
  const given = value['id']
  if (hasId && !isId(given)) return refusal('id: expected a string, a number up to 2^53 - 1, or null')
  const id = hasId ? given as Id : undefined
  if (value['jsonrpc'] !== '2.0') return refusal('jsonrpc: expected "2.0"', id)
  const method = value['method']
  if (typeof method !== 'string') return refusal('method: expected a string', id)
  const params = value['params']
  if (Object.hasOwn(value, 'params') && !Array.isArray(params) && !isObject(params)) {
    return refusal('params: expected an array or an object', id)
  }
  if (isDeeper(params, PARAMS_DEPTH_MAX)) return refusal(`params: nested deeper than ${PARAMS_DEPTH_MAX}`, id)
  return { method, params: params as Params, id }
}

async function run(server: Server, value: unknown): Promise<Answer | undefined> {
  const call = readCall(value)
  if (!('method' in call)) return call
  let answer: { result: unknown } | { error: RpcErrorObject }
  try {
    answer = { result: await server.call(call.method, call.params) ?? null }
  } catch (thrown) {
    answer = { error: errorObject(thrown, server.log, call.method) }
  }
  return call.id === undefined ? undefined : { ...answer, id: call.id }
}

const print = (answer: Answer): string => JSON.stringify({ jsonrpc: '2.0', ...answer })

function printBatch(answers: readonly Answer[]): string {
  let length = 0
  const parts = answers.map((answer) => {
    const text = print(answer)
    if (length + text.length > BATCH_ANSWER_LENGTH_MAX) {
      return print(refusal(`the answers of the batch are over ${BATCH_ANSWER_LENGTH_MAX} characters, ask in smaller batches`, answer.id))
    }
    length += text.length
    return text
  })
  return `[${parts.join(',')}]`
}

/**
 * The answer to the text of one call or a batch; undefined when nothing is answered (notifications). Never throws. The calls of a batch
 * run at the same time, but begin in order, so that transactions of one account are sent in order. Source: JSON-RPC 2.0.
 */
export async function answerText(server: Server, text: string): Promise<string | undefined> {
  let body: unknown
  try {
    body = server.parse(text)
  } catch {
    return print({ id: null, error: rpcErrors.parse })
  }
  if (!Array.isArray(body)) {
    const answer = await run(server, body)
    return answer === undefined ? undefined : print(answer)
  }
  if (body.length === 0) return print(refusal('a batch holds at least one call'))
  if (body.length > BATCH_CALLS_MAX) return print(refusal(`a batch holds at most ${BATCH_CALLS_MAX} calls, got ${body.length}`))
  const answers = (await Promise.all(body.map((one) => run(server, one)))).filter((answer) => answer !== undefined)
  return answers.length === 0 ? undefined : printBatch(answers)
}
