import { afterEach, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as abci from '../../src/abci/index.ts'
import { type Application, baseApplication, type RequestKind, startAbciServer } from '../../src/abci/index.ts'
import { requestKinds } from '../../src/abci/wire.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { applicationOf, closeAll, connectPeer, pause, requestFrame, sent, serve } from './peer.ts'

afterEach(closeAll)

const tx = (length: number): Uint8Array => new Uint8Array(length)

const readme = readFileSync(join(import.meta.dirname, '../../src/abci/README.md'), 'utf8')

test('the table of README has every default, and says what it answers', () => {
  const rows = [...readme.matchAll(/^\| `(\w+)` \| `(.+?)` \|/gm)]
  expect(rows.map(([, kind]) => kind).sort()).toEqual(Object.keys(baseApplication).sort())
  const txs = [tx(1), tx(2)]
  for (const [, kind = '', source = ''] of rows) {
    const { ProposalStatus, VerifyStatus, OfferSnapshotResult, ApplySnapshotChunkResult } = abci
    const names = { txs, ProposalStatus, VerifyStatus, OfferSnapshotResult, ApplySnapshotChunkResult }
    const documented = new Function(...Object.keys(names), `return (${source})`)(...Object.values(names)) as object
    const handler = baseApplication[kind as keyof typeof baseApplication] as (request: object) => object
    expect([kind, handler({ txs, maxTxBytes: 1000 })]).toEqual([kind, documented])
  }
})

describe('an application without handlers', () => {
  const replyTo = async (kind: string, request: object = {}): Promise<unknown> => {
    const peer = await connectPeer((await serve({})).address)
    peer.send(requestFrame(kind, request))
    return sent((await peer.until(1))[0])
  }

  test.each<[RequestKind, object, object]>([
    ['info', {}, {}],
    ['initChain', {}, {}],
    ['query', { path: '/a' }, { code: 1, log: 'this application answers no queries' }],
    ['checkTx', { tx: tx(1) }, {}],
    ['processProposal', { txs: [tx(1)] }, { status: 1 }],
    ['extendVote', {}, {}],
    ['verifyVoteExtension', {}, { status: 1 }],
    ['finalizeBlock', { txs: [tx(1), tx(2)] }, { txResults: [{}, {}] }],
    ['commit', {}, {}],
    ['listSnapshots', {}, {}],
    ['offerSnapshot', {}, { result: 2 }],
    ['loadSnapshotChunk', {}, {}],
    ['applySnapshotChunk', {}, { result: 2 }],
  ])('answers %s', async (kind, request, value) => {
    expect(await replyTo(kind, request)).toEqual({ kind, value })
  })

  // 1 byte of tag, 1 or 2 of length.
  test.each([
    [0, 0],
    [101, 0],
    [102, 1],
    [102 + 202, 1],
    [102 + 203, 2],
    [102 + 203 + 2, 3],
    [1000, 3],
  ])('proposes what fits into %i bytes, as CometBFT counts them', async (maxTxBytes, count) => {
    const txs = [tx(100), tx(200), tx(0)]
    expect(await replyTo('prepareProposal', { maxTxBytes, txs })).toEqual({
      kind: 'prepareProposal',
      value: count === 0 ? {} : { txs: txs.slice(0, count).map((one) => Buffer.from(one)) },
    })
  })
})

test('methods of a class are handlers, with their own this and with helpers beside them', async () => {
  class Counter implements Application {
    private count = 0
    checkTx(): object {
      return { code: this.next() }
    }
    private next(): number {
      return (this.count += 1)
    }
  }
  const peer = await connectPeer((await serve(new Counter())).address)
  peer.send(requestFrame('checkTx'), requestFrame('checkTx'))
  expect((await peer.until(2)).map(({ value }) => value['code'])).toEqual([1, 2])
})

test('a response may be of any class whose members are its own', async () => {
  class Refusal {
    readonly code = 7
    get isFinal(): boolean {
      return true
    }
  }
  const peer = await connectPeer((await serve({ checkTx: () => new Refusal() })).address)
  peer.send(requestFrame('checkTx'))
  expect((await peer.until(1)).map(({ value }) => value['code'])).toEqual([7])
})

describe('what is no application is refused before the server listens', () => {
  const all = requestKinds.filter((kind) => kind !== 'echo' && kind !== 'flush').join(', ')
  const handler = (): object => ({})
  test.each<[unknown, string]>([
    [undefined, 'application: expected an object with handlers, got undefined'],
    [null, 'application: expected an object with handlers, got null'],
    [{ checkTx: {} }, 'application.checkTx: expected a function, got object'],
    [{ query: null }, 'application.query: expected a function, got null'],
    [{ finaliseBlock: handler }, `application.finaliseBlock: no such handler, expected one of ${all}`],
    [{ echo: handler }, `application.echo: no such handler, expected one of ${all}`],
    [
      { deliverTx: handler, finalizeBlock: handler },
      'application.deliverTx: expected beginBlock, endBlock beside it, or finalizeBlock alone',
    ],
    [
      { beginBlock: handler, deliverTx: handler, endBlock: handler },
      'application.beginBlock: expected finalizeBlock beside it, or finalizeBlock alone',
    ],
  ])('%p', async (application, message) => {
    const options = { application: application as Application, address: 'tcp://127.0.0.1:0', onFatal: () => undefined }
    await expect(startAbciServer(options)).rejects.toThrow(new TypeError(message))
  })
})

describe('a response of the wrong shape is fatal, and the error names the handler and the member', () => {
  class Inherits {
    get code(): number {
      return 5
    }
  }
  const good = { txResults: [{}, {}] }
  const block = { txs: [tx(1), tx(1)] }
  const cases: readonly (readonly [RequestKind, unknown, string, object?])[] = [
    ['checkTx', undefined, 'checkTx: expected a response, which is an object, got undefined'],
    ['checkTx', { code: '0' }, 'checkTx: code: expected an integer from 0 to 4294967295, got "0"'],
    ['checkTx', { code: Number.NaN }, 'checkTx: code: expected an integer from 0 to 4294967295, got NaN'],
    [
      'checkTx',
      { gasUsed: 5n },
      'checkTx: gasUsed: expected an integer from -9007199254740991 to 9007199254740991, got 5n',
    ],
    ['checkTx', { log: null }, 'checkTx: log: expected a string, got null'],
    ['checkTx', new Inherits(), 'checkTx: code: expected a member of the object itself, got one that it inherits'],
    ['commit', { retain: 1 }, 'commit: retain: no such member, expected one of appHash, retainHeight'],
    ['query', { proofOps: { ops: [{}, { key: 'a' }] } }, 'query: proofOps.ops[1].key: expected bytes, got "a"'],
    [
      'finalizeBlock',
      { txResults: [{}, { code: '0' }] },
      'finalizeBlock: txResults[1].code: expected an integer from 0 to 4294967295, got "0"',
      block,
    ],
    [
      'finalizeBlock',
      { ...good, appHsh: tx(1) },
      'finalizeBlock: appHsh: no such member, expected one of events, txResults, validatorUpdates, consensusParamUpdates, appHash',
      block,
    ],
    [
      'finalizeBlock',
      { txResults: [{ events: [{ attributes: [{ key: 'a' }, { value: 1 }] }] }, {}] },
      'finalizeBlock: txResults[0].events[0].attributes[1].value: expected a string, got 1',
      block,
    ],
    [
      'finalizeBlock',
      { txResults: [{ events: [{ attributes: [{ index: 1 }] }] }, {}] },
      'finalizeBlock: txResults[0].events[0].attributes[0].index: expected a boolean, got 1',
      block,
    ],
    [
      'finalizeBlock',
      { txResults: [{}] },
      'finalizeBlock: txResults: expected 2, one for each transaction, got 1',
      block,
    ],
    ['finalizeBlock', {}, 'finalizeBlock: txResults: expected 2, one for each transaction, got 0', block],
    ['finalizeBlock', { txResults: {} }, 'finalizeBlock: txResults: expected an array, got an object', block],
    ['processProposal', {}, 'processProposal: status: expected one of 1 (accept), 2 (reject), got 0'],
    [
      'processProposal',
      { status: 'accept' },
      'processProposal: status: expected an integer from -2147483648 to 2147483647, got "accept"',
    ],
    [
      'verifyVoteExtension',
      { status: 3 },
      'verifyVoteExtension: status: expected one of 1 (accept), 2 (reject), got 3',
    ],
    [
      'offerSnapshot',
      {},
      'offerSnapshot: result: expected one of 1 (accept), 2 (abort), 3 (reject), 4 (rejectFormat), 5 (rejectSender), got 0',
    ],
  ]

  test('README shows such errors as they are', () => {
    const [{ code: shown }] = examplesRunBy('test/abci/baseApplication.test.ts')
    const form = (text: string): string => text.replace(/\d+/g, '0')
    const known = new Set(cases.map(([, , message]) => form(message)))
    expect(
      shown
        .trim()
        .split('\n')
        .filter((line) => !known.has(form(line))),
    ).toEqual([])
    expect(shown.length).toBeGreaterThan(200)
  })

  test.each(cases)('%s: %p', async (kind, response, message, request = {}) => {
    for (const answer of [() => response, () => Promise.resolve(response)]) {
      const told: unknown[] = []
      const server = await serve(applicationOf({ [kind]: answer }), { onFatal: (...given) => told.push(given) })
      const peer = await connectPeer(server.address)
      peer.send(requestFrame(kind, request))
      while (told.length === 0) await pause(1)
      expect(told).toEqual([[new TypeError(message), kind]])
      expect(peer.replies).toEqual([])
    }
  })
})
