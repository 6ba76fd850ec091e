import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { sendAgain } from '../outage/again.ts'
import { ANSWER_MS_MAX } from '../outage/judge.ts'
import { callEveryMethod } from '../outage/methods.ts'
import { faults, type OutageNetwork, startOutageNetwork } from '../outage/network.ts'
import { anySeed, summary } from '../support/campaign.ts'
import { endNetwork } from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

const TRANSACTIONS = 20
/** What a busy machine adds is no matter here: `make outage` holds gateways to their limit. */
const LIMIT_MS = 4 * ANSWER_MS_MAX
const folder = testFolder(async () => {
  await net?.close()
  await endNetwork()
})
let net: OutageNetwork | undefined

const seed = anySeed()
// The short form of `make outage`.
describe(`a gateway whose node is stopped, paused or behind: SEED=${seed}`, () => {
  beforeAll(async () => {
    net = await startOutageNetwork(join(folder, 'net'))
  })
  const need = (): OutageNetwork => net as OutageNetwork

  test.each(faults)(
    '%s: every method answers with a coded error, with the hash of what was sent, or says of which height it is',
    async (fault) => {
      const report = await callEveryMethod(need(), fault, LIMIT_MS)
      expect([summary(report), report.passed]).toEqual([summary(report), true])
    },
  )

  test('bytes whose answers were lost are sent again, through two gateways at once, and execute exactly once', async () => {
    const report = await sendAgain(need(), { count: TRANSACTIONS, seed })
    expect([summary(report), report.passed]).toEqual([summary(report), true])
    expect(report.ran).toBe(TRANSACTIONS)
  })
})
