/**
 * What a gateway must answer to a text, by JSON-RPC 2.0 and the OpenRPC document alone (docs/protocol.md §10). Where the
 * document cannot say whether a value is right, more than one answer is.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** What is read of a JSON Schema. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: readonly Schema[]
  readonly maximum?: number
  readonly minimum?: number
  readonly contentEncoding?: string
  readonly description?: string
}

/** One method of the document. */
export interface Described {
  readonly name: string
  readonly description?: string
  readonly tags: readonly { readonly name: string }[]
  readonly paramStructure: 'either' | 'by-name'
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[]
  readonly result: { readonly schema: Schema }
  readonly errors: readonly { readonly code: number }[]
  readonly examples: readonly { readonly params: readonly { readonly name: string; readonly value: unknown }[] }[]
}

/** One answer as it came. */
export interface Answer {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown }
}

/**
 * What one call must be answered with: an error with one of `codes`, or a result. `fitsResult` knows the right results; it
 * is undefined where there must be none.
 */
export interface Expected {
  readonly id: string | number | null
  readonly codes: ReadonlySet<number>
  readonly fitsResult: ValidateFunction | undefined
}

/** What a text must be answered with: nothing, one answer, or a list of them in order. */
export type ExpectedReply = undefined | Expected | readonly Expected[]

const [PARSE, INVALID, NOT_FOUND, PARAMS, INTERNAL] = [-32700, -32600, -32601, -32602, -32603]
const [NO_KEY, LIMITED] = [-32010, -32015]
const BATCH_MAX = 200
const DEPTH_MAX = 16
const MARKS_MAX = 8192

const isId = (id: unknown): id is Expected['id'] =>
  id === null || typeof id === 'string' || (typeof id === 'number' && Math.abs(id) <= 2 ** 53 - 1)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const only = (id: Expected['id'], code: number): Expected => ({ id, codes: new Set([code]), fitsResult: undefined })

/** How deep a value is nested; a plain one is 0. */
function depthOf(value: unknown): number {
  let [depth, level] = [0, [value]]
  for (;;) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? [one] : []))
    if (level.length === 0) return depth
    depth += 1
    level = level.flatMap((one) => Object.values(one as object))
  }
}

/** True for text with a key by which an object's prototype could be changed. */
function isPoisoned(value: unknown): boolean {
  const left = [value]
  for (let one = left.pop(); left.length > 0 || one !== undefined; one = left.pop()) {
    if (typeof one !== 'object' || one === null) continue
    if (Object.hasOwn(one, '__proto__')) return true
    const maker: unknown = Object.hasOwn(one, 'constructor') ? one.constructor : undefined
    if (typeof maker === 'object' && maker !== null && Object.hasOwn(maker, 'prototype')) return true
    left.push(...Object.values(one))
  }
  return false
}

const NUMBER = /^(?:[0-9]+|0x[0-9a-fA-F]+)$/

const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text
const isBytes = (text: string): boolean => /^0x(?:[0-9a-fA-F]{2})*$/.test(text) || isBase64(text)

/**
 * What a schema does not say of a value that fits it: half a character, base64 whose last bits are not 0, and the size of a
 * number in text, which only amounts may have above that of other numbers.
 */
function isBeyondSchema(given: unknown, schema: Schema = {}): boolean {
  if (typeof given !== 'string') return isObject(given) && Object.values(given).some((one) => isBeyondSchema(one))
  if (!given.isWellFormed() || (schema.contentEncoding === 'base64' && !isBase64(given))) return true
  const { minimum = 0, maximum } = schema.anyOf?.find(({ type }) => type === 'integer') ?? {}
  if (maximum === undefined || !NUMBER.test(given) || schema.description?.includes('base units')) return false
  return BigInt(given) < minimum || BigInt(given) > maximum
}

/** Members that fit their schemas and may still be refused with -32602. */
const MAY_BE_REFUSED: Readonly<Record<string, (members: Readonly<Record<string, unknown>>) => boolean>> = {
  // Its text is base64 or hex, which only its description says.
  svc_sendRawTransaction: ({ transaction }) => !isBytes(String(transaction)),
  // So it is with the 32 bytes of an id.
  svc_queryProposal: ({ proposalId }) => Buffer.from(String(proposalId), 'base64').length !== 32,
  // The chain may not have the height yet, or not any more.
  svc_queryParams: ({ height = 0 }) => Number(height) !== 0,
  svc_subscribe: ({ from }) => from !== undefined,
  // The owner may have no candidacy.
  svc_getProof: ({ table }) => table === 'candidacies',
}

/** The members that are given: null is not (docs/protocol.md §1, Given). `names`: those that there are; any unless given. */
const givenOf = (members: unknown, names?: ReadonlySet<string>): unknown =>
  isObject(members)
    ? Object.fromEntries(
        Object.entries(members)
          .filter(([name, value]) => value !== null || names?.has(name) === false)
          .map(([name, value]) => [name, givenOf(value)]),
      )
    : members

/** The codes of errors that the document announces for a method; that of a defect is never right. */
export const announcedBy = ({ errors }: Pick<Described, 'errors'>): ReadonlySet<number> =>
  new Set(errors.map(({ code }) => code).filter((code) => code !== INTERNAL))

interface Served {
  readonly method: Described
  readonly fits: ValidateFunction
  readonly fitsResult: ValidateFunction
}

/**
 * Creates the model of a gateway with these methods. `signers`: the accounts whose keys it has. `isSocket`: of one that is
 * called on a websocket.
 */
export function createModel(
  described: readonly Described[],
  signers: readonly string[],
  isSocket = false,
): (text: string) => ExpectedReply {
  const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
  const methods = new Map<string, Served>(
    described.map((method) => {
      const properties = Object.fromEntries(method.params.map(({ name, schema }) => [name, schema]))
      const required = method.params.filter((param) => param.required).map(({ name }) => name)
      const fits = ajv.compile({ type: 'object', properties, required, additionalProperties: false })
      return [method.name, { method, fits, fitsResult: ajv.compile(method.result.schema) }]
    }),
  )

  /** The members that params stand for; undefined when the document does not say. */
  const membersOf = ({ paramStructure, description = '', params }: Described, given: unknown): unknown => {
    if (!Array.isArray(given)) return given ?? {}
    if (description.includes('only element of an array')) return given.length === 1 ? given[0] : null
    if (paramStructure !== 'either') return undefined
    if (given.length > params.length) return null
    return Object.fromEntries(given.map((value, at) => [params[at]?.name, value]))
  }

  const ofMethod = (id: Expected['id'], name: string, params: unknown): Expected => {
    const found = methods.get(name)
    const isServed = isSocket || !found?.method.tags.some((tag) => tag.name === 'websocket')
    if (found === undefined || !isServed) return only(id, NOT_FOUND)
    const { method, fits, fitsResult } = found
    const members = givenOf(membersOf(method, params), new Set(method.params.map(({ name: known }) => known)))
    if (members !== undefined && !fits(members)) return only(id, PARAMS)
    const isCertain =
      isObject(members) && !method.params.some(({ name, schema }) => isBeyondSchema(members[name], schema))
    // Only a devnet whose blocks wait for transactions has the others. This one's keys are public, so it gives tokens away,
    // and not for ever to one caller.
    const isFaucet = name === 'svc_faucet'
    if (isFaucet && isCertain) return { id, codes: new Set([LIMITED]), fitsResult }
    const isAway = !isFaucet && method.tags.some((tag) => tag.name === 'Devnet')
    if (isAway) return { id, codes: new Set([NOT_FOUND, ...(isCertain ? [] : [PARAMS])]), fitsResult: undefined }
    if (!isCertain) return { id, codes: announcedBy(method), fitsResult }
    const isSigned = method.tags.some((tag) => tag.name === 'signs')
    if (isSigned && !signers.includes(String(members['from']).toLowerCase())) return only(id, NO_KEY)
    return { id, codes: new Set(MAY_BE_REFUSED[name]?.(members) ? [PARAMS] : []), fitsResult }
  }

  const ofCall = (call: unknown): Expected | undefined => {
    if (!isObject(call)) return only(null, INVALID)
    const { id, jsonrpc, method, params } = call
    const hasId = Object.hasOwn(call, 'id')
    if (hasId && !isId(id)) return only(null, INVALID)
    const own = hasId ? (id as Expected['id']) : null
    const hasParams = Object.hasOwn(call, 'params')
    const isCall =
      jsonrpc === '2.0' &&
      typeof method === 'string' &&
      (!hasParams || Array.isArray(params) || isObject(params)) &&
      depthOf(params) <= DEPTH_MAX
    if (!isCall) return only(own, INVALID)
    return hasId ? ofMethod(own, method, params) : undefined
  }

  return (text) => {
    if ([...text.matchAll(/[,[{]/g)].length > MARKS_MAX) return only(null, INVALID)
    let body: unknown
    try {
      body = JSON.parse(text.replace(/^\ufeff/, ''))
    } catch {
      return only(null, PARSE)
    }
    if (isPoisoned(body)) return only(null, PARSE)
    if (!Array.isArray(body)) return ofCall(body)
    if (body.length === 0) return only(null, INVALID)
    if (body.length > BATCH_MAX) {
      const refused = body.flatMap((call) => (isObject(call) && isId(call['id']) ? [only(call['id'], INVALID)] : []))
      return refused.length === 0 ? only(null, INVALID) : refused
    }
    const answers = body.map(ofCall).filter((one) => one !== undefined)
    return answers.length === 0 ? undefined : answers
  }
}

/** Why an answer is not the one that was expected; undefined when it is. */
export function differs(answer: unknown, { id, codes, fitsResult }: Expected): string | undefined {
  if (!isObject(answer)) return `no object: ${JSON.stringify(answer)}`
  const { jsonrpc, id: given, error, result } = answer as Answer
  if (jsonrpc !== '2.0') return `jsonrpc is ${JSON.stringify(jsonrpc)}`
  if (given !== id) return `id is ${JSON.stringify(given)}, expected ${JSON.stringify(id)}`
  if (Object.keys(answer).length !== 3) return `members ${Object.keys(answer).join()}`
  if (error === undefined) {
    if (result === undefined || fitsResult === undefined) return 'it has a result'
    if (fitsResult(result)) return undefined
    const [{ instancePath = '', message = '' } = {}] = fitsResult.errors ?? []
    return `its result is none of the method: ${instancePath} ${message}`
  }
  const { code, message } = error
  if (typeof message !== 'string' || message.length === 0) return 'an error without a message'
  if (codes.has(code as number)) return undefined
  return `code ${JSON.stringify(code)}, expected ${codes.size === 0 ? 'a result' : [...codes].join()}`
}
