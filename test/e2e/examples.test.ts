/**
 * The examples of @svcd/abci and the quick start of its README as programs of their own, driven by CometBFT's abci-cli
 * and by the CometBFT node under test.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
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
