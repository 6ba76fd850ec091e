import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Devnet, endLeftovers, makePlace, startDevnet } from './support/devnet.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(endLeftovers)
let devnet: Devnet
let accounts: readonly string[] = []

interface Member {
  readonly pub_key: { readonly value: string }
  readonly owner_address: string | null
  readonly power: number
  readonly proven: boolean
}

const deadKey = (): string => randomBytes(32).toString('base64')
const setOf = async (): Promise<readonly Member[]> =>
  (await devnet.call<{ data: readonly Member[] }>('svc_queryValidatorSet')).data

/** Six more blocks, or the test's time is over. */
const sixMoreBlocks = async (): Promise<number> => devnet.waitForHeight((await devnet.height()) + 6)

/** Those who count, and those who join. */
async function powers(): Promise<{ readonly proven: readonly (string | null)[]; readonly joining: number }> {
  const set = await setOf()
  expect(set.filter(({ proven, power }) => !proven && power !== 1)).toEqual([])
  return {
    proven: set.filter(({ proven }) => proven).map(({ owner_address: owner }) => owner),
    joining: set.filter(({ proven }) => !proven).length,
  }
}

beforeAll(async () => {
  devnet = await startDevnet(await makePlace(join(folder, 'home')))
  accounts = await devnet.call<readonly string[]>('svc_accounts')
})
afterAll(async () => {
  await devnet.stop()
})

test('the only validator changes its key to one that no node holds: blocks go on, also after a restart', async () => {
  const [from] = accounts
  await devnet.commit('svc_updateCandidacy', { from, pubKey: deadKey() })
  await sixMoreBlocks()
  expect(await powers()).toEqual({ proven: [from], joining: 1 })
  const { place } = devnet
  await devnet.stop()
  devnet = await startDevnet(place)
  await sixMoreBlocks()
  expect(await powers()).toEqual({ proven: [from], joining: 1 })
})

test('it goes back to the key that its node holds, withdraws, and declares the same key again', async () => {
  const [from = ''] = accounts
  const own = (await setOf()).find(({ proven }) => proven)?.pub_key.value
  await devnet.commit('svc_updateCandidacy', { from, pubKey: own })
  await sixMoreBlocks()
  expect(await powers()).toEqual({ proven: [from], joining: 0 })
  await devnet.commit('svc_withdrawCandidacy', { from })
  await sixMoreBlocks()
  await devnet.commit('svc_declareCandidacy', { from, pubKey: own })
  await sixMoreBlocks()
  expect(await powers()).toEqual({ proven: [from], joining: 0 })
})

test('strangers fill the set with candidacies of keys that no node holds: blocks go on, and the validator keeps its power', async () => {
  const [validator, ...strangers] = accounts
  for (const from of strangers.slice(0, 4)) {
    await devnet.commit('svc_declareCandidacy', {
      from,
      pubKey: deadKey(),
      maxAmount: (900_000n * 10n ** 18n).toString(),
    })
  }
  await sixMoreBlocks()
  expect(await powers()).toEqual({ proven: [validator], joining: 4 })
})
