import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type RequestKind, startAbciServer } from '../../src/abci/index.ts'
import { requestKinds } from '../../src/abci/wire.ts'
import { applicationOf, closeAll, connectPeer, frameOf, pause, requestFrame, serve, socketPath } from './peer.ts'

afterEach(closeAll)

const checkTx = (byte: number): Buffer => requestFrame('checkTx', { tx: Uint8Array.of(byte) })
const kinds = (replies: { kind: string }[]): string[] => replies.map(({ kind }) => kind)

describe('requests and replies', () => {
  test('every kind that the application serves is answered by its own kind', async () => {
    const nothing = (): object => ({})
    const server = await serve(applicationOf({ insertTx: nothing, reapTxs: nothing }))
    const peer = await connectPeer(server.address)
    peer.send(...requestKinds.map((kind) => requestFrame(kind)))
    expect(kinds(await peer.until(requestKinds.length))).toEqual(requestKinds)
  })

  test.each(['unix', 'tcp'])('a %s socket serves requests cut at every byte', async (transport) => {
    const application = applicationOf({ info: () => ({ data: 'counter', lastBlockHeight: 7 }) })
    const server = await serve(application, transport === 'tcp' ? { address: 'tcp://127.0.0.1:0' } : {})
    expect(server.address).toMatch(transport === 'tcp' ? /^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/ : /^unix:\/\//)
    const peer = await connectPeer(server.address)
    for (const byte of Buffer.concat([
      requestFrame('echo', { message: 'é' }),
      requestFrame('info', { version: '0.38' }),
    ])) {
      peer.socket.write(Uint8Array.of(byte))
      await pause(0)
    }
    expect(await peer.until(2)).toEqual([
      { kind: 'echo', value: { message: 'é' } },
      { kind: 'info', value: { data: 'counter', lastBlockHeight: 7 } },
    ])
  })

  test('replies keep the order of the requests whatever the handlers take', async () => {
    const later = async <T>(value: T): Promise<T> => {
      await pause(Math.random() * 4)
      return value
    }
    const server = await serve(
      applicationOf({
        query: ({ height }) => (height % 3 === 0 ? { height } : later({ height })),
        checkTx: ({ tx }) => later({ code: tx[0] as number }),
      }),
    )
    const peer = await connectPeer(server.address)
    const frames = Array.from({ length: 150 }, (_, index) => {
      if (index % 10 === 9) return requestFrame('flush')
      return index % 7 === 0 ? checkTx(index) : requestFrame('query', { height: index })
    })
    peer.send(...frames)
    const replies = await peer.until(150)
    replies.forEach(({ kind, value }, index) => {
      if (index % 10 === 9) return expect(kind).toBe('flush')
      const [expected, member] = index % 7 === 0 ? (['checkTx', 'code'] as const) : (['query', 'height'] as const)
      expect([kind, value[member] ?? 0]).toEqual([expected, index])
    })
  })

  test('a request that changes something starts when everything before it is answered, and queries overlap', async () => {
    const log: string[] = []
    const logged = (name: string, waited: () => Promise<unknown>) => async (): Promise<object> => {
      log.push(`${name} starts`)
      await waited()
      log.push(`${name} ends`)
      return {}
    }
    const second = Promise.withResolvers<void>()
    let queries = 0
    const query = logged('query', () => {
      if (++queries === 2) second.resolve()
      return second.promise
    })
    const server = await serve(applicationOf({ query, checkTx: logged('checkTx', () => pause(5)) }))
    const peer = await connectPeer(server.address)
    peer.send(requestFrame('query'), requestFrame('query'), checkTx(1), checkTx(2), requestFrame('query'))
    await peer.until(5)
    expect(log).toEqual([
      'query starts',
      'query starts',
      'query ends',
      'query ends',
      'checkTx starts',
      'checkTx ends',
      'checkTx starts',
      'checkTx ends',
      'query starts',
      'query ends',
    ])
  })

  test('a flush is answered behind a slow request, with nothing held back', async () => {
    const server = await serve(applicationOf({ checkTx: () => pause(5).then(() => ({ code: 3 })) }))
    const peer = await connectPeer(server.address)
    peer.send(checkTx(1), requestFrame('flush'))
    expect(kinds(await peer.until(2))).toEqual(['checkTx', 'flush'])
  })

  test('a request kind that nobody knows is an exception that names it, and the connection lives on', async () => {
    const server = await serve(applicationOf())
    const peer = await connectPeer(server.address)
    peer.send(
      frameOf(Uint8Array.of(0x22, 0)),
      frameOf(new Uint8Array(0)),
      requestFrame('insertTx'),
      requestFrame('flush'),
    )
    const replies = await peer.until(4)
    expect(kinds(replies)).toEqual(['exception', 'exception', 'exception', 'flush'])
    expect(replies.map(({ value }) => value['error'])).toEqual([
      'unknown request: kind 4',
      'unknown request: kind 0',
      'unknown request: the application does not serve insertTx',
      undefined,
    ])
  })

  test.each([
    ['undecodable', frameOf(Uint8Array.of(0x0a, 5, 1)), /^undecodable echo request: /],
    ['oversize', Buffer.from([0xe9, 0x07, 0x0a]), /^frame of 1001 bytes, at most 1000 are taken$/],
    ['overlong', Buffer.from([0x80, 0x00]), /^frame length in more bytes than it needs$/],
  ])(
    'an %s frame is an exception behind the replies before it, and the connection is closed',
    async (_, bytes, error) => {
      const server = await serve(applicationOf({ checkTx: () => pause(3).then(() => ({ code: 1 })) }), {
        frameBytesMax: 1000,
      })
      const peer = await connectPeer(server.address)
      peer.send(checkTx(1), bytes, Buffer.alloc(2_000_000, 1))
      const replies = await peer.until(2)
      await peer.closed()
      expect(kinds(replies)).toEqual(['checkTx', 'exception'])
      expect(replies[1]?.value['error']).toMatch(error)
      expect(peer.errors).toEqual([])
      expect((await connectPeer(server.address)).socket.destroyed).toBe(false)
    },
  )

  test('a peer that ends its side still gets every reply', async () => {
    const server = await serve(applicationOf({ checkTx: () => pause(1).then(() => ({})) }))
    const peer = await connectPeer(server.address)
    peer.socket.end(Buffer.concat([checkTx(1), checkTx(2), checkTx(3), requestFrame('flush')]))
    await peer.closed()
    expect(peer.replies).toHaveLength(4)
  })
})

describe('dialects', () => {
  const appHash = Buffer.alloc(32, 5)
  const blocks: [string, RequestKind[], object][] = [
    ['0.37', ['beginBlock', 'deliverTx', 'endBlock', 'commit'], { appHash, retainHeight: 2 }],
    ['2.0', ['finalizeBlock', 'commit'], { retainHeight: 2 }],
    ['not seen yet', ['commit'], { retainHeight: 2 }],
  ]
  test.each(blocks)('%s: the commit says what this dialect reads', async (_, calls, expected) => {
    const server = await serve(applicationOf({ commit: () => ({ appHash, retainHeight: 2 }) }))
    const peer = await connectPeer(server.address)
    const other = await connectPeer(server.address)
    peer.send(...calls.map((kind) => requestFrame(kind)))
    expect((await peer.until(calls.length)).at(-1)).toEqual({ kind: 'commit', value: expected })
    peer.socket.end()
    other.send(requestFrame('commit'))
    expect((await other.until(1)).at(-1)).toEqual({ kind: 'commit', value: expected })
  })
})

describe('a handler that throws', () => {
  test.each<[string, () => object]>([
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
    ['answers with a BigInt', () => ({ code: 5n })],
    ['answers with nothing', () => undefined as unknown as object],
    ['answers a promise of null', () => Promise.resolve(null as unknown as object)],
  ])('that %s is told once, and nothing more is sent on any connection', async (_, checkTxOf) => {
    const told: [string, string][] = []
    const onFatal = (error: unknown, kind: string): unknown => told.push([kind, (error as Error).message])
    const server = await serve(applicationOf({ checkTx: checkTxOf }), { onFatal })
    const [peer, other] = [await connectPeer(server.address), await connectPeer(server.address)]
    peer.send(requestFrame('flush'), checkTx(1), checkTx(2), requestFrame('flush'))
    while (told.length === 0) await pause(1)
    other.send(requestFrame('flush'))
    await pause(20)
    expect(told).toEqual([['checkTx', expect.stringMatching(/disk full|expected/)]])
    await server.close()
    await peer.closed()
    // The first flush may have left before the throw, where a promise was rejected or the frames came in two pieces. Nothing
    // else has.
    expect(kinds([...peer.replies, ...other.replies])).toEqual(peer.replies.length > 0 ? ['flush'] : [])
  })
})

test('without onFatal, the program ends with the error', () => {
  const program = `
    import { connect } from 'node:net'
    import { startAbciServer } from '${new URL('../../src/abci/index.ts', import.meta.url).href}'
    const application = { checkTx: () => { throw new Error('disk full') } }
    const path = '${socketPath()}'
    await startAbciServer({ application, address: 'unix://' + path })
    connect(path).write(Buffer.from('${checkTx(1).toString('hex')}', 'hex'))`
  const env = { ...process.env, NODE_OPTIONS: '' }
  const args = ['--input-type=module', '-e', program]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 300_000 })
  expect([status, stderr]).toEqual([1, expect.stringContaining('Error: disk full')])
})

describe('a commit of null', () => {
  test('is fatal, not an empty reply', async () => {
    let told = 0
    const server = await serve(applicationOf({ commit: () => null as unknown as object }), {
      onFatal: () => (told += 1),
    })
    const peer = await connectPeer(server.address)
    peer.send(requestFrame('commit'))
    while (told === 0) await pause(1)
    await pause(20)
    expect([told, peer.replies.length]).toEqual([1, 0])
  })
})

describe('two handlers that reject', () => {
  test('are one fatal error', async () => {
    let told = 0
    const server = await serve(applicationOf({ query: () => Promise.reject(new Error('corrupt')) }), {
      onFatal: () => (told += 1),
    })
    const peer = await connectPeer(server.address)
    peer.send(requestFrame('query'), requestFrame('query'))
    while (told === 0) await pause(1)
    await pause(20)
    expect(told).toBe(1)
  })
})

describe('connections', () => {
  test('a node may connect again 50 times, cut off in the middle or not', async () => {
    let calls = 0
    const server = await serve(applicationOf({ checkTx: () => ({ code: (calls += 1) }) }))
    for (let index = 0; index < 50; index += 1) {
      const peer = await connectPeer(server.address)
      peer.send(checkTx(1), requestFrame('flush'), requestFrame('echo', { message: 'abc' }).subarray(0, index % 7))
      await peer.until(2)
      if (index % 2 === 0) peer.socket.destroy()
      else peer.socket.end()
    }
    expect(calls).toBe(50)
  })

  test('close answers what was started, starts nothing more, and frees the address', async () => {
    let started = 0
    const closing = Promise.withResolvers<object>()
    const application = applicationOf({
      checkTx: () => {
        started += 1
        return closing.promise
      },
    })
    const server = await serve(application)
    const [peer, idle] = [await connectPeer(server.address), await connectPeer(server.address)]
    peer.send(checkTx(1), checkTx(2), checkTx(3))
    while (started === 0) await pause(1)
    const closed = [server.close(), server.close()]
    closing.resolve({ code: 9 })
    await Promise.all([...closed, peer.closed(), idle.closed()])
    expect(peer.replies).toMatchObject([{ kind: 'checkTx', value: { code: 9 } }])
    expect(started).toBe(1)
    expect(existsSync(server.address.slice(7))).toBe(false)
    await serve(application, { address: server.address })
  })

  test.each([
    ['at once', (): object => ({ retainHeight: 7 })],
    ['later', (): Promise<object> => pause(5).then(() => ({ retainHeight: 7 }))],
  ])('a handler that closes the server has its own request answered, %s', async (_when, response) => {
    const commit = (): object => {
      void server.close()
      return response()
    }
    const server = await serve(applicationOf({ commit }))
    const peer = await connectPeer(server.address)
    peer.send(requestFrame('commit'), requestFrame('info'))
    await peer.closed()
    expect(peer.replies).toEqual([{ kind: 'commit', value: { retainHeight: 7 } }])
  })

  test('a socket file that a dead server left is replaced', async () => {
    const path = socketPath()
    const dies =
      "require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
    expect(spawnSync(process.execPath, ['-e', dies, path]).signal).toBe('SIGKILL')
    expect(existsSync(path)).toBe(true)
    const peer = await connectPeer((await serve(applicationOf(), { address: `unix://${path}` })).address)
    peer.send(requestFrame('flush'))
    expect(await peer.until(1)).toHaveLength(1)
  })

  test('a socket file on which another server listens is left alone, as is a file that is no socket', async () => {
    const server = await serve(applicationOf())
    const onFatal = (): void => undefined
    const start = (address: string): Promise<unknown> =>
      startAbciServer({ application: applicationOf(), address, onFatal })
    await expect(start(server.address)).rejects.toMatchObject({ code: 'inUse' })
    expect((await connectPeer(server.address)).socket.destroyed).toBe(false)
    const path = socketPath()
    writeFileSync(path, 'mine')
    await expect(start(`unix://${path}`)).rejects.toMatchObject({ code: 'inUse' })
    expect(existsSync(path)).toBe(true)
  })

  test('a taken port is refused with the reason of the system', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    await expect(serve(applicationOf(), { address: `tcp://127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
    taken.close()
  })

  const wrong = ['', 'tcp://127.0.0.1', 'tcp://:1', 'http://a:1', 'tcp://a:70000', 'unix://', '127.0.0.1:1']
  test.each(wrong)('%p is no address', async (address) => {
    await expect(serve(applicationOf(), { address })).rejects.toMatchObject({ code: 'address' })
  })

  test.each([0, 1.5, 2 ** 31])('a frame limit of %p is refused', async (frameBytesMax) => {
    await expect(serve(applicationOf(), { frameBytesMax })).rejects.toThrow(RangeError)
  })

  test('a connection beyond the limit is closed and the others live on', async () => {
    const server = await serve(applicationOf())
    const peers = await Promise.all(Array.from({ length: 64 }, () => connectPeer(server.address)))
    const extra = connect(server.address.slice(7))
    extra.on('error', () => undefined)
    await new Promise((resolve) => extra.once('close', resolve))
    peers[63]?.send(requestFrame('flush'))
    expect(await peers[63]?.until(1)).toHaveLength(1)
    for (const peer of peers) peer.socket.destroy()
  })
})
