import type { View } from '../store.ts'
import type { Table } from '../table.ts'
import { createTableSql, indexesInSql, indexTableName, indexTableSql, tableSql } from './columns.ts'
import { type Connection, foreignFile, readMeta, sqliteCode, tablesIn, writeMeta } from '../../base/sqlite.ts'
import { StoreError } from '../../base/storeError.ts'
import { createSqlTable } from './sqlTable.ts'

/** The schema version that this program writes and reads. The first release begins at 1. */
export const SCHEMA_VERSION = 2

/** CREATE TABLE of the store's own tables, by name: those that hold no rows of the application. */
export const OWN_TABLES: Readonly<Record<string, string>> = {
  meta: createTableSql('meta', ['name TEXT NOT NULL PRIMARY KEY', 'value TEXT NOT NULL']),
  blocks: createTableSql('blocks', [
    'height INTEGER NOT NULL PRIMARY KEY',
    'time_ms INTEGER NOT NULL',
    'app_hash TEXT NOT NULL',
    'transactions INTEGER NOT NULL',
  ]),
  // One row, from which the last block can be rolled back.
  undo: createTableSql('undo', ['height INTEGER NOT NULL PRIMARY KEY', 'rows_before BLOB NOT NULL']),
  // Blocks that their reader has not taken yet. Empty in a snapshot.
  journal: createTableSql('journal', ['height INTEGER NOT NULL PRIMARY KEY', 'block BLOB NOT NULL']),
  // The tree without the leaves in tree_changes. The table has a rowid: its inner pages then hold keys alone, 400 of them.
  tree_pages: 'CREATE TABLE tree_pages (path INTEGER NOT NULL PRIMARY KEY, page BLOB NOT NULL) STRICT',
  tree_changes: createTableSql('tree_changes', ['height INTEGER NOT NULL PRIMARY KEY', 'leaves BLOB NOT NULL']),
  tree_keys: createTableSql('tree_keys', ['key_hash BLOB NOT NULL PRIMARY KEY', 'state_key BLOB NOT NULL']),
}

/** The error for the file of another release. */
const otherRelease = (message: string): StoreError => new StoreError('otherRelease', message)

/** Throws a StoreError unless the file is a chain's state of this program's schema version. */
export function checkVersion(connection: Connection, path: string): void {
  let version: string | undefined
  try {
    version = readMeta(connection, 'schema_version')
  } catch (cause) {
    if (sqliteCode(cause) !== 'SQLITE_ERROR') throw cause
    throw foreignFile(path, cause)
  }
  if (version === undefined || !/^[1-9][0-9]{0,8}$/.test(version)) throw foreignFile(path)
  if (version !== String(SCHEMA_VERSION)) {
    const who = Number(version) < SCHEMA_VERSION ? 'an older' : 'a newer'
    throw otherRelease(
      `${path}: has schema version ${version}, this program reads version ${SCHEMA_VERSION}: ${who} release wrote it`,
    )
  }
}

/** Throws a StoreError when the file belongs to another chain than `expected`. */
export function checkChain(connection: Connection, path: string, expected: string | undefined): void {
  const chainId = readMeta(connection, 'chain_id')
  if (expected !== undefined && chainId !== undefined && chainId !== expected) {
    throw new StoreError(
      'otherChain',
      `${path}: is the state of chain ${chainId}, not of ${expected}: name another file for this chain`,
    )
  }
}

function createTables(connection: Connection, path: string, tables: readonly Table[]): void {
  const found = tablesIn(connection.db)
  /** True when the table was not there. */
  const create = (name: string, sql: string): boolean => {
    const sqlFound = found.get(name)
    if (sqlFound === undefined) connection.db.exec(sql)
    else if (sqlFound !== sql)
      throw otherRelease(`${path}: its table ${name} has other columns than this program's: another release wrote it`)
    return sqlFound === undefined
  }
  for (const [name, sql] of Object.entries(OWN_TABLES)) create(name, sql)
  for (const table of tables) {
    if (Object.hasOwn(OWN_TABLES, table.name))
      throw new TypeError(`table ${table.name}: the store has one of this name, choose another`)
    const isNew = create(table.name, tableSql(table))
    for (const index of indexesInSql(table))
      if (create(indexTableName(table, index), indexTableSql(table, index)) && !isNew)
        createSqlTable(connection, table).fillIndex(index)
  }
}

function createViews(connection: Connection, views: readonly View[]): void {
  for (const [name] of connection.statement("SELECT name FROM sqlite_schema WHERE type = 'view'").all() as [string][])
    connection.db.exec(`DROP VIEW "${name}"`)
  for (const { name, sql } of views) connection.db.exec(`CREATE VIEW "${name}" AS ${sql}`)
}

/**
 * Creates the tables that a file lacks, all of them in a new file, and fills a new index from the rows. Views are
 * created anew each time. StoreError for another schema version and for a table with other columns; the file is then as
 * it was.
 */
export function prepareSchema(
  connection: Connection,
  path: string,
  tables: readonly Table[],
  views: readonly View[],
): void {
  connection.db
    .transaction(() => {
      if (tablesIn(connection.db).size === 0) {
        for (const sql of Object.values(OWN_TABLES)) connection.db.exec(sql)
        writeMeta(connection, 'schema_version', String(SCHEMA_VERSION))
      }
      checkVersion(connection, path)
      createTables(connection, path, tables)
      createViews(connection, views)
    })
    .immediate()
}
