import { afterAll, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { existsSync, globSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { readState } from '../../src/node/stateFile.ts'
import { startChain } from '../modules/support.ts'
import { endedWith, makePlace, svcd } from './support.ts'

const place = makePlace([9, 9, 9])
afterAll(() => place.remove())

test('the state of another release is refused with the way forward, which works: its snapshot is restored', async () => {
  const home = join(place.folder, 'home')
  const path = join(home, 'data', 'state.db')
  mkdirSync(join(home, 'data'), { recursive: true })
  const store = openSqliteStore({ path, tables, views })
  const chain = startChain([1000], {}, { store })
  chain.block()
  const [height, appHash] = [store.height(), store.appHash()]
  writeSnapshot(store, tables, join(home, 'data', 'snapshots'))
  store.close()
  new Database(path).exec('ALTER TABLE votes ADD COLUMN mood TEXT').close()

  const restore = () => svcd(place, ['snapshot', 'restore', join(home, 'data', 'snapshots')])
  const way =
    `${path}: its table votes has other columns than this program's: another release wrote it. Run that release; or run ` +
    `svcd snapshot create with it, move ${path}* away, and run svcd snapshot restore with this one; or run svcd reset ` +
    'and sync again'
  expect(await restore()).toMatchObject(endedWith(2, way))

  mkdirSync(join(place.folder, 'away'))
  for (const file of globSync('state.db*', { cwd: join(home, 'data') }))
    renameSync(join(home, 'data', file), join(place.folder, 'away', file))
  expect(existsSync(path)).toBe(false)
  expect((await restore()).status).toBe(0)
  expect(readState(path, (state) => [state.height(), state.appHash()])).toEqual([height, appHash])
})
