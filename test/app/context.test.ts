import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { CheckTxType } from '../../src/abci/types.ts'
import type { FinalizeBlockRequest, InitChainRequest } from '../../src/abci/types.ts'
import { beginBlock, commit, endBlock, finalizeBlock } from '../../src/app/block.ts'
import { type AppContext, createContext } from '../../src/app/context.ts'
import { initChain } from '../../src/app/genesis.ts'
import { checkTx, createTxCache } from '../../src/app/mempool.ts'
import { processProposal } from '../../src/app/proposal.ts'
import { snapshotHandlers } from '../../src/app/snapshots.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { beginOf } from '../chain/support.ts'
import { signTransfer } from '../support/signTransfer.ts'
import { account, appStateOf, CHAIN_ID, GENESIS_TIME, nodeKey, tokens } from '../support/testChain.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('context')
afterAll(remove)

const nothing = new Uint8Array(0)
const genesis: InitChainRequest = {
  time: { seconds: GENESIS_TIME, nanos: 0 },
  chainId: CHAIN_ID,
  validators: [],
  initialHeight: 1,
  appStateBytes: new TextEncoder().encode(
    JSON.stringify(
      appStateOf({
        accounts: [{ address: account(1).address, balance: tokens(100) }],
        candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }],
      }),
    ),
  ),
}
const transfer = signTransfer(account(1), 0)
const block: FinalizeBlockRequest = {
  txs: [transfer],
  decidedLastCommit: { round: 0, votes: [] },
  misbehavior: [],
  hash: nothing,
  height: 1,
  time: { seconds: GENESIS_TIME + 1, nanos: 0 },
  nextValidatorsHash: nothing,
  proposerAddress: nothing,
}

let homes = 0
function createNode(): AppContext {
  const home = join(folder, String(homes++))
  const store = openSqliteStore({ path: `${home}.db`, tables, views })
  const logger = { info: () => {}, error: () => {} }
  const snapshots = {
    folder: `${home}.snapshots`,
    restorePath: `${home}.restore`,
    replaceBy: store.replaceBy,
    beginAt: () => void writeSnapshot(store, tables, `${home}.snapshots`),
  }
  return createContext({ store, version: 'test', logger, snapshots, afterAnswer: setImmediate }, createTxCache())
}

let app: AppContext

/** Everything that can be under way above a head is under way above this one. */
beforeEach(async () => {
  app = createNode()
  initChain(app, genesis)
  finalizeBlock(app, block)
  processProposal(app, { ...block, proposedLastCommit: block.decidedLastCommit })
  await turn()
  checkTx(app, { tx: transfer, type: CheckTxType.new })
  beginBlock(app, beginOf(block))
  expect(app.head.optimistic?.outcome).toBeDefined()
  // A new member of the head has to be filled in here too.
  expect(Object.keys(app.head).sort()).toEqual(['check', 'next', 'open', 'optimistic', 'params', 'state'])
})
afterEach(() => app.options.store.close())

/** What the context holds apart from what belongs to the process rather than to the state. */
const held = ({ options: _, txCache: _cache, usesFinalizeBlock: _dialect, passes: _passes, ...rest }: AppContext) =>
  rest

test('InitChain, when it comes again, leaves nothing of what stood on the first one’s state', () => {
  const before = app.head.state
  initChain(app, genesis)
  expect(app.head.state).not.toBe(before)
  expect(held(app)).toEqual({ head: { state: expect.anything() } })
  expect(Object.keys(app.head)).toEqual(['state', 'params'])
})

test('Commit leaves nothing of what stood on the state before it', () => {
  endBlock(app)
  commit(app)
  expect(held(app)).toEqual({ head: { state: app.options.store } })
  expect(Object.keys(app.head)).toEqual(['state', 'params'])
})

test('a restored snapshot leaves nothing of what stood on the state that it replaces', async () => {
  const peer = createNode()
  initChain(peer, genesis)
  const { appHash = nothing } = finalizeBlock(peer, block)
  commit(peer)
  const [serving, joining] = [snapshotHandlers(peer), snapshotHandlers(app)]
  const { snapshots: [snapshot] = [] } = await serving.listSnapshots({})
  if (snapshot === undefined) throw new Error('no snapshot was made')
  expect(snapshot.chunks).toBe(1)
  const { chunk = nothing } = await serving.loadSnapshotChunk({ ...snapshot, chunk: 0 })

  expect(joining.offerSnapshot({ snapshot, appHash })).toEqual({ result: 1 })
  expect(joining.applySnapshotChunk({ index: 0, chunk, sender: 'peer' })).toEqual({ result: 1 })
  expect(app.options.store.height()).toBe(1)
  expect(held(app)).toEqual({ head: { state: app.options.store } })
  expect(Object.keys(app.head)).toEqual(['state', 'params'])
  peer.options.store.close()
})
