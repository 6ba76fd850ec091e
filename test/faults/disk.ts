import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { statePathOf } from '../../src/node/homes.ts'
import { Broken, type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { type Run, type RunOptions, runApplication } from './application.ts'
import { type Chain, makeChain, withChain } from './chain.ts'
import type { Fault } from './fault.ts'

/** The blocks during which the disk is full, and during which its calls fail. */
const BLOCKS = 8
const BLOCKS_OF_CALLS = 2
/** The blocks of the start after that. */
const BLOCKS_AGAIN = 2

interface Failure {
  readonly what: string
  readonly options: Pick<RunOptions, 'under' | 'until'>
  /** Puts the disk into this state, and takes it back. */
  readonly begin?: (home: string) => void
  readonly end?: (home: string) => void
}

// One line, which names what failed. SVCD_TRACE is for bugs: a disk that fails is none.
const CLEAR = /^svcd: (?!unexpected error).+$/

/** What it says when it ends by itself: at least one line, each of them clear, with status 1 or 2. */
function checkEnd({ status, signal, stderr, stdout }: Run): void {
  const lines = stderr.trim().split('\n')
  const isClear = (status === 1 || status === 2) && lines.every((line) => CLEAR.test(line))
  need(isClear, () => `it ended with ${signal ?? status}: ${(stderr + stdout).trim()}`)
}

/**
 * Runs an application on a disk that fails, and again on one that does not: the state is whole, nothing that was
 * acknowledged is missing, and the blocks above it lead to the right rows. Returns whether it ended by itself.
 */
async function survive(chain: Chain, home: string, failure: Failure, fault: Fault): Promise<boolean> {
  const { what, options, begin, end } = failure
  try {
    begin?.(home)
    const run = await runApplication({ home, fault, until: BLOCKS, ...options })
    end?.(home)
    if (!run.isComplete) checkEnd(run)
    const { acknowledged } = run
    const height = chain.check(home, { least: acknowledged, most: acknowledged + 1 })
    const until = height + BLOCKS_AGAIN
    const again = await runApplication({ home, until })
    need(again.isComplete && again.status === 0, () => `it does not start again: ${again.stderr}`)
    need(again.startedAt === height, () => `it starts at ${again.startedAt}, and its state is at ${height}`)
    chain.check(home, { least: until, most: until })
    return !run.isComplete
  } catch (error) {
    if (error instanceof Broken) throw new Broken(`${what}: ${error.message}`)
    throw error
  }
}

/** At most `count` of the numbers from `from` to `to`, evenly spread, both ends among them. */
function spread(from: number, to: number, count: number): readonly number[] {
  const steps = Math.max(1, Math.min(count, to - from + 1) - 1)
  return [...new Set(Array.from({ length: steps + 1 }, (_, at) => from + Math.round(((to - from) * at) / steps)))]
}

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** Runs an application on a sound disk to the last block, and kills it, so that its log is as long as it gets. */
async function walKib(chain: Chain): Promise<number> {
  const home = chain.newHome()
  await runApplication({ home, until: BLOCKS, end: 'SIGKILL' })
  return Math.floor(statSync(`${statePathOf(home)}-wal`).size / 1024)
}

/** Nothing may be written beyond a length of a file: as on a full disk, for everybody. */
async function limits(chain: Chain, count: number): Promise<readonly Failure[]> {
  return spread(0, (await walKib(chain)) - 1, count).map((kib) => ({
    what: `no file above ${kib} KiB`,
    options: { under: ['bash', '-c', 'ulimit -f "$0"; exec "$@"', String(kib)] },
  }))
}

const filesOf = (home: string): readonly string[] =>
  ['', '-wal', '-shm'].flatMap((end) => ['-P', `${statePathOf(home)}${end}`])

const STRACE = ['strace', '-f', '-qq', '--seccomp-bpf']
const CALLS = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate']
// The log is written back within these blocks, so that the calls of a checkpoint are among those that fail.
const CHECKPOINTS = { walPages: 40 }

/** How often each call is made for the state's files. */
async function callsOf(chain: Chain): Promise<ReadonlyMap<string, number>> {
  const home = chain.newHome()
  const log = `${home}.strace`
  const under = [...STRACE, '-o', log, '-e', `trace=${CALLS.join(',')}`, ...filesOf(home)]
  await runApplication({ home, fault: CHECKPOINTS, until: BLOCKS_OF_CALLS, under })
  const lines = readFileSync(log, 'utf8').split('\n')
  return new Map(CALLS.map((call) => [call, lines.filter((line) => line.includes(` ${call}(`)).length]))
}

// A disk that fails once, and one that fails from then on; a file system that turned read-only; and a full one.
const INJECTED: readonly (readonly [call: string, error: string, onwards: '' | '+'])[] = [
  ['pwrite64', 'EIO', ''],
  ['pwrite64', 'EIO', '+'],
  ['pwrite64', 'EROFS', '+'],
  ['pwrite64', 'ENOSPC', '+'],
  ['fsync', 'EIO', ''],
  ['fsync', 'EIO', '+'],
  ['fdatasync', 'EIO', ''],
  ['fdatasync', 'EIO', '+'],
  ['ftruncate', 'EIO', '+'],
]

/** The homes of the failures of system calls are known beforehand, because strace is told their files. */
async function injected(chain: Chain, count: number): Promise<readonly (Failure & { readonly home: string })[]> {
  const calls = await callsOf(chain)
  return INJECTED.flatMap(([call, error, onwards]) => {
    const made = calls.get(call) ?? 0
    return made === 0
      ? []
      : spread(1, made, count).map((at) => {
          const home = chain.newHome()
          const inject = `inject=${call}:error=${error}:when=${at}${onwards}`
          const under = [...STRACE, '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject, ...filesOf(home)]
          return { what: inject, home, options: { under, until: BLOCKS_OF_CALLS } }
        })
  })
}

const isRoot = (): boolean => process.getuid?.() === 0 && process.platform === 'linux'

/** A file system of its own, which is full but for some KiB, or read-only. */
function mounted(path: string, kib: number, count: number): readonly Failure[] {
  const filler = join(path, 'filler')
  const begin = (free: number) => (): void => {
    const { bavail, bsize } = statfsSync(path)
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free * 1024)))
  }
  const remount = (mode: 'ro' | 'rw') => (): void => {
    execFileSync('mount', ['-o', `remount,${mode}`, path])
  }
  const full = spread(0, kib, count).map((free) => ({
    what: `${free} KiB free`,
    options: {},
    begin: begin(free),
    end: () => rmSync(filler, { force: true }),
  }))
  return [...full, { what: 'read-only', options: {}, begin: remount('ro'), end: remount('rw') }]
}

/** Runs failures one after the other, as a campaign of these words. */
function runAll(
  about: About,
  chain: Chain,
  failures: readonly (Failure & { readonly home?: string })[],
  fault: Fault = {},
): Promise<CampaignReport> {
  return campaignReport(about, async (told) => {
    let ended = 0
    for (const failure of failures) {
      const home = failure.home ?? chain.newHome()
      if (await survive(chain, home, failure, fault)) ended++
      told.ran++
      for (const end of ['', '.log', '.sock']) rmSync(`${home}${end}`, { recursive: true, force: true })
    }
    return `held in every case; in ${ended} the application ended by itself`
  })
}

type About = Pick<CampaignReport, 'name' | 'target' | 'seed'>

const about = (name: string, target: string): About => ({ name, target, seed: undefined })
const skipped = (what: About, why: string): CampaignReport => ({
  ...what,
  ran: 0,
  result: `skipped: ${why}`,
  passed: true,
})

/** The form for every machine: a file may not grow beyond a limit. `count`: how many limits. */
export const fullDisk = ({ count }: Pick<CampaignOptions, 'count'>, faulty: Fault = {}): Promise<CampaignReport> =>
  withChain('disk', async (chain) =>
    runAll(
      about('full disk', 'a disk that is full ends it with a clear line'),
      chain,
      await limits(chain, count),
      faulty,
    ),
  )

/** System calls that fail, by strace. `count`: at how many calls, evenly spread, of each failure. */
export async function failingDisk({ count }: Pick<CampaignOptions, 'count'>): Promise<CampaignReport> {
  const target = 'a disk that fails at any write or sync ends it with a clear line, or does no harm'
  const what = about('failing disk', target)
  if (!has('strace')) return skipped(what, 'strace is not installed')
  return await withChain('strace', async (chain) => runAll(what, chain, await injected(chain, count), CHECKPOINTS))
}

/** A real file system that is full or read-only. `count`: how many sizes. */
export async function mountedDisk({ count }: Pick<CampaignOptions, 'count'>): Promise<CampaignReport> {
  const what = about('mounted disk', 'a file system that is full or read-only ends it with a clear line')
  if (!isRoot()) return skipped(what, 'only root can mount a file system')
  return await withChain('mount', async (outer, folder) => {
    const path = join(folder, 'disk')
    mkdirSync(path)
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128m,mode=0700', 'tmpfs', path])
    if (status !== 0) return skipped(what, `nothing can be mounted: ${String(stderr).trim()}`)
    try {
      const kib = await walKib(outer)
      return await runAll(what, makeChain(path), mounted(path, kib, count))
    } finally {
      execFileSync('umount', [path])
    }
  })
}
