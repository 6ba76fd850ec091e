import { describe, expect, test } from '@jest/globals'
import { OfferSnapshotResult } from '../../src/abci/types.ts'
import { double } from '../byzantine/double.ts'
import { offers } from '../byzantine/offers.ts'
import { proposer } from '../byzantine/proposer.ts'
import { reactors } from '../byzantine/reactors.ts'
import { anySeed, type CampaignReport, summary } from '../support/campaign.ts'
import { endNetwork } from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

const seed = anySeed()
testFolder(endNetwork)

// The short form of every campaign of `make byzantine`, but for nodes that join, which take a minute each.
describe(`participants that lie: SEED=${seed}`, () => {
  test.each<[string, () => Promise<CampaignReport>, number]>([
    ['a validator that runs twice', () => double({ count: 1, seed }, 1), 1],
    ['a malicious proposer', () => proposer({ count: 5, seed }), 5],
    ['forged snapshots', () => offers({ count: 200, seed }), 200],
    ["messages to CometBFT's reactors", () => reactors({ count: 300, seed }), 300],
  ])('%s', async (_, campaign, count) => {
    const report = await campaign()
    expect([summary(report), report.passed]).toEqual([summary(report), true])
    expect(report.ran).toBeGreaterThanOrEqual(count)
  })
})

/** A mistake that somebody could make, put into the applications. */
describe('finds', () => {
  test.each<[string, () => Promise<CampaignReport>, RegExp]>([
    [
      'applications that ignore evidence',
      () => double({ count: 1, seed: 1 }, 1, { ignoresEvidence: true }),
      /evidence of height \d+ in block \d+ has changed nothing/,
    ],
    [
      'applications that accept every proposal',
      () => proposer({ count: 3, seed: 1 }, { acceptsAll: true }),
      /is what had to be refused|is in a block with code [236]/,
    ],
    [
      'an application that accepts every offer',
      () => offers({ count: 20, seed: 1 }, { offerSnapshot: () => ({ result: OfferSnapshotResult.accept }) }),
      /(?:the offer is|its chunks are) answered/,
    ],
    ['a CometBFT that ends', () => reactors({ count: 300, seed: 1 }, true), /CometBFT has ended/],
  ])('%s', async (_, campaign, why) => {
    expect(await campaign()).toMatchObject({ passed: false, result: expect.stringMatching(why) })
  })
})
