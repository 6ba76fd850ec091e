import { existsSync, readFileSync, statSync } from 'node:fs'
import { statePathOf } from '../../src/node/homes.ts'
import type { RunOptions } from './application.ts'
import { isBallast } from './ballast.ts'
import { writtenBack } from './wal.ts'

const BLOCKS = 12
// A busy machine may need seconds for a Commit.
const SPIN_MS_MAX = 10_000
// About as long as it takes to write the pages; it follows what the kills find.
const WINDOW_MS = { first: 8, least: 0.5, most: 200 }

/** What becomes of a file, as a text that changes with each write. */
export const changeOf = (path: string): string => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.size} ${found.mtimeNs}`
}

/** Kills applications while SQLite copies the pages of a long log into the database. */
export interface CheckpointKiller {
  /** How a home that never ran is run, so that it is killed then. */
  readonly options: (home: string) => Required<Pick<RunOptions, 'fault' | 'onCommit'>>
  /**
   * True when the kill came within the checkpoint, in the middle of the state: the COMMIT that it belongs to has not
   * returned, and of the state's pages in the log some are in the database and some are not.
   */
  readonly hasHit: (home: string) => boolean
}

const marksOf = (home: string): string => `${home}.marks`
const marks = (home: string): number => statSync(marksOf(home), { throwIfNoEntry: false })?.size ?? 0

/** Looks without a pause, as the moments are short, until something holds. False when it never does. */
export function spinUntil(holds: () => boolean): boolean {
  const untilMs = performance.now() + SPIN_MS_MAX
  while (!holds()) if (performance.now() > untilMs) return false
  return true
}

/** `next`: whole numbers from 0 to below its argument, by chance. */
export function createCheckpointKiller(next: (below: number) => number): CheckpointKiller {
  let windowMs = WINDOW_MS.first
  const resize = (by: number): void => {
    windowMs = Math.min(WINDOW_MS.most, Math.max(WINDOW_MS.least, windowMs * by))
  }
  return {
    options: (home) => {
      const at = 1 + next(BLOCKS)
      const part = next(1000) / 1000
      const database = statePathOf(home)
      let sent = 0
      const onCommit = (pid: number) => {
        if (++sent < at) return () => undefined
        const before = changeOf(database)
        return () => {
          // Only a checkpoint writes to the database itself.
          spinUntil(() => marks(home) > 1 || (marks(home) > 0 && changeOf(database) !== before))
          const fromMs = performance.now()
          spinUntil(() => performance.now() - fromMs >= part * windowMs)
          process.kill(pid, 'SIGKILL')
        }
      }
      return { fault: { checkpoint: { at, marks: marksOf(home) } }, onCommit }
    },
    hasHit: (home) => {
      const path = statePathOf(home)
      if (marks(home) !== 1 || !existsSync(`${path}-wal`)) {
        resize(0.8)
        return false
      }
      const { done, open } = writtenBack(readFileSync(path), readFileSync(`${path}-wal`), (page) => !isBallast(page))
      const isHit = done > 0 && open > 0
      resize(open === 0 ? 0.8 : 1.1)
      return isHit
    },
  }
}
