/** What `svcd init --state-sync` asks of its servers, and what it refuses. The servers are stand-ins for CometBFT's RPC. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { parse } from 'smol-toml'
import { parsePeers } from '../../src/cli/commands/init.ts'
import { setTomlValues } from '../../src/comet/config.ts'
import { stateSyncFrom, type StateSyncOptions } from '../../src/cli/stateSync.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { type Ended, endedWith, makePlace, type Place, svcd } from './support.ts'

const CHAIN = 'sync-test'
const OWNER = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'
const HOUR_MS = 3_600_000
const HEAD = 70_000
const HASH = 'AB'.repeat(32)

/** What a server says. `ageMs`: how long ago the block of a height was made. */
interface Script {
  nodeId: string
  earliest: number
  head: number
  evidenceBlocks: number
  ageMs: (height: number) => number
  hash: string
}

const honest = (nodeId: string): Script => ({
  nodeId,
  earliest: 1,
  head: HEAD,
  evidenceBlocks: 60_478,
  ageMs: (height) => (HEAD - height) * 1000,
  hash: HASH,
})

function answerOf(script: Script, method: string, height: number): unknown {
  if (method === 'status')
    return {
      node_info: { id: script.nodeId, network: CHAIN, version: '0.38.25' },
      sync_info: {
        latest_block_height: String(script.head),
        latest_block_time: new Date(nowMs - script.ageMs(script.head)).toISOString(),
        earliest_block_height: String(script.earliest),
      },
    }
  // As a CometBFT that is about to write the state after its last block.
  if (method === 'consensus_params' && !(height <= script.head)) return undefined
  if (method === 'consensus_params')
    return { consensus_params: { evidence: { max_age_num_blocks: String(script.evidenceBlocks) } } }
  const time = new Date(nowMs - script.ageMs(height)).toISOString()
  const header = { height: String(height), time, chain_id: CHAIN, app_hash: '' }
  if (method === 'header') return { header }
  return { block_id: { hash: script.hash }, block: { header, data: { txs: [] } } }
}

/** When a test began. All servers count the ages of their blocks from it. */
let nowMs = 0
const scripts: Script[] = []
const serve = (index: number) =>
  serveCalls(({ method, params }) => {
    const { height } = params as { readonly height?: string }
    return { result: answerOf(scripts[index] as Script, method, Number(height)) }
  })
let servers: readonly Awaited<ReturnType<typeof serve>>[] = []
const portOf = (index: number): string => new URL(servers[index]?.url ?? '').port
const both = (): string => servers.map(({ url }) => url).join()

let place: Place
let genesis = ''
let home = ''
let homes = 0

beforeAll(async () => {
  place = makePlace([1, 2, 3])
  servers = await Promise.all([serve(0), serve(1)])
  const first = join(place.folder, 'first')
  expect(await svcd(place, ['init', '--home', first, '--chain-id', CHAIN, '--owner', OWNER])).toMatchObject({
    status: 0,
  })
  genesis = join(first, 'config', 'genesis.json')
})
afterAll(async () => {
  await Promise.all(servers.map(({ close }) => close()))
  place.remove()
})
beforeEach(() => {
  nowMs = Date.now()
  scripts.splice(0, 2, honest('a'.repeat(40)), honest('b'.repeat(40)))
  home = join(place.folder, `home${homes++}`)
})

type Given = Partial<Omit<StateSyncOptions, 'say'>>

/** What `svcd init` would write, and the warnings. */
async function sync(servers = both(), { trusted, trustPeriodMs }: Given = {}) {
  const said: string[] = []
  const say = (line: string): void => void said.push(line)
  return { ...(await stateSyncFrom(servers, CHAIN, { trusted, trustPeriodMs, say })), said: said.join('\n') }
}

const expectRefused = (line: RegExp, servers = both(), given: Given = {}): Promise<void> =>
  expect(sync(servers, given)).rejects.toMatchObject({ name: 'UserError', message: expect.stringMatching(line) })

/** Two thirds of this many blocks of this length. */
const twoThirds = (blocks: number, blockMs: number): number => Math.floor((blocks * blockMs * 2) / 3)

describe('the trust period', () => {
  test('is two thirds of the blocks in which evidence counts, at the speed of the chain', async () => {
    const { trustPeriodMs, trustHeight, trustHash } = await sync()
    expect([trustPeriodMs, trustHeight, trustHash]).toEqual([twoThirds(60_478, 1000), HEAD - 2, HASH])
    // 60,480 blocks of a second are 16.8 hours.
    expect(trustPeriodMs).toBeLessThan(16.8 * HOUR_MS)
  })

  test('does not grow when the chain has paused for two days', async () => {
    for (const script of scripts)
      script.ageMs = (height) => (HEAD - height) * 1000 + (height < HEAD - 5000 ? 48 * HOUR_MS : 0)
    expect((await sync()).trustPeriodMs).toBe(twoThirds(60_478, 1000))
  })

  test('is the shortest that any server gives, however long another says that a block takes or evidence counts', async () => {
    ;(scripts[0] as Script).evidenceBlocks = 5000
    ;(scripts[1] as Script).ageMs = (height) => (HEAD - height) * HOUR_MS
    expect((await sync()).trustPeriodMs).toBe(twoThirds(5000, 1000))
  })

  test('is at most 168 hours, even when all servers lie', async () => {
    for (const script of scripts)
      Object.assign(script, { evidenceBlocks: 1e9, ageMs: (height: number) => (HEAD - height) * HOUR_MS })
    expect((await sync()).trustPeriodMs).toBe(168 * HOUR_MS)
  })

  test('is measured without the first block, whose time is that of genesis, and not at all on fewer than three', async () => {
    const ageMs = (height: number): number => (height === 1 ? 100 * HOUR_MS : (4 - height) * 1000)
    for (const script of scripts) Object.assign(script, { head: 4, ageMs })
    expect((await sync()).trustPeriodMs).toBe(twoThirds(60_478, 1000))
    for (const script of scripts) script.head = 2
    await expectRefused(/^http:\/\/127\.0\.0\.1:\d+: too few blocks to measure/)
  })

  test('is measured over the blocks that a pruned node has', async () => {
    for (const script of scripts)
      Object.assign(script, { earliest: HEAD - 100, ageMs: (height: number) => (HEAD - height) * 500 })
    expect((await sync()).trustPeriodMs).toBe(twoThirds(60_478, 500))
  })

  test('is refused when the times of blocks stand still, or go back', async () => {
    for (const ageMs of [() => 0, (height: number) => height]) {
      ;(scripts[1] as Script).ageMs = ageMs
      await expectRefused(/^http:\/\/127\.0\.0\.1:\d+: the times of its blocks do not increase/)
    }
  })

  test('may be shorter by --trust-period, but not longer', async () => {
    await expectRefused(/^--trust-period: expected at most 11 h 11 min, .*, got 12 h 0 min$/, both(), {
      trustPeriodMs: 12 * HOUR_MS,
    })
    expect((await sync(both(), { trustPeriodMs: 8 * HOUR_MS })).trustPeriodMs).toBe(8 * HOUR_MS)
  })

  test('comes with a warning when a state sync may take longer', async () => {
    for (const script of scripts) script.evidenceBlocks = 18
    expect((await sync()).said).toMatch(/can be trusted for 12 s only, because its unstake_wait_period is short/)
  })
})

test('the same server twice is refused, also under two names, behind two ports, and with another one beside it', async () => {
  const [one, other] = [portOf(0), portOf(1)]
  const address = /expected different nodes, but of \S+ and \S+ both lead to 127\.0\.0\.1 port \d+$/
  await expectRefused(address, `http://127.0.0.1:${one},http://127.0.0.1:${one}`)
  await expectRefused(address, `http://127.0.0.1:${one},http://127.0.0.1:${one}/path`)
  await expectRefused(address, `http://localhost:${one},127.0.0.1:${other},http://127.0.0.1:${one}`)
  ;(scripts[1] as Script).nodeId = 'a'.repeat(40)
  await expectRefused(/both are the node "a{40}"$/)
})

test('http beyond this machine comes with a warning, and on it with none', async () => {
  expect((await sync()).said).not.toMatch(/is not encrypted/)
  const { said } = await sync(`http://0.0.0.0:${portOf(0)},http://127.0.0.1:${portOf(1)}`)
  expect(said).toMatch(/^--state-sync: http:\/\/0\.0\.0\.0:\d+ is not encrypted: .* Use https or a tunnel$/m)
  expect(said.match(/is not encrypted/g)).toHaveLength(1)
})

test('a server that does not answer, and a name that does not resolve, are named', async () => {
  await expectRefused(/^--state-sync: http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/, `127.0.0.1:1,127.0.0.1:${portOf(1)}`)
  await expectRefused(/^--state-sync: http:\/\/no\.invalid:1: /, `no.invalid:1,127.0.0.1:${portOf(1)}`)
})

test('what a server says cannot reach the terminal as it is', async () => {
  for (const script of scripts) script.hash = '\u001b[2J'
  await expectRefused(/^--state-sync: http:\/\/127\.0\.0\.1:\d+: block 69998 has no hash there$/)
  for (const script of scripts) script.nodeId = '\u001b[2J'
  await expectRefused(/both are the node "\\u001b\[2J"$/)
})

describe('the trusted header', () => {
  const at = (height: number): Given => ({ trusted: { height, hash: HASH } })

  test('is the one that is named; else stderr says whose word is believed', async () => {
    expect((await sync()).said).toMatch(/^trusting block 69998 (?:AB){32} because these servers say so/)
    expect(await sync(both(), at(69_000))).toMatchObject({ said: '', trustHeight: 69_000, trustHash: HASH })
  })

  test('is refused when the newest block is older than the trust period, as when the clock is wrong', async () => {
    for (const script of scripts) script.ageMs = (height) => (HEAD - height) * 1000 + 24 * HOUR_MS
    await expectRefused(/the newest block of these servers is 24 h 0 min old, .* for 11 h 11 min\. Set the clock, or/)
  })

  test('is refused when it is too old because one server is far behind, or says so', async () => {
    ;(scripts[1] as Script).head = 5
    await expectRefused(
      new RegExp(`127.0.0.1:${portOf(1)} is at block 5: block 3 is 19 h 26 min old, .* for 11 h 11 min\\. Name a node`),
    )
  })

  test('is refused when a server shows another hash, and when it is too old', async () => {
    ;(scripts[1] as Script).hash = 'CD'.repeat(32)
    const differs = /^--trust-hash: expected (?:CD){32}, the hash of block 69000 according to \S+, got (?:AB){32}$/
    await expectRefused(differs, both(), at(69_000))
    await expectRefused(/and http:\/\/127\.0\.0\.1:\d+ disagree on block 69998/)
    ;(scripts[1] as Script).hash = HASH
    const old = /^--trust-height: block 10 is 19 h 26 min old, .* can be trusted for 11 h 11 min\. Name a newer one$/
    await expectRefused(old, both(), at(10))
  })
})

describe('svcd init', () => {
  const init = (...flags: readonly string[]): Promise<Ended> =>
    svcd(place, ['init', '--home', home, '--genesis', genesis, ...flags])

  test('writes what it has found into config.toml, and prints it', async () => {
    const flags = ['--trust-height', '69000', '--trust-hash', HASH.toLowerCase(), '--trust-period', '8h']
    expect(await init('--state-sync', both(), ...flags)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^trust_period +8 h 0 min$/m),
    })
    const { statesync } = parse(readFileSync(join(home, 'config', 'config.toml'), 'utf8'))
    expect(statesync).toMatchObject({
      enable: true,
      rpc_servers: both(),
      trust_height: 69_000,
      trust_hash: HASH,
      trust_period: '28800000ms',
    })
  })

  test('lets a home that would replay the chain begin with a snapshot, once its genesis file was moved away', async () => {
    expect(await init('--peers', `${'f'.repeat(40)}@127.0.0.1:1`)).toMatchObject({ status: 0 })
    const [config, key] = ['config.toml', 'priv_validator_key.json'].map((name) => join(home, 'config', name))
    const before = readFileSync(key as string, 'utf8')
    rmSync(join(home, 'config', 'genesis.json'))
    expect(await init('--state-sync', both())).toMatchObject({ status: 0 })
    expect(parse(readFileSync(config as string, 'utf8'))).toMatchObject({
      statesync: { enable: true, rpc_servers: both(), trust_hash: HASH },
      p2p: { persistent_peers: `${'f'.repeat(40)}@127.0.0.1:1` },
    })
    expect(readFileSync(key as string, 'utf8')).toBe(before)
  })

  test('run again, it keeps what was changed in config.toml and the units, but for what a flag names', async () => {
    expect(await init('--rpc', '0.0.0.0:36657')).toMatchObject({ status: 0 })
    const [config, app, gateway] = [
      join('config', 'config.toml'),
      join('systemd', 'svcd-app.service'),
      join('systemd', 'svcd-gateway.service'),
    ].map((name) => join(home, name)) as [string, string, string]
    expect(readFileSync(gateway, 'utf8')).toContain('--node http://127.0.0.1:36657')
    writeFileSync(config, setTomlValues(readFileSync(config, 'utf8'), { proxy_app: 'tcp://127.0.0.1:7' }))
    writeFileSync(app, '# mine')
    rmSync(gateway)
    rmSync(join(home, 'config', 'genesis.json'))
    const again = await init('--p2p', '127.0.0.1:36656')
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('--abci tcp://127.0.0.1:7\n') })
    expect(again.stderr).toMatch(/^units in \S+systemd stay as they are: svcd-app\.service\. Correct them/m)
    expect(parse(readFileSync(config, 'utf8'))).toMatchObject({
      proxy_app: 'tcp://127.0.0.1:7',
      rpc: { laddr: 'tcp://0.0.0.0:36657' },
      p2p: { laddr: 'tcp://127.0.0.1:36656' },
    })
    expect(readFileSync(app, 'utf8')).toBe('# mine')
    expect(readFileSync(gateway, 'utf8')).toContain('--node http://127.0.0.1:36657')
  })

  test.each<[readonly string[], RegExp]>([
    [['--trust-period', '8h'], /--trust-period need --state-sync/],
    [['--trust-height', '10'], /must be given together/],
    [['--owner', OWNER], /^svcd: --genesis cannot be combined with --owner\n/],
    [['--peers', 'foo'], /^svcd: --peers: expected ID@HOST:PORT, .*, got "foo"\n/],
  ])('%j is refused', async (flags, line) => {
    expect(await init(...flags)).toMatchObject(endedWith(2, line))
    expect(existsSync(home)).toBe(false)
  })
})

describe('a list of peers', () => {
  const id = 'F'.repeat(40)
  test.each(['', 'foo@127.0.0.1:26656', `${id}@127.0.0.1`, `${id}@127.0.0.1:0`, `${id}@a:1,`])(
    '%j is refused',
    (text) => {
      expect(() => parsePeers(text, '--peers')).toThrow(/^--peers: expected /)
    },
  )

  test('an id, a host and a port are taken', () => {
    const low = id.toLowerCase()
    expect(parsePeers(`${id}@[::1]:26656, ${id}@node.example:1`, '--peers')).toEqual([
      `${low}@[::1]:26656`,
      `${low}@node.example:1`,
    ])
  })
})
