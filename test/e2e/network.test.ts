import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Svc } from '../../src/client/index.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { type GatewayClient, gatewayClient } from './support/client.ts'
import { expectRefused } from './support/expect.ts'
import {
  endNetwork,
  heightOrZero,
  makeNetwork,
  type NetworkNode,
  queryNode,
  type RunningNode,
  startNode,
  startNodeGateway,
  watchHeads,
} from './support/network.ts'
import { freePorts } from './support/processes.ts'
import { committedBlocks, compareDatabases } from './support/replay.ts'
import { testFolder } from './support/testFolder.ts'

const TOKEN = 10n ** 18n
const folder = testFolder(endNetwork)
let nodes: readonly NetworkNode[] = []
let running: RunningNode[] = []
let appMetrics = ''
let gatewayMetrics = ''
let gateway: GatewayClient

beforeAll(async () => {
  // Homes of people have blanks in their paths.
  nodes = await makeNetwork(join(folder, 'a net'), 4)
  ;[appMetrics, gatewayMetrics] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`) as [string, string]
  running = await Promise.all(nodes.map((node, at) => startNode(node, at === 0 ? ['--metrics', appMetrics] : [])))
  await watchHeads(nodes, 0, 1)
  // It signs for all: the owners and the strangers are the public accounts.
  await startNodeGateway(nodes[0] as NetworkNode, ['--devnet', '--metrics', gatewayMetrics])
  gateway = gatewayClient(nodes[0]?.gateway ?? '')
})

const highest = async (some: readonly NetworkNode[]): Promise<number> =>
  Math.max(...(await Promise.all(some.map(heightOrZero))))
const kill = async (at: number): Promise<void> => {
  await running[at]?.end('SIGKILL')
}

/** All of `some` go on for three more heights, and tell one app hash at each. */
const expectProgress = async (some: readonly NetworkNode[]): Promise<void> => watchHeads(some, await highest(some), 3)

test('a transfer and a declaration through the gateway of one node are in the state of all four, under one app hash', async () => {
  const svc = new Svc(gateway.url)
  const from = svc.accounts.add(PUBLIC_MNEMONIC, 0)
  const candidate = svc.accounts.add(PUBLIC_MNEMONIC, 9)
  await svc.async.transfer({ from, to: candidate, value: 50_000n * TOKEN })
  const pubKey = randomBytes(32).toString('base64')
  const { height } = await svc.async.stake.validator.declare({ from: candidate, pubKey })
  await watchHeads(nodes, height, 3)
  for (const node of nodes) {
    const rows = await queryNode<readonly { owner_address: string; state: string }[]>(node, '/stake/validators')
    expect(rows.map((row) => row.owner_address).sort()).toEqual([...nodes.map(({ owner }) => owner), candidate].sort())
    expect(rows.filter(({ state }) => state === 'Validator')).toHaveLength(4)
  }
})

const grafana = (file: string): string => readFileSync(join(import.meta.dirname, '../../docs/grafana', file), 'utf8')

test('a running network serves every series of the dashboard and of the alerts, and all of svcd are on the dashboard', async () => {
  const { panels } = JSON.parse(grafana('svcd.json')) as {
    panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
  }
  const seriesIn = (text: string): readonly string[] => text.match(/\b(?:cometbft|svc|process|nodejs)_\w+/g) ?? []
  const targets = panels.flatMap((panel) => panel.targets ?? [])
  const asked = new Set(targets.flatMap(({ expr }) => seriesIn(expr)))
  const alerts = seriesIn(grafana('alerts.yml'))
  const cometbft = new URL(nodes[0]?.rpc ?? '')
  cometbft.port = String(Number(cometbft.port) + 2)
  const texts = await Promise.all(
    [`http://${appMetrics}`, `http://${gatewayMetrics}`, cometbft.origin].map(async (from) =>
      (await fetch(`${from}/metrics`)).text(),
    ),
  )
  const served = new Set(texts.flatMap((text) => text.match(/^[a-z]\w+/gm) ?? []))
  expect(asked.size).toBeGreaterThan(25)
  expect(alerts.length).toBeGreaterThan(6)
  // Of a validator that signs every block there is nothing to count.
  const unmissed = 'cometbft_consensus_validator_missed_blocks'
  expect([...asked, ...alerts].filter((name) => name !== unmissed && !served.has(name))).toEqual([])
  const own = texts.flatMap((text) => [...text.matchAll(/^# TYPE (svc_\w+)/gm)]).map(([, name = '']) => name)
  expect(own.length).toBeGreaterThan(20)
  expect(own.filter((name) => !asked.has(name) && !asked.has(`${name}_bucket`))).toEqual([])
  // The test before has sent these.
  expect(texts[0]).toMatch(/^svc_app_tx_total\{operation="transfer",code="0"\} 1$/m)
  expect(texts[0]).toMatch(/^svc_app_check_tx_total\{type="new",code="0"\} 2$/m)
  expect(texts[0]).toMatch(/^svc_app_block_execution_seconds_count\{stage="proposed"\} [1-9]/m)
})

test('without one validator the chain goes on; without two it halts; with both back it goes on under one app hash', async () => {
  const left = nodes.slice(0, 3)
  await kill(3)
  await expectProgress(left)
  await kill(2)
  const two = nodes.slice(0, 2)
  const heights = (): Promise<number[]> => Promise.all(two.map(heightOrZero))
  // What was under way when it was killed may still become one block, which comes late on a busy machine.
  let halted: number[] = []
  for (let tries = 1, now = await heights(); now.join() !== halted.join(); tries++) {
    expect(tries).toBeLessThan(5)
    halted = now
    await sleep(3000)
    now = await heights()
  }
  expect(Math.min(...halted)).toBeGreaterThan(0)
  running = [...running.slice(0, 2), ...(await Promise.all(nodes.slice(2).map((node) => startNode(node))))]
  await expectProgress(nodes)
  expect(await highest(nodes)).toBeGreaterThan(Math.max(...halted))
})

/**
 * An owner gives its key up, and a stranger with more stake than all validators declares it, while the owner's node goes on
 * signing with it. Nobody gets power from that node's signatures. Source: protocol.md §3, held back; §4.4.
 */
describe('a key that its owner gives up', () => {
  const DECLARED = 'pubkey has been declared'
  /** Stakes 60,000 tokens, where a validator has 1,000 or so. */
  const largeStake = (600_000n * TOKEN).toString()
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

  beforeAll(async () => {
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
})

test('after an orderly stop every state has one app hash a height, from the first block on, and no process is left', async () => {
  expect(await Promise.all(running.map((one) => one.end('SIGTERM')))).toEqual([0, 0, 0, 0])
  for (const { home } of nodes) expect(committedBlocks(home)[0]?.height).toBe(1)
  expect(compareDatabases(nodes)).toBeGreaterThan(6)
  // CometBFT's calls were checked against its grammar, and there were some.
  for (const { recorder } of running) expect((await recorder.close()).calls).toBeGreaterThan(20)
  expect(await endNetwork()).toEqual([join(nodes[0]?.home ?? '', 'gateway.sh')])
})
