/** The 0.37 dialect, served by an application that has only finalizeBlock. */
import { afterEach, describe, expect, test } from '@jest/globals'
import type { FinalizeBlockRequest, Handler } from '../../src/abci/index.ts'
import { closeAll, connectPeer, frameOf, pause, requestFrame, sent, serve } from './peer.ts'

afterEach(closeAll)

const appHash = Buffer.alloc(32, 7)
const deliver = (byte: number): Buffer => requestFrame('deliverTx', { tx: Uint8Array.of(byte) })
const flush = requestFrame('flush')
const event = { type: 'block' }
const validatorUpdates = [{ pubKey: { ed25519: Buffer.alloc(32, 1) }, power: 3 }]

/** Answers a transaction with its first byte, and gives everything that a block can change. */
const application = (seen: FinalizeBlockRequest[] = []): { finalizeBlock: Handler<'finalizeBlock'> } => ({
  finalizeBlock: (block) => {
    seen.push(block)
    return {
      txResults: block.txs.map((tx) => ({ code: tx[0] as number })),
      appHash,
      events: [event],
      validatorUpdates,
      consensusParamUpdates: { version: { app: 2 } },
    }
  },
})

test('a block is finalized when it ends, and every reply comes in the order of its request', async () => {
  const seen: FinalizeBlockRequest[] = []
  const peer = await connectPeer((await serve(application(seen))).address)
  const validator = (byte: number): object => ({ address: Buffer.alloc(20, byte), power: byte })
  const misbehavior = {
    type: 1,
    validator: validator(9),
    height: 4,
    time: { seconds: 7, nanos: 8 },
    totalVotingPower: 10,
  }
  const header = {
    chainId: 'test',
    height: 5,
    time: { seconds: 1_700_000_000, nanos: 5 },
    nextValidatorsHash: Buffer.alloc(32, 2),
    proposerAddress: Buffer.alloc(20, 3),
  }
  const votes = [
    { validator: validator(1), signedLastBlock: true },
    { validator: validator(2), signedLastBlock: false },
  ]
  peer.send(
    requestFrame('beginBlock', {
      hash: Buffer.alloc(32, 4),
      header,
      lastCommitInfo: { round: 6, votes },
      byzantineValidators: [misbehavior],
    }),
    flush,
  )
  // A node waits here.
  await peer.until(2)
  peer.send(deliver(1), deliver(2), flush, flush, deliver(3))
  await pause(5)
  expect([peer.replies.length, seen.length]).toEqual([2, 0])
  peer.send(requestFrame('endBlock', { height: 5 }), flush, requestFrame('commit'), flush)
  const { chainId: _, ...members } = header
  expect(sent(await peer.until(11))).toEqual([
    { kind: 'beginBlock', value: {} },
    { kind: 'flush', value: {} },
    { kind: 'deliverTx', value: { code: 1 } },
    { kind: 'deliverTx', value: { code: 2 } },
    { kind: 'flush', value: {} },
    { kind: 'flush', value: {} },
    { kind: 'deliverTx', value: { code: 3 } },
    {
      kind: 'endBlock',
      value: { validatorUpdates, consensusParamUpdates: { version: { app: 2 } }, events: [event] },
    },
    { kind: 'flush', value: {} },
    { kind: 'commit', value: { appHash } },
    { kind: 'flush', value: {} },
  ])
  expect(seen).toEqual([
    {
      ...members,
      hash: Buffer.alloc(32, 4),
      txs: [1, 2, 3].map((byte) => Buffer.of(byte)),
      decidedLastCommit: {
        round: 6,
        votes: [
          { ...votes[0], blockIdFlag: 2 },
          { ...votes[1], blockIdFlag: 1 },
        ],
      },
      misbehavior: [misbehavior],
    },
  ])
})

test('more transactions than may wait otherwise are one block, whose handler may take its time', async () => {
  const server = await serve({
    finalizeBlock: (block) => pause(5).then(() => application().finalizeBlock(block)),
  })
  const peer = await connectPeer(server.address)
  const count = 5000
  peer.send(requestFrame('beginBlock'), ...Array.from({ length: count }, (_, index) => deliver(index % 100)), flush)
  peer.send(requestFrame('endBlock'), requestFrame('beginBlock'), requestFrame('endBlock'), requestFrame('commit'))
  const replies = await peer.until(count + 6)
  expect(replies.slice(1, count + 1).map(({ value }) => value['code'] ?? 0)).toEqual(
    Array.from({ length: count }, (_, index) => index % 100),
  )
  expect(replies.slice(count + 1).map(({ kind }) => kind)).toEqual([
    'flush',
    'endBlock',
    'beginBlock',
    'endBlock',
    'commit',
  ])
})

describe('what no node sends', () => {
  const begin = requestFrame('beginBlock')
  test.each<[string, Buffer[], string]>([
    ['a transaction outside a block', [deliver(1)], 'deliverTx came outside a block: expected beginBlock'],
    ['an end without a begin', [requestFrame('endBlock')], 'endBlock came outside a block: expected beginBlock'],
    [
      'a commit inside a block',
      [begin, requestFrame('commit')],
      'commit came inside a block: expected deliverTx or endBlock',
    ],
    [
      'a query inside a block',
      [begin, requestFrame('query')],
      'query came inside a block: expected deliverTx or endBlock',
    ],
    ['two begins', [begin, begin], 'beginBlock came inside a block: expected deliverTx or endBlock'],
    [
      'an unknown kind',
      [begin, frameOf(Uint8Array.of(0x22, 0))],
      'an unknown request came inside a block: expected deliverTx or endBlock',
    ],
    [
      'a block beyond the frame limit',
      [begin, ...Array.from({ length: 34 }, () => deliver(1))],
      'block of more than 100 bytes',
    ],
    [
      'flushes beyond the frame limit',
      [begin, deliver(1), ...Array.from({ length: 49 }, () => flush)],
      'block of more than 100 bytes',
    ],
  ])('%s is an exception, and the connection is closed', async (_, frames, error) => {
    const server = await serve(application(), { frameBytesMax: 100 })
    const peer = await connectPeer(server.address)
    peer.send(...frames)
    await peer.closed()
    expect(peer.replies.at(-1)).toEqual({ kind: 'exception', value: { error } })
    // The next node begins anew.
    const next = await connectPeer(server.address)
    next.send(begin, requestFrame('endBlock'))
    expect((await next.until(2)).map(({ kind }) => kind)).toEqual(['beginBlock', 'endBlock'])
  })
})

test('a node that goes away within a block leaves nothing of it', async () => {
  const seen: FinalizeBlockRequest[] = []
  const server = await serve(application(seen))
  const peer = await connectPeer(server.address)
  peer.send(requestFrame('beginBlock'), deliver(1), deliver(2))
  await peer.until(1)
  peer.socket.destroy()
  const next = await connectPeer(server.address)
  next.send(requestFrame('beginBlock'), deliver(3), requestFrame('endBlock'))
  await next.until(3)
  expect(seen.map(({ txs }) => txs)).toEqual([[Buffer.of(3)]])
})

test('an error in what finalizeBlock returns has the names of finalizeBlock', async () => {
  const told: unknown[] = []
  const txResults = [{ code: '0' as never }]
  const server = await serve({ finalizeBlock: () => ({ txResults }) }, { onFatal: (...given) => told.push(given) })
  const peer = await connectPeer(server.address)
  peer.send(requestFrame('beginBlock'), deliver(1), requestFrame('endBlock'))
  while (told.length === 0) await pause(1)
  const message = 'finalizeBlock: txResults[0].code: expected an integer from 0 to 4294967295, got "0"'
  expect(told).toEqual([[new TypeError(message), 'finalizeBlock']])
})

test('a commit that gives an app hash itself is not overruled', async () => {
  const own = Buffer.alloc(4, 1)
  const peer = await connectPeer((await serve({ ...application(), commit: () => ({ appHash: own }) })).address)
  peer.send(requestFrame('beginBlock'), requestFrame('endBlock'), requestFrame('commit'))
  expect((await peer.until(3)).at(-1)).toEqual({ kind: 'commit', value: { appHash: own } })
})
