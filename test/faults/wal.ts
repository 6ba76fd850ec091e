/** The format of SQLite's write-ahead log. Source: https://sqlite.org/fileformat2.html, section 4. */

/** The length of the log's header and of a frame's, in bytes. */
export const WAL_HEADER = 32
export const FRAME_HEADER = 24

/** A frame that SQLite would take: it is of the log's last beginning, and so are all before it. */
export interface Frame {
  /** Where it begins and ends in the log. */
  readonly start: number
  readonly end: number
  /** The number of the page, from 1. */
  readonly page: number
  /** True for the last frame of a transaction. */
  readonly isCommit: boolean
}

/** The frames of a log up to the last that ends a transaction. Checksums are not looked at: nobody has cut this log yet. */
export function framesOf(wal: Buffer): readonly Frame[] {
  if (wal.length < WAL_HEADER) return []
  const size = wal.readUInt32BE(8)
  const salt = wal.subarray(16, 24)
  const frames: Frame[] = []
  for (let start = WAL_HEADER; start + FRAME_HEADER + size <= wal.length; start += FRAME_HEADER + size) {
    if (!salt.equals(wal.subarray(start + 8, start + 16))) break
    const isCommit = wal.readUInt32BE(start + 4) > 0
    frames.push({ start, end: start + FRAME_HEADER + size, page: wal.readUInt32BE(start), isCommit })
  }
  return frames.slice(0, frames.findLastIndex(({ isCommit }) => isCommit) + 1)
}

/** How many of the pages in a log that `counts` takes are in the database as they are in the log, and how many are not. */
export function writtenBack(
  database: Buffer,
  wal: Buffer,
  counts: (page: Buffer) => boolean,
): { readonly done: number; readonly open: number } {
  const latest = new Map(framesOf(wal).map((frame) => [frame.page, frame]))
  const found = { done: 0, open: 0 }
  for (const { page, start, end } of latest.values()) {
    const bytes = wal.subarray(start + FRAME_HEADER, end)
    if (!counts(bytes)) continue
    const isDone = bytes.equals(database.subarray((page - 1) * bytes.length, page * bytes.length))
    found[isDone ? 'done' : 'open']++
  }
  return found
}
