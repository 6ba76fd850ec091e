import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import { gatewayClient } from './support/client.ts'
import {
  endNetwork,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  startNodeGateway,
} from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

/** How long calls go on before the rest is killed, in ms: CometBFT takes a while to stop, and may never. */
const AFTER_MS = 2_500
const HAMMERS = 2
const folder = testFolder(endNetwork)
let node: NetworkNode
let running: RunningNode
beforeAll(async () => {
  ;[node] = (await makeNetwork(join(folder, 'net'), 1, '100ms')) as [NetworkNode]
  running = await startNode(node)
  await startNodeGateway(node, ['--devnet', '--rate-limit', '0', '--connections-per-address', '1000'])
})

type Call = readonly [method: string, params: unknown]

/**
 * A call of every kind that asks the node. Each operation has a sender of its own: the calls of one wait for each
 * other.
 */
function callsOf([a = '', b = '', c = '', d = '']: readonly string[], hash: string): readonly Call[] {
  return [
    ['svc_getBalance', [a]],
    ['svc_getTransactionCount', [a]],
    ['svc_getTransactionCount', [b, 'pending']],
    ['svc_queryValidator', [a]],
    ['svc_queryValidators', []],
    ['svc_queryProposals', []],
    ['svc_queryParams', []],
    ['svc_queryParams', [3]],
    ['svc_queryUnbonding', [a]],
    ['svc_getProof', ['accounts', a]],
    ['svc_getProof', ['candidacies', a]],
    ['svc_blockNumber', []],
    ['svc_status', []],
    ['svc_getTransaction', [hash]],
    ['svc_getTransaction', ['AB'.repeat(32)]],
    ['svc_sendRawTransaction', ['0xdeadbeef']],
    ['svc_transfer', [{ from: b, to: a, value: '1' }]],
    ['svc_transfer', [{ from: c, to: a, value: '1' }]],
    ['svc_vote', [{ from: d, proposalId: Buffer.alloc(32).toString('base64'), answer: 'Y' }]],
  ]
}

const ends: readonly (readonly [name: string, at: 0 | 1, signal: NodeJS.Signals])[] = [
  ['CometBFT is told to stop', 0, 'SIGTERM'],
  ['CometBFT is killed', 0, 'SIGKILL'],
  ['the application is told to stop', 1, 'SIGTERM'],
  ['the application is killed', 1, 'SIGKILL'],
]

test.each(ends)('%s: no call is a defect of the gateway, -32603', async (_, at, signal) => {
  const gateway = gatewayClient(node.gateway)
  const accounts = await gateway.call<string[]>('svc_accounts')
  const { hash } = await gateway.commit('svc_transfer', { from: accounts[0], to: accounts[1], value: '1' })
  const codes = new Map<number, number>()
  const defects = new Set<string>()
  let isOver = false
  const hammer = async ([method, params]: Call): Promise<void> => {
    while (!isOver) {
      const { error } = await gateway.ask(method, params)
      codes.set(error?.code ?? 0, (codes.get(error?.code ?? 0) ?? 0) + 1)
      if (error?.code === -32603) defects.add(method)
      if (error !== undefined) await sleep(20)
    }
  }
  const hammering = callsOf(accounts, hash).flatMap((call) => Array.from({ length: HAMMERS }, () => hammer(call)))
  await sleep(500)
  process.kill(running.pids[at], signal)
  await sleep(AFTER_MS)
  // CometBFT may hang in its own stop once it has lost the application.
  await running.end('SIGKILL')
  // Where it was still stopping by then, no call has met a node that is gone.
  while (!codes.has(-32011)) await sleep(20)
  isOver = true
  running = await startNode(node)
  await Promise.all(hammering)
  while (!(await fetch(`${node.gateway}/readyz`)).ok) await sleep(100)
  expect([...defects]).toEqual([])
  expect(codes.get(-32011)).toBeGreaterThan(0)
  expect([...codes.keys()].filter((code) => ![0, -32011, -32012].includes(code))).toEqual([])
})
