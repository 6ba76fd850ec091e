import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { random } from '../chain/support.ts'
import type { CampaignOptions, CampaignReport } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { type Mutant, mutantsOf, mutated, switched } from './mutants.ts'
import { createRunner, type Runner, type Verdict } from './runner.ts'

const modules = join(import.meta.dirname, '../../node_modules')

/** A mutant that is no fault, or that no test can notice: every one that makes `change` in a line with this text. */
export interface Explained {
  readonly path: string
  readonly text: string
  readonly change: string
  readonly why: string
}

/** What is mutated, and what should notice. */
export interface Project {
  /** Its folder. It is copied, and nothing in it changes. */
  readonly root: string
  /** Globs of the sources that are mutated. */
  readonly sources: readonly string[]
  /** Globs of the tests. */
  readonly tests: readonly string[]
  readonly explained: readonly Explained[]
  /**
   * Called with a line for each mutant that survives, when it does, for each test that fails without a mutant, and now and
   * then with how far it is.
   */
  readonly say?: (line: string) => void
}

const KILLED_SHARE_MIN = 0.85
/** A test that takes more CPU time with a mutant than so many times what it takes without, and so much more, fails. */
const SLOWER_MAX = 5
const SLOWER_CPU_MS = 15_000
const BASELINE_CPU_MS_MAX = 300_000
/** So many mutants are judged at a time. */
const RUNNERS = 2

const nameOf = ({ path, line, change }: Mutant): string => `${path}:${line} ${change}`

const explains = (entry: Explained, mutant: Mutant): boolean =>
  entry.path === mutant.path && entry.text === mutant.text && entry.change === mutant.change

/** A line for each entry that is about none of the mutants. */
export const staleOf = (explained: readonly Explained[], mutants: readonly Mutant[]): string[] =>
  explained
    .filter((entry) => !mutants.some((mutant) => explains(entry, mutant)))
    .map(({ path, text, change }) => `explained, but not there: ${path}: ${text}: ${change}`)

/** A test that notices a mutant, and how. */
interface Found {
  readonly verdict: Verdict
  readonly test: string
}

/** A test that passes without a mutant, and the numbers of the mutants that it reaches. */
interface Measured {
  readonly test: string
  readonly ids: ReadonlySet<number>
  readonly cpuMs: number
  readonly ms: number
}

/** A copy of a project in which each mutant is behind a switch, and which tests reach it. */
interface Prepared {
  readonly mutants: readonly Mutant[]
  readonly compiled: (mutants: readonly Mutant[]) => Mutant[]
  /** Calls `told` with each mutant and the first test that notices it, in the order in which they are found. */
  readonly judgeAll: (
    mutants: readonly Mutant[],
    told: (mutant: Mutant, found: Found | undefined) => void,
  ) => Promise<void>
  readonly close: () => void
}

const NOT_COPIED = new Set(['node_modules', '.git', '.cache', 'dist', 'coverage'])

/** The mutants that the compiler takes, each in a file of its own beside the one that it changes. */
function compiledOf(folder: string, textOf: ReadonlyMap<string, string>, mutants: readonly Mutant[]): Mutant[] {
  const files = mutants.map((mutant, at) => {
    const file = join(folder, mutant.path.replace(/\.ts$/, `.mutant${at}.ts`))
    writeFileSync(file, mutated(textOf.get(mutant.path) as string, mutant))
    return file
  })
  const config = join(folder, 'tsconfig.mutants.json')
  // What a mutant leaves unused is no fault of it.
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', compilerOptions, files, include: [] }))
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(modules, 'typescript/bin/tsc'), '-p', config, '--pretty', 'false'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 },
  )
  const refused = new Set([...stdout.matchAll(/^\S*\.mutant(\d+)\.ts\(/gm)].map(([, at]) => Number(at)))
  if (status !== 0 && refused.size === 0) throw new Error(`the compiler ended with ${status}: ${stdout}`)
  for (const file of [...files, config]) rmSync(file)
  return mutants.filter((_mutant, at) => !refused.has(at))
}

/** Runs every test once without a mutant: which mutants it reaches, and how long it takes. */
async function measureTests(folder: string, tests: readonly string[], runner: Runner, say: Project['say']) {
  const reached = join(folder, 'reached')
  const measured: Measured[] = []
  for (const test of tests) {
    rmSync(reached, { force: true })
    const start = performance.now()
    const env = { SVCD_REACHED: reached }
    const run = { root: folder, file: join(folder, test), env, cpuMsMax: BASELINE_CPU_MS_MAX }
    const { verdict, cpuMs } = await runner.run(run)
    if (verdict !== 'passed') {
      say?.(`left out, as it is ${verdict} without a mutant: ${test}`)
      continue
    }
    const ids = new Set(existsSync(reached) ? readFileSync(reached, 'utf8').trimEnd().split('\n').map(Number) : [])
    measured.push({ test, ids, cpuMs, ms: performance.now() - start })
  }
  return measured
}

/** Copies the project and finds what each test reaches. */
export async function prepare({ root, sources, tests, say }: Omit<Project, 'explained'>): Promise<Prepared> {
  const { path: folder, remove } = tempFolder('mutants')
  const runners = Array.from({ length: RUNNERS }, createRunner)
  const close = (): void => {
    for (const runner of runners) runner.close()
    remove()
  }
  try {
    cpSync(root, folder, { recursive: true, filter: (path) => path === root || !NOT_COPIED.has(basename(path)) })
    symlinkSync(modules, join(folder, 'node_modules'))
    const paths = globSync(sources, { cwd: root, exclude: ['**/gen/**'] }).sort()
    const textOf = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
    const mutants = paths.flatMap((path) => mutantsOf(path, textOf.get(path) as string))
    const idOf = new Map(mutants.map((mutant, id) => [mutant, id]))
    const write = (isSwitched: boolean): void => {
      for (const [path, text] of textOf) {
        const own = mutants.filter((mutant) => mutant.path === path)
        writeFileSync(join(folder, path), isSwitched ? switched(text, own, (one) => idOf.get(one) as number) : text)
      }
    }
    write(true)
    const measured = await measureTests(folder, globSync(tests, { cwd: root }).sort(), runners[0] as Runner, say)
    return {
      mutants,
      compiled: (some) => {
        write(false)
        const compiled = compiledOf(folder, textOf, some)
        write(true)
        return compiled
      },
      judgeAll: async (some, told) => {
        // How many faults of a file each test was the first to notice. It decides nothing but which of them runs first.
        const noticed = new Map<string, number>()
        const judge = async (mutant: Mutant, runner: Runner): Promise<Found | undefined> => {
          const id = idOf.get(mutant) as number
          const worthOf = ({ test, ms }: Measured): number => (1 + (noticed.get(`${mutant.path} ${test}`) ?? 0)) / ms
          const reaching = measured.filter(({ ids }) => ids.has(id)).sort((a, b) => worthOf(b) - worthOf(a))
          for (const { test, cpuMs } of reaching) {
            const env = { SVCD_MUTANT: String(id) }
            const cpuMsMax = SLOWER_MAX * cpuMs + SLOWER_CPU_MS
            const run = { root: folder, file: join(folder, test), env, cpuMsMax }
            const first = await runner.run(run)
            // A test that fails once may have waited too short a time for a busy machine.
            const { verdict } = first.verdict === 'failed' ? await runner.run(run) : first
            if (verdict === 'passed') continue
            const place = `${mutant.path} ${test}`
            noticed.set(place, 1 + (noticed.get(place) ?? 0))
            return { verdict, test }
          }
          return undefined
        }
        const rest = some.values() // One iterator for all of them.
        const work = async (runner: Runner): Promise<void> => {
          for (const mutant of rest) told(mutant, await judge(mutant, runner))
        }
        await Promise.all(runners.map(work))
      },
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

const CHUNK = 500
/** Mutants from one line about how far it is to the next. */
const TOLD_EVERY = 25

/** So many mutants that the compiler takes, by chance. */
function sampleOf({ mutants, compiled }: Prepared, { count, seed }: CampaignOptions): Mutant[] {
  const next = random(seed)
  const rest = [...mutants]
  for (let at = rest.length - 1; at > 0; at--) {
    const other = next(at + 1)
    ;[rest[at], rest[other]] = [rest[other] as Mutant, rest[at] as Mutant]
  }
  const sample: Mutant[] = []
  while (sample.length < count && rest.length > 0) {
    const wanted = Math.min(CHUNK, 2 * (count - sample.length))
    sample.push(...compiled(rest.splice(0, wanted)))
  }
  return sample.slice(0, count)
}

/**
 * The mutants of the files whose paths begin with `folder`: how many the tests notice, and which they do not. Those that
 * are explained count as not noticed.
 */
export async function mutation(
  prepared: Prepared,
  { explained, say }: Pick<Project, 'explained' | 'say'>,
  folder: string,
  options: CampaignOptions,
): Promise<CampaignReport> {
  const mutants = prepared.mutants.filter(({ path }) => path.startsWith(folder))
  const entries = explained.filter(({ path }) => path.startsWith(folder))
  const stale = staleOf(entries, mutants)
  const unexplained: string[] = []
  let killed = 0
  let slow = 0
  const sample = sampleOf({ ...prepared, mutants }, options)
  // One that no test notices takes all the tests that reach it: those that are explained are not tried.
  const tried = sample.filter((mutant) => !entries.some((entry) => explains(entry, mutant)))
  await prepared.judgeAll(tried, (mutant, found) => {
    if (found === undefined) {
      unexplained.push(`survived: ${nameOf(mutant)}`)
      say?.(`survived: ${nameOf(mutant)}`)
    } else killed += 1
    if (found?.verdict === 'too slow') slow += 1
    const judged = killed + unexplained.length
    if (judged % TOLD_EVERY === 0) say?.(`${folder}: ${judged} of ${tried.length}`)
  })
  const share = sample.length === 0 ? 1 : killed / sample.length
  const survived = sample.length - killed
  return {
    name: folder,
    target: `at least ${KILLED_SHARE_MIN * 100} % killed, every other one explained`,
    ran: sample.length,
    seed: options.seed,
    result: [
      `${(share * 100).toFixed(1)} % killed (${killed}, ${slow} of them by a test that took too long), ` +
        `${survived} survived, ${survived - unexplained.length} of them explained`,
      ...unexplained.sort(),
      ...stale,
    ].join('\n  '),
    passed: share >= KILLED_SHARE_MIN && unexplained.length === 0 && stale.length === 0,
  }
}
