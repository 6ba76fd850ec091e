/** OpenRPC's own tools on the document of a gateway: its meta-schema, generated types, and every method called by it. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import type { Devnet } from '../../src/cli/devnet/startDevnet.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { type Examples, recordExamples } from '../../tools/record-examples.ts'
import { startDevnet } from './support/recordedDevnet.ts'
import { testFolder } from './support/testFolder.ts'
import { installPackages } from './support/userTools.ts'

const root = join(import.meta.dirname, '../..')
const tools = join(root, 'test/openrpc')

interface Described {
  readonly name: string
  readonly tags: readonly { readonly name: string }[]
  readonly params: readonly { readonly name: string }[]
  readonly examples: readonly object[]
}

interface Document {
  readonly servers: readonly { readonly url: string }[]
  readonly methods: readonly Described[]
}

/** A call of test-coverage, and whether its answer was as the document says. */
interface CoveredCall {
  readonly methodName: string
  readonly valid: boolean
  readonly reason?: string
}

let devnet: Devnet | undefined
let document: Document
const folder = testFolder(async () => devnet?.close())

/** Runs a program of Node in the folder of the tools; returns what it printed. */
const run = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, {
    cwd: tools,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
    maxBuffer: 2 ** 26,
  })

/** The document with the examples of this chain, whose accounts and transactions the calls name. */
function withExamples(given: Document, examples: Examples): Document {
  const methodsWith = given.methods.map((method) => {
    const { params = {}, result } = examples[method.name] ?? {}
    const names = method.params.map(({ name }) => name).filter((name) => name in params)
    const values = names.map((name) => ({ name, value: params[name] }))
    return { ...method, examples: [{ name: 'now', params: values, result: { name: 'result', value: result } }] }
  })
  return { ...given, methods: methodsWith }
}

beforeAll(async () => {
  installPackages(tools)
  devnet = await startDevnet({ fast: true })
  document = (await (await fetch(`${devnet.url}/openrpc.json`)).json()) as Document
  writeFileSync(join(folder, 'openrpc.json'), JSON.stringify(document))
})

test('schema-utils accepts the document, which says where it was asked for', () => {
  const read = `require('@open-rpc/schema-utils-js').parseOpenRPCDocument(process.argv[1]).then(
    ({ methods }) => console.log(methods.length), (error) => console.log(String(error)))`
  expect(run('-e', read, join(folder, 'openrpc.json')).trim()).toBe(String(document.methods.length))
  expect(document.servers.map(({ url }) => url)).toEqual([`${devnet?.url}/`])
})

test('the generator of types makes TypeScript of it, with a function for each method', () => {
  const cli = join(tools, 'node_modules/@open-rpc/typings/build/cli.js')
  expect(run(cli, '--document', `${devnet?.url}/openrpc.json`, '--output-ts', folder)).toContain('Done!')
  writeFileSync(
    join(folder, 'use.ts'),
    `import type { EthChainId, SvcQueryValidators, SvcTransfer, SvcVote, Validator } from './index.ts'
const parameters: Parameters<SvcTransfer> = ['0x00', '0x01', 7, undefined]
// @ts-expect-error: an answer is a string
const answer: Parameters<SvcVote>[2] = 7
const first = async (query: SvcQueryValidators): Promise<Validator | undefined> => (await query()).data[0]
const power = (validator: Validator): number => validator.voting_power
// @ts-expect-error: a validator has no such member
const none = (validator: Validator): unknown => validator.power
const chain: EthChainId = async () => '0x1'
export { answer, chain, first, none, parameters, power }
`,
  )
  const compilerOptions = {
    noEmit: true,
    strict: true,
    allowImportingTsExtensions: true,
    module: 'nodenext',
    types: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
  expect(run(join(root, 'node_modules/typescript/bin/tsc'), '-p', folder)).toBe('')
})

test('test-coverage calls every method with its example, and each answers as the document says', async () => {
  const path = join(folder, 'recorded.json')
  writeFileSync(path, JSON.stringify(withExamples(document, await recordExamples(devnet as Devnet))))
  const overSocket = document.methods.filter(({ tags }) => tags.some(({ name }) => name === 'websocket'))
  const skip = overSocket.map(({ name }) => name)
  const cli = join(tools, 'node_modules/@open-rpc/test-coverage/bin/cli.js')
  const calls = JSON.parse(run(cli, '-s', path, '-r', 'json', '--skip', skip.join())) as readonly CoveredCall[]
  expect(calls.filter(({ valid }) => !valid).map(({ methodName, reason }) => `${methodName}: ${reason}`)).toEqual([])
  const called = new Set(calls.map(({ methodName }) => methodName))
  const known = methods.map(({ name }) => name).filter((name) => name !== 'rpc.discover')
  expect(known.filter((name) => !called.has(name))).toEqual(skip)
})
