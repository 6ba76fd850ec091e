import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type GatewayClient, gatewayClient } from './support/client.ts'
import { expectRefused } from './support/expect.ts'
import {
  endNetwork,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  startNodeGateway,
  watchHeads,
} from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

/**
 * An owner gives its key up, and a stranger with more stake than all validators declares it, while the owner's node goes on
 * signing with it. Nobody gets power from that node's signatures. Source: protocol.md §3, held back; §4.4.
 */

const DECLARED = 'pubkey has been declared'
const folder = testFolder(endNetwork)
let nodes: readonly NetworkNode[] = []
let running: readonly RunningNode[] = []
let gateway: GatewayClient
let strangers: readonly string[] = []

interface Member {
  readonly pub_key: { readonly value: string }
  readonly owner_address: string | null
  readonly power: number
}

const setOf = async (): Promise<readonly Member[]> =>
  (await gateway.call<{ data: readonly Member[] }>('svc_queryValidatorSet')).data
const keyOf = async (owner: string): Promise<string> =>
  (await gateway.call<{ data: { pub_key: { value: string } } }>('svc_queryValidator', [owner])).data.pub_key.value

/** Stakes 60,000 tokens, where a validator has 1,000 or so. */
const largeStake = (600_000n * 10n ** 18n).toString()

beforeAll(async () => {
  nodes = await makeNetwork(join(folder, 'net'), 4)
  running = await Promise.all(nodes.map((node) => startNode(node)))
  await watchHeads(nodes, 0, 1)
  // One gateway signs for all: the owners and the strangers are the public accounts.
  await startNodeGateway(nodes[0] as NetworkNode, ['--devnet'])
  gateway = gatewayClient(nodes[0]?.gateway ?? '')
  strangers = (await gateway.call<readonly string[]>('svc_accounts')).slice(nodes.length)
})

// Two transactions that are sent right after a block stand in the next one.
beforeEach(async () => {
  await gateway.waitForHeight((await gateway.height()) + 1)
})

/** What node `at` has signed for: its power in the set, after five more blocks. */
async function powerOfKey(pubKey: string): Promise<number> {
  await gateway.waitForHeight((await gateway.height()) + 5)
  return (await setOf()).find(({ pub_key: key }) => key.value === pubKey)?.power ?? 0
}

/** Blocks go on while the node stands still. */
async function expectBlocksWithout({ pids }: RunningNode): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    await gateway.waitForHeight((await gateway.height()) + 5)
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
}

test.each([
  ['changes its key', 3, 'svc_updateCandidacy', () => ({ pubKey: randomBytes(32).toString('base64') })],
  ['withdraws', 2, 'svc_withdrawCandidacy', () => ({})],
] as const)(
  'an owner %s, and a stranger declares the old key in the same block and later: it has no power, and blocks go on without that node',
  async (_what, at, method, given) => {
    const { owner = '' } = nodes[at] ?? {}
    const [stranger, another] = strangers.slice(2 * (3 - at))
    const old = await keyOf(owner)
    const [left, taken] = await Promise.all([
      gateway.send(method, { from: owner, ...given() }),
      gateway.send('svc_declareCandidacy', { from: stranger, pubKey: old, maxAmount: largeStake }),
    ])
    expect(left.height).toBeGreaterThan(0)
    expectRefused(taken, 1, DECLARED)
    expectRefused(
      await gateway.send('svc_declareCandidacy', { from: another, pubKey: old, maxAmount: largeStake }),
      1,
      DECLARED,
    )
    expect(await powerOfKey(old)).toBe(0)
    await expectBlocksWithout(running[at] as RunningNode)
  },
)

test('who withdrew activates with the same key, and has its power back when its node has signed', async () => {
  const { owner = '' } = nodes[2] ?? {}
  const old = await keyOf(owner)
  await gateway.commit('svc_activateCandidacy', { from: owner })
  // On a busy machine its signature may be too late for some blocks.
  let power = 0
  for (let tries = 0; tries < 20 && power <= 1; tries++) power = await powerOfKey(old)
  expect(power).toBeGreaterThan(1)
})
