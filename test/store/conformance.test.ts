import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { openMemoryStore } from '../support/memoryStore.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { conformance } from './conformance.ts'
import { tables } from './tables.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('store')
afterAll(() => {
  remove()
})
let files = 0
const next = (): string => join(folder, `${files++}.db`)

conformance('memory store', () => openMemoryStore({ tables }))
conformance('sqlite store', () => openSqliteStore({ path: next(), tables }))
conformance('sqlite store with caches of two', () =>
  openSqliteStore({ path: next(), tables, pagesCached: 2, rowCacheBytesMax: 1000 }),
)
