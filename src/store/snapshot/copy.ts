import type { Connection } from '../connection.ts'
import { OWN_TABLES, sideName, sideOrders } from '../ddl.ts'
import { readMeta, writeMeta } from '../schema.ts'
import type { Table } from '../table.ts'

/**
 * Every table that is the state: rows and their orders, and what the store keeps beside them; `meta` is the file's own.
 */
const namesOf = (tables: readonly Table[]): readonly string[] => [
  ...tables
    .filter(({ hashed }) => hashed)
    .flatMap((table) => [table.name, ...sideOrders(table).map((index) => sideName(table, index))]),
  ...Object.keys(OWN_TABLES).filter((name) => name !== 'meta'),
]

/**
 * Puts the state in the database `from` in place of that of `connection`, in one transaction. Throws when it is another
 * chain's.
 */
export function copyState(connection: Connection, from: string, tables: readonly Table[]): void {
  const { db } = connection
  db.prepare('ATTACH DATABASE ? AS restored').run(from)
  try {
    db.transaction(() => {
      const [chainId] = db.prepare("SELECT value FROM restored.meta WHERE name = 'chain_id'").raw().get() as [string]
      const own = readMeta(connection, 'chain_id')
      if (own !== undefined && own !== chainId)
        throw new Error(`the restored state is of chain ${chainId}, not of ${own}`)
      for (const name of namesOf(tables))
        db.exec(`DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM restored."${name}"`)
      writeMeta(connection, 'chain_id', chainId)
    }).immediate()
  } finally {
    db.exec('DETACH DATABASE restored')
  }
}
