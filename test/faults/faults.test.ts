import { describe, expect, test } from '@jest/globals'
import { anySeed, type CampaignOptions, type CampaignReport, summary } from '../support/campaign.ts'
import { clock } from './clock.ts'
import { cuts } from './cuts.ts'
import { fullDisk } from './disk.ts'
import { kills } from './kills.ts'

const seed = anySeed()
// The short form of every campaign that any machine can run. `make faults` is the long one.
describe(`faults: SEED=${seed}`, () => {
  test.each<[string, (options: CampaignOptions) => Promise<CampaignReport>, number]>([
    ['kills', kills, 1],
    ['cuts', cuts, 20],
    ['clock', clock, 1],
    ['full disk', fullDisk, 3],
  ])('%s', async (_name, campaign, count) => {
    const report = await campaign({ count, seed })
    expect([summary(report), report.passed]).toEqual([summary(report), true])
    expect(report.ran).toBeGreaterThanOrEqual(count)
  })
})

/** A mistake that somebody could make, put into the application's process. */
describe('finds', () => {
  const broken = async (report: Promise<CampaignReport>, why: RegExp): Promise<void> => {
    expect(await report).toMatchObject({ passed: false, result: expect.stringMatching(why) })
  }

  test('a block whose rows and height are written in two transactions, by a kill between them', () =>
    broken(
      kills({ count: 20, seed: 1 }, { twoTransactions: true }, ['beforeCommit']),
      /beforeCommit.*not opened: .*root/,
    ))

  test('a log that is thrown away at the start, by a kill in a checkpoint: the database is half written', () =>
    broken(
      kills({ count: 1, seed: 1 }, { removesLog: true }, ['checkpoint']),
      /the last start: .*(?:is damaged|its pages were changed)/,
    ))

  test('and by a cut of the log', () =>
    broken(cuts({ count: 1, seed: 1 }, { twoTransactions: true }), /not opened: .*root/))

  test('an application that ignores the errors of its disk', () =>
    broken(fullDisk({ count: 3 }, { ignoresErrors: true }), /another app hash|which is not from \d+ to/))

  test('an application that takes the time of a block from its clock', () =>
    broken(clock({ count: 1, seed: 1 }, { trustsClock: true }), /table blocks at the head/))
})
