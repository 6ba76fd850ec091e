import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { Svc } from '../../src/client/index.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { removeHistory } from '../../src/node/history/file.ts'
import { historyRows } from '../node/history/support.ts'
import { gatewayClient } from './support/client.ts'
import { svcd } from './support/devnet.ts'
import {
  endNetwork,
  gatewayReady,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  startNodeGateway,
} from './support/network.ts'
import { waitForHead } from './support/replay.ts'
import { testFolder } from './support/testFolder.ts'

const LIMIT_MS = 300_000
const folder = testFolder(endNetwork)
let node: NetworkNode
let running: RunningNode

/** The blocks of the first run, which hold an award, and all transactions: on a busy machine there are more. */
let blocks = 55
const SENT = 40

beforeAll(async () => {
  ;[node] = (await makeNetwork(join(folder, 'net'), 1, '100ms')) as [NetworkNode]
  running = await startNode(node)
  await waitForHead(node, running, 1, LIMIT_MS)
  await startNodeGateway(node)
})

const indexOf = ({ home }: NetworkNode): string => join(home, 'data', 'history.db')

test('the index that is rebuilt from the blocks is the one that the application wrote, and says until then what it lacks', async () => {
  const svc = new Svc(node.gateway)
  const from = svc.accounts.add(PUBLIC_MNEMONIC, 0)
  const sent = Array.from({ length: SENT }, (_, at) =>
    svc.async.transfer({ from, to: node.owner, value: String(at + 1) }),
  )
  await Promise.all(sent)
  const { height } = await svc.async.stake.validator.update({ from, description: { name: 'rebuilt' } })
  blocks = Math.max(blocks, height)
  await waitForHead(node, running, blocks, LIMIT_MS)
  const gateway = gatewayClient(node.gateway)
  await gateway.waitForIndex(blocks)
  // Until then the state's journal may hold the last of these blocks, from which a new index would begin.
  await gateway.waitForHeight((await gateway.height()) + 5)
  expect(await running.end('SIGTERM')).toBe(0)
  const written = historyRows(indexOf(node), blocks)
  expect([written['blocks']?.length, written['transactions']?.length]).toEqual([blocks, SENT + 1])
  for (const table of ['account_transactions', 'validator_events', 'awards'])
    expect(written[table]?.length).toBeGreaterThan(0)

  removeHistory(indexOf(node))
  running = await startNode(node)
  await waitForHead(node, running, blocks + 5, LIMIT_MS)
  await gatewayReady(node)
  const before = await svc.async.getTransactions({ address: from })
  expect(before).toMatchObject({ data: [], next: null })
  expect(before.earliest_height).toBeGreaterThan(1)
  const rebuild = ['index', 'rebuild', '--home', node.home, '--node', node.rpc, '--json']
  expect(await svcd(rebuild)).toMatchObject({ status: 0, stdout: expect.stringContaining('"first_height": 1') })
  expect(historyRows(indexOf(node), blocks)).toEqual(written)
  const { data, earliest_height: earliest } = await svc.async.getTransactions({ address: from, limit: 100 })
  expect([data.length, earliest]).toEqual([SENT + 1, 1])
  expect(await svcd(rebuild)).toMatchObject({ status: 0, stdout: expect.stringContaining('"added": 0') })
  expect((await svcd([...rebuild, '--all'])).status).toBe(0)
  expect(historyRows(indexOf(node), blocks)).toEqual(written)
})

test('a node without the index says so, and its chain goes on', async () => {
  await running.end('SIGTERM')
  running = await startNode(node, ['--no-history'])
  const svc = new Svc(node.gateway)
  await waitForHead(node, running, blocks + 10, LIMIT_MS)
  await expect(svc.async.getTransactions({ address: node.owner })).rejects.toMatchObject({
    code: -32011,
    message: expect.stringContaining('keeps no index of histories'),
  })
})
