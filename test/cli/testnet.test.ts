import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { platformPackage } from '../../src/base/cometbftPackage.ts'
import { printPubKey } from '../../src/values/pubKey.ts'
import { type TestnetNode, writeTestnet, type PlannedNode, planNodes } from '../../src/cli/commands/testnet.ts'
import { homeScripts } from '../../src/cli/networkScripts.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { readGenesis } from '../../src/modules/genesis.ts'
import { endedWith, makePlace, svcd } from './support.ts'
import { tempFolder } from '../support/tempFolder.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ path: folder, remove } = tempFolder('testnet'))
})
afterEach(() => remove())

const plan = (validators: number, host = '127.0.0.1', basePort = '27000', fullNodes = 0) =>
  planNodes({ validators: String(validators), fullNodes: String(fullNodes), basePort, host })
interface Given {
  readonly host?: string
  readonly fullNodes?: number
  readonly publicKeys?: boolean
}
const make = (validators: number, { host, fullNodes, publicKeys = false }: Given = {}) =>
  writeTestnet({
    output: join(folder, 'net'),
    nodes: plan(validators, host, undefined, fullNodes),
    chainId: 'net-1',
    publicKeys,
  })
const text = (...path: readonly string[]): string => readFileSync(join(folder, 'net', ...path), 'utf8')

interface Config {
  readonly moniker: string
  readonly rpc: { readonly laddr: string }
  readonly p2p: {
    readonly laddr: string
    readonly persistent_peers: string
    readonly external_address: string
    readonly max_num_outbound_peers: number
  }
}
const configOf = ({ name }: TestnetNode): Config => parse(text(name, 'config', 'config.toml')) as unknown as Config

/** Every file below a folder. */
const filesBelow = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())

/** The folders of npm's package of CometBFT in a folder of packages, where NODE_PATH lets Node find it. */
const packageIn = (path: string) => {
  const modules = join(path, 'node_modules')
  const own = join(modules, platformPackage(`${process.platform}-${process.arch}`))
  const bin = join(own, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(own, 'package.json'), '{}')
  return { bin, modules }
}

describe('the homes of a network', () => {
  test('have the same genesis bytes, in which each node has a candidacy of an account of its own', () => {
    const { nodes } = make(4)
    const genesis = nodes.map(({ name }) => text(name, 'config', 'genesis.json'))
    expect(new Set(genesis).size).toBe(1)
    const {
      chain_id: chainId,
      app_state: appState,
      validators,
    } = JSON.parse(genesis[0] ?? '') as Record<string, unknown>
    expect(chainId).toBe('net-1')
    const { accounts, candidacies, stake } = readGenesis(appState)
    expect(candidacies.map((one) => [one.ownerAddress, printPubKey(one.pubKey)])).toEqual(
      nodes.map(({ owner, pubKey }) => [owner, pubKey]),
    )
    expect(accounts.map(({ address }) => address)).toEqual(nodes.map(({ owner }) => owner))
    expect(stake.foundationAddress).toBe(nodes[0]?.owner)
    expect((validators as { pub_key: { value: string } }[]).map((row) => row.pub_key.value)).toEqual(
      nodes.map(({ pubKey }) => pubKey),
    )
    expect([new Set(nodes.map(({ pubKey }) => pubKey)).size, new Set(nodes.map(({ owner }) => owner)).size]).toEqual([
      4, 4,
    ])
  })

  test.each([
    [1, '4'],
    [4, '4'],
    [5, '5'],
    [7, '7'],
  ])('of %i validators all fit into the set: max_vals is %s', (count, maxVals) => {
    make(count)
    const { app_state: appState } = JSON.parse(text('node0', 'config', 'genesis.json')) as { app_state: unknown }
    expect(readGenesis(appState).params.get('max_vals')).toBe(maxVals)
  })

  test('know all others as peers, and have ports of their own', () => {
    const { nodes } = make(3)
    const listened = nodes.flatMap((node) => [configOf(node).p2p.laddr, configOf(node).rpc.laddr])
    expect(listened).toEqual([27000, 27001, 27010, 27011, 27020, 27021].map((port) => `tcp://127.0.0.1:${port}`))
    expect(nodes.map((node) => configOf(node).p2p.persistent_peers.split(','))).toEqual(
      nodes.map((own) =>
        nodes.filter((one) => one !== own).map(({ nodeId, peer }) => `${nodeId}@127.0.0.1:${peer.port}`),
      ),
    )
    expect(nodes.map((node) => configOf(node).p2p.max_num_outbound_peers)).toEqual([0, 0, 0])
    expect(nodes.map((node) => configOf(node).moniker)).toEqual(['node0', 'node1', 'node2'])
  })

  test('on several machines listen everywhere for peers, who dial the names given; RPC stays on loopback', () => {
    const { nodes } = make(2, { host: 'a.example,[2001:db8::1]' })
    expect(
      nodes.map((node) => [configOf(node).p2p.laddr, configOf(node).p2p.external_address, configOf(node).rpc.laddr]),
    ).toEqual([
      ['tcp://0.0.0.0:27000', 'a.example:27000', 'tcp://127.0.0.1:27001'],
      ['tcp://[::]:27010', '[2001:db8::1]:27010', 'tcp://127.0.0.1:27011'],
    ])
    expect(configOf(nodes[0] as TestnetNode).p2p.persistent_peers).toBe(`${nodes[1]?.nodeId}@[2001:db8::1]:27010`)
  })

  test('hold no word of the mnemonic, and their keys are for the owner alone', () => {
    const { mnemonic, nodes } = make(2)
    expect(mnemonic.split(' ')).toHaveLength(24)
    const words = mnemonic.slice(0, 30)
    for (const path of filesBelow(join(folder, 'net')))
      expect([path, readFileSync(path, 'utf8').includes(words)]).toEqual([path, false])
    for (const { home } of nodes) {
      for (const name of ['priv_validator_key.json', 'node_key.json'])
        expect(statSync(join(home, 'config', name)).mode & 0o777).toBe(0o600)
    }
    const again = writeTestnet({ output: join(folder, 'other'), nodes: plan(2), chainId: 'net-1', publicKeys: false })
    expect(again.mnemonic).not.toBe(mnemonic)
  })

  test('of full nodes have the same genesis, know all as peers, and have neither a candidacy nor a place in the set', () => {
    const { nodes } = make(2, { fullNodes: 1 })
    expect(nodes.map(({ name, isValidator }) => [name, isValidator])).toEqual([
      ['node0', true],
      ['node1', true],
      ['full0', false],
    ])
    expect(new Set(nodes.map(({ name }) => text(name, 'config', 'genesis.json'))).size).toBe(1)
    expect(text('full0', 'config', 'genesis.json')).not.toContain(nodes[2]?.pubKey)
    expect(nodes[2]).not.toHaveProperty('owner', expect.anything())
    expect(nodes.map((node) => configOf(node).p2p.persistent_peers.split(',').length)).toEqual([2, 2, 2])
    expect(text('README.txt')).toContain('2 validators and 1 full node')
  })

  test('of public keys, made once more, keep keys and genesis, also with one more full node', () => {
    const of = (names: readonly string[]): readonly string[] =>
      names.flatMap((name) =>
        ['genesis.json', 'priv_validator_key.json', 'node_key.json'].map((file) => text(name, 'config', file)),
      )
    make(2, { publicKeys: true })
    const before = of(['node0', 'node1'])
    const { nodes } = make(2, { publicKeys: true, fullNodes: 1 })
    expect(of(['node0', 'node1'])).toEqual(before)
    expect(text('full0', 'config', 'genesis.json')).toBe(before[0])
    expect(configOf(nodes[0] as TestnetNode).p2p.persistent_peers).toContain(`${nodes[2]?.nodeId}@127.0.0.1:27020`)
    expect(() => make(3, { publicKeys: true })).toThrow(
      /holds the chain net-1 with 2 validators; choose another folder with --output DIR/,
    )
    expect(() => make(2)).toThrow('is not empty')
    // Settings of the containers, as the compose file says.
    writeFileSync(join(folder, 'net', '.env'), 'SVCD_IMAGE=svcd\n')
    make(2, { publicKeys: true })
    writeFileSync(join(folder, 'net', 'mine'), 'x')
    expect(() => make(2, { publicKeys: true })).toThrow('is not empty')
  })

  test('of public keys have the ten accounts of a devnet, or as many as there are validators', () => {
    const accounts = (): number => {
      const { app_state: appState } = JSON.parse(text('node0', 'config', 'genesis.json')) as { app_state: unknown }
      return readGenesis(appState).accounts.length
    }
    make(2, { publicKeys: true })
    expect(accounts()).toBe(10)
    rmSync(join(folder, 'net'), { recursive: true })
    make(11, { publicKeys: true })
    expect(accounts()).toBe(11)
  })

  test('of public keys say so', () => {
    expect(make(1, { publicKeys: true })).toMatchObject({
      mnemonic: PUBLIC_MNEMONIC,
      nodes: [{ owner: '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27' }],
    })
    expect(text('README.txt')).toContain('anybody has their keys')
  })

  test('have scripts that a shell can read, in folders of any name', () => {
    const output = join(folder, "it's a net")
    writeTestnet({ output, nodes: plan(2), chainId: 'net-1', publicKeys: true })
    const scripts = [
      join(output, 'start.sh'),
      ...['app.sh', 'cometbft.sh', 'gateway.sh'].map((name) => join(output, 'node1', name)),
    ]
    for (const script of scripts) {
      expect([script, statSync(script).mode & 0o777]).toEqual([script, 0o700])
      expect([script, spawnSync('sh', ['-n', script], { encoding: 'utf8' }).stderr]).toEqual([script, ''])
    }
    const echoed = (script: string, program: string, ...args: readonly string[]): string =>
      spawnSync(join(output, 'node1', script), args, {
        encoding: 'utf8',
        env: { ...process.env, [program]: '/bin/echo' },
      }).stdout
    expect(echoed('app.sh', 'SVCD', '--more')).toBe('start --home . --abci unix://abci.sock --more\n')
    expect(echoed('gateway.sh', 'SVCD')).toBe(
      'gateway --home . --node http://127.0.0.1:27011 --listen 127.0.0.1:27012\n',
    )
    expect(echoed('cometbft.sh', 'SVCD_COMETBFT')).toBe('node --home .\n')
    const config = parse(readFileSync(join(output, 'node1', 'config', 'config.toml'), 'utf8'))
    expect(config['proxy_app']).toBe('unix://abci.sock')
  })
})

test('the scripts fall back to the programs that made them, whatever their paths hold', () => {
  const program = join(folder, "it's $HOME")
  symlinkSync('/bin/echo', program)
  const scripts = homeScripts(plan(1)[0] as PlannedNode, { svcd: [program, "a 'b"], cometbft: program })
  const run = (name: string): string => {
    const script = join(folder, name)
    writeFileSync(script, scripts[name] as string, { mode: 0o755 })
    return spawnSync(script, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } }).stdout
  }
  expect(run('app.sh')).toBe("a 'b start --home . --abci unix://abci.sock\n")
  expect(run('cometbft.sh')).toBe('node --home .\n')
})

test("the scripts fall back to npm's CometBFT where npm has installed it", async () => {
  const place = makePlace([1, 2, 3])
  try {
    const { bin, modules } = packageIn(place.folder)
    const npm = { ...place, env: { ...place.env, NODE_PATH: modules } }
    expect(await svcd(npm, ['testnet', '--validators', '1', '--output', 'net'])).toMatchObject({ status: 0 })
    const script = join(place.folder, 'net', 'node0', 'cometbft.sh')
    writeFileSync(join(bin, 'cometbft'), '#!/bin/sh\necho "npm $1"\n', { mode: 0o755 })
    expect(spawnSync(script, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } }).stdout).toBe('npm node\n')
  } finally {
    place.remove()
  }
})

test('the script of CometBFT gives it four threads where there are fewer cores', () => {
  const scripts = homeScripts(plan(1)[0] as PlannedNode, { svcd: [], cometbft: '' })
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o755 })
    return join(folder, name)
  }
  const script = write('cometbft.sh', scripts['cometbft.sh'] as string)
  const env = { SVCD_COMETBFT: write('threads', '#!/bin/sh\nprintf "$GOMAXPROCS"\n'), PATH: `${folder}:/usr/bin:/bin` }
  const threads = (cores: number, ofUser = {}): string => {
    write('nproc', `#!/bin/sh\necho ${cores}\n`)
    return spawnSync(script, { encoding: 'utf8', env: { ...env, ...ofUser } }).stdout
  }
  expect([threads(2), threads(8), threads(2, { GOMAXPROCS: '3' })]).toEqual(['4', '', '3'])
})

describe('what is refused', () => {
  test.each([
    [{ validators: '0' }, '--validators: expected a whole number from 1 to 200, got "0"'],
    [{ validators: '201' }, '--validators: expected a whole number from 1 to 200, got "201"'],
    [{ validators: '1.5' }, '--validators: expected'],
    [{ validators: '' }, '--validators: expected'],
    [{ fullNodes: '201' }, '--full-nodes: expected a whole number from 0 to 200, got "201"'],
    [{ fullNodes: '-1' }, '--full-nodes: expected'],
    [{ basePort: '1023' }, '--base-port: expected a whole number from 1024 to 65516, got "1023"'],
    [{ basePort: '65517' }, '--base-port: expected a whole number from 1024 to 65516'],
    [{ host: 'a,b,c' }, '--host: expected 1 host for all nodes or 2, one for each, got 3'],
    [{ host: '127.0.0.1:80' }, '--host: expected host names or IP addresses without ports'],
    [{ host: 'a b' }, '--host: expected host names'],
    [{ host: '' }, '--host: expected host names'],
  ])('%j', (given, message) => {
    expect(() =>
      planNodes({ validators: '2', fullNodes: '0', basePort: '27000', host: '127.0.0.1', ...given }),
    ).toThrow(message)
  })

  test('nothing at the limits: 200 validators, the highest base port', () => {
    expect(plan(200).at(-1)).toMatchObject({ name: 'node199', metricsPort: 28993 })
    expect(plan(2, '127.0.0.1', '65516').at(-1)?.metricsPort).toBe(65529)
  })

  test('a folder that holds anything, which stays as it was; an empty one is taken', () => {
    mkdirSync(join(folder, 'net'))
    writeFileSync(join(folder, 'net', 'mine'), 'x')
    expect(() => make(1)).toThrow('is not empty; choose another folder with --output DIR')
    expect(readdirSync(join(folder, 'net'))).toEqual(['mine'])
    rmSync(join(folder, 'net', 'mine'))
    expect(make(1).nodes).toHaveLength(1)
  })

  test('by the command, with status 2 and one line, before anything is written', async () => {
    const place = makePlace([1, 2, 3])
    try {
      const wrong = [
        ['--validators', '4', '--chain-id', 'a b'],
        ['--validators', '4', '--block-time', '1'],
        ['--validators', 'x'],
        ['--output', 'net'],
      ]
      for (const args of wrong) {
        const ended = await svcd(place, ['testnet', '--output', 'net', ...args])
        expect([args, ended.status, ended.stdout]).toEqual([args, 2, ''])
        expect(existsSync(join(place.folder, 'net'))).toBe(false)
      }
      const made = await svcd(place, ['testnet', '--validators', '2', '--json'])
      expect(JSON.parse(made.stdout)).toMatchObject({
        output: join(place.folder, 'home', 'testnet'),
        chain_id: 'svcd-testnet',
        mnemonic: expect.stringMatching(/^(?:\w+ ){23}\w+$/),
        nodes: [{ rpc: 'http://127.0.0.1:27001' }, { gateway: 'http://127.0.0.1:27012', p2p: '127.0.0.1:27010' }],
      })
      const again = await svcd(place, ['testnet', '--validators', '2'])
      expect(again).toMatchObject(endedWith(2, 'is not empty'))
    } finally {
      place.remove()
    }
  })
})
