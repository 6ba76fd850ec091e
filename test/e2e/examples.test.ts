/**
 * The examples of @svcd/abci and the quick start of its README as programs of their own, driven by CometBFT's abci-cli
 * and by the CometBFT node under test.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ConnectedApplication, connectApplication, createTestChain } from '../../src/abci/testing/index.ts'
import { ProposalStatus } from '../../src/abci/types.ts'
import { COMETBFT_VERSION, findCometBft } from '../../src/comet/find.ts'
import { abciCli } from '../../tools/testing/cometVersions.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { tempFolder } from '../support/tempFolder.ts'
import {
  configure,
  linkPackage,
  type Node,
  replay,
  type Started,
  startExample,
  startNode,
  startProgram,
  transcriptOf,
  writeExamples,
} from './support/examples.ts'

const folder = tempFolder('examples')
const running: Started[] = []
const socketOf = (name: string): string => `unix://${folder.path}/${name}.sock`

async function start(name: string, cwd?: string): Promise<Started> {
  const example = await startExample(folder.path, name, socketOf(name), undefined, undefined, cwd)
  running.push(example)
  return example
}

const comet = await findCometBft()
const isLegacy = comet.version.startsWith('0.37.')
// Whether it can leave the mempool to the application, as 0.40 of `make matrix` can: that one says it is 0.39.0. The
// socket client of 0.39.4 does not know the answer to ReapTxs, and the node exits.
execFileSync(comet.path, ['init', '--home', join(folder.path, 'proposer')], { stdio: 'ignore' })
const leavesMempool =
  comet.version !== '0.39.4' &&
  readFileSync(join(folder.path, 'proposer/config/config.toml'), 'utf8').includes('\nreap_interval')
beforeAll(async () => {
  linkPackage(folder.path)
  writeExamples(folder.path)
  if (isLegacy) await abciCli('0.37.18')
})

afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()))
  folder.remove()
})

describe("abci-cli, CometBFT's own client", () => {
  const current = ['quickStart', 'kvstore', 'counter'].map((name) => [name, COMETBFT_VERSION, name] as const)
  // The one of 0.37 has no command for the begin and the end of a block. `make matrix` drives the examples with it too.
  const legacy = [['kvstore', '0.37.18', 'kvstore-0.37']] as const
  test.each([...current, ...(isLegacy ? legacy : [])])('drives %s (%s)', async (name, version, transcript) => {
    const example = await start(name)
    const expected = transcriptOf(transcript)
    expect(await replay(await abciCli(version), socketOf(name), expected)).toBe(expected)
    await example.stop()
    expect(example.child.exitCode).toBe(0)
  })
})

interface Query {
  readonly response: { readonly code: number; readonly value: string | null; readonly height: string }
}
interface Status {
  readonly node_info: { readonly id: string; readonly listen_addr: string }
  readonly sync_info: { readonly catching_up: boolean }
}

/** Resolves when a query for `data` answers with `value`. */
async function shows(node: Node, data: string, value: string): Promise<void> {
  for (;;) {
    const { response } = await node.ask<Query>(`abci_query?data=${hex(data)}`)
    if (response.value !== null && Buffer.from(response.value, 'base64').toString() === value) return
    await sleep(20)
  }
}

const hex = (text: string): string => `0x${Buffer.from(text).toString('hex')}`

/** The blocks of code of a page that this file runs. */
const samplesOf = (page: string): string =>
  examplesRunBy('test/e2e/examples.test.ts', page)
    .map(({ code }) => code)
    .join('\n')

/** Runs the curl commands of a page, which must all succeed; the value that the last one reads. */
function curlOf(page: string, rpc: string): string {
  const lines = samplesOf(page).match(/^curl .*$/gm) ?? []
  const answers = lines.map((line) => {
    const moved = line.replace('curl ', 'curl -s ').replace('http://127.0.0.1:26657', rpc)
    return JSON.parse(execFileSync('sh', ['-c', moved], { encoding: 'utf8' })) as { result: Partial<Query> }
  })
  expect(answers.length).toBeGreaterThan(1)
  expect(answers.filter((answer) => 'error' in answer)).toEqual([])
  return Buffer.from(answers.at(-1)?.result.response?.value ?? '', 'base64').toString()
}

test.each([
  // The commands of `page` read `shown`. `bad` is refused by CheckTx. `data` is read until it has the value.
  {
    name: 'kvstore',
    page: 'examples/kvstore/README.md',
    shown: 'apple',
    good: ['tree=oak'],
    bad: 'fruit',
    data: 'tree',
    value: 'oak',
  },
  { name: 'counter', page: 'examples/counter/README.md', shown: '2', good: ['4', '3'], bad: '0', data: '', value: '4' },
  { name: 'quickStart', page: 'src/abci/README.md', shown: '1', good: ['a', 'b'], bad: '', data: '', value: '3' },
])('a node drives $name, as $page says, and again after both have stopped', async (example) => {
  const { name, page, shown, good, bad, data, value } = example
  const home = join(folder.path, `${name}-home`)
  execFileSync(comet.path, ['init', '--home', home], { stdio: 'ignore' })
  const rpc = await configure(home)
  for (const txs of [good, []]) {
    const program = await start(name, home)
    const node = await startNode(comet.path, home, rpc, socketOf(name))
    running.push(node)
    if (txs === good) expect(curlOf(page, rpc)).toBe(shown)
    for (const tx of txs) expect(await node.ask(`broadcast_tx_sync?tx=${hex(tx)}`)).toMatchObject({ code: 0 })
    await shows(node, data, value)
    expect(await node.ask(`broadcast_tx_sync?tx=${hex(bad)}`)).toMatchObject({ code: 1 })
    await node.stop()
    await program.stop()
  }
  // The quick start goes on with its file. The others were sent all blocks again.
  expect(existsSync(join(home, 'count.json'))).toBe(name === 'quickStart')
  if (name !== 'quickStart') return
  const program = await start(name, home)
  const application = await connectApplication(socketOf(name))
  expect(
    (await application.info?.({ version: '', blockVersion: 0, p2pVersion: 0, abciVersion: '' }))?.lastBlockHeight,
  ).toBeGreaterThan(0)
  application.close()
  await program.stop()
})

test.each([
  { name: 'kvstore', txOf: (number: number) => `key${number}=${number}` },
  { name: 'counter', txOf: (number: number) => String(number) },
  { name: 'mempool', txOf: (number: number) => `${number % 5}:key${number}=${number}` },
  { name: 'quickStart', txOf: (number: number) => `tx ${number}` },
])(
  '$name meets the requirements of CometBFT: the test chain drives it over its socket, and starts it again',
  async ({ name, txOf }) => {
    const programs = new Map<number, Started>()
    const open = async (node: number): Promise<ConnectedApplication> => {
      const address = socketOf(`${name}-${node}`)
      const cwd = join(folder.path, `${name}-${node}`)
      mkdirSync(cwd, { recursive: true })
      programs.set(node, await startExample(folder.path, name, address, undefined, undefined, cwd))
      return connectApplication(address)
    }
    const close = async (application: ConnectedApplication, node: number): Promise<void> => {
      application.close()
      await programs.get(node)?.stop()
    }
    const chain = await createTestChain(open, { close, restarts: 100, queries: [{ path: '/' }] })
    let sent = 0
    await chain.run(12, (next) => Array.from({ length: next(4) }, () => Buffer.from(txOf(++sent))))
    await chain.restart(0)
    expect([chain.height, chain.mempool.length]).toEqual([12, 0])
    await chain.close()
  },
)

test('mempool fills blocks by bid, hands each transaction on once, and votes for no other order', async () => {
  const example = await start('mempool')
  const application = await connectApplication(socketOf('mempool'))
  const txs = ['2:a=1', '9:b=1', '9:c=1', '10:d=1'].map((text) => Buffer.from(text))
  const order = ['10:d=1', '9:b=1', '9:c=1', '2:a=1']
  const textsOf = ({ txs = [] }: { txs?: readonly Uint8Array[] } = {}) => txs.map((tx) => Buffer.from(tx).toString())
  for (const [at, tx] of txs.entries())
    expect(await (at < 2 ? application.insertTx?.({ tx }) : application.checkTx?.({ tx, type: 0 }))).toMatchObject({
      code: 0,
    })
  const reap = async (maxBytes: number) => textsOf(await application.reapTxs?.({ maxBytes, maxGas: 0 }))
  expect([await reap(12), await reap(0), await reap(0)]).toEqual([order.slice(0, 2), order.slice(2), []])
  const nothing = new Uint8Array(0)
  const block = { height: 1, time: { seconds: 1, nanos: 0 }, nextValidatorsHash: nothing, proposerAddress: nothing }
  const votes = { round: 0, votes: [] }
  const propose = async (maxTxBytes: number) =>
    textsOf(
      await application.prepareProposal?.({ ...block, maxTxBytes, txs: [], misbehavior: [], localLastCommit: votes }),
    )
  expect([await propose(24), await propose(1000)]).toEqual([order.slice(0, 3), order])
  const judge = async (texts: readonly string[]) => {
    const proposed = { ...block, txs: texts.map((text) => Buffer.from(text)), misbehavior: [], hash: nothing }
    return (await application.processProposal?.({ ...proposed, proposedLastCommit: votes }))?.status
  }
  const { accept, reject } = ProposalStatus
  expect([await judge(order), await judge([]), await judge(order.toReversed())]).toEqual([accept, accept, reject])
  application.close()
  await example.stop()
})

if (leavesMempool)
  test('examples/mempool/README.md: what one node receives, the other one proposes', async () => {
    const page = readFileSync('examples/mempool/README.md', 'utf8')
    const [, type] = /CMT_MEMPOOL_TYPE=(\w+) cometbft start/.exec(page) ?? []
    execFileSync(comet.path, ['init', '--home', join(folder.path, 'follower')], { stdio: 'ignore' })
    const [genesis, copy] = ['proposer', 'follower'].map((name) => join(folder.path, name, 'config/genesis.json'))
    copyFileSync(genesis as string, copy as string)
    const nodes: Node[] = []
    let peer = ''
    for (const name of ['proposer', 'follower']) {
      const home = join(folder.path, name)
      const address = socketOf(name)
      running.push(await startExample(folder.path, 'mempool', address))
      const settings = { CMT_MEMPOOL_TYPE: type, CMT_P2P_PERSISTENT_PEERS: peer, CMT_P2P_ADDR_BOOK_STRICT: 'false' }
      const node = await startNode(comet.path, home, await configure(home), address, settings)
      running.push(node)
      nodes.push(node)
      const { node_info } = await node.ask<Status>('status')
      peer = `${node_info.id}@${node_info.listen_addr.replace('tcp://', '')}`
    }
    const [proposer, follower] = nodes as [Node, Node]
    // Until it has all blocks, a node takes no transactions.
    while ((await follower.ask<Status>('status')).sync_info.catching_up) await sleep(20)
    expect(await follower.ask(`broadcast_tx_sync?tx=${hex('7:tree=oak')}`)).toMatchObject({ code: 0 })
    await shows(proposer, 'tree', 'oak')
    await shows(follower, 'tree', 'oak')
    expect(await follower.ask(`broadcast_tx_sync?tx=${hex('tree=oak')}`)).toMatchObject({ code: 1 })
  })

describe("CometBFT's own kvstore, in Go, is caught by the test chain", () => {
  /** The error of a chain on it, with some transactions or with none. */
  async function caught(txs: readonly Uint8Array[]): Promise<unknown> {
    const cli = await abciCli(COMETBFT_VERSION)
    const open = async (node: number): Promise<ConnectedApplication> => {
      const address = socketOf(`go${txs.length}-${node}`)
      const program = startProgram(cli, ['kvstore', '--address', address])
      running.push(program)
      while (program.child.exitCode === null) {
        const application = await connectApplication(address).catch(() => undefined)
        if (application !== undefined) return application
        await sleep(20)
      }
      throw new Error('abci-cli has stopped')
    }
    const run = async (): Promise<void> => {
      const chain = await createTestChain(open, { restarts: 0, rounds: 8 })
      await chain.run(4, () => txs)
    }
    return run().catch((error: unknown) => error)
  }

  test('it proposes more than maxTxBytes', async () => {
    expect(await caught([Buffer.from('a=b'), Buffer.from('c=d')])).toMatchObject({ requirement: 2 })
  })

  test('its Info reports a block before Commit', async () => {
    expect(await caught([])).toMatchObject({
      requirement: 'Crash Recovery',
      message: expect.stringContaining('reports block 1, and the last Commit was that of block 0'),
    })
  })
})

test('examples/mempool/README.md: curl sends transactions and reads oak', async () => {
  const home = join(folder.path, 'mempool-page')
  execFileSync(comet.path, ['init', '--home', home], { stdio: 'ignore' })
  const rpc = await configure(home)
  const example = await start('mempool')
  const node = await startNode(comet.path, home, rpc, socketOf('mempool'))
  running.push(node)
  expect(curlOf('examples/mempool/README.md', rpc)).toBe('oak')
  await node.stop()
  await example.stop()
})

test("examples/kvstore/README.md: abci-cli's console", async () => {
  const example = await start('kvstore')
  const said = await replay(
    await abciCli(COMETBFT_VERSION),
    socketOf('kvstore'),
    samplesOf('examples/kvstore/README.md'),
  )
  expect(said).toMatch(/^-> value: apple$/m)
  await example.stop()
})
