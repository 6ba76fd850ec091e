import { writeFileSync } from 'node:fs'
import { namesIn, programArgs } from '../../tools/testing/programArgs.ts'

/** What one campaign did: docs/reliability.md is made of these. */
export interface CampaignReport {
  readonly name: string
  /** What has to hold, with its figure. */
  readonly target: string
  /** How many cases it ran; 0 when it ended before the first. */
  readonly ran: number
  /** With which the same cases come again; undefined where nothing is random. */
  readonly seed: number | undefined
  /** What was measured, or the first case that broke the target. */
  readonly result: string
  readonly passed: boolean
}

export interface CampaignOptions {
  readonly count: number
  readonly seed: number
}

/** Says that a case broke the target of a campaign. */
export class Broken extends Error {}

/** Throws Broken unless it holds. */
export function need(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Broken(what())
}

/**
 * Runs a campaign: what it throws breaks the target. `told`: gets how many cases there were so far. `run` resolves with what
 * they showed.
 */
export async function campaignReport(
  about: Pick<CampaignReport, 'name' | 'target' | 'seed'>,
  run: (told: { ran: number }) => Promise<string>,
): Promise<CampaignReport> {
  const told = { ran: 0 }
  try {
    const result = await run(told)
    return { ...about, ran: told.ran, result, passed: true }
  } catch (thrown) {
    const why =
      thrown instanceof Broken ? thrown.message : thrown instanceof Error ? (thrown.stack ?? '') : String(thrown)
    return { ...about, ran: told.ran, result: `after ${told.ran} cases: ${why}`, passed: false }
  }
}

/** One line for people. */
export const summary = ({ name, target, ran, seed, result, passed }: CampaignReport): string =>
  `${passed ? 'held' : 'BROKEN'}: ${name}: ${result} (target: ${target}; ${ran.toLocaleString('en')} cases` +
  `${seed === undefined ? '' : `, seed ${seed}`})`

/** The seed of an environment variable, or another one each second. */
export const anySeed = (): number => Number(process.env['SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000_000)

type Reports = CampaignReport | readonly CampaignReport[]

/** Campaigns by their names; one may have several reports. */
export type Campaigns = Readonly<Record<string, (options: CampaignOptions) => Reports | Promise<Reports>>>

function wholeOf(text: string | undefined, flag: string, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text.replaceAll('_', ''))
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${flag}: expected a whole number, got ${text}`)
  return value
}

/** Prints a line for each report, writes their list to `file`, and ends this process with status 1 when one is broken. */
export function tellReports(reports: readonly CampaignReport[], file: string | undefined): void {
  for (const report of reports) process.stdout.write(`${summary(report)}\n`)
  keepReports(reports, file)
}

/** Writes the list of reports to `file`, and ends this process with status 1 when one is broken. */
export function keepReports(reports: readonly CampaignReport[], file: string | undefined): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(reports, null, 2)}\n`)
  process.exitCode = reports.every(({ passed }) => passed) ? 0 : 1
}

/**
 * The command line of campaigns: `--only a,b`, `--count`, `--seed` and `--json FILE`. Runs them one after the other,
 * prints a line for each, and ends with status 1 when one is broken. FILE then holds the list of their reports.
 */
export async function runCampaigns(campaigns: Campaigns, count: number): Promise<void> {
  const { values } = programArgs({
    options: {
      only: { type: 'string', default: Object.keys(campaigns).join(',') },
      count: { type: 'string' },
      seed: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const options = { count: wholeOf(values.count, '--count', count), seed: wholeOf(values.seed, '--seed', anySeed()) }
  const reports: CampaignReport[] = []
  for (const name of namesIn('--only', values.only, Object.keys(campaigns))) {
    const made = [await (campaigns[name] as Campaigns[string])(options)].flat()
    reports.push(...made)
    for (const report of made) process.stdout.write(`${summary(report)}\n`)
    // After each of them: a campaign that is stopped half way keeps what it has done.
    keepReports(reports, values.json)
  }
}
