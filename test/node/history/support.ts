import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { TXS_OF_A_BLOCK } from '../../../src/node/history/file.ts'
import { historyQueries } from '../../../src/node/history/queries.ts'
import { startHistoryIndex } from '../../../src/node/history/thread.ts'
import { queryOfPath, readPath } from '../../../src/modules/query.ts'
import { tables, views } from '../../../src/modules/registry.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { account, CHAIN_ID, nodeKey, TestChain, tokens } from '../../support/testChain.ts'

export interface HistoryRow {
  readonly height: number
  readonly index: number
  readonly hash: string | null
  readonly type: string
  readonly code: number
}

export interface HistoryPage {
  readonly first_height: number
  readonly last_height: number
  readonly rows: readonly HistoryRow[]
  readonly next: string | null
  readonly transaction?: HistoryRow | null
}

interface ChainOptions {
  /** The chain that ended in this folder. */
  readonly before?: TestChain
  readonly journalBytesMax?: number
  readonly keepBlocks?: number
}

/** A chain on a file with the index of its histories beside it, as `svcd start` runs them. */
export function openChain(folder: string, { before, journalBytesMax = Infinity, keepBlocks = 0 }: ChainOptions = {}) {
  const [statePath, path] = [`${folder}/state.db`, `${folder}/history.db`]
  const store = openSqliteStore({ path: statePath, tables, views })
  const lines: { readonly fields: object; readonly line: string }[] = []
  const log = (fields: object, line: string): void => void lines.push({ fields, line })
  const logger = { info: log, error: log }
  const index = startHistoryIndex({ statePath, path, chainId: CHAIN_ID, logger, journalBytesMax })
  const chain = new TestChain({ store, app: { logger, histories: index, keepBlocks } })
  if (before !== undefined) {
    chain.height = store.height()
    chain.time = store.timeMs() / 1000
    for (const [height, set] of before.sets) chain.sets.set(height, set)
  } else {
    chain.init({
      accounts: [1, 2, 3].map((at) => ({ address: account(at).address, balance: tokens(10_000) })),
      candidacies: [1, 2].map((at) => ({ owner: account(at), key: nodeKey(at), shares: tokens(1000) })),
    })
  }
  const queries = historyQueries(path)
  /** What the node answers to `/history/<path>`. */
  const ask = (whole: string): HistoryPage => {
    const [given = '', options = ''] = whole.split('?')
    const entry = queryOfPath(`/history/${given}`, queries)
    const height = store.height()
    const context = {
      state: store,
      height,
      requestedHeight: 0,
      once: <T>(_: string, make: () => T) => make(),
    }
    if (entry === undefined) throw new Error(whole)
    const answer = entry.answer(context, readPath(entry, `/history/${given}`, options)) as { readonly data: unknown }
    return answer.data as HistoryPage
  }
  /** Resolves when the index has the last block. */
  const caughtUp = async (): Promise<void> => {
    while (index.height() < store.height()) await sleep(5)
  }
  const close = async (): Promise<void> => {
    await index.close()
    store.close()
  }
  return { statePath, path, store, index, chain, lines, ask, caughtUp, close }
}

const HEIGHTS: Readonly<Record<string, string>> = {
  transactions: `id / ${TXS_OF_A_BLOCK}`,
  account_transactions: `first_id / ${TXS_OF_A_BLOCK}`,
}

/** Every row of every table of an index, of blocks up to a height. */
export function historyRows(path: string, to = Number.MAX_SAFE_INTEGER): Readonly<Record<string, readonly unknown[]>> {
  const db = new Database(path, { readonly: true })
  const tables = ['blocks', 'transactions', 'account_transactions', 'validator_events', 'awards']
  const rows = tables.map((table) => {
    const columns = db.pragma(`table_info(${table})`) as readonly { readonly name: string }[]
    const order = columns.map((_, at) => at + 1).join(', ')
    const height = HEIGHTS[table] ?? 'height'
    return [table, db.prepare(`SELECT * FROM ${table} WHERE ${height} <= ? ORDER BY ${order}`).raw().all(to)] as const
  })
  db.close()
  return Object.fromEntries(rows)
}
