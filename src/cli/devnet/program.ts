import { existsSync } from 'node:fs'
import { programVersion } from '../../modules/chain/keeper.ts'
import { tables } from '../../modules/registry.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import { statePathOf } from '../statePaths.ts'

/** The program version that the state of a home needs; that of genesis when it has none yet. */
function versionOf(home: string): number {
  const path = statePathOf(home)
  if (!existsSync(path)) return 1
  const reader = openSqliteReader({ path, tables })
  try {
    return reader.read(programVersion)
  } finally {
    reader.close()
  }
}

/**
 * What each application of a devnet executes: the version that was accepted, but the one before where a home has still
 * to execute the block in which that was retired. Such a home gets the block from the others, who stopped as soon as
 * they had it, and then stops as they did.
 */
export function versionsOf(homes: readonly string[], accepted: number): readonly number[] {
  const needed = homes.map(versionOf)
  return needed.map((one) => (one === accepted - 1 && needed.includes(accepted) ? one : accepted))
}
