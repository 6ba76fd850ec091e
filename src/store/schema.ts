import { type Connection, sqliteCode } from './connection.ts'
import { OWN_TABLES, sideName, sideOrders, sideSql, tableSql } from './ddl.ts'
import { repage } from './repage.ts'
import { makeSqlTable } from './sqlTable.ts'
import { StoreError } from './store.ts'
import type { Table } from './table.ts'

/** A view for people who look into the file: no part of the state. */
export interface View {
  readonly name: string
  /** The SELECT. */
  readonly sql: string
}

/**
 * What brings a file from one schema version to the next: the first from version 1 to 2. Released ones never change.
 */
export const MIGRATIONS: readonly ((connection: Connection) => void)[] = [
  // tree_changes: a program that does not know it would take pages of an older block for the tree.
  ({ db }) =>
    db.exec(
      'CREATE TABLE tree_changes (height INTEGER NOT NULL PRIMARY KEY, leaves BLOB NOT NULL) WITHOUT ROWID, STRICT',
    ),
  repage,
]

/** The version that this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length + 1

/** One text of `meta`; undefined when it is not there. */
export function readMeta(connection: Connection, name: string): string | undefined {
  return (connection.statement('SELECT value FROM meta WHERE name = ?').get(name) as [string] | undefined)?.[0]
}

/** Writes one text of `meta`. */
export function writeMeta(connection: Connection, name: string, value: string): void {
  connection
    .statement('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, value)
}

/** Throws a StoreError unless the file is a chain's state of a version that this program knows. Returns the version. */
export function checkVersion(connection: Connection, path: string): number {
  let text: string | undefined
  try {
    text = readMeta(connection, 'schema_version')
  } catch (cause) {
    if (sqliteCode(cause) !== 'SQLITE_ERROR') throw cause
    throw new StoreError(
      `${path}: holds something else than a chain's state: name another file, or move this one away`,
      { cause },
    )
  }
  const version = Number(text)
  if (text === undefined || !Number.isSafeInteger(version) || version < 1) {
    throw new StoreError(`${path}: holds something else than a chain's state: name another file, or move this one away`)
  }
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      `${path}: has schema version ${version}, this program knows up to ${SCHEMA_VERSION}: run the newer release that wrote it`,
    )
  }
  return version
}

/** Throws a StoreError when the file belongs to another chain than `expected`. */
export function checkChain(connection: Connection, path: string, expected: string | undefined): void {
  const chainId = readMeta(connection, 'chain_id')
  if (expected !== undefined && chainId !== undefined && chainId !== expected) {
    throw new StoreError(
      `${path}: is the state of chain ${chainId}, not of ${expected}: give this chain a home of its own`,
    )
  }
}

const schemaSql = (connection: Connection): ReadonlyMap<string, string> =>
  new Map(connection.statement("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").all() as [string, string][])

function makeTables(connection: Connection, path: string, tables: readonly Table[]): void {
  const there = schemaSql(connection)
  const make = (name: string, sql: string): boolean => {
    const found = there.get(name)
    if (found === undefined) connection.db.exec(sql)
    else if (found !== sql)
      throw new StoreError(
        `${path}: its table ${name} has other columns than this program's: run the release that wrote it`,
      )
    return found === undefined
  }
  for (const [name, sql] of Object.entries(OWN_TABLES)) make(name, sql)
  for (const table of tables) {
    make(table.name, tableSql(table))
    for (const index of sideOrders(table))
      if (make(sideName(table, index), sideSql(table, index))) makeSqlTable(connection, table).fillSide(index)
  }
}

function makeViews(connection: Connection, views: readonly View[]): void {
  for (const [name] of connection.statement("SELECT name FROM sqlite_schema WHERE type = 'view'").all() as [string][])
    connection.db.exec(`DROP VIEW "${name}"`)
  for (const { name, sql } of views) connection.db.exec(`CREATE VIEW "${name}" AS ${sql}`)
}

/** Makes a new file a state, or brings an older one up to date: whole or not at all. Views are made anew each time. */
export function prepareSchema(
  connection: Connection,
  path: string,
  tables: readonly Table[],
  views: readonly View[],
): void {
  connection.db
    .transaction(() => {
      if (schemaSql(connection).size === 0) {
        for (const sql of Object.values(OWN_TABLES)) connection.db.exec(sql)
        writeMeta(connection, 'schema_version', String(SCHEMA_VERSION))
      }
      for (const migrate of MIGRATIONS.slice(checkVersion(connection, path) - 1)) migrate(connection)
      writeMeta(connection, 'schema_version', String(SCHEMA_VERSION))
      makeTables(connection, path, tables)
      makeViews(connection, views)
    })
    .immediate()
}
