import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { equalBytes, toHex } from '../../src/base/bytes.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { snapshotsOf, statePathOf } from '../../src/node/homes.ts'
import { tables } from '../../src/modules/registry.ts'
import { listSnapshots, readChunk, snapshotPath } from '../../src/store/snapshot/folder.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { onDisk, random } from '../chain/support.ts'
import { Broken, type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { type OfferedSnapshot, type Run, type RunOptions, runApplication } from './application.ts'
import { type Chain, copyState, HEAD, hashAt, withChain } from './chain.ts'
import { type CheckpointKiller, changeOf, createCheckpointKiller, spinUntil } from './checkpoint.ts'
import { type Fault, PLACES, type Place } from './fault.ts'

/** A place of preload.ts, or a file whose change after a Commit was sent is the moment. */
type Moment = Place | 'commitWrite' | 'checkpoint'

/** Every place of a kill, in the order of a round. */
export const MOMENTS: readonly Moment[] = [
  'initChain',
  'begin',
  'midWrite',
  'beforeCommit',
  'commitWrite',
  'afterCommit',
  'reply',
  'checkpoint',
  'snapshot',
  'tree',
  'restore',
  'takeOver',
]

// Where the state has to stand so that the place is reached. All pages of the tree are written with block 32.
const STARTS: { readonly [M in Moment]?: readonly [least: number, most: number] } = {
  initChain: [0, 0],
  checkpoint: [0, 0],
  tree: [29, 31],
  restore: [0, 0],
  takeOver: [0, 0],
}
const FROM_GENESIS = [0, 0] as const
const SNAPSHOT_HEIGHT = 20
const MISSES_MAX = 20
// The moment is as short as the disk is fast, and a busy machine may sleep through it.
const CHECKPOINT_MISSES_MAX = 100
// A state that is nearer to the head gives way to a new one: the kill would not be reached.
const BLOCKS_LEFT_MIN = 8

/** Kills a process when a file changes, in its `commits`-th Commit. */
function killAtChange(path: string, commits: number): NonNullable<RunOptions['onCommit']> {
  let sent = 0
  return (pid) => {
    if (++sent < commits) return () => undefined
    const before = changeOf(path)
    return () => {
      if (spinUntil(() => changeOf(path) !== before)) process.kill(pid, 'SIGKILL')
    }
  }
}

function snapshotOf(chain: Chain, folder: string): OfferedSnapshot {
  const path = join(folder, 'offered.db')
  copyState(chain.stateAt(SNAPSHOT_HEIGHT), path)
  const store = onDisk(path)
  const snapshot = writeSnapshot(store, tables, join(folder, 'offered'), 4000)
  store.close()
  const from = snapshotPath(join(folder, 'offered'), SNAPSHOT_HEIGHT)
  return { snapshot, chunks: snapshot.metadata.chunkHashes.map((_, index) => readChunk(from, index) as Uint8Array) }
}

/** Every snapshot that a home lists is whole. */
function checkSnapshots(home: string): void {
  for (const { metadata } of listSnapshots(snapshotsOf(home))) {
    const { height, appHash, chunkHashes } = metadata
    need(toHex(appHash) === hashAt(height), () => `the snapshot of ${height} has another app hash`)
    for (const [index, hash] of chunkHashes.entries()) {
      const chunk = readChunk(snapshotPath(snapshotsOf(home), height), index)
      const isWhole = chunk !== undefined && equalBytes(sha256(chunk), hash)
      need(isWhole, () => `chunk ${index} of the snapshot of ${height} is not whole`)
    }
  }
}

/** A home that lives from kill to kill. */
interface Victim {
  readonly home: string
  height: number
  isRestored: boolean
}

interface Kills {
  readonly chain: Chain
  readonly next: (below: number) => number
  readonly offered: OfferedSnapshot
  readonly faulty: Fault
  readonly killer: CheckpointKiller
}

function optionsOf({ next, offered, faulty, killer }: Kills, moment: Moment, home: string): RunOptions {
  if (moment === 'commitWrite')
    return { home, fault: faulty, onCommit: killAtChange(`${statePathOf(home)}-wal`, 1 + next(3)) }
  if (moment === 'checkpoint') {
    const { fault, onCommit } = killer.options(home)
    return { home, fault: { ...faulty, ...fault }, onCommit }
  }
  const fault = { ...faulty, place: moment, at: 1 + next(PLACES[moment].most) }
  if (moment === 'snapshot') return { home, fault, pauseMs: 100, flags: ['--snapshot-interval', '1'] }
  return moment === 'restore' || moment === 'takeOver' ? { home, fault, restore: offered } : { home, fault }
}

/** Runs the victim without a fault: it starts where it stands, reaches the head, and ends in order. */
async function finish({ chain, faulty }: Kills, { home, height, isRestored }: Victim): Promise<void> {
  const run = await runApplication({ home, fault: faulty })
  need(run.isComplete && run.status === 0, () => `it does not start again: ${told(run)}`)
  need(run.startedAt === height, () => `it starts at ${run.startedAt}, and its state is at ${height}`)
  chain.checkHead(home, isRestored)
  rmSync(home, { recursive: true })
}

const told = ({ status, signal, stdout, stderr }: Run): string =>
  `it ended with ${signal ?? status}: ${(stderr + stdout).trim()}`

/** Kills the victim once. False when the place was not reached before the head. */
async function killOnce(kills: Kills, moment: Moment, victim: Victim): Promise<boolean> {
  const options = optionsOf(kills, moment, victim.home)
  const run = await runApplication(options)
  need(run.signal === 'SIGKILL' || run.isComplete, () => told(run))
  const { startedAt = victim.height, acknowledged } = run
  need(startedAt === victim.height, () => `it starts at ${startedAt}, and its state is at ${victim.height}`)
  const isRestore = options.restore !== undefined
  const least = Math.max(victim.height, acknowledged)
  const most = isRestore ? Math.max(SNAPSHOT_HEIGHT, acknowledged) + 1 : least + 1
  victim.isRestored ||= isRestore
  victim.height = kills.chain.check(victim.home, { least, most: Math.min(HEAD, most) }, victim.isRestored)
  if (isRestore && victim.height < SNAPSHOT_HEIGHT) {
    need(victim.height === 0, () => `a restore of ${SNAPSHOT_HEIGHT} left a state at ${victim.height}`)
    victim.isRestored = false
  }
  checkSnapshots(victim.home)
  return run.signal === 'SIGKILL' && (moment !== 'checkpoint' || kills.killer.hasHit(victim.home))
}

/**
 * Kills `svcd start` at named places, `count` times at each. After each kill the state is that of a whole block, nothing
 * that was acknowledged is missing, and the blocks above it lead to the undisturbed replica's rows. The next kill, or an
 * orderly run to the head, starts from what that one left. `faulty`: a mistake for the campaign to find.
 */
export function kills(
  { count, seed }: CampaignOptions,
  faulty: Fault = {},
  moments: readonly Moment[] = MOMENTS,
): Promise<CampaignReport> {
  const next = random(seed)
  const about = {
    name: 'kills',
    target: `killed at ${moments.length} named places, it stands at a whole block and goes on to the same app hash`,
    seed,
  }
  const run = async (told: { ran: number }, chain: Chain, folder: string): Promise<string> => {
    const killer = createCheckpointKiller(next)
    const all = { chain, next, offered: snapshotOf(chain, folder), faulty, killer }
    let missed = 0
    const held: { victim?: Victim } = {}

    const choose = async (moment: Moment): Promise<Victim> => {
      const { victim } = held
      const start = STARTS[moment]
      if (start === undefined && victim !== undefined && victim.height <= HEAD - BLOCKS_LEFT_MIN) return victim
      if (victim !== undefined) await finish(all, victim)
      const [least, most] = start ?? FROM_GENESIS
      const height = least + all.next(most - least + 1)
      return { home: chain.newHome(height), height, isRestored: false }
    }
    const round = async (moment: Moment): Promise<void> => {
      const most = moment === 'checkpoint' ? CHECKPOINT_MISSES_MAX : MISSES_MAX
      for (let misses = 0; misses < most; misses++) {
        held.victim = await choose(moment)
        if (await killOnce(all, moment, held.victim)) return
        missed++
      }
      throw new Broken('the place was never reached')
    }
    for (let number = 0; number < count; number++)
      for (const moment of moments) {
        await within(`${moment}, round ${number}`, () => round(moment))
        told.ran++
      }
    const { victim } = held
    if (victim !== undefined) await within('the last start', () => finish(all, victim))
    return `held after every kill, and after ${missed} runs that were not killed where they should be`
  }
  return campaignReport(about, (told) => withChain('faults', (chain, folder) => run(told, chain, folder)))
}

/** Says of what breaks the target where it was. */
const within = (where: string, work: () => Promise<void>): Promise<void> =>
  work().catch((error: unknown) => {
    throw error instanceof Broken ? new Broken(`${where}: ${error.message}`) : error
  })
