/** Which commits a candidacy signed, as the events of its history and its count of absences tell. Source: protocol.md §5. */
import { events } from '../../client/gen/events.ts'
import type { GetValidatorHistoryResult } from '../../client/index.ts'

const { stake } = events

/** An event of a history. */
type Told = Pick<GetValidatorHistoryResult['data'][number], 'type' | 'height' | 'attributes'>

/** How a run of missed blocks ended: it goes on, with a signature, or because no signature is asked for any more. */
export type End = 'open' | 'signed' | 'left'

/** Blocks in a row that a validator had to sign and did not. */
export interface Run {
  /** The first and the last of them, as far as the history tells. */
  readonly first: number
  readonly last: number
  readonly end: End
  /** How many; not known where the history does not tell when it ended. */
  readonly missed: number | undefined
}

/** What is known of a candidacy that has to sign. */
export interface Signing {
  /** The newest first. */
  readonly told: readonly Told[]
  /** The newest block, which carries the commit of the one before. */
  readonly height: number
  /** How many keys of the candidacy are in the set now. */
  readonly keys: number
  /** How many blocks in a row it has missed until now. */
  readonly absent: number
}

/** What makes the chain forget how many were missed. Nothing but these and a signature ends a run of who is in the set. */
const FORGOTTEN = new Set<string>([stake.removed, stake.withdraw])

/** Blocks from one that tells of a change of the set to the first that is signed by the new one. */
const IN_FORCE = 2

/** The runs of missed blocks, the newest first. */
export function runsOf({ told, height, keys, absent }: Signing): readonly Run[] {
  const runs: Run[] = []
  const now = keys > 0 ? 'open' : 'left'
  // `all`: as many as there are blocks between the first and the last.
  type Ended = Omit<Run, 'first' | 'missed'> & { readonly missed: number | 'all' | undefined }
  let ended: Ended | undefined = { last: height - 1, end: now, missed: absent > 0 ? absent : undefined }
  for (const { type, height: toldIn, attributes } of told) {
    // The commit of a block is judged by the block behind it, in which the event stands.
    if (type === stake.present) ended = { last: toldIn - 2, end: 'signed', missed: Number(attributes['missed']) }
    else if (FORGOTTEN.has(type)) ended = { last: toldIn - 1, end: 'left', missed: 'all' }
    else if (type === stake.left && ended?.last === height - 1 && keys === 0)
      ended = { last: toldIn + IN_FORCE - 1, end: 'left', missed: 'all' }
    else if (type === stake.absent) {
      const first = toldIn - 1
      const { last, end, missed }: Ended = ended ?? { last: first, end: 'left', missed: undefined }
      runs.push({ first, last, end, missed: missed === 'all' ? last - first + 1 : missed })
      ended = undefined
    }
  }
  // The event that began the oldest run is on an older page of the history, but the run's length is known.
  if (typeof ended?.missed === 'number') {
    const { last, end, missed } = ended
    runs.push({ first: last - missed + 1, last, end, missed })
  }
  return runs
}

/** What a candidacy did in a commit. `outside`: it had nothing to sign. */
export type Commit = 'signed' | 'missed' | 'outside'

/** How many keys of the candidacy are in the set of each of these heights, the newest first. */
function keysAt({ told, keys }: Signing, heights: readonly number[]): readonly number[] {
  let at = 0
  let count = keys
  return heights.map((height) => {
    for (let event = told[at]; event !== undefined && event.height > height - IN_FORCE; event = told[++at]) {
      if (event.type === stake.joined) count -= 1
      if (event.type === stake.left) count += 1
    }
    return count
  })
}

/**
 * The last commits that a candidacy may have signed, the oldest first: at most `count`, and none before `from`. What the
 * history does not tell of was signed.
 */
export function commitsOf(signing: Signing, from: number, count: number): readonly (readonly [number, Commit])[] {
  const newest = signing.height - 1
  const length = Math.max(0, Math.min(count, newest - Math.max(1, from) + 1))
  const heights = Array.from({ length }, (_, at) => newest - at)
  const keys = keysAt(signing, heights)
  const runs = runsOf(signing)
  // Who is removed or withdraws is still in the set of two more commits, which nobody counts.
  const ends = signing.told.filter(({ type }) => FORGOTTEN.has(type)).map((event) => event.height)
  const commits = heights.map((height, at): readonly [number, Commit] => {
    if (runs.some(({ first, last }) => first <= height && height <= last)) return [height, 'missed']
    const isCounted = (keys[at] ?? 0) > 0 && !ends.some((end) => end <= height && height < end + IN_FORCE)
    return [height, isCounted ? 'signed' : 'outside']
  })
  return commits.reverse()
}
