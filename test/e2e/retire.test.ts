import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { type GatewayClient, gatewayClient } from './support/client.ts'
import { svcd } from './support/devnet.ts'
import { expectRefused } from './support/expect.ts'
import {
  endNetwork,
  headOf,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  startNodeGateway,
  watchHeads,
} from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

const STANDING = 'Found unresolved or approved retiring proposal'
const folder = testFolder(endNetwork)
let nodes: readonly NetworkNode[] = []
let running: readonly RunningNode[] = []
let gateway: GatewayClient
let point = 0

beforeAll(async () => {
  nodes = await makeNetwork(join(folder, 'net'), 4)
  running = await Promise.all(nodes.map((node) => startNode(node)))
  await watchHeads(nodes, 0, 1)
  // One gateway signs for all four: the owners are the public accounts.
  await startNodeGateway(nodes[0] as NetworkNode, ['--devnet'])
  gateway = gatewayClient(nodes[0]?.gateway ?? '')
})

const keyOf = async (owner: string): Promise<string> =>
  (await gateway.call<{ data: { pub_key: { value: string } } }>('svc_queryValidator', [owner])).data.pub_key.value

/** The validator set that CometBFT of a node has at its head. */
async function setOf({ rpc }: NetworkNode): Promise<readonly string[]> {
  const { result } = (await (await fetch(`${rpc}/validators`)).json()) as {
    result: { validators: { pub_key: { value: string } }[] }
  }
  return result.validators.map(({ pub_key: key }) => key.value).sort()
}

let preserved: readonly string[] = []

test('a second proposal to retire the program is refused while one is open, and while one is approved', async () => {
  const [one = '', two = '', three = ''] = nodes.map(({ owner }) => owner)
  preserved = [await keyOf(one), await keyOf(two)].sort()
  // Far enough that all of this test is over before it on a busy machine.
  point = (await gateway.height()) + 50
  const members = { from: one, preservedValidators: preserved.join(','), retiredBlockHeight: point }
  const {
    deliver_tx: { data: proposalId },
  } = await gateway.commit('svc_proposeRetireProgram', members)
  expectRefused(await gateway.send('svc_proposeRetireProgram', members), 20, STANDING)
  await Promise.all([one, two, three].map((from) => gateway.commit('svc_vote', { from, proposalId, answer: 'Y' })))
  expectRefused(await gateway.send('svc_proposeRetireProgram', { ...members, from: two }), 20, STANDING)
})

test('every program ends with status 0 at the point; only its successor goes on: two validators, one app hash on all four', async () => {
  // The successor takes over as soon as the program has ended: a node that was behind needs the others to get there.
  const restarted = await Promise.all(
    running.map(async ({ ended, end }, at) => {
      expect([at, await ended]).toEqual([at, 0])
      await end('SIGTERM')
      const node = nodes[at] as NetworkNode
      if (at === 0) {
        const start = ['start', '--home', node.home]
        for (const [flags, line] of [
          [[], /runs version 1, which the chain has retired: it is at version 2.*svcd program accept 2 --home/],
          [['--accept-program-version', '3'], /runs version 3, but the chain is still at version 2/],
        ] as const) {
          expect(await svcd([...start, ...flags])).toMatchObject({ status: 2, stderr: expect.stringMatching(line) })
        }
      }
      return startNode(node, ['--accept-program-version', '2'])
    }),
  )
  const hashes = await watchHeads(nodes, point, 4)
  for (const [height, different] of hashes) expect([height, different]).toEqual([height, [expect.any(String)]])
  for (const node of nodes) expect(await setOf(node)).toEqual(preserved)
  expect((await headOf(nodes[3] as NetworkNode))?.height).toBeGreaterThan(point)
  expect(await Promise.all(restarted.map(({ end }) => end('SIGTERM')))).toEqual([0, 0, 0, 0])
})
