import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../bench/until.ts'
import {
  assertConfined,
  assertNoRoot,
  assertPublished,
  assertSocket,
  call,
  declareThroughGateway,
  downAndUp,
  heightOf,
  keptSteps,
  type Project,
  type Steps,
  transferFromOutside,
  untilHealthy,
  untilHeight,
  WAIT_MS_MAX,
} from './project.ts'

/** The parts of validator i. */
const partsOf = (at: number): readonly [string, string] => [`app${at}`, `cometbft${at}`]

/** Every service with a health check: the full node's, then the four validators'. */
export const TESTNET_SERVICES = ['app', 'cometbft', 'gateway', ...[0, 1, 2, 3].flatMap(partsOf)]

/**
 * How long a chain may take to go on once enough validators are back. Source: the goal that these files were made for.
 */
const BACK_MS_MAX = 60_000

// What a node's own application has committed, read from its state: a header would tell what the others said.
const APP_HASH =
  'const D = require("/svcd/node_modules/better-sqlite3");' +
  'console.log(new D(process.env.SVCD_HOME + "/data/state.db", { readonly: true })' +
  '.prepare("select app_hash from blocks where height = ?").pluck().get(Number(process.argv[1])) ?? "")'

/** Waits until all five states have block `height`; they have one app hash there. */
async function assertOneAppHash({ compose }: Project, height: number): Promise<void> {
  const hashes = new Map<string, string>()
  for (const app of ['app', 'app0', 'app1', 'app2', 'app3']) {
    const hashOf = (): string | undefined =>
      compose('exec', '-T', app, 'node', '-e', APP_HASH, String(height)) || undefined
    hashes.set(app, await until(hashOf, WAIT_MS_MAX, () => `${app} does not come to height ${height}`, 500))
  }
  assert.equal(hashes.size, 5)
  assert.equal(new Set(hashes.values()).size, 1, JSON.stringify([...hashes]))
}

/** What holds of docker-compose.yml with docker-compose.testnet.yml. */
export const testnetSteps: Steps = {
  'all services become healthy from nothing but up': async (project) => {
    project.compose('up', '-d')
    await untilHealthy(project, 2)
    const { data } = await call<{ data: readonly { state: string }[] }>(project.gateway, 'svc_queryValidators')
    assert.deepEqual(
      data.map(({ state }) => state),
      ['Validator', 'Validator', 'Validator', 'Validator'],
    )
  },
  'the gateway of the full node takes a transaction signed outside': transferFromOutside,
  'it signs for a public account, and a failed transaction is a result with its log': declareThroughGateway,
  'three of the four owners approve a change of the rules': async ({ gateway }) => {
    const [from, ...owners] = (await call<readonly string[]>(gateway, 'svc_accounts')).slice(0, 4)
    const input = { from, name: 'max_vals', value: '7', reason: 'more seats' }
    const proposed = await call<{ deliver_tx: { data: string } }>(gateway, 'svc_proposeChangeParam', [input])
    const proposalId = proposed.deliver_tx.data
    for (const voter of [from, ...owners.slice(0, 2)])
      await call(gateway, 'svc_vote', [{ from: voter, proposalId, answer: 'Y' }])
    const { data } = await call<{ data: readonly { Id: string; Result: string }[] }>(gateway, 'svc_queryProposals')
    assert.deepEqual(
      data.map(({ Id, Result }) => [Id, Result]),
      [[proposalId, 'Approved']],
    )
  },
  'only the gateway and the RPC of the full node are published, on loopback': async (project) =>
    assertPublished(project),
  'nothing runs as root': async (project) => assertNoRoot(project),
  'every service is confined, and each node has a socket of its own': async (project) => {
    assertConfined(project)
    assertSocket(project, 'app3', '/chain/node3/abci.sock')
  },
  'without one validator the chain goes on': async (project) => {
    project.compose('stop', ...partsOf(3))
    await untilHeight(project, (await heightOf(project)) + 3)
  },
  'without two it halts': async (project) => {
    project.compose('stop', ...partsOf(2))
    // What was under way when it was stopped may still become one block.
    await sleep(3_000)
    const halted = await heightOf(project)
    await sleep(10_000)
    assert.equal(await heightOf(project), halted)
  },
  'with both back it goes on within 60 s, under one app hash on all five': async (project) => {
    const halted = await heightOf(project)
    project.compose('start', ...partsOf(2), ...partsOf(3))
    await untilHeight(project, halted + 1, BACK_MS_MAX)
    await untilHealthy(project, halted + 3)
    await assertOneAppHash(project, halted + 3)
  },
  ...keptSteps,
  'down and up keep the chain, and its one app hash': async (project) => {
    await assertOneAppHash(project, await downAndUp(project))
  },
}
