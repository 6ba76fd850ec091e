import { afterEach, describe, expect, test } from '@jest/globals'
import { applicationOf, closeAll, connectPeer, type Peer, requestFrame, serve } from '../abci/peer.ts'
import { recordAbci } from '../support/abciRecorder.ts'

afterEach(closeAll)

const LARGE = Buffer.alloc(3_000_000, 1)

/** An application that has committed `height` blocks, with a recorder in front of it, and four connections to that. */
async function start(height: number) {
  const app = await serve(
    applicationOf({
      info: () => ({ data: 'x'.repeat(200), version: 'y', lastBlockHeight: height }),
      initChain: () => ({}),
      finalizeBlock: ({ txs }) => ({ txResults: txs.map(() => ({})) }),
      offerSnapshot: () => ({ result: 1 }),
      applySnapshotChunk: () => ({ result: 1 }),
    }),
  )
  const recorder = await recordAbci({ path: app.address.slice('unix://'.length) })
  const open = (): Promise<readonly Peer[]> =>
    Promise.all(Array.from({ length: 4 }, () => connectPeer(recorder.address)))
  return { recorder, open }
}

/** Asks one thing after the other over one connection, as a node does. */
async function ask(peer: Peer, ...kinds: readonly (readonly [kind: string, request?: object])[]): Promise<void> {
  for (const [kind, request] of kinds) {
    const before = peer.replies.length
    peer.send(requestFrame(kind, request))
    await peer.until(before + 1)
  }
}

describe('a recorder', () => {
  test('hands everything on, and takes what the grammar has, whatever the sizes', async () => {
    const { recorder, open } = await start(0)
    const [query, , , consensus] = (await open()) as [Peer, Peer, Peer, Peer]
    await ask(query, ['echo', { message: 'hello' }], ['info'])
    expect(query.replies.map(({ kind, value }) => [kind, value['message']])).toEqual([
      ['echo', 'hello'],
      ['info', undefined],
    ])
    await ask(
      consensus,
      ['initChain'],
      ['prepareProposal', { txs: [LARGE], maxTxBytes: 4e6 }],
      ['finalizeBlock', { txs: [LARGE] }],
    )
    expect(consensus.replies[1]?.value['txs']).toHaveLength(1)
    await ask(query, ['query', { data: LARGE }], ['info'])
    await ask(consensus, ['commit'], ['processProposal'], ['finalizeBlock'], ['commit'])
    expect(await recorder.close()).toEqual({ runs: 1, calls: 11, violation: undefined })
  })

  test('finds a call that may not come, in the second run, and says what came before', async () => {
    const { recorder, open } = await start(7)
    const [first, , , consensus] = (await open()) as [Peer, Peer, Peer, Peer]
    await ask(first, ['info'])
    await ask(consensus, ['finalizeBlock'])
    for (const peer of [first, consensus]) peer.socket.destroy()
    const [query, , , again] = (await open()) as [Peer, Peer, Peer, Peer]
    await ask(query, ['info'])
    await ask(again, ['finalizeBlock'], ['commit'], ['checkTx'], ['commit'], ['commit'])
    await expect(recorder.close()).rejects.toThrow(
      'CometBFT and its grammar differ: run 2: commit came in the state ready, after info(7) finalizeBlock commit checkTx commit',
    )
  })

  test('passes on that the application is gone', async () => {
    const { recorder, open } = await start(7)
    const [query] = (await open()) as [Peer]
    await ask(query, ['info'])
    await closeAll()
    await query.closed()
    const late = await connectPeer(recorder.address)
    await late.closed()
    expect(await recorder.close()).toMatchObject({ violation: undefined })
    expect(await recorder.close()).toMatchObject({ calls: 1 })
  })
})
