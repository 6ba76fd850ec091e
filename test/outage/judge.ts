import { TIMEOUT_MS } from '../../src/comet/transport.ts'
import { announcedBy, type Described, type Schema } from '../fuzz/rpcModel.ts'
import type { Answer } from './ask.ts'
import { WAIT_MS } from './network.ts'

/** Methods whose answer does not say of which height it is, and why it need not. */
const WITHOUT_HEIGHT: Readonly<Record<string, string>> = {
  svc_accounts: 'the keys of the gateway',
  svc_blockNumber: 'it is the height',
  svc_getBalance: 'the interface has it so: svc_status and /readyz say that the node is behind',
  svc_getTransactionCount: 'as svc_getBalance',
  svc_getShortfall: 'of a transaction that has failed, whatever the head is',
  svc_subscribe: 'about the websocket: what it tells of has heights',
  svc_unsubscribe: 'about the websocket',
  eth_blockNumber: 'it is the height',
  net_listening: 'about the gateway',
  eth_chainId: 'of the chain, at any height',
  net_version: 'of the chain, at any height',
  web3_clientVersion: 'about the gateway',
}

const INTERNAL = -32603
const NOT_IN_BLOCK = -32012
const HASH = /^[0-9A-F]{64}$/

/** For a busy machine, on which a timer fires late. */
const MARGIN_MS = 2_000

/**
 * The longest that a call may take, in ms: until the node counts as silent, then until the wait for the block is over,
 * and then for a last look, during which the node is silent again.
 */
export const ANSWER_MS_MAX = TIMEOUT_MS + WAIT_MS + TIMEOUT_MS + MARGIN_MS

const hasHeight = ({ properties = {}, anyOf = [] }: Schema): boolean => 'height' in properties || anyOf.some(hasHeight)

/** A call of a method, what it was answered, and how long that took. */
export interface Answered {
  readonly method: Described
  readonly answer: Answer | undefined
  readonly tookMs: number
}

/**
 * Says what is wrong with an answer of a gateway whose node does not serve it well; undefined when nothing is.
 * `headMax`: a height that the node has not passed. `limitMs`: the longest that a call may take.
 */
export function wrongOf(
  { method, answer, tookMs }: Answered,
  headMax: number,
  limitMs = ANSWER_MS_MAX,
): string | undefined {
  const { name } = method
  if (answer === undefined) return 'no answer'
  if (tookMs > limitMs) return `an answer after ${tookMs / 1000} s, where ${limitMs / 1000} s are the limit`
  const { error, result } = answer
  if (error !== undefined) {
    const { code, message, data } = error
    if (code === INTERNAL) return `a defect: ${message}`
    if (!announcedBy(method).has(code)) return `code ${code}, which the document does not announce`
    if (message.length === 0) return `code ${code} without a message`
    if (code === NOT_IN_BLOCK && !HASH.test(data?.hash ?? '')) return `code ${code} without the hash of the transaction`
    return undefined
  }
  if (!hasHeight(method.result.schema)) {
    return name in WITHOUT_HEIGHT ? undefined : `an answer that does not say of which height: ${JSON.stringify(result)}`
  }
  // Nothing is known of what was asked for.
  if (result === null) return undefined
  const { height } = result as { readonly height?: unknown }
  if (typeof height !== 'number') return `no height: ${JSON.stringify(result)}`
  return height <= headMax ? undefined : `height ${height}, where the node can have ${headMax} at most`
}

/** The hash that an answer names, in an error or in the result of a transaction. */
export const hashOf = (answer: Answer | undefined): string | undefined => {
  const { hash } = (answer?.error?.data ?? answer?.result ?? {}) as { readonly hash?: unknown }
  return typeof hash === 'string' && HASH.test(hash) ? hash : undefined
}
