import { openConnection } from '../../base/sqlite.ts'

/** A block in the journal. */
export interface JournaledBlock {
  readonly height: number
  readonly block: Uint8Array
}

/** The journal of a state's file, read beside the writer of the state. */
export interface Journal {
  /** The last committed height, and the lowest one in the journal; undefined while it is empty. */
  readonly span: () => { readonly head: number; readonly lowest: number | undefined }
  /** The blocks above `height` in order, at least one if there is any, until they have `bytesMax` bytes. */
  readonly above: (height: number, bytesMax: number) => readonly JournaledBlock[]
  /** The bytes of all its blocks. */
  readonly bytes: () => number
  readonly close: () => void
}

/**
 * Opens the journal in the state's database `path`, which must be there. A commit adds the bytes that its `journal` has,
 * in the same transaction as the block, and removes those up to `doneTo`. So an index beside the state, which another
 * thread or process writes from the journal, misses no block.
 *
 * @example
 * store.commit(prepared, { ...block, journal: { block: bytes, doneTo: indexed } })
 * // in the thread of the index:
 * const journal = openJournal('state.db')
 * for (const { height, block } of journal.above(indexed, 1_000_000)) console.log(height, block.length)
 */
export function openJournal(path: string): Journal {
  const { db, statement, close } = openConnection(path, { readonly: true })
  const spanSql = statement('SELECT (SELECT max(height) FROM blocks), (SELECT min(height) FROM journal)').safeIntegers(
    false,
  )
  const blocksSql = db.prepare('SELECT height, block FROM journal WHERE height > ? ORDER BY height').safeIntegers(false)
  return {
    span: () => {
      const [head, lowest] = spanSql.get() as [number | null, number | null]
      return { head: head ?? 0, lowest: lowest ?? undefined }
    },
    above: (height, bytesMax) => {
      const blocks: JournaledBlock[] = []
      let bytes = 0
      for (const row of blocksSql.iterate(height) as Iterable<JournaledBlock>) {
        blocks.push(row)
        bytes += row.block.length
        if (bytes >= bytesMax) break
      }
      return blocks
    },
    bytes: () => Number((statement('SELECT coalesce(sum(length(block)), 0) FROM journal').get() as [bigint])[0]),
    close,
  }
}
