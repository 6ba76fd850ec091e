import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CampaignReport } from '../support/campaign.ts'
import { type Campaign, commandOf } from './campaigns.ts'

const root = join(import.meta.dirname, '../..')

/** What is kept of the last run of a campaign. */
export interface Kept {
  /** True when the whole campaign ran here; false when reports were taken in, which may be those of a part. */
  readonly isWhole: boolean
  /** What was run, and the commit that it ran on; undefined for reports that were taken in. */
  readonly command?: string | undefined
  readonly commit?: string | undefined
  readonly reports: readonly CampaignReport[]
}

/** The kept reports of campaigns, a file each. */
export interface Reports {
  readonly of: (name: string) => Kept | undefined
  readonly keep: (name: string, kept: Kept) => void
}

/** Opens the reports in a folder below the checkout, such as `.cache/reliability`. It is made when it is not there. */
export function openReports(folder: string): Reports {
  const path = (name: string): string => join(root, folder, `${name}.json`)
  mkdirSync(join(root, folder), { recursive: true })
  return {
    of: (name) => (existsSync(path(name)) ? (JSON.parse(readFileSync(path(name), 'utf8')) as Kept) : undefined),
    keep: (name, kept) => writeFileSync(path(name), `${JSON.stringify(kept, undefined, 2)}\n`),
  }
}

/** Reads what a campaign wrote for `--json FILE`. Throws when it is not that. */
function readReports(path: string): readonly CampaignReport[] {
  const reports = JSON.parse(readFileSync(path, 'utf8')) as readonly CampaignReport[]
  const isReport = ({ name, target, ran, result, passed }: CampaignReport): boolean =>
    [name, target, result].every((one) => typeof one === 'string') &&
    Number.isSafeInteger(ran) &&
    typeof passed === 'boolean'
  if (!Array.isArray(reports) || reports.length === 0 || !reports.every(isReport))
    throw new Error(`${path}: expected a list of reports, as --json FILE writes it`)
  return reports
}

const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

/** The commit that is checked out, marked when files differ from it; undefined where there is no repository. */
function commit(): string | undefined {
  try {
    return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' with changes'}`
  } catch {
    return undefined
  }
}

/** Runs a campaign with these flags, its output going straight through. Resolves with its exit status. */
function make(name: string, args: string, onStop: () => void): Promise<number | null> {
  // Variables of the make that runs this command are for this command, and it has installed what is needed.
  const { MAKEFLAGS: _flags, MFLAGS: _old, MAKEOVERRIDES: _over, MAKELEVEL: _level, ARGS: _args, ...env } = process.env
  const child = spawn('make', ['INSTALLED=', name, `ARGS=${args}`], { cwd: root, stdio: 'inherit', env })
  const stop = (signal: NodeJS.Signals): void => {
    onStop()
    child.kill(signal)
  }
  process.once('SIGTERM', stop).once('SIGINT', stop)
  return new Promise((done, failed) =>
    child.once('error', failed).once('close', (status) => {
      process.removeListener('SIGTERM', stop).removeListener('SIGINT', stop)
      done(status)
    }),
  )
}

const failed = (name: string, result: string): CampaignReport => ({
  name,
  target: 'it comes to its end',
  ran: 0,
  seed: undefined,
  result,
  passed: false,
})

/**
 * Runs campaigns one after the other, each as a process of its own, and keeps what each reports in `folder`. One that
 * ends without a report is reported as broken. Resolves with all reports. After a signal no other one is begun, and of
 * the one that it stopped nothing is kept.
 */
export async function runAll(
  campaigns: readonly Campaign[],
  isQuick: boolean,
  folder: string,
): Promise<readonly CampaignReport[]> {
  const reports = openReports(folder)
  const all: CampaignReport[] = []
  let isStopped = false
  for (const campaign of campaigns) {
    const { name, long, quick } = campaign
    const args = isQuick ? quick : long
    // Without spaces: the shell of make splits at them.
    const file = `${folder}/${name}.told.json`
    const ranOn = commit()
    rmSync(join(root, file), { force: true })
    process.stdout.write(`== ${commandOf(name, args)}\n`)
    const status = await make(name, `${args} --json ${file}`, () => {
      isStopped = true
    })
    const told = existsSync(join(root, file)) ? [...readReports(join(root, file))] : []
    rmSync(join(root, file), { force: true })
    if (isStopped) return [...all, failed(name, 'it was stopped')]
    // What a campaign has done before it fails is in the file.
    if (told.length === 0 || (status !== 0 && told.every(({ passed }) => passed)))
      told.push(failed(name, `ended with status ${status} and without a report of the reason`))
    reports.keep(name, { isWhole: true, command: commandOf(name, args), commit: ranOn, reports: told })
    all.push(...told)
  }
  return all
}

/**
 * Takes in files that campaigns wrote for `--json`. The name of each begins with that of its campaign. Its reports take
 * the place of all that are kept under their names; a campaign that ran in parts has one for each seed. Returns what was
 * taken in.
 */
export function takeIn(
  files: readonly string[],
  campaigns: readonly Campaign[],
  folder: string,
): readonly CampaignReport[] {
  const reports = openReports(folder)
  const taken = new Map<string, CampaignReport[]>()
  for (const file of files) {
    const name = campaigns.find((one) => basename(file).startsWith(one.name))?.name
    if (name === undefined)
      throw new Error(`--take: ${file}: the name of the file has to begin with that of a campaign`)
    taken.set(name, [...(taken.get(name) ?? []), ...readReports(file)])
  }
  for (const [name, told] of taken) {
    const others = (reports.of(name)?.reports ?? []).filter(
      (one) => one.name !== name && !told.some((two) => two.name === one.name),
    )
    reports.keep(name, { isWhole: false, reports: [...others, ...told] })
  }
  return [...taken.values()].flat()
}
