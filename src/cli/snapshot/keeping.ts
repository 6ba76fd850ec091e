import { SNAPSHOTS_LISTED_MAX } from '../../store/snapshot/folder.ts'
import { readConfig } from '../config.ts'
import { UserError } from '../userError.ts'

/** What `svcd start` is told of snapshots and old blocks, by flags or SVCD_* variables. */
export interface KeepingFlags {
  readonly snapshotInterval?: string | undefined
  readonly snapshotKeep?: string | undefined
  readonly keepBlocks?: string | undefined
}

/** What a node keeps beside its state. */
export interface Keeping {
  /** A snapshot at each height that this divides; 0: none. */
  readonly interval: number
  readonly keep: number
  /** How many of the newest blocks are kept at least; 0: all. */
  readonly keepBlocks: number
}

/**
 * 1,000 blocks are a quarter of an hour at one block a second: whoever joins replays a few minutes of blocks, and a
 * state of a million accounts is written in a small part of that time. Two are kept, so that one that is being loaded
 * is not the one that goes.
 */
const DEFAULTS: Keeping = { interval: 1000, keep: 2, keepBlocks: 0 }

const INTERVAL_MAX = 1_000_000
const KEEP_BLOCKS_MAX = 1_000_000_000

/**
 * A number of the flag, else of the file, within its bounds; 0 too where `orNone`. Throws a UserError that names where
 * it was given.
 */
function whole(
  [flag, text]: readonly [string, string | undefined],
  [member, held]: readonly [string, unknown],
  fallback: number,
  [low, high, orNone]: readonly [number, number, boolean],
): number {
  if (text === undefined && held === undefined) return fallback
  const value = text === undefined ? held : /^\d{1,10}$/.test(text) ? Number(text) : undefined
  if (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    ((value >= low && value <= high) || (orNone && value === 0))
  )
    return value
  const where = text === undefined ? `config/svcd.json: ${member}` : flag
  const expected = `a whole number of ${low} to ${high}${orNone ? ', or 0' : ''}`
  throw new UserError(`${where}: expected ${expected}, got ${JSON.stringify(text ?? held)}`)
}

/** The settings of a node: flags and SVCD_* variables, else `<home>/config/svcd.json`, else the defaults. */
export function chooseKeeping(home: string, { snapshotInterval, snapshotKeep, keepBlocks }: KeepingFlags): Keeping {
  const { snapshots, pruning } = readConfig(home)
  return {
    interval: whole(
      ['--snapshot-interval', snapshotInterval],
      ['snapshots.interval', snapshots?.interval],
      DEFAULTS.interval,
      [1, INTERVAL_MAX, true],
    ),
    keep: whole(['--snapshot-keep', snapshotKeep], ['snapshots.keep', snapshots?.keep], DEFAULTS.keep, [
      2,
      SNAPSHOTS_LISTED_MAX,
      false,
    ]),
    keepBlocks: whole(['--keep-blocks', keepBlocks], ['pruning.keepBlocks', pruning?.keepBlocks], DEFAULTS.keepBlocks, [
      2,
      KEEP_BLOCKS_MAX,
      true,
    ]),
  }
}
