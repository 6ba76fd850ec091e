import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { afterAll, expect, test } from '@jest/globals'
import { openConnection } from '../../../src/base/sqlite.ts'
import { createSqlTable } from '../../../src/store/sqlite/sqlTable.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { addressBytes } from '../../../src/values/address.ts'
import { proposalIdBytes } from '../../../src/values/pubKey.ts'
import { addressAt, proposalIdAt, tables, votes } from '../tables.ts'
import { tempFolder } from '../../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('sqlTable')
afterAll(() => {
  remove()
})

/** How SQLite compares a value with a bound, row by row: what its search in an index leaves. */
const COMPARES = /^(?:Lt|Le|Gt|Ge)$/

test('a batch of a scan begins where the one before it ended: SQLite reads no row that it does not return', () => {
  const path = join(folder, 'state.db')
  const store = openSqliteStore({ path, tables })
  const overlay = createOverlay(store)
  const proposalId = proposalIdAt(1)
  for (let candidacyId = 0; candidacyId < 100; candidacyId++)
    overlay.put(votes, { proposalId, candidacyId, voter: addressAt(1), answer: 'Y', blockHeight: candidacyId })
  store.commit(store.prepare(overlay), { height: 1, timeMs: 1, chainId: 'test', transactions: 0 })
  store.close()

  const connection = openConnection(path, { readonly: true })
  const asked = new Map<string, readonly string[]>()
  const statement = (sql: string): Database.Statement => {
    const explained = connection.db.prepare(`EXPLAIN ${sql}`)
    const bounds = Array.from(sql.matchAll(/\?/g), () => Buffer.alloc(1))
    asked.set(
      sql,
      (explained.all(bounds) as { readonly opcode: string }[]).map(({ opcode }) => opcode),
    )
    return connection.statement(sql)
  }
  const sqlTable = createSqlTable({ ...connection, statement }, votes)
  const scans = [
    {},
    { prefix: proposalIdBytes(proposalId) },
    { index: 'byVoter', prefix: addressBytes(addressAt(1)) },
    { index: 'byAnswer', prefix: Uint8Array.of(0xff) },
    { index: 'byAnswer' },
  ].flatMap((scan) => [scan, { ...scan, reverse: true }])
  for (const scan of scans) {
    asked.clear()
    const rows = [...sqlTable.scan(scan)]
    expect(rows).toHaveLength('prefix' in scan && scan.prefix[0] === 0xff ? 0 : 100)
    for (const [sql, opcodes] of asked) expect([sql, opcodes.filter((one) => COMPARES.test(one))]).toEqual([sql, []])
  }
  connection.close()
})
