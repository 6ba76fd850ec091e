import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { FinalizeBlockRequest, FinalizeBlockResponse } from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { tables } from '../../src/modules/registry.ts'
import { statePathOf } from '../../src/node/homes.ts'
import { appOn, heightOf, onDisk, script } from '../chain/support.ts'
import { indexesInSql, indexTableName } from '../../src/store/sqlite/columns.ts'
import type { Store } from '../../src/store/store.ts'
import { makeApplicationHome } from '../support/applicationHome.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { Broken, need } from '../support/campaign.ts'

/** The last block of the script of test/vectors that is run here: with block 40 its program is retired. */
export const HEAD = 38

/** The block of a height, as CometBFT has decided it. */
export function blockAt(height: number): FinalizeBlockRequest {
  const block = script().blocks[height - 1]
  if (block === undefined) throw new Error(`the script has no block ${height}`)
  return block
}

/** The app hash of a height on a replica that nothing ever happened to. */
export const hashAt = (height: number): string => toHex(script().hashes[height - 1] ?? new Uint8Array(0))

/** Runs the blocks up to `until` on the state in `path`, from where it stands. Throws Broken for another app hash. */
export function replay(path: string, until = HEAD): void {
  const store = onDisk(path)
  try {
    const app = appOn(store)
    if (heightOf(app) === 0) app.initChain(script().init)
    for (let height = store.height() + 1; height <= until; height++) {
      const { appHash } = app.finalizeBlock(blockAt(height)) as FinalizeBlockResponse
      need(toHex(appHash ?? new Uint8Array(0)) === hashAt(height), () => `the replay has another app hash at ${height}`)
      app.commit({})
    }
  } finally {
    store.close()
  }
}

// The journal is trimmed when the thread of the index of histories comes to it.
const LOCAL = [
  'journal',
  ...tables
    .filter(({ hashed }) => !hashed)
    .flatMap((table) => [table.name, ...indexesInSql(table).map((index) => indexTableName(table, index))]),
]
// What of a file tells how the state came there.
const HISTORY = ['blocks', 'undo', 'tree_pages', 'tree_changes']

/** The rows of each table in the file but for those of the node itself; a restored state has no history. */
function rowsOf(path: string, isRestored: boolean): ReadonlyMap<string, string> {
  const db = new Database(path)
  try {
    db.defaultSafeIntegers(true)
    const names = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all() as string[]
    const kept = names.filter((name) => !LOCAL.includes(name) && !(isRestored && HISTORY.includes(name)))
    const print = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)
    return new Map(kept.map((name) => [name, JSON.stringify(db.prepare(`SELECT * FROM "${name}"`).raw().all(), print)]))
  } finally {
    db.close()
  }
}

/** Copies a state's database and its WAL, or that there is none. What is shared by its readers is made anew. */
export function copyState(from: string, to: string): void {
  for (const end of ['', '-wal', '-shm', '-lock', '.lock']) rmSync(`${to}${end}`, { force: true })
  for (const end of ['', '-wal']) if (existsSync(`${from}${end}`)) copyFileSync(`${from}${end}`, `${to}${end}`)
}

/** The homes of one campaign in `folder`, and the states of a replica that nothing ever happened to. */
export interface Chain {
  /** A home at a height; 0 is one that never ran. */
  newHome(height?: number): string
  /** The state at a height, in a file that nobody may change. */
  stateAt(height: number): string
  /**
   * The height of the state in a home. Throws Broken unless it is from `least` to `most`, whole, and the blocks above it
   * lead to the head's state. The home itself is not touched.
   */
  check(home: string, heights: { readonly least: number; readonly most: number }, isRestored?: boolean): number
  /** Throws Broken unless the state in a home is that of the head, row for row. */
  checkHead(home: string, isRestored?: boolean): void
}

export function makeChain(folder: string): Chain {
  const states = new Map<number, string>()
  const scratch = join(folder, 'scratch.db')
  let homes = 0

  const stateAt = (height: number): string => {
    const path = join(folder, `at-${height}.db`)
    if (!states.has(height)) replay(path, height)
    states.set(height, path)
    return path
  }
  const compare = (path: string, isRestored: boolean): void => {
    const head = join(folder, 'head.db')
    copyState(stateAt(HEAD), head)
    const [own, undisturbed] = [rowsOf(path, isRestored), rowsOf(head, isRestored)]
    for (const [name, rows] of undisturbed)
      need(rows === own.get(name), () => `table ${name} at the head is not that of the undisturbed replica`)
  }

  return {
    stateAt,
    newHome: (height = 0) => {
      const home = join(folder, `home-${homes++}`)
      makeApplicationHome(home)
      if (height > 0) copyState(stateAt(height), statePathOf(home))
      return home
    },
    check: (home, { least, most }, isRestored = false) => {
      copyState(statePathOf(home), scratch)
      const height = wholeHeight(scratch)
      need(height >= least && height <= most, () => `the state is at ${height}, which is not from ${least} to ${most}`)
      replay(scratch)
      compare(scratch, isRestored && height > 0)
      return height
    },
    checkHead: (home, isRestored = false) => {
      copyState(statePathOf(home), scratch)
      need(wholeHeight(scratch) === HEAD, () => `the state is not at the head`)
      compare(scratch, isRestored)
    },
  }
}

/** Gives `use` a chain in a temporary folder, which is then removed. */
export async function withChain<T>(name: string, use: (chain: Chain, folder: string) => Promise<T>): Promise<T> {
  const { path, remove } = tempFolder(name)
  try {
    return await use(makeChain(path), path)
  } finally {
    remove()
  }
}

function open(path: string): Store {
  try {
    return onDisk(path)
  } catch (error) {
    throw new Broken(`the state is not opened: ${(error as Error).message}`)
  }
}

/** The height of the state in `path`. Throws Broken unless its hash and its rows are those of that height. */
export function wholeHeight(path: string): number {
  const store = open(path)
  try {
    const height = store.height()
    if (height === 0) return height
    need(toHex(store.appHash()) === hashAt(height), () => `the state at ${height} has another app hash`)
    need(toHex(store.recomputeRoot()) === hashAt(height), () => `the rows at ${height} are not those of its app hash`)
    return height
  } finally {
    store.close()
  }
}
