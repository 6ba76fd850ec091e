/** How blocks, transactions and events are shown. Source: protocol.md §9, §10. */
import { addressOf } from '../../values/address.ts'
import { printTime, secondsOf } from '../../base/time.ts'
import type { FeedBlock } from '../../comet/feed.ts'
import type { NodeEvent, TxResult } from '../../comet/rpc.ts'
import { EVENT_PREFIX } from '../../modules/event.ts'
import { isIndexEvent, txEntryOf } from '../../modules/registry.ts'
import { decodeTx, txHash } from '../../tx/envelope.ts'
import { printFields } from '../../tx/fields.ts'
import type { Chain } from '../chain.ts'
import { includedParts } from '../rpc/result.ts'

/** A transaction in a block. `hash`: upper-case hex. */
export interface FoundTx {
  readonly height: number
  readonly index: number
  readonly hash: string
  readonly tx: Uint8Array
  readonly result: TxResult
}

/** The events of a block or a transaction that say what happened. */
export const publicEvents = (events: readonly NodeEvent[]): readonly NodeEvent[] =>
  events.filter((event) => event.type.startsWith(EVENT_PREFIX) && !isIndexEvent(event))

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
export const txsOf = (block: FeedBlock, offset = 0, count = block.txs.length): readonly FoundTx[] =>
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

/**
 * A transaction in a block, as it is shown. `gasPrice`: in base units, in force in that block. Source: protocol.md §10,
 * svc_getTransaction.
 */
export const printTx = (
  { hash, height, index, tx, result }: FoundTx,
  gasPrice: bigint,
): Readonly<Record<string, unknown>> => ({ height, hash, index, ...contentOf(tx), ...includedParts(result, gasPrice) })

/** The same of a transaction whose price of gas has to be asked for. */
export async function printFound(chain: Chain, found: FoundTx): Promise<Readonly<Record<string, unknown>>> {
  const { code, gasUsed } = found.result
  return printTx(found, code === 0 && gasUsed > 0 ? await chain.forCallers.gasPrice(found.height) : 0n)
}
