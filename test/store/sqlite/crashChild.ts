/** Commits random blocks for ever and tells each height once it is committed; the test kills it. */
import { createOverlay } from '../../../src/store/overlay.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { makeModel, random, step } from '../model.ts'
import { tables } from '../tables.ts'
import { tell } from '../../support/tell.ts'

const [path, seed] = process.argv.slice(2)
const store = openSqliteStore({ path: path as string, tables, expectChainId: 'test' })
const next = random(Number(seed))
for (;;) {
  const overlay = createOverlay(store)
  const model = makeModel()
  for (let writes = next(80); writes > 0; writes--) step(next, overlay, model)
  const height = store.height() + 1
  store.commit(store.prepare(overlay), { height, timeMs: height * 1000, chainId: 'test', transactions: height })
  tell(height)
}
