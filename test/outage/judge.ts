import { announcedBy, type Described, type Schema } from '../fuzz/rpcModel.ts'
import type { Answer } from './ask.ts'

/** Methods whose answer does not say of which height it is, and why it need not. */
const WITHOUT_HEIGHT: Readonly<Record<string, string>> = {
  svc_accounts: 'the keys of the gateway',
  svc_blockNumber: 'it is the height',
  svc_getBalance: 'the interface has it so: svc_status and /readyz say that the node is behind',
  svc_getTransactionCount: 'as svc_getBalance',
  svc_getShortfall: 'of a transaction that has failed, whatever the head is',
  svc_subscribe: 'about the websocket: what it tells of has heights',
  svc_unsubscribe: 'about the websocket',
  'rpc.discover': 'about the gateway',
  eth_chainId: 'of the chain, at any height',
  net_version: 'of the chain, at any height',
  web3_clientVersion: 'about the gateway',
}

const INTERNAL = -32603
const NOT_IN_BLOCK = -32012
const HASH = /^[0-9A-F]{64}$/

const hasHeight = ({ properties = {}, anyOf = [] }: Schema): boolean => 'height' in properties || anyOf.some(hasHeight)

/**
 * Says what is wrong with an answer of a gateway whose node does not serve it well; undefined when nothing is.
 * `headMax`: a height that the node has not passed.
 */
export function wrongOf(
  { name, errors, result: { schema } }: Described,
  answer: Answer | undefined,
  headMax: number,
): string | undefined {
  if (answer === undefined) return 'no answer'
  const { error, result } = answer
  if (error !== undefined) {
    const { code, message, data } = error
    if (code === INTERNAL) return `a defect: ${message}`
    if (!announcedBy({ errors }).has(code)) return `code ${code}, which the document does not announce`
    if (message.length === 0) return `code ${code} without a message`
    if (code === NOT_IN_BLOCK && !HASH.test(data?.hash ?? '')) return `code ${code} without the hash of the transaction`
    return undefined
  }
  if (!hasHeight(schema)) {
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
