/** How blocks, transactions and events are shown. Source: protocol.md §9, §10. */
import { addressOf } from '../base/address.ts'
import { printTime, secondsOf } from '../base/time.ts'
import type { FeedBlock } from '../comet/feed.ts'
import type { IncludedTx, NodeEvent } from '../comet/rpc.ts'
import { txEntryOf } from '../modules/registry.ts'
import { decodeTx, txHash } from '../tx/envelope.ts'
import { printFields } from '../tx/fields.ts'
import type { Chain } from './chain.ts'
import { includedParts } from './result.ts'

/** The events that transactions and blocks are found by; they say nothing else. Source: protocol.md §9. */
const INDEX_EVENTS = new Set(['svc.tx', 'svc.block'])

/** What a validator was paid: told of every 50th block, and found by its own method. Source: protocol.md §9. */
export const AWARD_EVENT = 'svc.stake.award'

/** The events of a block or a transaction that say what happened. */
export const told = (events: readonly NodeEvent[]): readonly NodeEvent[] =>
  events.filter(({ type }) => type.startsWith('svc.') && !INDEX_EVENTS.has(type))

/** A block without its transactions. Source: protocol.md §10, svc_getBlock. */
export const blockHead = (block: FeedBlock): Readonly<Record<string, unknown>> => ({
  height: block.height,
  hash: block.hash,
  parent_hash: block.parentHash,
  time: printTime(secondsOf(block.timeMs)),
  proposer_address: block.proposer,
  app_hash: block.appHash,
  transaction_count: block.txs.length,
})

/** The transactions of a block from `offset` on, as they are found one by one. */
export const txsOf = (block: FeedBlock, offset = 0, count = block.txs.length): readonly Omit<IncludedTx, 'events'>[] =>
  block.txs.slice(offset, offset + count).flatMap((tx, at) => {
    const result = block.results[offset + at]
    return result === undefined ? [] : [{ hash: txHash(tx), height: block.height, index: offset + at, tx, result }]
  })

/** What a transaction says. Every member is null for bytes that are no transaction, which a block may hold too. */
function contentOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const tx = decodeTx(bytes)
  if ('why' in tx) return { sender: null, nonce: null, operation: null, message: null }
  const { from, nonce, operation, message } = tx.body
  const entry = txEntryOf.get(operation)
  return {
    sender: addressOf(from),
    nonce,
    operation,
    message: entry === undefined ? null : printFields(entry.input, message),
  }
}

/** A transaction in a block, as it is shown. Source: protocol.md §10, svc_getTransaction. */
export async function printFound(
  chain: Chain,
  { hash, height, index, tx, result }: Omit<IncludedTx, 'events'>,
): Promise<Readonly<Record<string, unknown>>> {
  const gasPrice = result.code === 0 && result.gasUsed > 0 ? await chain.forCallers.gasPrice(height) : 0n
  return { height, hash, index, ...contentOf(tx), ...includedParts(result, gasPrice) }
}
