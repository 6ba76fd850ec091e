import { clearImmediate, setImmediate } from 'node:timers'
import type { Table } from '../table.ts'
import { type HeldState, openSqliteReader } from '../sqlite/sqliteReader.ts'
import { keepNewest, tidySnapshots } from './folder.ts'
import type { StoreLogger } from './stateSync.ts'
import { snapshotSteps } from './write.ts'

/** Options of `openSnapshotMaker`. */
export interface SnapshotMakerOptions {
  /** The path of the store's database. */
  readonly path: string
  readonly tables: readonly Table[]
  /** The folder of the snapshots. What a killed process left in it is removed. */
  readonly folder: string
  /** A snapshot is made at each multiple of this height. The same number on all nodes gives peers more to load from. */
  readonly every: number
  /** How many are kept, 2 by default: a peer may still be loading the one before. */
  readonly keep?: number
  /** The bytes of each chunk but the last. */
  readonly chunkBytes?: number
  readonly logger?: StoreLogger
}

/** Makes snapshots on the application's thread, between its other work. */
export interface SnapshotMaker {
  /**
   * Call it after each commit. When a snapshot is due it writes the first chunk, and one more in each turn of the event
   * loop, while blocks go on. Nothing begins while another snapshot is being made, or in an empty state. A failure is
   * logged, and the height has no snapshot.
   */
  committed(): void
  /** Gives up the snapshot that is being made. */
  close(): void
}

/**
 * Opens a maker of snapshots for the store at `path`, which must be open for writing. A chunk of 1 MiB takes the thread
 * tens of milliseconds; an application with a large state rather calls `writeSnapshot` in a thread of its own.
 *
 * @example
 * const maker = openSnapshotMaker({ path: 'state.db', tables: [balances], folder: 'snapshots', every: 1000 })
 * store.commit(prepared, block)
 * maker.committed()
 */
export function openSnapshotMaker(options: SnapshotMakerOptions): SnapshotMaker {
  const { path, tables, folder, every, keep = 2, chunkBytes, logger } = options
  if (!Number.isSafeInteger(every) || every < 1) throw new RangeError(`every: expected 1 or more, got ${every}`)
  tidySnapshots(folder)
  const reader = openSqliteReader({ path, tables })
  let making: { readonly held: HeldState; readonly steps: ReturnType<typeof snapshotSteps> } | undefined
  // Outside the path of a block: when a chunk is written changes nothing that a node computes.
  let next: NodeJS.Immediate | undefined

  const end = (): void => {
    clearImmediate(next)
    making?.steps.return(undefined as never)
    making?.held.end()
    making = undefined
  }
  const fail = (err: unknown): void => {
    end()
    logger?.error({ err }, 'a snapshot could not be made')
  }
  const step = (): void => {
    try {
      const { done, value } = making?.steps.next() ?? {}
      if (done !== true) {
        next = setImmediate(step)
        return
      }
      end()
      keepNewest(folder, keep)
      logger?.info({ height: value?.metadata.height }, 'a snapshot was made')
    } catch (err) {
      fail(err)
    }
  }

  return {
    committed: () => {
      if (making !== undefined) return
      try {
        const held = reader.hold()
        making = { held, steps: snapshotSteps(held.state, tables, folder, chunkBytes) }
        const isDue = held.state.height() % every === 0 && held.state.appHash().some((byte) => byte !== 0)
        if (!isDue) return end()
      } catch (err) {
        return fail(err)
      }
      step()
    },
    close: () => {
      end()
      reader.close()
    },
  }
}
