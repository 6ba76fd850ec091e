import { address } from '../../../values/address.ts'
import { printTime, secondsOf } from '../../../base/time.ts'
import { isNodeError } from '../../../comet/errors.ts'
import { type FeedBlock, readBlock, withResults } from '../../../comet/feed.ts'
import { field, optional } from '../../../tx/fields.ts'
import { decimal } from '../../../tx/result.ts'
import { uint } from '../../../values/number.ts'
import { objectSchema } from '../../../values/shape.ts'
import type { JsonSchema } from '../../../values/valueType.ts'
import type { Chain } from '../../chain.ts'
import { before, blockId, pageLimit } from '../fields.ts'
import { blockHead, printFound, printTx, publicEvents, txsOf } from '../../feed/found.ts'
import { foundTxOf, type TxRow } from '../../feed/histories.ts'
import { PAGE_ROWS, PAGE_ROWS_MAX } from '../../http/limits.ts'
import { foundTransaction, foundTransactionMembers, named, orNull, string } from '../openrpc.ts'
import { defineMethod, type Method } from './define.ts'

const event = { type: string, attributes: { type: 'object' } }
const limit = optional(pageLimit(PAGE_ROWS, PAGE_ROWS_MAX))

/** The block, or undefined when the node has none of that height or hash. */
async function findBlock({ blockFor, feed }: Chain, caller: string, id: string): Promise<FeedBlock | undefined> {
  try {
    return await blockFor(caller, async (node) => {
      if (id.length !== 64) return readBlock(node, id === 'latest' ? feed.head() : Number(id))
      const block = await node.blockByHash(id)
      return withResults(block, await node.blockResults(block.height))
    })
  } catch (error) {
    if (isNodeError(error, 'NotFound')) return undefined
    throw error
  }
}

const printMs = (timeMs: number): string => printTime(secondsOf(timeMs))

interface EventRow {
  readonly height: number
  readonly time_ms: number
  readonly hash: string | null
  readonly type: string
  readonly attributes: object
}

interface AwardRow {
  readonly height: number
  readonly time_ms: number
  readonly amount: string
}

/** A history, whose pages the node's index answers: whole from `earliest_height` to `height`, its newest block. */
interface History<Row> extends Pick<Method, 'name' | 'doc'> {
  readonly kind: 'account' | 'validator' | 'awards'
  readonly owner: 'address' | 'validatorAddress'
  /** The history of the whole chain, where no owner is named; without it one must be. */
  readonly whole?: string
  readonly row: JsonSchema
  readonly print: (row: Row) => object
}

const historyMethod = <Row>({ name, doc, kind, owner, whole, row, print }: History<Row>): Method =>
  defineMethod({
    name,
    doc,
    input: {
      [owner as 'address']: whole === undefined ? field(address) : optional(field(address)),
      limit,
      before: optional(before),
    },
    positional: 1,
    isList: true,
    hasOwnBounds: true,
    result: objectSchema({
      height: uint.schema,
      earliest_height: uint.schema,
      data: { type: 'array', items: row },
      next: orNull(string),
    }),
    run: async (
      { chain },
      { [owner as 'address']: whose, limit: rows = PAGE_ROWS, before: from },
      { address: caller },
    ) => {
      const cut = from === undefined ? '' : `&before=${from}`
      const path = whose === undefined ? whole : `${kind}/${whose}`
      const page = await chain.history<Row>(caller, `/history/${path}?limit=${rows}${cut}`)
      return {
        height: page.last_height,
        earliest_height: page.first_height,
        data: page.rows.map(print),
        next: page.next,
      }
    },
  })

/** Blocks, and what the node's index of histories knows of an account and of a validator. Source: protocol.md §10. */
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
    hasOwnBounds: true,
    result: orNull(
      named('Block', {
        height: uint.schema,
        hash: string,
        parent_hash: string,
        time: string,
        proposer_address: address.schema,
        app_hash: string,
        transaction_count: uint.schema,
        transactions: { type: 'array', items: foundTransaction },
        events: { type: 'array', items: named('ChainEvent', event) },
      }),
    ),
    run: async ({ chain }, { block: id, limit: count = PAGE_ROWS, offset = 0 }, { address: caller }) => {
      const block = await findBlock(chain, caller, id)
      if (block === undefined) return null
      const transactions = await Promise.all(txsOf(block, offset, count).map((tx) => printFound(chain, tx)))
      return { ...blockHead(block), transactions, events: publicEvents(block.eventsOfBlock()) }
    },
  }),
  historyMethod<TxRow>({
    name: 'svc_getTransactions',
    doc: 'Transactions that an account sent or that concern it, without an address those of the chain, failed ones too, the newest first.',
    kind: 'account',
    owner: 'address',
    whole: 'transactions',
    row: named('AccountTransaction', { time: string, ...foundTransactionMembers }),
    print: (row) => {
      const found = foundTxOf(row)
      return { time: printMs(row.time_ms), ...printTx(found, found.gasPrice) }
    },
  }),
  historyMethod<EventRow>({
    name: 'svc_getValidatorHistory',
    doc: 'What an owner did with a candidacy, its votes and proposals, and what became of it, the newest first.',
    kind: 'validator',
    owner: 'validatorAddress',
    row: named('ValidatorEvent', { height: uint.schema, time: string, hash: orNull(string), ...event }),
    print: ({ height, time_ms: timeMs, hash, type, attributes }) => ({
      height,
      time: printMs(timeMs),
      hash,
      type,
      attributes,
    }),
  }),
  historyMethod<AwardRow>({
    name: 'svc_getAwards',
    doc: 'What a validator was paid in every 50th block, the newest first: the award of that block alone.',
    kind: 'awards',
    owner: 'validatorAddress',
    row: named('Award', { height: uint.schema, time: string, amount: decimal }),
    print: ({ height, time_ms: timeMs, amount }) => ({ height, time: printMs(timeMs), amount }),
  }),
]
