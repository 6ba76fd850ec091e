import { baseApplication } from './baseApplication.ts'
import {
  type AbciCalls,
  type Application,
  ApplySnapshotChunkResult,
  OfferSnapshotResult,
  ProposalStatus,
  type RequestKind,
  VerifyStatus,
} from './types.ts'
import { requestKinds } from './wire.ts'

/** What answers a request of each kind: the application's handler, or the base application's. */
export type Handlers = { readonly [K in RequestKind]?: (request: AbciCalls[K][0]) => unknown }

/** True for what must be awaited. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

const OWN: ReadonlySet<RequestKind> = new Set(['echo', 'flush'])
const LEGACY = ['beginBlock', 'deliverTx', 'endBlock'] as const
const kinds = requestKinds.filter((kind) => !OWN.has(kind))

type Plain = Readonly<Record<string, unknown>>
/** What is wrong with a response to this request, beyond what its shape tells. */
type Rule<K extends RequestKind> = (response: Plain, request: AbciCalls[K][0]) => string | undefined

/** `member` must be one of `verdicts` but the first, `unknown`, which also stands for a member that was left out. */
function verdict(member: string, verdicts: Readonly<Record<string, number>>): Rule<RequestKind> {
  const known = Object.entries(verdicts).slice(1)
  const expected = known.map(([name, value]) => `${value} (${name})`).join(', ')
  return ({ [member]: given = 0 }) =>
    typeof given !== 'number' || known.some(([, value]) => value === given)
      ? undefined
      : `${member}: expected one of ${expected}, got ${given}`
}

// CometBFT stops, or ends state sync, at each of these. It does not at a proposal that is too large: it proposes nothing then,
// and says so.
const RULES: { readonly [K in RequestKind]?: Rule<K> } = {
  finalizeBlock: ({ txResults = [] }, { txs }) =>
    !Array.isArray(txResults) || txResults.length === txs.length
      ? undefined
      : `txResults: expected ${txs.length}, one for each transaction, got ${txResults.length}`,
  processProposal: verdict('status', ProposalStatus),
  verifyVoteExtension: verdict('status', VerifyStatus),
  offerSnapshot: verdict('result', OfferSnapshotResult),
  applySnapshotChunk: verdict('result', ApplySnapshotChunkResult),
}

function withRule<K extends RequestKind>(
  kind: K,
  handler: (request: AbciCalls[K][0]) => unknown,
  rule: Rule<K>,
): (request: AbciCalls[K][0]) => unknown {
  const judge = (request: AbciCalls[K][0], response: unknown): unknown => {
    // What is no object at all is refused by its shape.
    const problem = typeof response === 'object' && response !== null ? rule(response as Plain, request) : undefined
    if (problem !== undefined) throw new TypeError(`${kind}: ${problem}`)
    return response
  }
  return (request) => {
    const response = handler(request)
    return isPromise(response) ? response.then((value) => judge(request, value)) : judge(request, response)
  }
}

/** Refuses what is meant as a handler and would never be called. */
function refuseStrays(application: object): void {
  for (const kind of kinds) {
    const given = (application as Plain)[kind]
    if (given !== undefined && typeof given !== 'function')
      throw new TypeError(`application.${kind}: expected a function, got ${given === null ? 'null' : typeof given}`)
  }
  const legacy = LEGACY.filter((kind) => (application as Plain)[kind] !== undefined)
  const missing = [...LEGACY, 'finalizeBlock'].filter((kind) => (application as Plain)[kind] === undefined)
  if (legacy.length > 0 && missing.length > 0)
    throw new TypeError(`application.${legacy[0]}: expected ${missing.join(', ')} beside it, or finalizeBlock alone`)
  // A class may have methods of its own; in an object literal such a name is misspelt.
  if (Object.getPrototypeOf(application) !== Object.prototype) return
  const stray = Object.entries(application).find(
    ([name, value]) => typeof value === 'function' && !kinds.includes(name as RequestKind),
  )
  if (stray !== undefined)
    throw new TypeError(`application.${stray[0]}: no such handler, expected one of ${kinds.join(', ')}`)
}

/**
 * The handlers of `application`, with those of the base application where it has none, and checked where CometBFT takes
 * only some responses. Throws a TypeError that names a handler that is not a function, that no request calls, or that
 * needs others beside it.
 */
export function handlersOf(application: Application): Handlers {
  if (typeof application !== 'object' || application === null)
    throw new TypeError(
      `application: expected an object with handlers, got ${application === null ? 'null' : typeof application}`,
    )
  refuseStrays(application)
  const handlers: Record<string, (request: never) => unknown> = {}
  for (const kind of kinds) {
    const own = application[kind as keyof Application] as ((request: never) => unknown) | undefined
    const handler = own?.bind(application) ?? (baseApplication as Handlers)[kind]
    const rule = RULES[kind] as Rule<RequestKind> | undefined
    if (handler !== undefined)
      handlers[kind] = rule === undefined ? handler : withRule(kind, handler as (request: object) => unknown, rule)
  }
  return handlers
}
