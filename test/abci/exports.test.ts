import { expect, test } from '@jest/globals'
import * as abci from '../../src/abci/index.ts'
import * as node from '../../src/abci/node/index.ts'
import * as testing from '../../src/abci/testing/index.ts'

test('what @svcd/abci exports', () => {
  expect(Object.keys(abci).sort()).toEqual(
    `ApplySnapshotChunkResult BlockIdFlag CONNECTIONS_MAX CheckTxType FRAME_BYTES_LIMIT FRAME_BYTES_MAX
    MisbehaviorType OfferSnapshotResult ProposalStatus VerifyStatus baseApplication bytesInBlock isLocalAddress
    startAbciServer`.split(/\s+/),
  )
})

test('what @svcd/abci/testing exports', () => {
  expect(Object.keys(testing).sort()).toEqual(
    `RequirementError commitInfo connectApplication createGrammar createTestChain firstViolation random
    updateValidators`.split(/\s+/),
  )
})

test('what @svcd/abci/node exports', () => {
  expect(Object.keys(node)).toEqual(['startNode'])
})
