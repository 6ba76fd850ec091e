import { join } from 'node:path'

/** The state of a home. */
export const statePathOf = (home: string): string => join(home, 'data', 'state.db')

/** The folder of a home's snapshots. */
export const snapshotsOf = (home: string): string => join(home, 'data', 'snapshots')

/** The database that a snapshot is restored into before it takes the place of the state. */
export const restorePathOf = (home: string): string => join(home, 'data', 'restore.db')
