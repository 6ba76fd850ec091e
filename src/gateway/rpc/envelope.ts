import { parse } from 'secure-json-parse'
import { isObject } from '../../base/json.ts'
import { type DefectLog, errorObject, type RpcError, type RpcErrorObject, rpcErrors } from './errors.ts'
import {
  BATCH_ANSWER_LENGTH_MAX,
  BATCH_CALLS_MAX,
  PARAMS_DEPTH_MAX,
  SHORT_ANSWER_LENGTH,
  TEXT_MARKS_MAX,
} from '../http/limits.ts'

/** A piece of an answer: text, or bytes of UTF-8 that other answers may share. */
export type Piece = string | Uint8Array

/** A result that is JSON already: it is sent as it stands, and many answers may hold the same bytes. */
export class RawJson {
  readonly pieces: readonly Piece[]
  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }
}

/** Params of a call: by position, by name, or none. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>> | undefined

/** What the envelope needs: `call` runs a method or throws. */
export interface Server {
  readonly call: (method: string, params: Params) => Promise<unknown>
  /** Asked before a text is parsed: why it may not be. Resolves when it is its turn. */
  readonly admitText: (bytes: number) => Promise<RpcError | undefined>
  /**
   * Asked before the calls of a text begin: for each method, why it may not run. Resolves one after the other, each when
   * it is its turn.
   */
  readonly admitCalls: (methods: readonly string[]) => readonly Promise<RpcError | undefined>[]
  readonly log: DefectLog
}

type Id = string | number | null

interface Call {
  readonly method: string
  readonly params: Params
  /** Undefined for a notification, which is run but not answered. */
  readonly id: Id | undefined
}

type Answer = { readonly id: Id } & ({ readonly result: unknown } | { readonly error: RpcErrorObject })

// A number that JavaScript cannot hold would come back as another one.
const isId = (value: unknown): value is Id =>
  value === null ||
  typeof value === 'string' ||
  (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)

// Object.values takes twice as long as Object.keys of an object of very many keys.
const isDeeper = (value: unknown, depth: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  if (Array.isArray(value)) return value.some((one) => isDeeper(one, depth - 1))
  return isObject(value) && Object.keys(value).some((key) => isDeeper(value[key], depth - 1))
}

/** Whether a text has more than TEXT_MARKS_MAX of the characters with which members and elements begin. */
function hasTooMany(text: string): boolean {
  let count = 0
  for (const mark of ',[{')
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (++count > TEXT_MARKS_MAX) return true
  return false
}

const TOO_MANY_MARKS = `a body or message holds at most ${TEXT_MARKS_MAX} of the characters , [ { together, this one has more`

const refusal = (why: string, id: Id = null): Answer => ({
  id,
  error: { code: rpcErrors.invalidRequest.code, message: `Invalid Request: ${why}` },
})

function readCall(value: unknown): Call | Answer {
  if (!isObject(value)) return refusal('expected an object')
  const hasId = Object.hasOwn(value, 'id')
  const given = value['id']
  if (hasId && !isId(given)) return refusal('id: expected a string, a number up to 2^53 - 1, or null')
  const id = hasId ? (given as Id) : undefined
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

/** What is sent to the caller. `refused` is set when the whole answer is one error. */
export interface Reply {
  readonly pieces: readonly Piece[]
  readonly refused: RpcErrorObject | undefined
}

async function run(
  server: Server,
  call: Call | Answer,
  admitted: Promise<RpcError | undefined> | undefined,
): Promise<Answer | undefined> {
  const refused = await admitted
  if (!('method' in call)) return call
  let answer: { result: unknown } | { error: RpcErrorObject }
  try {
    if (refused !== undefined) throw refused
    answer = { result: (await server.call(call.method, call.params)) ?? null }
  } catch (thrown) {
    answer = { error: errorObject(thrown, server.log, call.method) }
  }
  return call.id === undefined ? undefined : { ...answer, id: call.id }
}

function print(answer: Answer): readonly Piece[] {
  if (!('result' in answer && answer.result instanceof RawJson)) return [JSON.stringify({ jsonrpc: '2.0', ...answer })]
  return ['{"jsonrpc":"2.0","result":', ...answer.result.pieces, `,"id":${JSON.stringify(answer.id)}}`]
}

const replyOf = (answer: Answer): Reply => ({
  pieces: print(answer),
  refused: 'error' in answer ? answer.error : undefined,
})

const BATCH_TOO_LONG = `the answers of the batch are over ${BATCH_ANSWER_LENGTH_MAX} characters, ask in smaller batches`

function printBatch(answers: readonly Answer[]): readonly Piece[] {
  let length = 0
  const pieces: Piece[] = []
  for (const answer of answers) {
    let printed = print(answer)
    const more = printed.reduce((sum, piece) => sum + piece.length, 0)
    if (more <= SHORT_ANSWER_LENGTH || length + more <= BATCH_ANSWER_LENGTH_MAX) length += more
    else printed = print(refusal(BATCH_TOO_LONG, answer.id))
    pieces.push(pieces.length === 0 ? '[' : ',', ...printed)
  }
  return [...pieces, ']']
}

/** The answer to a batch with too many calls: an error for each id, or one for all of them when none has an id. */
function refuseBatch(batch: readonly unknown[]): Reply {
  const why = `a batch holds at most ${BATCH_CALLS_MAX} calls, got ${batch.length}`
  const ids = batch.flatMap((call) => (isObject(call) && isId(call['id']) ? [call['id']] : []))
  if (ids.length === 0) return replyOf(refusal(why))
  return { pieces: printBatch(ids.map((id) => refusal(why, id))), refused: undefined }
}

/**
 * Resolves with the answer to the text of one call or a batch, or with undefined when nothing is answered
 * (notifications). Never rejects. The calls of a batch run at the same time, but begin in order, so that transactions of
 * one account are sent in order. Source: JSON-RPC 2.0.
 */
export async function answer(server: Server, text: string): Promise<Reply | undefined> {
  const tooMuch = await server.admitText(Buffer.byteLength(text))
  if (tooMuch !== undefined) return replyOf({ id: null, error: errorObject(tooMuch, server.log, '') })
  if (hasTooMany(text)) return replyOf(refusal(TOO_MANY_MARKS))
  let body: unknown
  try {
    // It also refuses the key `__proto__`, and a `constructor` that has a `prototype`.
    body = parse(text)
  } catch {
    return replyOf({ id: null, error: rpcErrors.parse })
  }
  if (Array.isArray(body) && body.length === 0) return replyOf(refusal('a batch holds at least one call'))
  if (Array.isArray(body) && body.length > BATCH_CALLS_MAX) return refuseBatch(body)
  const calls = (Array.isArray(body) ? body : [body]).map(readCall)
  const admitted = server.admitCalls(calls.map((call) => ('method' in call ? call.method : '')))
  const answers = (await Promise.all(calls.map((call, at) => run(server, call, admitted[at])))).filter(
    (one) => one !== undefined,
  )
  const [only] = answers
  if (only === undefined) return undefined
  return Array.isArray(body) ? { pieces: printBatch(answers), refused: undefined } : replyOf(only)
}
