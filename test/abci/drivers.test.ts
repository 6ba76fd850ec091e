import { statSync } from 'node:fs'
import { afterEach, describe, expect, test } from '@jest/globals'
import { isLocalAddress } from '../../src/abci/index.ts'
import { applicationOf, closeAll, connectPeer, pause, requestFrame, serve } from './peer.ts'

afterEach(closeAll)

const kinds = (replies: { kind: string }[]): string[] => replies.map(({ kind }) => kind)

describe('one node drives', () => {
  test.each('initChain beginBlock deliverTx endBlock commit finalizeBlock prepareProposal processProposal'.split(' '))(
    'a %s over a second connection is refused while the first stands, and nothing of it reaches the application',
    async (kind) => {
      const seen: string[] = []
      const note = (name: string) => () => {
        seen.push(name)
        return {}
      }
      const server = await serve(applicationOf({ finalizeBlock: note('first'), [kind]: note(kind) }), {
        driverWaitMs: 20,
      })
      const node = await connectPeer(server.address)
      node.send(requestFrame('extendVote'))
      await node.until(1)
      const other = await connectPeer(server.address)
      other.send(requestFrame('info'), requestFrame(kind), requestFrame('commit'))
      const replies = await other.until(2)
      await other.closed()
      expect(kinds(replies)).toEqual(['info', 'exception'])
      expect(replies[1]?.value['error']).toBe(`${kind} is refused: the application is driven over another connection`)
      expect(seen).toEqual([])
      node.send(requestFrame('commit'), requestFrame('flush'))
      expect(kinds(await node.until(3))).toEqual(['extendVote', 'commit', 'flush'])
    },
  )

  test('what a node asks over its other connections is answered meanwhile', async () => {
    const server = await serve(applicationOf(), { driverWaitMs: 20 })
    const [consensus, mempool, query, snapshot] = await Promise.all(
      Array.from({ length: 4 }, () => connectPeer(server.address)),
    )
    consensus?.send(requestFrame('finalizeBlock'))
    await consensus?.until(1)
    mempool?.send(requestFrame('checkTx'), requestFrame('flush'))
    query?.send(requestFrame('echo'), requestFrame('info'), requestFrame('query'))
    snapshot?.send(
      ...['listSnapshots', 'offerSnapshot', 'applySnapshotChunk', 'loadSnapshotChunk'].map((kind) =>
        requestFrame(kind),
      ),
    )
    expect(kinds((await mempool?.until(2)) ?? [])).toEqual(['checkTx', 'flush'])
    expect(kinds((await query?.until(3)) ?? [])).toEqual(['echo', 'info', 'query'])
    expect(kinds((await snapshot?.until(4)) ?? [])).toEqual([
      'listSnapshots',
      'offerSnapshot',
      'applySnapshotChunk',
      'loadSnapshotChunk',
    ])
    mempool?.send(requestFrame('offerSnapshot'))
    expect((await mempool?.until(3))?.at(-1)?.kind).toBe('exception')
  })

  test.each(['ends', 'is cut off'])('a node that starts again drives as soon as its old connection %s', async (how) => {
    const server = await serve(applicationOf({ commit: () => ({ retainHeight: 7 }) }))
    const before = await connectPeer(server.address)
    before.send(requestFrame('finalizeBlock'))
    await before.until(1)
    const after = await connectPeer(server.address)
    after.send(requestFrame('echo', { message: 'hello' }), requestFrame('commit'), requestFrame('flush'))
    expect(kinds(await after.until(1))).toEqual(['echo'])
    await pause(30)
    expect(after.replies).toHaveLength(1)
    if (how === 'ends') before.socket.end()
    else before.socket.destroy()
    expect(kinds(await after.until(3))).toEqual(['echo', 'commit', 'flush'])
  })

  test('a node whose connection is reset drives again when the handler that still runs has ended', async () => {
    const seen: string[] = []
    const first = Promise.withResolvers<object>()
    const commit = (): object => {
      seen.push('commit')
      return seen.length === 1 ? first.promise.finally(() => seen.push('ended')) : {}
    }
    const server = await serve(applicationOf({ commit }), { address: 'tcp://127.0.0.1:0' })
    const before = await connectPeer(server.address)
    before.send(requestFrame('commit'))
    while (seen.length === 0) await pause(1)
    before.socket.resetAndDestroy()
    const after = await connectPeer(server.address)
    after.send(requestFrame('echo'), requestFrame('commit'))
    await after.until(1)
    await pause(30)
    expect(seen).toEqual(['commit'])
    first.resolve({})
    await after.until(2)
    expect(seen).toEqual(['commit', 'ended', 'commit'])
  })

  test('fifty restarts in a row: each drives', async () => {
    let blocks = 0
    const server = await serve(applicationOf({ commit: () => ({ retainHeight: (blocks += 1) }) }))
    for (let at = 0; at < 50; at += 1) {
      const node = await connectPeer(server.address)
      node.send(requestFrame('commit'))
      await node.until(1)
      node.socket.destroy()
    }
    expect(blocks).toBe(50)
  })

  test('a connection that waits does not hold up the end of the server', async () => {
    const server = await serve(applicationOf())
    const [node, other] = [await connectPeer(server.address), await connectPeer(server.address)]
    node.send(requestFrame('commit'))
    await node.until(1)
    other.send(requestFrame('commit'))
    await pause(5)
    await server.close()
    await other.closed()
    expect(other.replies).toEqual([])
  })
})

describe('who can connect', () => {
  test('a unix socket is for its owner alone, and the umask is as it was', async () => {
    const before = process.umask()
    const server = await serve(applicationOf())
    expect(statSync(server.address.slice('unix://'.length)).mode & 0o777).toBe(0o600)
    expect(process.umask()).toBe(before)
  })

  test('the umask is as it was also when the server cannot listen', async () => {
    const before = process.umask()
    await expect(serve(applicationOf(), { address: 'unix:///no/such/folder/abci.sock' })).rejects.toThrow('listen')
    expect(process.umask()).toBe(before)
  })

  test.each([
    ['unix:///run/svcd/abci.sock', true],
    ['tcp://127.0.0.1:26658', true],
    ['tcp://127.8.9.1:26658', true],
    ['tcp://localhost:26658', true],
    ['tcp://[::1]:26658', true],
    ['tcp://0.0.0.0:26658', false],
    ['tcp://[::]:26658', false],
    ['tcp://10.0.0.7:1', false],
    ['tcp://app:26658', false],
    ['tcp://127.0.0.1.example:1', false],
  ])('%s is local: %s', (address, expected) => {
    expect(isLocalAddress(address)).toBe(expected)
  })

  test('a server that is open to the network is warned of', async () => {
    const warned: string[] = []
    const logger = { info: () => undefined, warn: (_: object, message: string) => void warned.push(message) }
    await serve(applicationOf(), { address: 'tcp://127.0.0.1:0', logger })
    expect(warned).toEqual([])
    await serve(applicationOf(), { address: 'tcp://0.0.0.0:0', logger })
    expect(warned).toEqual([expect.stringContaining('use a unix socket')])
  })
})
