import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Comet38Client } from '@cosmjs/tendermint-rpc'
import { openNodeRpc, waitForNode } from '../../src/comet/rpc.ts'
import { until } from '../../bench/until.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { kvstoreNode } from './support.ts'

let node: Awaited<ReturnType<typeof kvstoreNode>>
beforeAll(async () => {
  node = await kvstoreNode(100)
})
afterAll(() => node.remove())

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase()

/** A stand-in for the node's HTTP side only, for answers that a real node gives too rarely. */
const answering = async (answer: (method: string) => string | undefined) => {
  let connections = 0
  const served = await serveCalls(({ method }) => answer(method))
  served.server.on('connection', () => {
    connections += 1
  })
  return { ...served, connections: () => connections }
}

describe('rpc', () => {
  test('a transaction is taken in, and told apart when it comes again', async () => {
    const tx = Buffer.from('rpc=one')
    expect(await node.rpc.broadcastTxSync(tx)).toEqual({ code: 0, log: '', data: new Uint8Array(), isResent: false })
    await expect(node.rpc.broadcastTxSync(tx)).rejects.toMatchObject({ code: 'TxInCache' })
    const stored = async (): Promise<string> =>
      Buffer.from((await node.rpc.abciQuery({ path: '/store', data: Buffer.from('rpc') })).value).toString()
    await until(async () => (await stored()) !== '')
    const answer = await node.rpc.abciQuery({ path: '/store', data: Buffer.from('rpc') })
    expect(Buffer.from(answer.value).toString()).toBe('one')
  })

  test('a refusal by CheckTx is an answer with its code', async () => {
    expect((await node.rpc.broadcastTxSync(Buffer.from('no equals sign'))).code).not.toBe(0)
  })

  test('a transaction over the mempool limit is TxTooLarge', async () => {
    await expect(node.rpc.broadcastTxSync(Buffer.alloc(65_537, 'a'))).rejects.toMatchObject({ code: 'TxTooLarge' })
  })

  test('an unknown hash, a height to come and height 0 are NotFound', async () => {
    await expect(node.rpc.blockByHash('00'.repeat(32))).rejects.toMatchObject({ code: 'NotFound' })
    for (const height of [1_000_000, 0]) {
      await expect(node.rpc.block(height)).rejects.toMatchObject({ code: 'NotFound' })
      await expect(node.rpc.blockResults(height)).rejects.toMatchObject({ code: 'NotFound' })
    }
  })

  test('status, blocks and results agree with another client of the same node', async () => {
    const other = await Comet38Client.connect(node.url)
    await until(async () => (await node.rpc.committedHeight()) >= 3)
    const status = await node.rpc.status()
    const theirs = await other.status()
    expect(status).toMatchObject({ chainId: 'feed-test', earliestHeight: 1, catchingUp: false })
    expect(status.version).toBe(theirs.nodeInfo.version)
    const [block, theirBlock] = [await node.rpc.block(2), await other.block(2)]
    const header = theirBlock.block.header
    expect([block.hash, block.appHash, block.height]).toEqual([
      hex(theirBlock.blockId.hash),
      hex(header.appHash),
      header.height,
    ])
    expect(block.timeMs).toBe(header.time.getTime())
    expect((await node.rpc.blockResults(2)).results).toHaveLength((await other.blockResults(2)).results.length)
    expect(await node.rpc.peers()).toBe(0)
  })

  test('64 callers at once are all answered', async () => {
    const sent = await Promise.all(
      Array.from({ length: 640 }, (_, i) => node.rpc.broadcastTxSync(Buffer.from(`many${i}=1`))),
    )
    expect(sent.every(({ code }) => code === 0)).toBe(true)
  })

  test('no node is NodeUnreachable, and a silent one NodeTimeout', async () => {
    await expect(openNodeRpc('http://127.0.0.1:1').status()).rejects.toMatchObject({ code: 'NodeUnreachable' })
    const silent = await answering(() => undefined)
    await expect(openNodeRpc(silent.url, { timeoutMs: 100 }).status()).rejects.toMatchObject({ code: 'NodeTimeout' })
    await silent.close()
  })

  test('a call that is sent again has no longer than one that is not', async () => {
    let calls = 0
    const breaking = await answering(() => {
      calls += 1
      setTimeout(() => breaking.server.closeAllConnections(), 300)
      return undefined
    })
    const rpc = openNodeRpc(breaking.url, { timeoutMs: 500 })
    await expect(rpc.status()).rejects.toMatchObject({ code: 'NodeTimeout' })
    expect(calls).toBeGreaterThan(0)
    await breaking.close()
  })

  test('waiting for a node ends at its deadline', async () => {
    const nowhere = openNodeRpc('http://127.0.0.1:1')
    await expect(waitForNode(nowhere, 150)).rejects.toMatchObject({ code: 'NodeUnreachable' })
  })

  test('a full mempool is MempoolFull, other errors keep the words of the node, and no JSON is BadAnswer', async () => {
    const full = { code: -32603, message: 'Internal error', data: 'mempool is full: number of txs 5000 (max: 5000)' }
    const others: Readonly<Record<string, object>> = {
      abci_info: { ...full, data: 'oh no' },
      net_info: { code: -32602, message: 'Invalid params', data: 'oh no' },
    }
    const error = (method: string) => others[method] ?? full
    const one = await answering((method) => (method === 'status' ? '<html>' : JSON.stringify({ error: error(method) })))
    const rpc = openNodeRpc(one.url)
    await expect(rpc.broadcastTxSync(Buffer.from('a'))).rejects.toMatchObject({ code: 'MempoolFull' })
    const failed = { code: 'NodeFailed', message: 'abci_info: Internal error: oh no' }
    await expect(rpc.committedHeight()).rejects.toMatchObject(failed)
    await expect(rpc.peers()).rejects.toMatchObject({ code: 'RpcFailed', message: 'net_info: Invalid params: oh no' })
    await expect(rpc.status()).rejects.toMatchObject({ code: 'BadAnswer' })
    await one.close()
  })

  test('calls share connections, and one that the node closed while idle costs no call', async () => {
    const one = await answering(() => JSON.stringify({ result: { n_peers: '0' } }))
    const rpc = openNodeRpc(one.url)
    for (let i = 0; i < 20; i++) await rpc.peers()
    const opened = one.connections()
    expect(opened).toBeLessThan(4)
    one.server.closeIdleConnections()
    expect(await rpc.peers()).toBe(0)
    expect(one.connections()).toBe(opened + 1)
    const last = rpc.peers()
    rpc.close()
    rpc.close()
    expect(await last).toBe(0)
    await expect(rpc.peers()).rejects.toMatchObject({ code: 'NodeUnreachable' })
    await one.close()
  })

  test('a transaction that the node had taken in before the connection broke is accepted', async () => {
    const cached = { code: -32603, message: 'Internal error', data: 'tx already exists in cache' }
    let calls = 0
    const one = await answering(() => {
      calls += 1
      if (calls === 1) one.server.closeAllConnections()
      return JSON.stringify({ error: cached })
    })
    const rpc = openNodeRpc(one.url)
    const taken = { code: 0, log: '', data: new Uint8Array(), isResent: true }
    expect(await rpc.broadcastTxSync(Buffer.from('a'))).toEqual(taken)
    expect(calls).toBe(2)
    await expect(rpc.broadcastTxSync(Buffer.from('a'))).rejects.toMatchObject({ code: 'TxInCache' })
    await one.close()
  })

  test('a number that a double cannot hold is refused, not rounded', async () => {
    const one = await answering(() => JSON.stringify({ result: { n_peers: '9007199254740993' } }))
    await expect(openNodeRpc(one.url).peers()).rejects.toMatchObject({ code: 'BadAnswer' })
    await one.close()
  })
})
