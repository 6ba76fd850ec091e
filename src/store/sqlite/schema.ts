import { type Connection, sqliteCode } from './connection.ts'
import { OWN_TABLES, sideName, sideOrders, sideSql, tableSql } from './columns.ts'
import { makeSqlTable } from './sqlTable.ts'
import { StoreError } from '../store.ts'
import type { Table } from '../table.ts'

/** A view for people who look into the file: no part of the state. */
export interface View {
  readonly name: string
  /** The SELECT. */
  readonly sql: string
}

/** The schema version that this program writes and reads. The first release begins at 1. */
export const SCHEMA_VERSION = 1

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

const foreign = (path: string, cause?: unknown): StoreError =>
  new StoreError(`${path}: holds something else than a chain's state: name another file, or move this one away`, {
    cause,
  })

/** Throws a StoreError unless the file is a chain's state of this program's schema version. */
export function checkVersion(connection: Connection, path: string): void {
  let version: string | undefined
  try {
    version = readMeta(connection, 'schema_version')
  } catch (cause) {
    if (sqliteCode(cause) !== 'SQLITE_ERROR') throw cause
    throw foreign(path, cause)
  }
  if (version === undefined || !/^[1-9][0-9]{0,8}$/.test(version)) throw foreign(path)
  if (version !== String(SCHEMA_VERSION)) {
    throw new StoreError(
      `${path}: has schema version ${version}, this program reads version ${SCHEMA_VERSION}: run the release that wrote it`,
    )
  }
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

/** Creates the tables of a new file, checks those of an existing one, and creates the views anew: whole or not at all. */
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
      checkVersion(connection, path)
      makeTables(connection, path, tables)
      makeViews(connection, views)
    })
    .immediate()
}
