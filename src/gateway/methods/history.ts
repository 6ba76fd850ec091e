import { addressOf } from '../../base/address.ts'
import { printTime, secondsOf } from '../../base/time.ts'
import { isNodeError } from '../../comet/errors.ts'
import { type FeedBlock, readBlock, withResults } from '../../comet/feed.ts'
import type { NodeEvent } from '../../comet/rpc.ts'
import { field, optional } from '../../tx/fields.ts'
import { address } from '../../values/account.ts'
import { uint } from '../../values/number.ts'
import type { Chain } from '../chain.ts'
import { before, blockId, pageLimit, parsePosition, type Position } from '../fields.ts'
import { AWARD_EVENT, blockHead, printFound, told, txsOf } from '../found.ts'
import { type Asked, behind, searchBlocks, searchTxs } from '../history.ts'
import { HISTORY_BLOCKS_MAX, PAGE_ROWS, PAGE_ROWS_MAX } from '../limits.ts'
import { accountTransaction, award, blockObject, historyOf, validatorEvent } from '../openrpc.ts'
import { defineMethod, type Method } from './define.ts'

const limit = optional(pageLimit(PAGE_ROWS, PAGE_ROWS_MAX))

/** The block, or undefined when the node has none of that height or hash. */
async function findBlock({ blocks, feed }: Chain, id: string): Promise<FeedBlock | undefined> {
  try {
    if (id.length !== 64) return await readBlock(blocks, id === 'latest' ? feed.head() : Number(id))
    const block = await blocks.blockByHash(id)
    return withResults(block, await blocks.blockResults(block.height))
  } catch (error) {
    if (isNodeError(error, 'NotFound')) return undefined
    throw error
  }
}

/** Where a history begins for a caller who names `before`, and what the node has. */
async function stretchOf(chain: Chain, given: string | undefined): Promise<Omit<Asked, 'limit'> & { head: number }> {
  const { latestHeight: head, earliestHeight } = await chain.blocks.status()
  const asked: Position = (given === undefined ? undefined : parsePosition(given)) ?? { height: head, skipped: 0 }
  const from = asked.height > head ? { height: head, skipped: 0 } : asked
  return { head, from, first: Math.max(1, earliestHeight) }
}

const printNext = (next: Position | undefined): string | null =>
  next === undefined ? null : `${next.height}/${next.skipped}`

const timeOf = async (chain: Chain, height: number): Promise<string> =>
  printTime(secondsOf(await chain.blockTime(height)))

/** A block's own events that are about a validator, in order: of its award, or of anything else. */
async function eventsOf(chain: Chain, height: number, owner: string, isAward: boolean): Promise<readonly NodeEvent[]> {
  const results = await chain.blocks.blockResults(height)
  return told(results.eventsOfBlock()).filter(
    ({ type, attributes }) => attributes['owner'] === owner && (type === AWARD_EVENT) === isAward,
  )
}

interface HistoryRow {
  readonly height: number
  readonly hash: string | null
  readonly event: NodeEvent
}

/** What the blocks themselves did to a validator, the newest first. */
async function blockRows(chain: Chain, owner: string, asked: Asked) {
  const { rows, next } = await searchBlocks(chain.searches, 'svc.block.validator', owner, {
    ...asked,
    from: { ...asked.from, skipped: 0 },
    limit: Math.min(asked.limit, HISTORY_BLOCKS_MAX),
  })
  const events: HistoryRow[] = []
  for (const { height } of rows) {
    const own = await eventsOf(chain, height, owner, false)
    events.push(...own.toReversed().map((event) => ({ height, hash: null, event })))
  }
  // What lies below the last block that was read is not known yet.
  return { events, floor: next === undefined ? 0 : (rows.at(-1)?.height ?? 0) }
}

/** A page of what a validator was paid, the newest first. A block has one event of it, which the search finds. */
async function awardRows(chain: Chain, owner: string, asked: Asked) {
  const { rows, next } = await searchBlocks(chain.searches, 'svc.stake.award.owner', owner, asked)
  const data = []
  for (const { height } of rows) {
    for (const { attributes } of await eventsOf(chain, height, owner, true))
      data.push({ height, time: await timeOf(chain, height), amount: attributes['amount'] })
  }
  return { data, next }
}

/** A page of what a validator did and what became of it: the block's own events are newer than its transactions. */
async function validatorHistory(chain: Chain, owner: string, asked: Asked) {
  const { from } = asked
  const { events, floor } = await blockRows(chain, owner, asked)
  const shared = events.filter(({ height }) => height === from.height).length
  const txs = await searchTxs(chain.searches, 'validator', owner, {
    ...asked,
    from: { ...from, skipped: Math.max(0, from.skipped - shared) },
  })
  const unseen = events.slice(Math.min(from.skipped, shared))
  const acts = txs.rows.map(({ height, hash, events: of }) => ({ height, hash, event: told(of())[0] }))
  const rows = [...unseen, ...acts.filter((row): row is typeof row & HistoryRow => row.event !== undefined)]
    .filter(({ height }) => height >= floor)
    .sort((a, b) => b.height - a.height)
  const page = rows.slice(0, asked.limit)
  const isLast = rows.length <= asked.limit && floor === 0 && txs.next === undefined
  return { page, next: isLast ? undefined : behind(page, from) }
}

/** Blocks, and what the node's own index knows of an account and of a validator. Source: protocol.md §10. */
export const historyMethods: readonly Method[] = [
  defineMethod({
    name: 'svc_getBlock',
    doc: 'A block with its transactions and its own events; null when the node has none of that height or hash.',
    input: {
      block: blockId,
      limit,
      offset: optional(field(uint, 'transactions to leave out at the start; 0 when left out')),
    },
    positional: 1,
    isList: true,
    result: { anyOf: [blockObject, { type: 'null' }] },
    run: async ({ chain }, { block: id, limit: count = PAGE_ROWS, offset = 0 }) => {
      const block = await findBlock(chain, id)
      if (block === undefined) return null
      const transactions = await Promise.all(txsOf(block, offset, count).map((tx) => printFound(chain, tx)))
      return { ...blockHead(block), transactions, events: told(block.eventsOfBlock()) }
    },
  }),
  defineMethod({
    name: 'svc_getTransactions',
    doc: 'The transactions that an account sent, failed ones too, and those that concern it, the newest first.',
    input: { address: field(address), limit, before: optional(before) },
    positional: 1,
    isList: true,
    result: historyOf(accountTransaction),
    run: async ({ chain }, { address: account, limit: count = PAGE_ROWS, before: given }) => {
      const { head, ...stretch } = await stretchOf(chain, given)
      const { rows, next } = await searchTxs(chain.searches, 'account', addressOf(account), {
        ...stretch,
        limit: count,
      })
      const data = rows.map(async (tx) => ({ time: await timeOf(chain, tx.height), ...(await printFound(chain, tx)) }))
      return { height: head, data: await Promise.all(data), next: printNext(next) }
    },
  }),
  defineMethod({
    name: 'svc_getValidatorHistory',
    doc: 'What an owner did with a candidacy, its votes and proposals, and what became of it, the newest first.',
    input: { validatorAddress: field(address), limit, before: optional(before) },
    positional: 1,
    isList: true,
    result: historyOf(validatorEvent),
    run: async ({ chain }, { validatorAddress, limit: count = PAGE_ROWS, before: given }) => {
      const { head, ...stretch } = await stretchOf(chain, given)
      const { page, next } = await validatorHistory(chain, addressOf(validatorAddress), { ...stretch, limit: count })
      const data = page.map(async ({ height, hash, event: { type, attributes } }) => ({
        height,
        time: await timeOf(chain, height),
        hash,
        type,
        attributes,
      }))
      return { height: head, data: await Promise.all(data), next: printNext(next) }
    },
  }),
  defineMethod({
    name: 'svc_getAwards',
    doc: 'What a validator was paid in every 50th block, the newest first: the award of that block alone.',
    input: {
      validatorAddress: field(address),
      limit: optional(pageLimit(HISTORY_BLOCKS_MAX, HISTORY_BLOCKS_MAX)),
      before: optional(before),
    },
    positional: 1,
    isList: true,
    result: historyOf(award),
    run: async ({ chain }, { validatorAddress, limit: count = HISTORY_BLOCKS_MAX, before: given }) => {
      const { head, ...stretch } = await stretchOf(chain, given)
      const { data, next } = await awardRows(chain, addressOf(validatorAddress), { ...stretch, limit: count })
      return { height: head, data, next: printNext(next) }
    },
  }),
]
