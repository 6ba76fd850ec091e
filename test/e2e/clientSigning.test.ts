import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { Web3 } from 'web3'
import { Svc } from '../../src/client/index.ts'
import { SvcPlugin } from '../../src/client/web3Plugin.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { type Devnet, makePlace, startDevnet } from './support/devnet.ts'
import { startLight } from './support/light.ts'
import { freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(() => net.stop())
const CLIENT = new URL('../../src/client/index.ts', import.meta.url).href
const EACH = 500
const nobody = (digit: number): string => `0x${String(digit).repeat(40)}`
let net: Devnet

beforeAll(async () => {
  net = await startDevnet(await makePlace(folder), ['--os', 'ubuntu'])
})

/** Runs a program of its own to its end; what it printed. Throws with all it said when it fails. */
async function runProgram(name: string, source: string): Promise<string> {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, source)
  const running = promisify(execFile)(process.execPath, [file], { env: { ...process.env, NODE_OPTIONS: '' } })
  // What it said on stderr is in the message.
  const { stdout } = await running.catch(({ message, stdout: said }: Error & { readonly stdout: string }) => {
    throw new Error(`${name}: ${message}\n${said}`)
  })
  return stdout
}

describe('local signing', () => {
  test(`two processes that share a key commit ${EACH} transfers each, none twice`, async () => {
    const source = (value: number): string => `
      import { Svc } from '${CLIENT}'
      const svc = new Svc('${net.url}')
      const from = svc.accounts.add('${PUBLIC_MNEMONIC}', 2)
      const sent = Array.from({ length: ${EACH} }, () => svc.async.transfer({ from, to: '${nobody(2)}', value: ${value} }))
      console.log(JSON.stringify((await Promise.all(sent)).map(({ hash }) => hash)))
    `
    const said = await Promise.all([runProgram('one', source(1)), runProgram('other', source(1000))])
    const hashes = said.flatMap((text) => JSON.parse(text) as string[])
    expect(new Set(hashes).size).toBe(2 * EACH)
    const svc = new Svc(net.url)
    expect(await svc.async.getBalance(nobody(2))).toBe(String(1001 * EACH))
    expect(await svc.async.getTransactionCount(svc.accounts.add(PUBLIC_MNEMONIC, 2))).toBe(2 * EACH)
  })

  test('the gateway never sees the key: it signs for none of these accounts, and still they act', async () => {
    const svc = new Svc(net.url)
    const fresh = svc.accounts.add('42'.repeat(32))
    const rich = svc.accounts.add(PUBLIC_MNEMONIC, 3)
    await svc.async.transfer({ from: rich, to: fresh, value: Svc.fromTokens('1') })
    expect(svc.transfer({ from: fresh, to: nobody(3), value: 5n }).height).toBeGreaterThan(0)
    expect(await svc.async.getAccounts()).not.toContain(fresh)
    await expect(new Svc(net.url).async.transfer({ from: fresh, to: nobody(3), value: 5n })).rejects.toMatchObject({
      code: -32010,
    })
  })
})

test('waitForTx resolves with the result object of a committed transaction and rejects when a hash stays unknown', async () => {
  const svc = new Svc(net.url)
  const result = await svc.async.transfer({ from: svc.accounts.add(PUBLIC_MNEMONIC, 6), to: nobody(6), value: 1 })
  expect(await svc.async.waitForTx(result.hash)).toEqual(result)
  await expect(svc.async.waitForTx('0'.repeat(64), { timeoutMs: 1 })).rejects.toMatchObject({
    name: 'SvcRpcError',
    code: -32012,
  })
  await expect(svc.async.waitForTx('0'.repeat(64), { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
})

test('every example of docs/client.md runs, in the order in which it stands there', async () => {
  const blocks = examplesRunBy('test/e2e/clientSigning.test.ts').filter(({ info }) => info !== 'ts')
  expect(blocks.length).toBeGreaterThan(30)
  const inBraces = (code: string, at: number): string => `{\n${code}\nconsole.log('done ${at}')\n}\n`
  const light = await startLight(net.node.url, join(folder, 'light'))
  const source = blocks
    .map(({ info, code }, at) => (info === 'js shared' ? code : inBraces(code, at)))
    .join('\n')
    .replaceAll("'@svcd/client'", `'${CLIENT}'`)
    .replaceAll(/import\('(viem\/accounts|ethers)'\)/g, (_, name: string) => `import('${import.meta.resolve(name)}')`)
    .replaceAll('http://127.0.0.1:8545', net.url)
    .replaceAll('http://127.0.0.1:8888', light.url)
    .replace('127.0.0.1:8544', `127.0.0.1:${(await freePorts(1))[0]}`)
  const said = await runProgram('docs', source).finally(() => light.stop())
  const inner = blocks.flatMap(({ info }, at) => (info === 'js shared' ? [] : [`done ${at}`]))
  expect(said.split('\n').filter((line) => line.startsWith('done '))).toEqual(inner)
})

test('the example of docs/client.md with web3.js runs', async () => {
  const [sample] = examplesRunBy('test/e2e/clientSigning.test.ts').filter(({ info }) => info === 'ts')
  const source = sample?.code
    .replace("'web3'", `'${import.meta.resolve('web3')}'`)
    .replace("'@svcd/client/web3-plugin'", `'${new URL('web3Plugin.ts', CLIENT).href}'`)
    .replace('http://127.0.0.1:8545', net.url)
  expect(await runProgram('web3', source ?? '')).toMatch(/^null \{\n? *height: \d+/)
})

test('web3.registerPlugin gives web3.svc the same functions', async () => {
  const web3 = new Web3(net.url)
  // What web3, ethers and viem ask for when they connect.
  const id = await web3.eth.getChainId()
  expect(id).toBeGreaterThan(0n)
  expect(await web3.eth.net.getId()).toBe(id)
  expect(await web3.eth.getNodeInfo()).toMatch(/^svcd\/v/)
  web3.registerPlugin(new SvcPlugin())
  web3.svc.defaultAccount = web3.svc.accounts.add(PUBLIC_MNEMONIC, 7)
  const to = nobody(7)
  const results = await Promise.all(Array.from({ length: 60 }, () => web3.svc.async.transfer({ to, value: 1n })))
  expect(new Set(results.map(({ hash }) => hash)).size).toBe(60)
  expect(web3.svc.transfer({ to, value: 1n }).height).toBeGreaterThan(0)
  const refused = await new Promise((done) => {
    web3.svc.transfer({ to, value: 0n }, done)
  })
  expect(refused).toMatchObject({ height: 0, check_tx: { code: 20 } })
  await expect(web3.svc.async.getBalance('x')).rejects.toMatchObject({ name: 'SvcRpcError', code: -32602 })
  expect(() => web3.registerPlugin(new SvcPlugin())).toThrow('already been registered')
})
