import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type AbciServer, type Application, ProposalStatus } from '../../src/abci/index.ts'
import { findCometBft } from '../../src/comet/find.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { applicationOf, closeAll, pause, serve } from './peer.ts'

let program: string
const home = mkdtempSync(join(tmpdir(), 'abci-node-'))
let node: ChildProcess | undefined
let server: AbciServer
let rpc = ''

/** Counts transactions of one byte above 0; the count is the app hash. */
function counter(): Application {
  const committed = { height: 0, count: 0 }
  let next = committed
  const hash = (count: number): Uint8Array => Uint8Array.of(0, 0, count >> 8, count)
  const valid = (tx: Uint8Array): boolean => tx.length === 2 && tx[0] !== 0
  return applicationOf({
    info: () => ({
      data: 'counter',
      lastBlockHeight: committed.height,
      lastBlockAppHash: committed.height === 0 ? new Uint8Array(0) : hash(committed.count),
    }),
    query: async () => ({ value: hash(committed.count), height: committed.height }),
    checkTx: ({ tx }) => (valid(tx) ? { gasWanted: 1 } : { code: 5, log: 'not a count' }),
    prepareProposal: ({ txs }) => ({ txs }),
    processProposal: async () => ({ status: ProposalStatus.accept }),
    finalizeBlock: ({ txs, height }) => {
      next = { height, count: committed.count + txs.filter(valid).length }
      return { txResults: txs.map((tx) => ({ code: valid(tx) ? 0 : 5 })), appHash: hash(next.count) }
    },
    beginBlock: ({ header: { height } }) => {
      next = { height, count: committed.count }
      return {}
    },
    deliverTx: ({ tx }) => {
      if (valid(tx)) next.count += 1
      return { code: valid(tx) ? 0 : 5 }
    },
    commit: async () => {
      Object.assign(committed, next)
      return { appHash: hash(committed.count), retainHeight: 0 }
    },
  })
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${rpc}/${path}`)
  return ((await response.json()) as { result: T }).result
}

async function untilHeight(height: number): Promise<void> {
  for (;;) {
    if (node?.exitCode !== null) throw new Error('the node has stopped')
    const status = await ask<{ sync_info: { latest_block_height: string } }>('status').catch(() => undefined)
    if (Number(status?.sync_info.latest_block_height ?? 0) >= height) return
    await pause(50)
  }
}

function startNode(): void {
  node = spawn(program, ['start', '--home', home], { stdio: 'ignore' })
}

async function stopNode(): Promise<void> {
  if (node === undefined || node.exitCode !== null) return
  node.kill('SIGTERM')
  await once(node, 'exit')
}

beforeAll(async () => {
  program = (await findCometBft()).path
  server = await serve(counter())
  execFileSync(program, ['init', '--home', home], { stdio: 'ignore' })
  const file = join(home, 'config/config.toml')
  const ports = await freePorts(2)
  rpc = `http://127.0.0.1:${ports[0]}`
  writeFileSync(
    file,
    readFileSync(file, 'utf8')
      .replace(/^proxy_app = .*/m, `proxy_app = "${server.address}"`)
      .replace('tcp://127.0.0.1:26657', `tcp://127.0.0.1:${ports[0]}`)
      .replace('tcp://0.0.0.0:26656', `tcp://127.0.0.1:${ports[1]}`)
      .replace(/^timeout_commit = .*/m, 'timeout_commit = "50ms"'),
  )
}, 30_000)

afterAll(async () => {
  await stopNode()
  await closeAll()
  rmSync(home, { recursive: true, force: true })
}, 30_000)

test('a CometBFT node drives an application: blocks, transactions, a query, and a second start of the node', async () => {
  startNode()
  await untilHeight(1)
  for (const tx of ['0x0101', '0x0102', '0x0103', '0x0104', '0x0105'])
    expect(await ask(`broadcast_tx_sync?tx=${tx}`)).toMatchObject({ code: 0 })
  expect(await ask('broadcast_tx_sync?tx=0x0001')).toMatchObject({ code: 5, log: 'not a count' })
  for (let count = ''; count !== 'AAAABQ=='; await pause(50)) {
    count = (await ask<{ response: { value: string } }>('abci_query?path="count"')).response.value
  }
  await stopNode()
  startNode()
  await untilHeight(6)
  expect(await ask('abci_info')).toMatchObject({ response: { data: 'counter', last_block_app_hash: 'AAAABQ==' } })
}, 60_000)
