/**
 * What a gateway must answer to a text, by JSON-RPC 2.0 and the OpenRPC document alone (docs/protocol.md §10). Where the
 * document cannot say whether a value is right, more than one answer is.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** One method of the document. */
export interface Described {
  readonly name: string
  readonly description?: string
  readonly tags: readonly { readonly name: string }[]
  readonly paramStructure: 'either' | 'by-name'
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[]
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

/** What one call must be answered with: `codes` of errors, and a result where `mayHaveResult`. */
export interface Expected {
  readonly id: string | number | null
  readonly codes: ReadonlySet<number> | 'any'
  readonly mayHaveResult: boolean
}

/** What a text must be answered with: nothing, one answer, or a list of them in order. */
export type ExpectedReply = undefined | Expected | readonly Expected[]

const [PARSE, INVALID, NOT_FOUND, PARAMS, INTERNAL] = [-32700, -32600, -32601, -32602, -32603]
const BATCH_MAX = 50
const DEPTH_MAX = 16

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const only = (id: Expected['id'], code: number): Expected => ({ id, codes: new Set([code]), mayHaveResult: false })

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

/** What no JSON Schema says: integers in text above 2^53 - 1, base64 whose last bits are not 0, half a character. */
const isBeyondSchema = (given: unknown): boolean =>
  typeof given === 'string'
    ? !given.isWellFormed() || /^(?:[0-9]{16,}|0x[0-9a-fA-F]{14,})$/.test(given) || /[^A]=+$/.test(given)
    : typeof given === 'object' && given !== null && Object.values(given).some(isBeyondSchema)

/** The members that are given: null is not (docs/protocol.md §1, Given). */
const givenOf = (members: unknown): unknown =>
  isObject(members)
    ? Object.fromEntries(
        Object.entries(members)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => [name, givenOf(value)]),
      )
    : members

/** Creates the model of a gateway with these methods. `isSocket`: of one that is called on a websocket. */
export function createModel(described: readonly Described[], isSocket = false): (text: string) => ExpectedReply {
  const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
  const methods = new Map<string, { readonly method: Described; readonly fits: ValidateFunction }>(
    described.map((method) => {
      const properties = Object.fromEntries(method.params.map(({ name, schema }) => [name, schema]))
      const required = method.params.filter((param) => param.required).map(({ name }) => name)
      return [
        method.name,
        { method, fits: ajv.compile({ type: 'object', properties, required, additionalProperties: false }) },
      ]
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
    const members = givenOf(membersOf(found.method, params))
    const isCertain = members !== undefined && !isBeyondSchema(members)
    if (isCertain && !found.fits(members)) return only(id, PARAMS)
    // Only a devnet whose blocks wait for transactions has these.
    const isAway = found.method.tags.some((tag) => tag.name === 'Devnet')
    if (isAway) return { id, codes: new Set([NOT_FOUND, ...(isCertain ? [] : [PARAMS])]), mayHaveResult: false }
    // A transaction that fails is an error with its own code, which is not negative.
    return { id, codes: 'any', mayHaveResult: true }
  }

  const ofCall = (call: unknown): Expected | undefined => {
    if (!isObject(call)) return only(null, INVALID)
    const { id, jsonrpc, method, params } = call
    const hasId = Object.hasOwn(call, 'id')
    const isId = id === null || typeof id === 'string' || (typeof id === 'number' && Math.abs(id) <= 2 ** 53 - 1)
    if (hasId && !isId) return only(null, INVALID)
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
    let body: unknown
    try {
      body = JSON.parse(text.replace(/^\ufeff/, ''))
    } catch {
      return only(null, PARSE)
    }
    if (isPoisoned(body)) return only(null, PARSE)
    if (!Array.isArray(body)) return ofCall(body)
    if (body.length === 0 || body.length > BATCH_MAX) return only(null, INVALID)
    const answers = body.map(ofCall).filter((one) => one !== undefined)
    return answers.length === 0 ? undefined : answers
  }
}

/** Why an answer is not the one that was expected; undefined when it is. `documented`: codes that a call may have. */
export function differs(
  answer: unknown,
  { id, codes, mayHaveResult }: Expected,
  documented: ReadonlySet<number>,
): string | undefined {
  if (!isObject(answer)) return `no object: ${JSON.stringify(answer)}`
  const { jsonrpc, id: given, error, result } = answer as Answer
  if (jsonrpc !== '2.0') return `jsonrpc is ${JSON.stringify(jsonrpc)}`
  if (given !== id) return `id is ${JSON.stringify(given)}, expected ${JSON.stringify(id)}`
  if (Object.keys(answer).length !== 3) return `members ${Object.keys(answer).join()}`
  if (error === undefined) return mayHaveResult && result !== undefined ? undefined : 'it has a result'
  const { code, message } = error
  if (typeof message !== 'string' || message.length === 0) return 'an error without a message'
  if (!Number.isSafeInteger(code)) return `the code ${JSON.stringify(code)}`
  if (codes !== 'any') return codes.has(code as number) ? undefined : `code ${code}, expected ${[...codes].join()}`
  const isKnown = (code as number) >= 0 || documented.has(code as number)
  return isKnown && code !== INTERNAL && code !== PARSE ? undefined : `code ${code}, which nothing announces`
}
