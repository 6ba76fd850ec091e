import { describe, expect, test } from '@jest/globals'
import { type AbciServer, type Application, BlockIdFlag } from '../../../src/abci/index.ts'
import {
  type ConnectedApplication,
  connectApplication,
  createTestChain,
  type TestValidator,
} from '../../../src/abci/testing/index.ts'
import { serve } from '../peer.ts'
import { emptyDisk, hashOf, openSmall, register } from './smallApplication.ts'
import { disks, live, names, OPTIONS } from './support.ts'

describe('a correct application passes', () => {
  test('that keeps its state on disk', async () => {
    const disk = disks()
    let opened = 0
    const chain = await createTestChain((node) => {
      opened += 1
      return openSmall(disk(node)).application
    }, OPTIONS)
    await live(chain)
    const { absences, misbehaviors, names: registered } = disk(0).state
    expect([absences > 5, misbehaviors > 0, registered.length > 10]).toEqual([true, true, true])
    // Three validators, a follower, two nodes for a snapshot, and two restarts of all; the others are the seed's.
    expect(opened).toBeGreaterThan(25)
    expect([...chain.checked.keys()].filter((one) => typeof one === 'number').sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    ])
    expect(Math.min(...chain.checked.values())).toBeGreaterThan(5)
  })

  test('that keeps its state in memory', async () => {
    const chain = await createTestChain(() => openSmall(emptyDisk()).application, OPTIONS)
    await live(chain)
    expect(chain.height).toBe(24)
  })

  test('that begins at another height', async () => {
    const disk = disks()
    const chain = await createTestChain((node) => openSmall(disk(node)).application, { ...OPTIONS, initialHeight: 100 })
    await live(chain)
    expect(chain.height).toBe(123)
  })

  test('that is one object', async () => {
    const chain = await createTestChain(openSmall(emptyDisk()).application, OPTIONS)
    await chain.run(20, names())
    expect([...chain.checked.keys()].filter((one) => typeof one === 'number').sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 9, 13,
    ])
    await expect(chain.restart()).rejects.toThrow('only a chain with an application factory restarts its nodes')
    await expect(chain.stateSync()).rejects.toThrow('only a chain with an application factory starts more nodes')
  })

  test('that is behind a socket', async () => {
    const disk = disks()
    const servers = new Map<number, AbciServer>()
    const open = async (node: number): Promise<ConnectedApplication> => {
      const server = await serve(openSmall(disk(node)).application)
      servers.set(node, server)
      return connectApplication(server.address)
    }
    const close = async (application: ConnectedApplication, node: number): Promise<void> => {
      application.close()
      await servers.get(node)?.close()
    }
    const chain = await createTestChain(open, { ...OPTIONS, close })
    await live(chain)
    expect(Math.min(...chain.checked.values())).toBeGreaterThan(5)
    await chain.close()
  })

  test('that leaves all handlers to the base application', async () => {
    const chain = await createTestChain(() => ({}))
    await chain.run(20, names())
    expect(chain.height).toBe(20)
  })
})

test('more than two thirds of the power sign each block of run, whoever has the power', async () => {
  const powers = [100, 1, 1, 1, 1, 1, 1]
  let absences = 0
  const finalizeBlock: Application['finalizeBlock'] = ({ txs, decidedLastCommit: { votes } }) => {
    const power = (chosen: typeof votes): number => chosen.reduce((sum, one) => sum + (one.validator?.power ?? 0), 0)
    const signed = votes.filter(({ blockIdFlag }) => blockIdFlag === BlockIdFlag.commit)
    expect(votes.length === 0 || 3 * power(signed) > 2 * power(votes)).toBe(true)
    absences += votes.length - signed.length
    return { txResults: txs.map(() => ({})) }
  }
  const validators = powers.map((power, at) => ({ pubKey: { ed25519: new Uint8Array(32).fill(at) }, power }))
  const chain = await createTestChain({ finalizeBlock }, { validators })
  await chain.run(100)
  expect(absences).toBeGreaterThan(20)
})

test('an address of another form is no address to connect to', async () => {
  await expect(connectApplication('127.0.0.1:26658')).rejects.toMatchObject({
    code: 'address',
    message: 'not an ABCI address: 127.0.0.1:26658; expected unix:///path or tcp://host:port',
  })
})

describe('what is opened is closed', () => {
  const tellsHeight: Application = { info: () => ({ lastBlockHeight: 5 }) }
  const misspelt: object = { finaliseBlock: () => ({}) }
  const throws = (): never => {
    throw new Error('no more')
  }
  test.each([
    ['whose Info is wrong', () => tellsHeight, 'Info of node 2, which is new, reports block 5', 4],
    ['that the server would refuse', () => misspelt as Application, 'application.finaliseBlock: no such handler', 3],
    ['that cannot be opened', throws, 'no more', 2],
  ])('when node 2 has an application %s', async (_, openSecond, message, count) => {
    const opened: Application[] = []
    const open = (node: number): Application => {
      const application = node === 2 ? openSecond() : {}
      opened.push(application)
      return application
    }
    const closed: Application[] = []
    const close = (application: Application): void => {
      closed.push(application)
      throw new Error('it is broken')
    }
    await expect(createTestChain(open, { close })).rejects.toThrow(message)
    expect([closed.length, closed]).toEqual([count, opened])
  })

  test('when a node that is opened to find a cause begins wrong', async () => {
    const closed: number[] = []
    const close = (_: Application, node: number): void => void closed.push(node)
    const chain = await createTestChain(
      (node): Application => ({
        ...(node > 3 && tellsHeight),
        finalizeBlock: ({ txs }) => ({ txResults: txs.map(() => ({})), appHash: Uint8Array.of(node) }),
      }),
      { close },
    )
    await expect(chain.block()).rejects.toThrow('Info of node 4, which is new, reports block 5')
    await chain.close()
    expect(closed.toSorted()).toEqual([0, 1, 2, 3, 4])
  })
})

describe('a block', () => {
  test('has the transactions, votes and evidence that it is given', async () => {
    const disk = disks()
    const chain = await createTestChain((node) => openSmall(disk(node)).application, OPTIONS)
    await chain.block()
    const [{ key }, other] = chain.validators as [TestValidator, TestValidator]
    const block = await chain.block({
      txs: [register('a'), register('a'), register('b')],
      absent: [key],
      nil: [other.key],
      misbehavior: [chain.misbehaviorOf(key)],
      seconds: 60,
    })
    expect(block.results.map(({ code = 0 }) => code)).toEqual([0, 1, 0])
    expect(block).toMatchObject({ height: 2, isAccepted: true })
    expect(disk(3).state).toEqual({ height: 2, names: ['a', 'b'], absences: 1, misbehaviors: 1 })
    expect([chain.time, chain.height, chain.appHash]).toEqual([1_700_000_061, 2, hashOf(disk(0).state)])
    expect(await chain.block({ txs: [register('a')] })).toMatchObject({ isAccepted: false, results: [{ code: 1 }] })
    await expect(chain.block({ absent: ['00'] })).rejects.toThrow('no validator of the last block has the key 00')
  })

  test('takes what waits, and CheckTx drops what is refused since', async () => {
    const disk = disks()
    const chain = await createTestChain((node) => openSmall(disk(node)).application, OPTIONS)
    expect(await chain.send(register('a'))).toEqual({})
    expect(await chain.send(register('A'))).toMatchObject({ code: 1 })
    await chain.send(register('b'))
    expect(chain.mempool).toEqual([register('a'), register('b')])
    await chain.block({ txs: [register('b'), register('c')] })
    expect(chain.mempool).toEqual([register('a')])
    expect((await chain.block()).txs).toEqual([register('a')])
    expect(chain.mempool).toEqual([])
    expect(Buffer.from((await chain.query({})).value ?? []).toString()).toBe('3')
  })

  test('is the same for the same seed', async () => {
    const run = async (seed: number): Promise<string> => {
      const asked: string[] = []
      const disk = disks()
      const open = (node: number): Application => {
        const { application } = openSmall(disk(node))
        const processProposal: Application['processProposal'] = (request) => {
          asked.push(`${node} ${Buffer.from(request.hash).toString('hex')}`)
          return application.processProposal(request)
        }
        return { ...application, processProposal }
      }
      const chain = await createTestChain(open, { ...OPTIONS, seed })
      await chain.run(5, names())
      return asked.join()
    }
    expect(await run(5)).toBe(await run(5))
    expect(await run(5)).not.toBe(await run(6))
  })
})
