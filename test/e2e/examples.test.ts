/**
 * The examples of @svcd/abci and the quick start of its README as programs of their own, driven by CometBFT's abci-cli
 * and by the CometBFT node under test.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ConnectedApplication, connectApplication, createTestChain } from '../../src/abci/testing/index.ts'
import { COMETBFT_VERSION, findCometBft } from '../../src/comet/find.ts'
import { abciCli } from '../../tools/testing/abciCli.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { tempFolder } from '../support/tempFolder.ts'
import {
  configure,
  linkPackage,
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

async function start(name: string): Promise<Started> {
  const example = await startExample(folder.path, name, socketOf(name))
  running.push(example)
  return example
}

const comet = await findCometBft()
const isLegacy = comet.version.startsWith('0.37.')
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
const hex = (text: string): string => `0x${Buffer.from(text).toString('hex')}`

test.each([
  // The last one is refused by CheckTx. `data` is read until it has the value.
  { name: 'kvstore', good: ['fruit=apple', 'tree=oak'], bad: 'fruit', data: 'tree', value: 'oak' },
  { name: 'counter', good: ['3', '2', '1'], bad: '0', data: '', value: '3' },
  { name: 'quickStart', good: ['a', 'b', 'c'], bad: '', data: '', value: '3' },
])('a node drives $name, and again after both have stopped', async ({ name, good, bad, data, value }) => {
  const home = join(folder.path, `${name}-home`)
  execFileSync(comet.path, ['init', '--home', home], { stdio: 'ignore' })
  const rpc = await configure(home)
  for (const txs of [good, []]) {
    const example = await start(name)
    const node = await startNode(comet.path, home, rpc, socketOf(name))
    running.push(node)
    for (const tx of txs) expect(await node.ask(`broadcast_tx_sync?tx=${hex(tx)}`)).toMatchObject({ code: 0 })
    // In memory: at the second start, all blocks have been sent again.
    for (;;) {
      const { response } = await node.ask<Query>(`abci_query?data=${hex(data)}`)
      if (response.value !== null && Buffer.from(response.value, 'base64').toString() === value) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(await node.ask(`broadcast_tx_sync?tx=${hex(bad)}`)).toMatchObject({ code: 1 })
    await node.stop()
    await example.stop()
  }
})

test.each([
  { name: 'kvstore', txOf: (number: number) => `key${number}=${number}` },
  { name: 'counter', txOf: (number: number) => String(number) },
  { name: 'quickStart', txOf: (number: number) => `tx ${number}` },
])(
  '$name meets the requirements of CometBFT: the test chain drives it over its socket, and starts it again',
  async ({ name, txOf }) => {
    const programs = new Map<number, Started>()
    const open = async (node: number): Promise<ConnectedApplication> => {
      const address = socketOf(`${name}-${node}`)
      programs.set(node, await startExample(folder.path, name, address))
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
        await new Promise((resolve) => setTimeout(resolve, 20))
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

describe('the commands of a page', () => {
  const samplesOf = (page: string): string =>
    examplesRunBy('test/e2e/examples.test.ts', page)
      .map(({ code }) => code)
      .join('\n')

  test.each([
    { name: 'kvstore', page: 'examples/kvstore/README.md', value: 'apple' },
    { name: 'counter', page: 'examples/counter/README.md', value: '2' },
    { name: 'quickStart', page: 'src/abci/README.md', value: '1' },
  ])('$page: curl sends transactions and reads $value', async ({ name, page, value }) => {
    const home = join(folder.path, `${name}-page`)
    execFileSync(comet.path, ['init', '--home', home], { stdio: 'ignore' })
    const rpc = await configure(home)
    const example = await start(name)
    const node = await startNode(comet.path, home, rpc, socketOf(name))
    running.push(node)
    const lines = samplesOf(page).match(/^curl .*$/gm) ?? []
    const answers = lines.map((line) => {
      const moved = line.replace('curl ', 'curl -s ').replace('http://127.0.0.1:26657', rpc)
      return JSON.parse(execFileSync('sh', ['-c', moved], { encoding: 'utf8' })) as { result: Partial<Query> }
    })
    expect(answers.length).toBeGreaterThan(1)
    expect(answers.filter((answer) => 'error' in answer)).toEqual([])
    expect(Buffer.from(answers.at(-1)?.result.response?.value ?? '', 'base64').toString()).toBe(value)
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
})
