/** `npm create @svcd` as its users get it: packed packages, an empty folder, a real node. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../bench/until.ts'
import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { serveRegistry } from '../../tools/packages/registry.ts'
import { abciCli } from '../../tools/testing/cometVersions.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { buildGoProgram } from '../support/goProgram.ts'
import { replay, transcriptOf } from './support/examples.ts'
import { packOnce } from './support/installed.ts'
import { allGone, descendantsOf, freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const checkout = join(import.meta.dirname, '../..')
const folder = testFolder()
const chain = join(folder, 'my-chain')
const verifier = join(folder, 'ics23')
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string }
const started: Program[] = []
let registry: Awaited<ReturnType<typeof serveRegistry>>
let env: NodeJS.ProcessEnv

/** Starts a program. Node alone, of the version that runs the tests, is on PATH. */
function start(cwd: string, command: string, args: readonly string[], more: NodeJS.ProcessEnv, detached = false) {
  const child = spawn(command, args, { cwd, env: { ...env, ...more }, detached, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (printed += text.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { pid: child.pid as number, printed: () => printed, ended }
}
type Program = ReturnType<typeof start>

/** What a program printed, and how it ended. */
async function run(cwd: string, command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const { printed, ended } = start(cwd, command, args, more)
  return { status: await ended, printed: printed() }
}

/** `npm run …` in the chain's folder; what the script printed, without its last newline. Throws when it fails. */
async function script(name: string, args: readonly string[] = [], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const { status, printed } = await run(chain, 'npm', ['run', '--silent', name, ...args], more)
  if (status !== 0) throw new Error(`npm run ${name}: ${printed}`)
  return printed.trimEnd()
}

/** Starts `npm run dev` in a process group of its own. */
function dev(args: readonly string[], more: NodeJS.ProcessEnv = {}): Program {
  const program = start(chain, 'npm', ['run', 'dev', '--', ...args], more, true)
  started.push(program)
  return program
}

/** Kills what is left of a program. */
function killGroup({ pid }: Program): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}

/** The process of main.ts below npm. */
const mainOf = (pid: number): number =>
  descendantsOf(pid).find(({ args }) => args.startsWith('node main.ts'))?.pid as number

/** The answer of a node's RPC, asked again until there is one that fits. Throws after 5 minutes. */
function untilAnswer<T>(rpc: string, path: string, fits: (result: T) => boolean) {
  let answer: { result?: T } | undefined
  const ask = async (): Promise<T | undefined> => {
    answer = await fetch(`${rpc}/${path}`)
      .then((response) => response.json() as Promise<{ result: T }>)
      .catch(() => undefined)
    return answer?.result !== undefined && fits(answer.result) ? answer.result : undefined
  }
  const printed = (): string => started.map((one) => one.printed().slice(-2000)).join('\n')
  return until(ask, 300_000, () => `${path}: ${JSON.stringify(answer)}\n${printed()}`, 100)
}

interface Status {
  readonly sync_info: { readonly latest_block_height: string; readonly earliest_block_height: string }
}
const reached = (rpc: string, height: number): Promise<Status> =>
  untilAnswer<Status>(rpc, 'status', ({ sync_info }) => Number(sync_info.latest_block_height) >= height)

beforeAll(async () => {
  packOnce()
  buildGoProgram(join(checkout, 'test/ics23'), verifier)
  registry = await serveRegistry(0)
  writeFileSync(join(folder, 'npmrc'), `@svcd:registry=${registry.url}\n`)
  env = {
    ...process.env,
    NODE_OPTIONS: '',
    NPM_CONFIG_USERCONFIG: join(folder, 'npmrc'),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  }
})

afterAll(async () => {
  registry.close()
  for (const program of started) killGroup(program)
  await Promise.all(started.map(({ ended }) => ended))
})

test('the pages of each package link to its own files, or to files of the repository', () => {
  const packed = globSync('.cache/packages/svcd-*.tgz', { cwd: checkout })
  expect(packed).toHaveLength(6)
  const found = { relative: 0, hosted: 0 }
  for (const tarball of packed) {
    const pages = join(folder, 'pages', tarball)
    mkdirSync(pages, { recursive: true })
    execFileSync('tar', ['-xzf', join(checkout, tarball), '-C', pages, '--exclude', 'package/node_modules'])
    const root = join(pages, 'package')
    for (const page of globSync('{*,docs/*}.md', { cwd: root })) {
      const text = readFileSync(join(root, page), 'utf8')
      const links = [...text.matchAll(/\]\((?!#)([^)#\s]+)/g)].map(([, link = '']) => link.replace('?raw=true', ''))
      const relative = links.filter((link) => !/^[a-z]+:/.test(link))
      expect(relative.filter((link) => link === page || !existsSync(join(root, page, '..', link)))).toEqual([])
      const hosted = `https://forge.example/me/svcd/blob/v${version}/`
      const paths = links.filter((link) => link.startsWith(hosted)).map((link) => link.slice(hosted.length))
      expect(paths.filter((path) => !existsSync(join(checkout, path)))).toEqual([])
      found.relative += relative.length
      found.hosted += paths.length
    }
  }
  expect(Math.min(found.relative, found.hosted)).toBeGreaterThan(0)
})

test('npm create writes ten files, at most 250 lines of code, the name and the version of its release; keys stay out of git', async () => {
  const { status, printed } = await run(folder, 'npm', ['create', '--yes', '@svcd', 'my-chain'])
  expect([status, printed]).toEqual([0, expect.stringContaining('cd my-chain')])
  expect(readFileSync(join(chain, '.gitignore'), 'utf8')).toBe('node_modules/\n/data*/\n*.key\n')
  const files = readdirSync(chain).filter((name) => name !== '.gitignore')
  expect(files).toHaveLength(10)
  const code = files.filter((name) => name.endsWith('.ts')).map((name) => readFileSync(join(chain, name), 'utf8'))
  expect(code.join('').split('\n').length - 1).toBeLessThanOrEqual(250)
  const manifest = JSON.parse(readFileSync(join(chain, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: 'my-chain', dependencies: { '@svcd/abci': `^${version}` } })
  expect(readFileSync(join(chain, 'README.md'), 'utf8')).toMatch(/^# my-chain\n/)
})

test.each([
  ['no name, and no terminal to ask on', [], 'create: expected a name: npm create @svcd my-chain'],
  [
    'a bad name',
    ['My Chain'],
    'create: a name has up to 50 lower-case letters, digits and -, a letter first, got "My Chain"',
  ],
  ['a folder that is not empty', ['full'], 'create: full is there already, and is no empty folder'],
  ['a file', ['file'], 'create: file is there already, and is no empty folder'],
])('npm create refuses %s in one line', (_, args, line) => {
  mkdirSync(join(folder, 'full/inner'), { recursive: true })
  writeFileSync(join(folder, 'file'), '')
  const program = join(checkout, '.cache/packages/create/create.js')
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8', env })
  expect([status, stderr]).toEqual([2, `${line}\n`])
})

/** The blocks of code of a page. */
const blocksOf = (page: string, info: string): readonly string[] =>
  examplesRunBy('test/e2e/create.test.ts', page)
    .filter((block) => block.info === info)
    .map(({ code }) => code)

test('the code on the page is that of the files', () => {
  const code = ['app.ts', 'app.test.ts'].map((name) => readFileSync(join(chain, name), 'utf8')).join('')
  const blocks = blocksOf('docs/own-chain.md', 'ts')
  expect(blocks.length).toBeGreaterThan(4)
  expect(blocks.filter((block) => !code.includes(block))).toEqual([])
})

// The commands that the tests here run one by one, with ports of their own.
test('the commands on the pages are those that are run here', () => {
  const run = [
    ['npm create @svcd my-chain', 'cd my-chain', 'npm install', 'npm test', 'npm run dev'],
    ['npm run tx register alice', 'npm run query alice', 'npm run tx key'],
    ['npm run dev -- --home data2 --port 26667 --join http://127.0.0.1:26657'],
  ].flat()
  for (const page of ['docs/own-chain.md', 'examples/names/README.md', 'src/create/README.md']) {
    const lines = blocksOf(page, 'sh').flatMap((block) => block.trim().split('\n'))
    expect(lines.filter((line) => !run.includes(line))).toEqual([])
  }
})

test('npm install brings CometBFT; its test and its types pass, and the test sees a fault', async () => {
  const { status, printed } = await run(chain, 'npm', ['install', '--no-fund'])
  expect([status, printed]).toEqual([0, expect.stringMatching(/added \d+ packages/)])
  // `make matrix` has nodes of other lines.
  const { SVCD_COMETBFT } = process.env
  const [program = ''] = globSync('node_modules/@svcd/cometbft-*/bin/cometbft', { cwd: chain })
  if (SVCD_COMETBFT !== undefined) copyFileSync(SVCD_COMETBFT, join(chain, program))
  expect(await script('test', ['--', '--test-reporter=tap'])).toMatch(/^# pass 1$/m)
  await script('check')
  const app = readFileSync(join(chain, 'app.ts'), 'utf8')
  // The fault that the page tells its readers to try.
  const page = readFileSync(join(checkout, 'docs/own-chain.md'), 'utf8')
  const [, fault = '', error = ''] = /write `(state\.put[^`]+)`[\s\S]*?`(Requirement [^`]+)`/.exec(page) ?? []
  const broken = app.replace(/(finalizeBlock: .*\n.*\n)/, `$1${fault}\n`)
  writeFileSync(join(chain, 'app.ts'), broken)
  const outcome = await run(chain, 'npm', ['test'])
  writeFileSync(join(chain, 'app.ts'), app)
  expect([fault === '', outcome.status, outcome.printed]).toEqual([false, 1, expect.stringContaining(error)])
})

test('abci-cli drives it', async () => {
  const [port] = await freePorts(1)
  const address = `tcp://127.0.0.1:${port}`
  const { pid, printed, ended } = dev(['--home', 'alone', '--abci', address])
  while (!printed().includes('listening on')) await sleep(20)
  const said = await replay(await abciCli(COMETBFT_VERSION), address, transcriptOf('names'))
  expect(said).toBe(transcriptOf('names'))
  process.kill(mainOf(pid), 'SIGTERM')
  expect(await ended).toBe(0)
})

test('a node makes blocks, survives kill -9 with its state, proves it to Go, and gives it to a second node', async () => {
  const [port, other] = (await freePorts(4)).filter((_, at) => at % 2 === 0) as [number, number]
  const [p2p, otherP2p] = await freePorts(2)
  const [rpc, second] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${other}`]
  const ask = { RPC: rpc }
  const args = ['--port', String(port)]
  const laddr = (at: number | undefined) => ({
    CMT_P2P_LADDR: `tcp://127.0.0.1:${at}`,
    // How long a transaction is waited for: 10 s may be too short on a busy machine.
    CMT_RPC_TIMEOUT_BROADCAST_TX_COMMIT: '300s',
  })

  const first = dev(args, { ...laddr(p2p), CMT_CONSENSUS_TIMEOUT_COMMIT: '10ms' })
  await reached(rpc, 2)
  expect(await script('tx', ['register', 'alice'], ask)).toMatch(/^in block \d+$/)
  expect(await script('tx', ['register', 'alice'], ask)).toMatch(/^refused with code 4/)
  const bob = (await script('tx', ['key'], { ...ask, KEY: 'bob.key' })).slice(-64)
  expect(await script('tx', ['transfer', 'alice', bob], ask)).toMatch(/^in block/)
  expect(await script('query', ['alice'], ask)).toBe(`proven: ${bob}`)
  expect(await script('query', ['carol'], ask)).toBe('proven: nobody has it')
  // A snapshot is made at 100. The node is slower afterwards, so that it stays.
  await reached(rpc, 102)
  const programs = descendantsOf(first.pid)
  process.kill(mainOf(first.pid), 'SIGKILL')
  // CometBFT then ends by itself. Where it was in the middle of a block it may wait for ever.
  await Promise.race([first.ended, sleep(5000)])
  killGroup(first)
  await first.ended
  await allGone(programs.map(({ pid }) => pid))

  const again = dev(args, laddr(p2p))
  const { sync_info: head } = await reached(rpc, 104)
  expect(await script('query', ['alice'], ask)).toBe(`proven: ${bob}`)
  await proveToGo(rpc, 'alice')

  const joining = dev(['--home', 'data2', '--port', String(other), '--join', rpc], laddr(otherP2p))
  // On a fast machine the snapshot is older than the transfer.
  const { sync_info } = await reached(second, Number(head.latest_block_height) + 2)
  expect(Number(sync_info.earliest_block_height)).toBeGreaterThan(100)
  expect(await script('query', ['alice'], { RPC: second })).toBe(`proven: ${bob}`)

  // A service manager ends npm alone; Ctrl-C reaches all of them.
  for (const [{ pid, ended }, target, signal] of [
    [joining, joining.pid, 'SIGTERM'],
    [again, -again.pid, 'SIGINT'],
  ] as const) {
    const all = descendantsOf(pid).map((one) => one.pid)
    expect(all.length).toBeGreaterThanOrEqual(2)
    process.kill(target, signal)
    await ended
    await allGone(all)
  }
})

interface Answer {
  readonly response: {
    readonly key: string
    readonly value: string
    readonly height: string
    readonly proofOps: { readonly ops: readonly { readonly data: string }[] }
  }
}
interface Commit {
  readonly signed_header: { readonly header: { readonly app_hash: string } }
}

/** Expects that Go's ics23 accepts the proof of a name, and refuses it for another value. */
async function proveToGo(rpc: string, name: string): Promise<void> {
  const { response } = await untilAnswer<Answer>(rpc, `abci_query?path="/names/${name}"&prove=true`, () => true)
  const next = Number(response.height) + 1
  const { signed_header } = await untilAnswer<Commit>(rpc, `commit?height=${next}`, () => true)
  const hex = (text = ''): string => Buffer.from(text, 'base64').toString('hex')
  const line = {
    root: signed_header.header.app_hash.toLowerCase(),
    key: hex(response.key),
    value: hex(response.value),
    proof: hex(response.proofOps.ops[0]?.data),
    expect: 'ok',
  }
  const lines = [line, { ...line, value: `${line.value}00`, expect: 'refused' }]
  const input = lines.map((one) => JSON.stringify(one)).join('\n')
  const { status, stdout } = spawnSync(verifier, { input, encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, 'ok\nrefused\n'])
}
