import { expect, test } from '@jest/globals'
import { CHAIN_ID, tokens } from '../support/testChain.ts'
import { conformanceChain, succeed } from './support.ts'
import { account } from '../support/testChain.ts'
import { goodTransfer, signerRows, TEAM_ADDRESS } from './signerRows.ts'

const ROWS = signerRows(CHAIN_ID)

const funded = () => {
  const chain = conformanceChain()
  succeed(chain, account(1), 'svc_transfer', { to: TEAM_ADDRESS, value: tokens(10).toString() })
  return chain
}

test.each(ROWS)('%s: CheckTx and a block refuse it with code and log, and nothing changes', (_name, code, log, tx) => {
  const chain = funded()
  const before = chain.query(`/accounts/${TEAM_ADDRESS}`)
  expect(chain.check(tx)).toMatchObject({ code, log })
  expect(chain.block({ txs: [tx] }).results).toEqual([expect.objectContaining({ code, log })])
  expect(chain.query(`/accounts/${TEAM_ADDRESS}`)).toEqual(before)
})

test('what two of the three signed is executed, once', () => {
  const chain = funded()
  const tx = goodTransfer(CHAIN_ID)
  expect(chain.check(tx).code).toBe(0)
  expect(chain.block({ txs: [tx, tx] }).results.map(({ code }) => code)).toEqual([0, 6])
})
