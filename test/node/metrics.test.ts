import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import type { FinalizeBlockRequest } from '../../src/abci/types.ts'
import type { AppOptions } from '../../src/app/context.ts'
import { type AppMetrics, createAppMetrics } from '../../src/node/metrics.ts'
import { snapshotsOf } from '../../src/node/homes.ts'
import { serveMetrics } from '../../src/cli/serveMetrics.ts'
import { addGauge } from '../../src/base/gauge.ts'
import { openRaw } from '../gateway/rawClient.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { proposed } from '../modules/governance/support.ts'
import { bytesOf, done, startChain } from '../modules/support.ts'
import { type TempFolder, tempFolder } from '../support/tempFolder.ts'
import { account, nodeKey, type TestChain, tokens } from '../support/testChain.ts'

let metrics: AppMetrics
let chain: TestChain
let home: TempFolder

beforeEach(() => {
  home = tempFolder('metrics')
  const app: Partial<AppOptions> = {
    onCommitted: (_height, _changes, outcomes) => metrics?.onTransactions(outcomes),
    afterAnswer: (work) => setImmediate(() => metrics.runProposal(work)),
  }
  const begun = startChain([1000, 500], {}, { app })
  const libraries = { count: () => 0 }
  metrics = createAppMetrics({
    store: begun.store,
    home: home.path,
    libraries,
    build: { program_version: 1, os: 'ubuntu' },
  })
  chain = Object.assign(begun, { app: metrics.measure(begun.app) })
})
afterEach(() => home.remove())

/** The lines of a series that have counted something, without its name. */
const counted = async (name: string): Promise<readonly string[]> =>
  (await metrics.registry.getSingleMetricAsString(name))
    .split('\n')
    .filter((line) => !line.startsWith('#') && !line.endsWith(' 0'))
    .map((line) => line.slice(name.length))

const gaugeOf = async (name: string): Promise<string> => (await counted(name)).join().trim()

const transfer = (value: bigint, nonce: number): Uint8Array =>
  chain.tx(account(5), 'transfer', { to: bytesOf(account(6)), value: String(value) }, nonce)

test('transactions are counted by operation and code when their block is committed, and only then', async () => {
  const txs = [transfer(1n, 0), transfer(tokens(10n ** 9n), 1), transfer(1n, 7), Uint8Array.of(1, 2, 3)]
  chain.finalize({ txs })
  chain.finalize({ txs })
  expect(await counted('svc_app_tx_total')).toEqual([])
  const codes = chain.block({ txs }).results.map(({ code }) => code)
  expect(codes[0]).toBe(0)
  expect(await counted('svc_app_tx_total')).toEqual([
    '{operation="transfer",code="0"} 1',
    `{operation="transfer",code="${codes[1]}"} 1`,
    `{operation="transfer",code="${codes[2]}"} 1`,
    `{operation="unknown",code="${codes[3]}"} 1`,
  ])
  chain.block({ txs: [transfer(1n, 2), transfer(1n, 3)] })
  expect((await counted('svc_app_tx_total'))[0]).toBe('{operation="transfer",code="0"} 3')
})

test('mempool checks are counted by type and code', async () => {
  const tx = transfer(1n, 0)
  expect([chain.check(tx), chain.check(tx)].map(({ code }) => code)).toEqual([0, 6])
  chain.block()
  chain.check(tx, 1)
  expect(await counted('svc_app_check_tx_total')).toEqual([
    '{type="new",code="0"} 1',
    '{type="new",code="6"} 1',
    '{type="recheck",code="0"} 1',
  ])
})

test('the time of each block is taken where it is executed, in both dialects, and that of each commit', async () => {
  const countOf = async (): Promise<readonly string[]> =>
    (await counted('svc_app_block_execution_seconds')).filter((line) => line.startsWith('_count'))
  chain.block()
  expect(await countOf()).toEqual(['_count{stage="decided"} 1'])
  const commit = chain.lastCommit()
  const next = chain.next({ txs: [transfer(1n, 0)] })
  chain.app.processProposal({ ...next, proposedLastCommit: commit })
  await turn()
  expect(await countOf()).toEqual(['_count{stage="proposed"} 1', '_count{stage="decided"} 1'])
  const header = { ...next, chainId: '', lastCommitHash: Uint8Array.of() } as unknown as FinalizeBlockRequest
  chain.app.beginBlock({ ...next, header, lastCommitInfo: commit, byzantineValidators: [] } as never)
  chain.app.deliverTx({ tx: next.txs[0] as Uint8Array })
  chain.app.endBlock({ height: next.height })
  chain.app.commit({})
  expect(await countOf()).toEqual(['_count{stage="proposed"} 1', '_count{stage="decided"} 2'])
  expect(await counted('svc_app_commit_seconds')).toContain('_count 2')
  expect(await counted('svc_app_tx_total')).toEqual(['{operation="transfer",code="0"} 1'])
})

test('gauges say what the state holds now, and build info what runs', async () => {
  mkdirSync(join(home.path, 'data'), { recursive: true })
  writeFileSync(join(home.path, 'data/state.db-wal'), 'x'.repeat(4096))
  expect(await gaugeOf('svc_app_wal_bytes')).toBe('4096')
  expect(await gaugeOf('svc_app_open_proposals')).toBe('')
  proposed(chain, account(1), 'proposeChangeParam', {
    name: 'gas_price',
    value: '2',
    expireBlockHeight: chain.height + 9,
  })
  expect(await gaugeOf('svc_app_open_proposals')).toBe('1')
  expect(await gaugeOf('svc_app_validators')).toBe('2')
  done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
  expect([await gaugeOf('svc_app_validators'), await gaugeOf('svc_app_validators_joining')]).toEqual(['3', '1'])
  expect(await gaugeOf('svc_app_build_info')).toMatch(
    /^\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+",program_version="1",os="ubuntu",chain_program_version="1"\} 1$/,
  )
})

test('the newest snapshot is told by the names of their folders: of a large state each has 3 MB of metadata', async () => {
  expect(await gaugeOf('svc_app_snapshot_height')).toBe('')
  for (const name of ['900-1', '1000-1', 'tmp-2000-x'])
    mkdirSync(join(snapshotsOf(home.path), name), { recursive: true })
  expect(await gaugeOf('svc_app_snapshot_height')).toBe('1000')
})

test('the requests of one packet are answered with one text', async () => {
  const [port = 0] = await freePorts(1)
  const registry = new Registry()
  let made = 0
  addGauge(registry, 'made', 'How often', () => ++made)
  const served = await serveMetrics({ host: '127.0.0.1', port }, registry)
  const count = 1_000
  const client = await openRaw(
    `http://127.0.0.1:${port}`,
    'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count),
  )
  while (client.text().split('200 OK').length <= count) await new Promise((done) => setTimeout(done, 10))
  client.socket.destroy()
  served.close()
  expect(made).toBeLessThan(20)
})

test('every series is served with those of the process, at its value of now, and nothing else is', async () => {
  const [port = 0] = await freePorts(1)
  const served = await serveMetrics({ host: '127.0.0.1', port }, metrics.registry)
  const text = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(await text()).toMatch(new RegExp(`^svc_app_height ${chain.height}$`, 'm'))
  chain.block()
  expect(await text()).toMatch(new RegExp(`^svc_app_height ${chain.height}$`, 'm'))
  expect(await text()).toMatch(/^svc_app_tx_total\{operation="vote",code="0"\} 0$/m)
  expect(await text()).toMatch(/^process_resident_memory_bytes \d+$/m)
  // promtool refuses a gauge with the name of a counter.
  expect((await text()).match(/^# TYPE \w+_total gauge$/gm)).toBeNull()
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
  const raw = async (host: string): Promise<string> => {
    const client = await openRaw(`http://127.0.0.1:${port}`, `GET /metrics HTTP/1.0\r\nHost: ${host}\r\n\r\n`)
    client.socket.end()
    await client.closed
    return client.text()
  }
  expect(await raw('rebound.example')).toMatch(/^HTTP\/1.1 403 /)
  expect(await raw('localhost')).toMatch(/^HTTP\/1.1 200 OK\r\n.*svc_app_height/s)
  await expect(serveMetrics({ host: '127.0.0.1', port }, new Registry())).rejects.toThrow(
    /--metrics: cannot listen on 127\.0\.0\.1:\d+: the port is in use$/,
  )
  served.close()
})
