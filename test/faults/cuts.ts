import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { statePathOf } from '../../src/node/homes.ts'
import { random } from '../chain/support.ts'
import { Broken, type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { runApplication } from './application.ts'
import { type Chain, copyState, replay, wholeHeight, withChain } from './chain.ts'
import type { Fault } from './fault.ts'
import { FRAME_HEADER, framesOf, WAL_HEADER } from './wal.ts'

/** The blocks in the log, and how far each copy is replayed. */
const BLOCKS = 12
const REPLAY = BLOCKS + 4

/** One damage of a log: the log as it is then, and how many of its bytes are as they were. */
interface Damage {
  readonly what: string
  readonly wal: Buffer
  readonly intact: number
}

const cutAt = (wal: Buffer, length: number): Damage => ({
  what: `cut at ${length} of ${wal.length}`,
  wal: wal.subarray(0, length),
  intact: length,
})

function flipAt(wal: Buffer, offset: number): Damage {
  const flipped = Buffer.from(wal)
  flipped.writeUInt8((wal[offset] ?? 0) ^ 0x20, offset)
  return { what: `byte ${offset} of ${wal.length} flipped`, wal: flipped, intact: offset }
}

/**
 * Every cut at the end of a frame, in its header and in its page, and a byte of both flipped; and the log's own header.
 * What a checkpoint has written to the database stays: without it the database is not whole.
 */
function* damages({ wal, written }: Left, next: (below: number) => number): Generator<() => Damage> {
  if (written === 0) {
    for (const at of [0, 1, WAL_HEADER - 1, WAL_HEADER]) yield () => cutAt(wal, at)
    for (let at = 0; at < WAL_HEADER; at += 4) yield () => flipAt(wal, at)
  }
  for (const { start, end } of framesOf(wal).slice(written)) {
    const [header, page] = [start + next(FRAME_HEADER), start + FRAME_HEADER + next(end - start - FRAME_HEADER)]
    yield () => cutAt(wal, end)
    yield () => cutAt(wal, header)
    yield () => cutAt(wal, page)
    yield () => flipAt(wal, header)
    yield () => flipAt(wal, page)
  }
}

/** A database and its log as a killed process leaves them. */
interface Left {
  readonly database: Buffer | undefined
  readonly wal: Buffer
  /** How many frames of the log a checkpoint has written to the database, or begun to. */
  readonly written: number
}

/** Where the log's index has this number (https://sqlite.org/walformat.html, nBackfillAttempted). */
const WRITTEN_AT = 128

async function leave(chain: Chain, fault: Fault): Promise<Left> {
  const home = chain.newHome()
  const run = await runApplication({ home, fault, until: BLOCKS, end: 'SIGKILL' })
  need(run.isComplete, () => `it ended by itself: ${run.stderr}`)
  const path = statePathOf(home)
  return {
    database: existsSync(path) ? readFileSync(path) : undefined,
    wal: readFileSync(`${path}-wal`),
    written: readFileSync(`${path}-shm`).readUInt32LE(WRITTEN_AT),
  }
}

/** The sizes at which a log is begun anew, in pages. */
const WAL_PAGES = [100, 120, 140, 160, 180]

/** A log that was begun anew several times. Of some sizes the last checkpoint has just written all of it: not of these. */
async function leaveBegunAnew(chain: Chain, faulty: Fault): Promise<Left> {
  for (const walPages of WAL_PAGES) {
    const left = await leave(chain, { ...faulty, walPages })
    if (framesOf(left.wal).length > left.written) return left
  }
  throw new Broken('every log was in the database whole when the process was killed')
}

/** Opens copies of one state with a damaged log. */
function opener(folder: string, { database, wal, written }: Left) {
  const path = join(folder, 'cut.db')
  const open = (log: Buffer): number => {
    copyState(join(folder, 'nothing'), path)
    if (database !== undefined) writeFileSync(path, database)
    writeFileSync(`${path}-wal`, log)
    return wholeHeight(path)
  }
  const commits = framesOf(wal).filter(({ isCommit }) => isCommit)
  const heights = new Map<number, number>()
  // What the last transaction that is whole in the first bytes leads to.
  const expected = (intact: number): number => {
    const end = commits.findLast((frame) => frame.end <= intact)?.end ?? 0
    const height = heights.get(end) ?? open(wal.subarray(0, end))
    heights.set(end, height)
    return height
  }
  return {
    judge: ({ what, wal: log, intact }: Damage): void => {
      const height = open(log)
      need(height === expected(intact), () => `${what}: it opens at ${height}, not at ${expected(intact)}`)
      open(log)
      replay(path, REPLAY)
      need(wholeHeight(path) === REPLAY, () => `${what}: the replay ends at another height`)
    },
    checkCommits: (): void => {
      const from = framesOf(wal)[written - 1]?.end ?? 0
      let before = expected(from)
      for (const { end } of commits.filter((frame) => frame.end > from)) {
        const height = expected(end)
        need(height === before || height === before + 1, () => `a transaction leads from ${before} to ${height}`)
        before = height
      }
      need(before === BLOCKS, () => `the whole log leads to ${before}`)
    },
  }
}

/**
 * Cuts SQLite's log at the end of every frame and within it, and flips bytes of it; at most `count` damages, evenly
 * spread. Every copy opens at the height of the last block that is whole in what is left, with the rows of that height,
 * and goes on to the same app hash. One log holds all blocks; the other was begun anew several times, so that old frames
 * lie behind the new ones. `faulty`: a mistake for the campaign to find.
 */
export function cuts({ count, seed }: CampaignOptions, faulty: Fault = {}): Promise<CampaignReport> {
  const next = random(seed)
  const about = {
    name: 'cuts',
    target: 'a log that is cut or damaged anywhere opens at a whole block and goes on to the same app hash',
    seed,
  }
  return campaignReport(about, (told) =>
    withChain('cuts', async (chain, folder) => {
      let all = 0
      for (const makeLeft of [() => leave(chain, faulty), () => leaveBegunAnew(chain, faulty)]) {
        const left = await makeLeft()
        const { judge, checkCommits } = opener(folder, left)
        checkCommits()
        const makers = [...damages(left, next)]
        all += makers.length
        const wanted = Math.min(makers.length, Math.ceil(count / 2))
        for (let at = 0; at < wanted; at++) {
          const make = makers[Math.floor((at * makers.length) / wanted)]
          if (make !== undefined) judge(make())
          told.ran++
        }
      }
      return `held for ${told.ran} of ${all} damages`
    }),
  )
}
