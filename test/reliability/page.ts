import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { slugOf } from '../../tools/docs/slug.ts'
import { table, thousands } from '../../tools/reference/markdown.ts'
import { writePart, writtenPart } from '../../tools/reference/writtenPart.ts'
import type { CampaignReport } from '../support/campaign.ts'
import { CAMPAIGNS, type Campaign } from './campaigns.ts'
import type { Kept } from './reports.ts'

const root = join(import.meta.dirname, '../..')
const PAGE = join(root, 'docs/reliability.md')
const README = join(root, 'README.md')

const HEAD = ['campaign', 'what has to hold', 'cases', 'result', '']
/** A result that is longer is that of a broken campaign, whose own output has the rest. */
const RESULT_CHARACTERS_MAX = 600

/** One row of the table in the page. `campaign`, `name`: of what; `name` is empty where a campaign has one target. */
export interface Row {
  readonly campaign: string
  readonly name: string
  readonly ran: number
  readonly verdict: string
  /** The row as it stands in the page. */
  readonly line: string
}

const FIRST_CELL = /^\| \[([\w-]+)\]\(#[^)]*\)(?:: (.*))?$/

/** Reads the rows of a table. Throws at one that is none of ours. */
export function rowsIn(text: string): readonly Row[] {
  const [, , ...lines] = text === '' ? [] : text.split('\n')
  return lines.map((line) => {
    const [first = '', , cases = '', , verdict = ''] = line.split(' | ')
    const [, campaign, name = ''] = FIRST_CELL.exec(first) ?? []
    if (campaign === undefined) throw new Error(`no row of a campaign: ${line}`)
    const ran = Number(/^[\d,]*/.exec(cases)?.[0].replaceAll(',', ''))
    return { campaign, name, ran, verdict: verdict.replace(/ *\|$/, ''), line }
  })
}

const verdictOf = ({ passed, ran }: CampaignReport): string => (!passed ? 'BROKEN' : ran === 0 ? 'not run' : 'held')

/** The rows of the reports of one campaign. */
function rowsOf({ name: campaign, title }: Campaign, reports: readonly CampaignReport[]): readonly Row[] {
  const cells = reports.map((report) => {
    const { name, target, ran, seed, result } = report
    const cases = seed === undefined ? thousands(ran) : `${thousands(ran)}, seed ${seed}`
    const told = result.replace(/\s+/g, ' ')
    return [
      `[${campaign}](#${slugOf(title)})${name.replaceAll(' ', '-') === campaign ? '' : `: ${name}`}`,
      target,
      cases,
      told.length > RESULT_CHARACTERS_MAX ? `${told.slice(0, RESULT_CHARACTERS_MAX)}…` : told,
      verdictOf(report),
    ]
  })
  return rowsIn(table(HEAD, cells))
}

const neverRun = ({ name }: Campaign): CampaignReport => ({
  name,
  target: '',
  ran: 0,
  seed: undefined,
  result: 'not run yet',
  passed: true,
})

/** The rows of a campaign, from those that the page has and from what is kept of it. */
function merged(campaign: Campaign, before: readonly Row[], kept: Kept | undefined): readonly Row[] {
  const made = kept === undefined ? [] : rowsOf(campaign, kept.reports)
  // What was taken in may be a part of the campaign. A row without a name says that there was no report at all.
  const old = kept?.isWhole === true ? [] : before.filter(({ name, ran }) => name !== '' || ran > 0)
  const rows = [...old.filter(({ name }) => !made.some((row) => row.name === name)), ...made]
  return rows.length > 0 ? rows : rowsOf(campaign, [neverRun(campaign)])
}

/** The table of every campaign. `before`: the table as it is. `keptOf`: what is kept of a campaign's last run. */
export function tableOf(before: string, keptOf: (name: string) => Kept | undefined, campaigns = CAMPAIGNS): string {
  const rows = rowsIn(before)
  const lines = campaigns.flatMap((campaign) =>
    merged(
      campaign,
      rows.filter((row) => row.campaign === campaign.name),
      keptOf(campaign.name),
    ),
  )
  return [table(HEAD, []), ...lines.map(({ line }) => line)].join('\n')
}

const README_LINE = /^\[Long tests\]\(docs\/reliability\.md\): .*$/m

/** README's line: targets that held, targets that were tried, and how many of what was run. */
export function readmeLine(rows: readonly Row[]): string {
  const count = (...verdicts: readonly string[]): string =>
    thousands(rows.filter(({ verdict }) => verdicts.includes(verdict)).length)
  const ran = (what: string, campaign: string, name?: string): readonly string[] => {
    const own = rows.filter((row) => row.campaign === campaign && (name === undefined || row.name === name))
    const sum = own.reduce((all, row) => all + row.ran, 0)
    return sum === 0 ? [] : [`${thousands(sum)} ${what}`]
  }
  const all = [
    ...ran('transactions beside a model', 'model'),
    ...ran('malicious inputs', 'fuzz'),
    ...ran('kills at named places', 'faults', 'kills'),
    ...ran('kills at random', 'chaos'),
  ]
  const told = `${count('held')} of ${count('held', 'BROKEN')} targets`
  return `[Long tests](docs/reliability.md): **${told}** held${all.length === 0 ? '' : `: ${all.join(', ')}`}.`
}

/** The rows that the page has. */
export const pageRows = (): readonly Row[] => rowsIn(writtenPart(PAGE, 'reliability'))

/** Writes the table into docs/reliability.md, and its figures into README. */
export function writePage(keptOf: (name: string) => Kept | undefined): void {
  writePart(PAGE, 'reliability', tableOf(writtenPart(PAGE, 'reliability'), keptOf))
  const readme = readFileSync(README, 'utf8')
  if (!README_LINE.test(readme)) throw new Error(`${README} lacks its line on long tests`)
  writeFileSync(
    README,
    readme.replace(README_LINE, () => readmeLine(pageRows())),
  )
}
