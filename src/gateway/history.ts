import QuickLRU from 'quick-lru'
import type { IncludedTx, NodeRpc, Search } from '../comet/rpc.ts'
import type { Position } from './fields.ts'
import { BLOCK_TIMES_KEPT, SEARCHED_BLOCKS_MIN } from './limits.ts'

/** Rows of one page of CometBFT's searches, at most. Source: CometBFT's rpc/core/env.go. */
const NODE_PAGE = 100

/** By how much a stretch is longer than the one before, which held too few rows. */
const GROWTH = 4

/** One page of a history, the newest first. `next` is where the next page begins; undefined behind the last row. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly next: Position | undefined
}

/** Finds rows, the newest first: `offset` of them are left out, `limit` are answered if there are so many. */
type Find<Row> = (query: string, offset: number, limit: number) => Promise<readonly Row[]>

/** Reads the pages of the node that hold the rows from `offset` on. */
const pagesOf =
  <Row>(ask: (search: Search) => Promise<readonly Row[]>): Find<Row> =>
  async (query, offset, limit) => {
    const rows: Row[] = []
    const perPage = offset === 0 ? Math.min(limit, NODE_PAGE) : NODE_PAGE
    for (let page = Math.floor(offset / perPage) + 1; ; page++) {
      const found = await ask({ query, page, perPage })
      rows.push(...found)
      const left = rows.slice(offset % perPage, (offset % perPage) + limit)
      if (found.length < perPage || left.length === limit) return left
    }
  }

/**
 * Searches from `from` down to the first height, stretch by stretch, until there are `limit` rows and one more, which
 * says that a next page exists. CometBFT reads all that matches a query before it cuts out a page, so each stretch is
 * only as long as the ones before it let expect few hits in it.
 */
async function search<Row extends { readonly height: number }>(
  find: Find<Row>,
  { key, heightKey, from, first, limit }: Stretches,
): Promise<Page<Row>> {
  const rows: Row[] = []
  const wanted = limit + 1
  let { height: high, skipped } = from
  for (let span = SEARCHED_BLOCKS_MIN; high >= first && rows.length < wanted; span *= GROWTH) {
    const low = Math.max(first, high - span + 1)
    const query = `${key} AND ${heightKey} >= ${low} AND ${heightKey} <= ${high}`
    rows.push(...(await find(query, skipped, wanted - rows.length)))
    if (rows.length < wanted) {
      high = low - 1
      skipped = 0
    }
  }
  return { rows: rows.slice(0, limit), next: rows.length < wanted ? undefined : behind(rows.slice(0, limit), from) }
}

/** What is searched: `key`, a condition of CometBFT's query language, at the heights `first` to `from`. */
interface Stretches {
  readonly key: string
  readonly heightKey: 'tx.height' | 'block.height'
  readonly from: Position
  readonly first: number
  readonly limit: number
}

/** Where the page after these rows begins: at the height of the last one, behind all rows of it that were shown. */
export function behind(rows: readonly { readonly height: number }[], from: Position): Position {
  const height = rows.at(-1)?.height ?? from.height
  const shown = rows.filter((row) => row.height === height).length
  return { height, skipped: shown + (height === from.height ? from.skipped : 0) }
}

/** What every history is asked by. */
export interface Asked {
  readonly from: Position
  /** The lowest height that the node has. */
  readonly first: number
  readonly limit: number
}

/** The transactions whose index events have this address, newest first. Source: protocol.md §9. */
export const searchTxs = (
  rpc: NodeRpc,
  attribute: 'account' | 'validator',
  address: string,
  asked: Asked,
): Promise<Page<IncludedTx>> =>
  search(pagesOf(rpc.searchTxs), { ...asked, key: `svc.tx.${attribute}='${address}'`, heightKey: 'tx.height' })

/** The heights of the blocks whose own events have this owner in an attribute, newest first. Source: protocol.md §9. */
export const searchBlocks = (
  rpc: NodeRpc,
  attribute: 'svc.block.validator' | 'svc.stake.award.owner',
  owner: string,
  asked: Asked,
): Promise<Page<{ readonly height: number }>> =>
  search(pagesOf(rpc.searchBlocks), { ...asked, key: `${attribute}='${owner}'`, heightKey: 'block.height' })

/** Returns a function that reads the time of a committed block, in ms; the last BLOCK_TIMES_KEPT are remembered. */
export function blockTimes(rpc: Pick<NodeRpc, 'blockTime'>): (height: number) => Promise<number> {
  const kept = new QuickLRU<number, Promise<number>>({ maxSize: BLOCK_TIMES_KEPT })
  return (height) => {
    const known = kept.get(height)
    if (known !== undefined) return known
    const reading = rpc.blockTime(height)
    kept.set(height, reading)
    reading.catch(() => kept.delete(height))
    return reading
  }
}
