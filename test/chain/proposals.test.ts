import { expect, test } from '@jest/globals'
import type { CompleteApplication, CheckTxResponse, FinalizeBlockRequest } from '../../src/abci/types.ts'
import { appOn, extendVotes, finalize, judge, memory, prepare, random, script } from './support.ts'

const verdicts = (app: CompleteApplication, txs: readonly Uint8Array[]): readonly CheckTxResponse[] =>
  txs.map((tx) => app.checkTx({ tx, type: 0 }) as CheckTxResponse)

test('Req 9: PrepareProposal, ProcessProposal, ExtendVote and VerifyVoteExtension leave the state as it was', () => {
  const { init, blocks, hashes } = script()
  const store = memory()
  const app = appOn(store)
  app.initChain(init)
  const next = random(9)
  for (const [at, block] of blocks.entries()) {
    for (let calls = 0; calls < 5; calls++) {
      const txs = blocks[next(blocks.length)]?.txs ?? []
      prepare(app, txs)
      judge(app, txs)
    }
    expect(extendVotes(app, block.txs)).toEqual([{ voteExtension: new Uint8Array(0) }, { status: 1 }])
    expect(store.height()).toBe(at)
    if (at > 0) expect([store.appHash(), store.recomputeRoot()]).toEqual([hashes[at - 1], hashes[at - 1]])
    expect(finalize(app, block).appHash).toEqual(hashes[at])
    app.commit({})
  }
})

test('Req 2, Req 3: what PrepareProposal makes of any mempool fits max_tx_bytes and is accepted by another node, at every height', () => {
  const { init, blocks } = script()
  const [proposer, other] = [appOn(memory()), appOn(memory())]
  for (const app of [proposer, other]) app.initChain(init)
  const next = random(3)
  const all = blocks.flatMap(({ txs }) => txs)
  let kept = 0
  for (const block of blocks) {
    for (let tries = 0; tries < 4; tries++) {
      const pool = [
        ...block.txs,
        ...Array.from({ length: next(20) }, () =>
          next(5) === 0 ? Uint8Array.of(next(256), next(256)) : (all[next(all.length)] as Uint8Array),
        ),
      ].sort(() => next(3) - 1)
      const maxTxBytes = next(3) === 0 ? next(2000) : 1_000_000
      const chosen = prepare(proposer, pool, maxTxBytes)
      expect(chosen.reduce((sum, tx) => sum + tx.length, 0)).toBeLessThanOrEqual(maxTxBytes)
      expect(judge(other, chosen)).toEqual({ status: 1 })
      kept += chosen.length
    }
    for (const app of [proposer, other]) {
      finalize(app, block)
      app.commit({})
    }
  }
  expect(kept).toBeGreaterThan(50)
  expect(judge(other, [Uint8Array.of(1)])).toEqual({ status: 2 })
})

test('Req 4, Req 5: ProcessProposal answers the same each time and on each node of the height, whatever it checked before', () => {
  const { init, blocks } = script()
  const [busy, idle] = [appOn(memory()), appOn(memory())]
  for (const app of [busy, idle]) app.initChain(init)
  const next = random(4)
  for (const block of blocks) {
    const other = blocks[next(blocks.length)] as FinalizeBlockRequest
    for (const tx of [...block.txs, ...other.txs]) busy.checkTx({ tx, type: 0 })
    finalize(busy, block)
    for (const txs of [block.txs, other.txs, [...block.txs, ...block.txs]]) {
      const verdict = judge(idle, txs)
      expect([judge(busy, txs), judge(busy, txs), judge(idle, txs)]).toEqual([verdict, verdict, verdict])
    }
    for (const app of [busy, idle]) {
      finalize(app, block)
      app.commit({})
    }
  }
})

test('Req 13: CheckTx of transactions on one head answers the same on each node, whatever it checked and ran before', () => {
  const { init, blocks } = script()
  const store = memory()
  const busy = appOn(store)
  busy.initChain(init)
  for (const [at, block] of blocks.entries()) {
    const txs = [...block.txs, ...(blocks[at + 1]?.txs ?? [])]
    if (at > 0) expect(txs.map((tx) => busy.checkTx({ tx, type: 0 }))).toEqual(verdicts(appOn(store), txs))
    finalize(busy, { ...block, txs: [] })
    finalize(busy, block)
    busy.commit({})
  }
})

test('CheckTx judges several waiting transactions of one sender in a row, and anew after each commit', () => {
  const { init, blocks } = script()
  const app = appOn(memory())
  app.initChain(init)
  const [first, second] = blocks as [FinalizeBlockRequest, FinalizeBlockRequest]
  const codes = (txs: readonly Uint8Array[]): unknown => verdicts(app, txs).map(({ code }) => code)
  expect(codes(first.txs)).toEqual([0, 20])
  expect(codes(first.txs)).toEqual([6, 20])
  finalize(app, { ...first, txs: [] })
  app.commit({})
  expect(codes(first.txs)).toEqual([0, 20])
  finalize(app, second)
  app.commit({})
  expect(codes(second.txs)).toEqual([6])
})
