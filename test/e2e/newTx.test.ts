import { execFile } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { newQuery } from '../../tools/new-query.ts'
import { newTx } from '../../tools/new-tx.ts'
import { tempFolder } from '../support/tempFolder.ts'

const project = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Calls what was generated on a devnet, and prints the answers. */
const CALLS = `
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startDevnet } from './src/cli/devnet/startDevnet.ts'
import { Svc } from './src/client/index.ts'
import { recordExamples } from './tools/record-examples.ts'
const devnet = await startDevnet({ fast: true })
const call = async (method, params) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(devnet.url, { method: 'POST', headers, body })).json()
}
const svcd = async (...args) => (await promisify(execFile)(process.execPath, ['src/cli/svcd.js', ...args])).stdout
try {
  const from = devnet.accounts[0].address
  const burned = await call('svc_burn', { from, value: '7' })
  const proposed = await call('svc_proposeRaiseLimit', { from, value: 'seven' })
  const proposalId = proposed.result?.deliver_tx.data
  const voted = await call('svc_vote', { from, proposalId, answer: 'Y' })
  const found = await call('svc_queryProposal', { proposalId })
  const asked = await call('svc_queryRichest', { limit: 2 })
  const refused = await call('svc_queryRichest', { limit: 'x' })
  const byClient = await new Svc(devnet.url).async.queryRichest({ limit: 2 })
  const byCommand = JSON.parse(await svcd('query', 'richest', '--limit', '2', '--gateway', devnet.url, '--json'))
  const balances = await Promise.all(
    byClient.data.map(async ({ address }) => (await call('svc_getBalance', { address })).result),
  )
  const examples = await recordExamples(devnet)
  console.log(
    JSON.stringify({ burned, proposed, voted, found, asked, refused, byClient, byCommand, balances, examples }),
  )
} finally {
  await devnet.close()
}
`

/** Compiles only when the client's function takes the query's field and its answer has the members of the result. */
const TYPES = `
import { Svc } from './src/client/index.ts'
const { async: client } = new Svc('http://127.0.0.1:1')
export const one = async (): Promise<string | undefined> => (await client.queryRichest(1)).data[0]?.balance
// @ts-expect-error: a row has no such member
export const noMember = async (): Promise<unknown> => (await client.queryRichest()).data[0]?.nonce
// @ts-expect-error: there is no such field
export const noField = (): Promise<unknown> => client.queryRichest({ most: 1 })
`

test('what the generators write compiles, passes its tests and answers; the project stays as it is', async () => {
  const messages = readFileSync(join(project, 'proto/svc/tx.proto'), 'utf8')
  const { path: root, remove } = tempFolder('skeletons')
  const node = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 2 ** 25 }))
      .stdout
  try {
    for (const part of [
      ...['src', 'proto', 'tools', 'test', 'cometbft-config'],
      ...['package.json', 'tsconfig.json', 'jest.config.js'],
    ])
      cpSync(join(project, part), join(root, part), { recursive: true })
    for (const shared of ['node_modules', '.cache']) symlinkSync(join(project, shared), join(root, shared))
    const proposal = /^Wrote (.*)\.$/m.exec(await node('tools/new-proposal.ts', 'raiseLimit'))?.[1]?.split(', ') ?? []
    const written = [...newTx(root, 'accounts', 'burn'), ...proposal, ...newQuery(root, 'accounts', 'richest')]
    await node('tools/gen.ts')
    // The page's project: its compiler demands what the page says of each operation.
    await node('node_modules/typescript/bin/tsc', '-p', 'src/dashboard')
    const tests = written.filter((path) => /^test\/modules\/.*\.test\.ts$/.test(path))
    expect(tests).toHaveLength(3)
    writeFileSync(join(root, 'types.ts'), TYPES)
    const config = { extends: './tsconfig.json', include: [], files: [...tests, 'types.ts'] }
    writeFileSync(join(root, 'tsconfig.skeletons.json'), JSON.stringify(config))
    await node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.skeletons.json')
    // Beside the tests that were written, those that compare the page and the lists of methods with the registry.
    const compare = ['test/dashboard/words', 'test/modules/registry', 'test/gateway/methods']
    expect(await node('tools/test.ts', ...tests, ...compare)).toMatch(/\n[1-9][0-9]* passed, 0 failed, 0 skipped\n$/)
    writeFileSync(join(root, 'calls.ts'), CALLS)
    const answers = JSON.parse(await node('calls.ts'))
    const { burned, proposed, voted, found } = answers
    expect(burned.result).toMatchObject({ height: expect.any(Number), deliver_tx: { gasUsed: '21000' } })
    expect(burned.result.height).toBeGreaterThan(0)
    expect(proposed.result.deliver_tx.data).toHaveLength(44)
    expect(voted.result.height).toBeGreaterThan(0)
    expect(found.result.data).toMatchObject({ Type: 'raise_limit', Result: 'Approved', Detail: { value: 'seven' } })
    const { asked, refused, byClient, byCommand, balances, examples } = answers
    expect(asked.result).toEqual({ height: expect.any(Number), data: [expect.anything(), expect.anything()] })
    expect(asked.result.data.map(({ balance }: { balance: string }) => balance)).toEqual(balances)
    // Blocks of this devnet wait for transactions, so all of them read the same head.
    expect([byClient, byCommand]).toEqual([asked.result, asked.result])
    expect(refused.error).toEqual({
      code: -32602,
      message: expect.stringMatching(/^limit: expected an integer of 0 to .*, got "x"$/),
    })
    expect(['svc_burn', 'svc_proposeRaiseLimit', 'svc_queryRichest'].map((method) => examples[method]?.params)).toEqual(
      [{ from: expect.any(String), value: '1' }, { from: expect.any(String), value: 'text' }, { limit: 2 }],
    )
  } finally {
    remove()
  }
  expect(existsSync(join(project, 'src/modules/accounts/tx/burn.ts'))).toBe(false)
  expect(existsSync(join(project, 'src/modules/accounts/queries/richest.ts'))).toBe(false)
  expect(readFileSync(join(project, 'proto/svc/tx.proto'), 'utf8')).toBe(messages)
})
