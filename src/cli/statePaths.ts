import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from './userError.ts'

/** The state of a home. */
export const statePathOf = (home: string): string => join(home, 'data', 'state.db')

/** The state of a home that has one. Errors: UserError where there is none. */
export function needState(home: string): string {
  const path = statePathOf(home)
  if (!existsSync(path)) throw new UserError(`${path}: there is no state yet; name another home with --home DIR`)
  return path
}

/** The folder of a home's snapshots. */
export const snapshotsOf = (home: string): string => join(home, 'data', 'snapshots')

/** The database that a snapshot is restored into before it takes the place of the state. */
export const restorePathOf = (home: string): string => join(home, 'data', 'restore.db')
