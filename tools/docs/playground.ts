/**
 * What the playground of the site knows without showing it: the calls it makes, and how a method, its parameters and an
 * answer are read. The component around it is .vitepress/theme/Playground.vue.
 */

/** A parameter as the OpenRPC document describes it. */
export interface Param {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly schema: object
}

/** A method as the OpenRPC document describes it. */
export interface RpcMethod {
  readonly name: string
  readonly summary: string
  readonly tags?: readonly { readonly name: string }[]
  readonly params: readonly Param[]
  readonly result: { readonly schema: object }
  readonly errors: readonly { readonly code: number; readonly message: string }[]
  readonly examples: readonly {
    readonly params: readonly { readonly name: string; readonly value: unknown }[]
    readonly result: { readonly value: unknown }
  }[]
}

/** The part of the OpenRPC document that the playground shows. */
export interface RpcDocument {
  readonly info: { readonly version: string }
  readonly methods: readonly RpcMethod[]
}

/** What the build hands the playground. */
export interface PlaygroundData {
  readonly document: RpcDocument
  readonly rpcErrors: readonly { readonly code: number; readonly meaning: string }[]
  readonly txErrors: readonly { readonly code: number; readonly log: string; readonly source: string }[]
}

/** The methods by group in the order of the document. */
export function groupsOf(document: RpcDocument): readonly (readonly [group: string, readonly RpcMethod[]])[] {
  const groups = new Map<string, RpcMethod[]>()
  for (const method of document.methods) {
    const name = method.tags?.[0]?.name ?? 'Methods'
    groups.set(name, [...(groups.get(name) ?? []), method])
  }
  return [...groups]
}

const hasTag = (method: RpcMethod, tag: string): boolean => method.tags?.some(({ name }) => name === tag) ?? false

/** True when the gateway signs with the key of `from`. */
export const signs = (method: RpcMethod): boolean => hasTag(method, 'signs')

/** True when only a websocket carries the method. */
export const needsSocket = (method: RpcMethod): boolean => hasTag(method, 'websocket')

/** The recorded params of a method, as JSON for people. */
export function exampleParams(method: RpcMethod): string {
  const params = method.examples[0]?.params ?? []
  return JSON.stringify(Object.fromEntries(params.map(({ name, value }) => [name, value])), undefined, 2)
}

/** One example call of a method with its recorded answer, or undefined. */
export const exampleAnswer = (method: RpcMethod): unknown => method.examples[0]?.result.value

/** The type of a value in a few words, from its schema. */
export function typeOf(schema: object): string {
  const {
    type,
    enum: values,
    anyOf,
    items,
  } = schema as {
    readonly type?: string | readonly string[]
    readonly enum?: readonly unknown[]
    readonly anyOf?: readonly object[]
    readonly items?: object
  }
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ')
  if (type === 'array') return items === undefined ? 'array' : `array of ${typeOf(items)}`
  return typeof type === 'string' ? type : (type?.join(' | ') ?? 'any')
}

/** A JSON-RPC call as it is sent. Throws when `params` is not a JSON object. */
export function callOf(method: string, params: string): object {
  const given: unknown = params.trim() === '' ? {} : JSON.parse(params)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new SyntaxError('params: expected a JSON object, one member for each parameter')
  return { jsonrpc: '2.0', id: 1, method, params: given }
}

/** How a gateway was reached, or why not. */
export type Reached =
  | { readonly state: 'connected'; readonly document: RpcDocument }
  | { readonly state: 'refused' | 'silent'; readonly reason: string }

const post = async (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/**
 * Asks the gateway at `url` for its OpenRPC document. A gateway that refuses the page's origin looks to a page as if
 * nothing answered. A request whose answer the page may not read tells the two apart.
 */
export async function connect(url: string): Promise<Reached> {
  try {
    const answer = (await (await post(url, callOf('rpc.discover', ''))).json()) as { result?: RpcDocument }
    if (Array.isArray(answer.result?.methods)) return { state: 'connected', document: answer.result }
    return { state: 'silent', reason: 'It answers, but not like a gateway of svcd.' }
  } catch {
    // Not the address itself: what stands there is a page that no other page may load.
    const health = new URL('healthz', url.endsWith('/') ? url : `${url}/`)
    const isThere = await fetch(health, { mode: 'no-cors', cache: 'no-store' }).then(
      () => true,
      () => false,
    )
    return isThere
      ? { state: 'refused', reason: 'Something answers there, and does not let this page read the answer.' }
      : { state: 'silent', reason: 'Nothing answers at this address, or the browser does not let this page ask.' }
  }
}

/** Sends a call and resolves with the whole answer. */
export const send = async (url: string, call: object): Promise<unknown> => (await post(url, call)).json()

/** True when `log` fits a line of the catalogue, in which an ellipsis stands for what was given. */
function fits(log: string, known: string): boolean {
  const parts = known.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(log)
}

interface TxPart {
  readonly code?: number
  readonly log?: string
}

/** What the error of an answer means, from the catalogue: of JSON-RPC, or of a transaction that failed. */
export function meaningOf(answer: unknown, data: PlaygroundData): string | undefined {
  const { error, result } = (answer ?? {}) as {
    readonly error?: { readonly code: number }
    readonly result?: { readonly check_tx?: TxPart; readonly deliver_tx?: TxPart } | null
  }
  if (error !== undefined) {
    const meaning = data.rpcErrors.find(({ code }) => code === error.code)?.meaning
    return meaning === undefined ? undefined : `${error.code}: ${meaning}`
  }
  const failed = [result?.check_tx, result?.deliver_tx].find((part) => (part?.code ?? 0) !== 0)
  if (failed?.code === undefined) return undefined
  const known = data.txErrors.find(({ code, log }) => code === failed.code && fits(failed.log ?? '', log))
  const where = known === undefined ? '' : ` (${known.source})`
  return `The transaction failed with code ${failed.code}, ${failed.log ?? ''}${where}. Nothing of it was carried out.`
}
