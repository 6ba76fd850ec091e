import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import type { CampaignReport } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { CAMPAIGNS, type Campaign } from './campaigns.ts'
import { readmeLine, rowsIn, tableOf } from './page.ts'
import { type Kept, openReports, runAll, takeIn } from './reports.ts'

const folder = tempFolder('reliability')
afterAll(() => folder.remove())

const campaign = (name: string): Campaign => ({ name, title: `How ${name} is`, long: '', quick: '', caughtBy: '' })
const report = (name: string, change: Partial<CampaignReport> = {}): CampaignReport => ({
  name,
  target: 'it holds',
  ran: 1_000,
  seed: 1,
  result: 'held in every case',
  passed: true,
  ...change,
})
const whole = (...reports: readonly CampaignReport[]): Kept => ({ isWhole: true, reports })
const part = (...reports: readonly CampaignReport[]): Kept => ({ isWhole: false, reports })

describe('the table of docs/reliability.md', () => {
  const campaigns = [campaign('model'), campaign('faults')]
  const made = (before: string, kept: Readonly<Record<string, Kept>>): string =>
    tableOf(before, (name) => kept[name], campaigns)
  const first = made('', {
    model: whole(report('model')),
    faults: whole(report('kills', { ran: 600 }), report('cuts', { seed: undefined })),
  })
  const lines = (text: string): readonly string[] => text.split('\n').slice(2)

  test('has a row for each report, in the order of the list, with a link to its section', () => {
    expect(lines(first)).toEqual([
      '| [model](#how-model-is) | it holds | 1,000, seed 1 | held in every case | held |',
      '| [faults](#how-faults-is): kills | it holds | 600, seed 1 | held in every case | held |',
      '| [faults](#how-faults-is): cuts | it holds | 1,000 | held in every case | held |',
    ])
  })

  test('keeps the rows of campaigns that did not run, and of parts that were not taken in', () => {
    expect(made(first, {})).toBe(first)
    const [model, , cuts] = lines(first)
    expect(lines(made(first, { faults: part(report('kills', { ran: 7 }), report('kills', { seed: 2 })) }))).toEqual([
      model,
      cuts,
      '| [faults](#how-faults-is): kills | it holds | 7, seed 1 | held in every case | held |',
      '| [faults](#how-faults-is): kills | it holds | 1,000, seed 2 | held in every case | held |',
    ])
    expect(lines(made(first, { faults: whole(report('clock')) }))).toHaveLength(2)
  })

  test('says BROKEN of what is broken, and that a campaign did not run', () => {
    const crashed = report('faults', { ran: 0, passed: false, result: 'ended with status 2' })
    const broken = made('', { faults: whole(crashed) })
    expect(rowsIn(broken).map(({ verdict }) => verdict)).toEqual(['not run', 'BROKEN'])
    const rows = rowsIn(made(broken, { model: whole(report('model')), faults: part(report('kills')) }))
    expect(rows.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['', 'held'],
      ['kills', 'held'],
    ])
    const skipped = report('disk', { ran: 0, result: 'skipped: no strace' })
    expect(rowsIn(made('', { faults: whole(skipped) })).at(-1)?.verdict).toBe('not run')
  })

  test('holds what a result may say: bars, angle brackets, line breaks, and not more than people read', () => {
    const told = made('', { model: whole(report('model', { result: `a | b\n  <c> ${'d'.repeat(9_000)}`, ran: 5 })) })
    expect(told).toContain('a \\| b &lt;c> ddd')
    expect(told.length).toBeLessThan(1_500)
    expect(rowsIn(told)[0]).toMatchObject({ campaign: 'model', ran: 5, verdict: 'held' })
    expect(made(told, {})).toBe(told)
  })

  test('gives README its line', () => {
    expect(readmeLine(rowsIn(first))).toBe(
      '[Long tests](docs/reliability.md): **3 of 3 targets** held: 1,000 transactions beside a model, 600 kills at named places.',
    )
    const broken = rowsIn(made('', { model: whole(report('model', { passed: false, ran: 0 })) }))
    expect(readmeLine(broken)).toBe('[Long tests](docs/reliability.md): **0 of 1 targets** held.')
  })
})

describe('make reliability', () => {
  const kept = `.cache/reliability/test-${process.pid}`
  const path = join(import.meta.dirname, '../..', kept)
  afterAll(() => rmSync(path, { recursive: true, force: true }))
  test('lists every campaign by its target of make', () => {
    const listed = execFileSync(process.execPath, [join(import.meta.dirname, 'main.ts'), '--list'], {
      encoding: 'utf8',
    })
    const targets = [...listed.matchAll(/^make (\S+) /gm)].map(([, name]) => name)
    expect(targets).toEqual(CAMPAIGNS.map(({ name }) => name))
  })

  const supplyChain = CAMPAIGNS.find(({ name }) => name === 'supply-chain') as Campaign

  test('runs a campaign and keeps what it reports, and on which commit', async () => {
    const reports = await runAll([supplyChain], true, kept)
    expect(reports).toMatchObject([{ name: 'supply chain', passed: true }])
    const { isWhole, command, reports: same } = openReports(kept).of('supply-chain') as Kept
    expect([isWhole, command, same]).toEqual([true, 'make supply-chain', reports])
  })

  test('reports a campaign that ends without a report as broken, and goes on with the next', async () => {
    const reports = await runAll([{ ...supplyChain, long: '--only nothing' }, supplyChain], false, kept)
    expect(reports).toMatchObject([
      {
        name: 'supply-chain',
        passed: false,
        result: expect.stringMatching(/^ended with status \d and without a report/),
      },
      { name: 'supply chain', passed: true },
    ])
  })

  test('takes in reports of parts, all at once, in the place of those with their names', () => {
    const write = (name: string, ...reports: readonly CampaignReport[]): string => {
      const file = join(folder.path, name)
      writeFileSync(file, JSON.stringify(reports))
      return file
    }
    const files = [
      write('faults-1.json', report('kills', { passed: false }), report('cuts')),
      write('faults-2.json', report('kills', { seed: 2 })),
    ]
    const keptNow = (): Kept => JSON.parse(readFileSync(join(path, 'faults.json'), 'utf8')) as Kept
    const namesAndSeeds = (): readonly unknown[] => keptNow().reports.map(({ name, seed }) => [name, seed])
    expect(takeIn(files, CAMPAIGNS, kept)).toHaveLength(3)
    expect([keptNow().isWhole, namesAndSeeds()]).toEqual([
      false,
      [
        ['kills', 1],
        ['cuts', 1],
        ['kills', 2],
      ],
    ])
    takeIn([write('faults-3.json', report('kills', { seed: 3 }))], CAMPAIGNS, kept)
    expect(namesAndSeeds()).toEqual([
      ['cuts', 1],
      ['kills', 3],
    ])
    expect(() => takeIn([write('other.json', report('kills'))], CAMPAIGNS, kept)).toThrow('begin with that')
    expect(() => takeIn([write('model.json')], CAMPAIGNS, kept)).toThrow('expected a list of reports')
  })
})
