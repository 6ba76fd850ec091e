import { describe, expect, test } from '@jest/globals'
import type {
  CompleteApplication,
  CommitResponse,
  FinalizeBlockRequest,
  FinalizeBlockResponse,
  InitChainResponse,
  QueryResponse,
} from '../../src/abci/types.ts'
import { queryEntries } from '../../src/modules/registry.ts'
import { account, nodeKey } from '../support/testChain.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import {
  appOn,
  beginOf,
  extendVotes,
  finalize,
  heightOf,
  judge,
  legacyCalls,
  memory,
  prepare,
  random,
  script,
} from './support.ts'

const nothing = new Uint8Array(0)

const PATHS = queryEntries.map(({ path }) =>
  path
    .replace('<address>', account(1).address)
    .replace('<id>', path.includes('account-update') ? '1' : Buffer.alloc(32).toString('base64url')),
)
const answers = (app: CompleteApplication): unknown =>
  [
    ...PATHS,
    '/store/chain',
    `/store/validator_set/${toBase64(nodeKey(1)).replaceAll('/', '_').replaceAll('+', '-')}`,
  ].map((path) => app.query({ path, data: nothing, height: 0, prove: false }) as QueryResponse)

/** Everything a node may ask between two steps of consensus; none of it may change what a block does. */
function anything(app: CompleteApplication, next: (below: number) => number): void {
  const { blocks, init } = script()
  const txs = [blocks[next(blocks.length)], blocks[next(blocks.length)]].flatMap((block) => block?.txs ?? [])
  switch (next(8)) {
    case 0:
      prepare(app, txs)
      break
    case 1:
      judge(app, txs)
      break
    case 2:
      for (const tx of txs) app.checkTx({ tx, type: next(2) })
      break
    case 3:
      app.query({ path: PATHS[next(PATHS.length)] ?? '', data: nothing, height: next(60), prove: next(2) === 1 })
      break
    case 4:
      heightOf(app)
      break
    case 5:
      app.checkTx({ tx: Uint8Array.of(next(256)), type: 0 })
      break
    case 6:
      extendVotes(app, txs)
      break
    default:
      if (heightOf(app) === 0) app.initChain(init)
  }
}

test('Req 11, Req 12: any legal order of calls around the blocks leaves hashes and results as they are, 20 seeds', () => {
  const { init, blocks, hashes } = script()
  const plain = appOn(memory())
  plain.initChain(init)
  const expected = blocks.map((block) => {
    const answer = finalize(plain, block)
    plain.commit({})
    return answer
  })
  expect(expected.map(({ appHash }) => appHash)).toEqual(hashes)
  for (let seed = 1; seed <= 20; seed++) {
    const next = random(seed)
    const app = appOn(memory())
    app.initChain(init)
    for (const [at, block] of blocks.entries()) {
      for (let calls = next(4); calls > 0; calls--) anything(app, next)
      if (next(4) === 0) finalize(app, block)
      // Another block of the height.
      if (next(4) === 0) finalize(app, { ...block, txs: [...block.txs].reverse(), misbehavior: [] })
      for (let calls = next(2); calls > 0; calls--) if (heightOf(app) > 0) anything(app, next)
      expect([seed, at, finalize(app, block)]).toEqual([seed, at, expected[at]])
      for (let calls = next(3); calls > 0; calls--) if (heightOf(app) > 0) anything(app, next)
      app.commit({})
    }
  }
})

test('Req 11: the 0.37 dialect gives the same app hash, results, updates and events as FinalizeBlock', () => {
  const { init, blocks, hashes } = script()
  const [legacy, modern] = [appOn(memory()), appOn(memory())]
  for (const app of [legacy, modern]) app.initChain(init)
  for (const [at, block] of blocks.entries()) {
    const expected = finalize(modern, block)
    modern.commit({})
    const answers = legacyCalls(legacy, block).map((call) => call()) as FinalizeBlockResponse[]
    const [begin, end, txResults] = [answers[0], answers.at(-1), answers.slice(1, -1)] as [
      FinalizeBlockResponse,
      FinalizeBlockResponse,
      never,
    ]
    expect({
      ...end,
      events: [...(begin.events ?? []), ...(end.events ?? [])],
      txResults,
      appHash: hashes[at],
    }).toEqual(expected)
    expect((legacy.commit({}) as CommitResponse).appHash).toEqual(hashes[at])
  }
})

test('InitChain comes again before the first commit, with FinalizeBlock between, and nothing is left of the first', () => {
  const { init, blocks, hashes, genesisHash } = script()
  const app = appOn(memory())
  const first = app.initChain(init) as InitChainResponse
  finalize(app, blocks[0] as FinalizeBlockRequest)
  for (const tx of blocks[0]?.txs ?? []) app.checkTx({ tx, type: 0 })
  const second = app.initChain(init) as InitChainResponse
  expect(second).toEqual(first)
  expect(second.appHash).toEqual(genesisHash)
  // Another genesis, then this one again.
  app.initChain({
    ...init,
    appStateBytes: new TextEncoder().encode(
      new TextDecoder().decode(init.appStateBytes).replace('"max_vals":5', '"max_vals":3'),
    ),
  })
  app.initChain(init)
  expect(() => app.commit({})).toThrow(/Commit came without a block/)
  expect(finalize(app, blocks[0] as FinalizeBlockRequest).appHash).toEqual(hashes[0])
})

test('Info tells the committed height and hash only, whatever ran since', () => {
  const { init, blocks, hashes } = script()
  const app = appOn(memory())
  const info = () => app.info({ version: '', blockVersion: 0, p2pVersion: 0, abciVersion: '' })
  expect(info()).toEqual({
    data: '{"name":"svcd"}',
    version: 'test',
    appVersion: 1,
    lastBlockHeight: 0,
    lastBlockAppHash: nothing,
  })
  app.initChain(init)
  expect(info()).toMatchObject({ lastBlockHeight: 0, lastBlockAppHash: nothing })
  for (const [at, block] of blocks.slice(0, 3).entries()) {
    finalize(app, block)
    expect(info()).toMatchObject({ lastBlockHeight: at, lastBlockAppHash: at === 0 ? nothing : hashes[at - 1] })
    app.commit({})
    expect(info()).toMatchObject({ lastBlockHeight: at + 1, lastBlockAppHash: hashes[at] })
  }
})

test('queries never see half a block: between the calls of a block they answer as before it', () => {
  const { init, blocks } = script()
  const app = appOn(memory())
  app.initChain(init)
  let before = answers(app)
  for (const block of blocks) {
    for (const call of [...legacyCalls(app, block), () => finalize(app, block)]) {
      call()
      expect(answers(app)).toEqual(before)
    }
    app.commit({})
    const after = answers(app)
    expect(after).not.toEqual(before)
    before = after
  }
})

describe('what no node may send stops the process by a throw that says what came', () => {
  const { init, blocks } = script()
  const started = (): CompleteApplication => {
    const app = appOn(memory())
    app.initChain(init)
    return app
  }
  const [first, second] = blocks as [FinalizeBlockRequest, FinalizeBlockRequest]
  test.each<[string, (app: CompleteApplication) => unknown, RegExp]>([
    ['Commit without a block', (app) => app.commit({}), /Commit came without a block/],
    [
      'Commit before EndBlock',
      (app) => {
        app.beginBlock(beginOf(first))
        app.commit({})
      },
      /Commit of block 1 came before its end/,
    ],
    ['DeliverTx without a block', (app) => app.deliverTx({ tx: nothing }), /DeliverTx came without a block/],
    ['EndBlock without a block', (app) => app.endBlock({ height: 1 }), /EndBlock came without a block/],
    ['a height that is left out', (app) => finalize(app, second), /block 2 does not follow the head: expected 1/],
    [
      'a height that was committed',
      (app) => {
        finalize(app, first)
        app.commit({})
        finalize(app, first)
      },
      /block 1 does not follow the head: expected 2/,
    ],
    [
      'InitChain after a commit',
      (app) => {
        finalize(app, first)
        app.commit({})
        app.initChain(init)
      },
      /at height 1/,
    ],
  ])('%s', (_name, calls, message) => {
    expect(() => calls(started())).toThrow(message)
  })
  test('a block before InitChain', () => {
    expect(() => finalize(appOn(memory()), first)).toThrow(/no InitChain yet/)
  })
})
