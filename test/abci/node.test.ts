/** `startNode` with a stub of CometBFT, and a server in place of the node that it joins. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../bench/until.ts'
import { type CometNode, type NodeOptions, startNode } from '../../src/abci/node/index.ts'
import { stopChild } from '../../src/base/stopChild.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** `init` makes a home as CometBFT does; `start` writes its environment into the home and runs until it is ended. */
const PROGRAM = `#!/bin/sh
if [ "$1" = init ]; then
  mkdir -p "$3/config"
  [ -e "$3/config/config.toml" ] || echo '[p2p]
persistent_peers = ""' > "$3/config/config.toml"
  [ ! -e "$3/config/node_key.json" ] || [ -s "$3/config/node_key.json" ] || exit 1
  [ ! -e "$3/config/priv_validator_key.json" ] || [ -e "$3/data/priv_validator_state.json" ] || exit 1
  [ -e "$3/config/genesis.json" ] || echo '{"chain_id":"invented"}' > "$3/config/genesis.json"
else
  env > "$3/env.new"
  mv "$3/env.new" "$3/env"
  exec sleep 600
fi
`

const statusOf = (id: string, listen_addr = 'tcp://0.0.0.0:26656') => ({
  result: {
    node_info: { id, listen_addr },
    sync_info: { latest_block_height: '7', latest_block_hash: 'CD34' },
  },
})

const ANSWERS: Readonly<Record<string, object>> = {
  '/genesis': { result: { genesis: { chain_id: 'joined' } } },
  '/status': statusOf('ab12'),
}

const PEER = 'ab12@127.0.0.1:26656'

let folder: string
let remove: () => void
let home: string
let program: string
let answers: Record<string, object | undefined>
let peer: Awaited<ReturnType<typeof serveCalls>>
let node: CometNode | undefined

beforeEach(async () => {
  ;({ path: folder, remove } = tempFolder('node'))
  home = join(folder, 'home')
  program = join(folder, 'cometbft')
  writeFileSync(program, PROGRAM)
  chmodSync(program, 0o755)
  answers = { ...ANSWERS }
  peer = await serveCalls((_call, { url = '' }) => answers[url])
})
afterEach(async () => {
  await stop()
  await peer.close()
  remove()
})

async function stop(): Promise<void> {
  await node?.stop()
  node = undefined
}

const genesis = (): unknown => JSON.parse(readFileSync(join(home, 'config/genesis.json'), 'utf8'))

/** Starts the node, stops it, and returns the environment in which it ran. */
async function environment(options: Partial<NodeOptions> = {}): Promise<NodeJS.ProcessEnv> {
  const file = join(home, 'env')
  rmSync(file, { force: true })
  node = await startNode({ home, proxyApp: 'tcp://127.0.0.1:26658', program, ...options })
  await until(() => existsSync(file), 60_000)
  await stop()
  const lines = readFileSync(file, 'utf8').split('\n')
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
}

test('a new home begins its own chain, and an existing one is not changed', async () => {
  expect(await environment({ chainId: 'mine' })).toMatchObject({ CMT_RPC_LADDR: 'tcp://127.0.0.1:26657' })
  expect(genesis()).toEqual({ chain_id: 'mine' })
  // Windows has no such modes.
  expect(process.platform === 'win32' ? 0 : statSync(home).mode & 0o077).toBe(0)
  await environment({ chainId: 'other', join: peer.url })
  expect(genesis()).toEqual({ chain_id: 'mine' })
})

test('a node that joins needs its peer the first time, and no later', async () => {
  const rpc = peer.url
  const settings = {
    CMT_P2P_PERSISTENT_PEERS: PEER,
    CMT_STATESYNC_ENABLE: 'true',
    CMT_STATESYNC_RPC_SERVERS: `${rpc},${rpc}`,
    CMT_STATESYNC_TRUST_HEIGHT: '7',
    CMT_STATESYNC_TRUST_HASH: 'CD34',
  }
  expect(await environment({ join: rpc })).toMatchObject(settings)
  expect(genesis()).toEqual({ chain_id: 'joined' })
  expect(await environment({ join: rpc })).toMatchObject(settings)
  await peer.close()
  const alone = await environment({ join: rpc })
  expect(Object.keys(alone).filter((name) => name in settings)).toEqual([])
  // It finds its peer when that is back.
  expect(readFileSync(join(home, 'config/config.toml'), 'utf8')).toBe(`[p2p]\npersistent_peers = "${PEER}"\n`)
})

test('a peer that does not answer leaves no home, which could begin its own chain later', async () => {
  await expect(startNode({ home, proxyApp: '', program, join: 'http://127.0.0.1:1' })).rejects.toThrow('fetch failed')
  expect(existsSync(home)).toBe(false)
})

test.each([
  ['/genesis', {}, 'HTTP status 200'],
  [
    '/genesis',
    { error: { message: 'Internal error', data: 'genesis response is large' } },
    'genesis response is large',
  ],
  ['/status', { error: { message: 'Internal error' } }, 'Internal error'],
  ['/status', statusOf('ab12"\nmoniker = "'), 'expected the id and the address of a node'],
  ['/status', statusOf('ab12', 'tcp://0.0.0.0'), 'expected the id and the address of a node'],
])('a peer whose %s is %j is not joined, and no chain begun instead', async (path, answer, why) => {
  answers[path] = answer
  await expect(startNode({ home, proxyApp: '', program, join: peer.url })).rejects.toThrow(`${peer.url}${path}: ${why}`)
  expect(existsSync(home)).toBe(false)
})

test('a peer that accepts and never answers holds up a node for no longer than its time', async () => {
  await environment({ join: peer.url })
  answers = {}
  const { timeout } = AbortSignal
  const limit = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout.call(AbortSignal, 50))
  try {
    expect(await environment({ join: peer.url })).not.toHaveProperty('CMT_STATESYNC_ENABLE')
    expect(limit.mock.calls).toEqual([[10_000]])
  } finally {
    limit.mockRestore()
  }
})

test('a home that was interrupted while it was made is made again', async () => {
  const broken = join(folder, 'broken')
  writeFileSync(broken, PROGRAM.replace('\nelse', '\n  exit 1\nelse'), { mode: 0o755 })
  await expect(environment({ join: peer.url, program: broken })).rejects.toThrow('Command failed')
  expect(genesis()).toEqual({ chain_id: 'invented' })
  await environment({ join: peer.url })
  expect(genesis()).toEqual({ chain_id: 'joined' })
})

/** What an `init` leaves that was interrupted while it wrote a file. */
function interruptedWithin(file: string, part: string): void {
  mkdirSync(join(home, 'config'), { recursive: true })
  writeFileSync(join(home, 'unfinished'), `config/${file}`)
  writeFileSync(join(home, 'config', file), part)
}

test('a home that was interrupted within its genesis file is made again', async () => {
  interruptedWithin('genesis.json', '{"chain_')
  await environment({ chainId: 'mine' })
  expect(genesis()).toEqual({ chain_id: 'mine' })
})

test.each(['node_key.json', 'config.toml', 'priv_validator_key.json'])(
  'a home that was interrupted within its %s is made again',
  async (file) => {
    interruptedWithin(file, '')
    await environment({ join: peer.url })
    expect(readFileSync(join(home, 'config/config.toml'), 'utf8')).toMatch(/^persistent_peers = ".+@/m)
  },
)

test('what somebody put into a home stays when it is made again', async () => {
  mkdirSync(join(home, 'config'), { recursive: true })
  const own = ['node_key.json', 'config.toml'].map((name) => join(home, 'config', name))
  for (const path of own) writeFileSync(path, 'mine')
  await expect(environment({ chainId: 'mine', program: join(folder, 'none') })).rejects.toThrow()
  await environment({ chainId: 'mine' })
  expect(own.map((path) => readFileSync(path, 'utf8'))).toEqual(['mine', 'mine'])
})

test('settings of CometBFT are added to the environment, and win', async () => {
  const { PATH } = process.env
  expect(await environment({ env: { CMT_P2P_LADDR: 'tcp://127.0.0.1:7' } })).toMatchObject({
    PATH,
    CMT_RPC_LADDR: 'tcp://127.0.0.1:26657',
    CMT_P2P_LADDR: 'tcp://127.0.0.1:7',
  })
  process.env['CMT_P2P_LADDR'] = 'tcp://127.0.0.1:8'
  try {
    expect(await environment()).toMatchObject({ CMT_P2P_LADDR: 'tcp://127.0.0.1:8' })
  } finally {
    delete process.env['CMT_P2P_LADDR']
  }
})

test('it rejects when there is no program, the first time and later', async () => {
  const missing = { home, proxyApp: '', program: join(folder, 'none') }
  await expect(startNode(missing)).rejects.toThrow('ENOENT')
  await environment()
  await expect(startNode(missing)).rejects.toThrow('ENOENT')
})

test('a child whose end cannot be waited for is not killed later', async () => {
  const sent: unknown[] = []
  const kill = (signal?: unknown): boolean => sent.push(signal) > 0
  await expect(stopChild({ kill }, Promise.reject(new Error('no such process')), 1)).rejects.toThrow('no such process')
  await new Promise((done) => setTimeout(done, 50))
  expect(sent).toEqual(['SIGTERM'])
})
