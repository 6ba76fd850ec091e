import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TOKEN } from '../../src/base/amount.ts'
import {
  appStateOf,
  chainOptions,
  chooseChain,
  type DevnetChain,
  devnetSigners,
  hasNoChain,
  recordChain,
} from '../../src/cli/devnet/chain.ts'
import { gatewayOptions, type Setup } from '../../src/cli/commands/devnet.ts'
import { devnetNodes, saveState } from '../../src/cli/devnet/home.ts'
import { listenForOrders, sendOrder } from '../../src/cli/devnet/control.ts'
import { assertRoom, listDevnetSnapshots, revertTo, takeSnapshot } from '../../src/cli/devnet/snapshots.ts'
import { genesisJson } from '../../src/comet/home.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { readGenesis } from '../../src/modules/genesis.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { readGenesisFile, statePathOf } from '../../src/node/homes.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { printPubKey } from '../../src/values/pubKey.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'

const PRIVATE_MNEMONIC = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

let folder: ReturnType<typeof tempFolder>
let home: string
beforeEach(() => {
  folder = tempFolder('devnet-chain')
  home = join(folder.path, 'home')
})
afterEach(() => folder.remove())

type Flags = Parameters<typeof chooseChain>[1]
const none = Object.fromEntries(chainOptions.map((one) => [one.attributeName(), undefined])) as unknown as Flags
const choose = (flags: Partial<Flags>, isNew = hasNoChain(home)): DevnetChain =>
  chooseChain(home, { ...none, ...flags }, isNew)

/** A key of 32 bytes. */
const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64')
const owner = (at: number, byte: number) => ({
  owner: devnetSigners()[at]?.address ?? '',
  pubKey: key(byte),
  name: `node${at}`,
})

describe('the chain of a devnet', () => {
  test('has the defaults, and with --fast short periods that --param overrides', () => {
    expect(choose({})).toMatchObject({
      chainId: 'svcd-devnet',
      accounts: 10,
      balance: `${100_000n * TOKEN}`,
      params: {},
    })
    expect(choose({ fast: true, param: [['unstake_wait_period', '7']] }).params).toEqual({
      unstake_wait_period: '7',
      proposal_expire_period: '20',
    })
  })

  test('goes on with what it was created with; a flag that says otherwise is refused and named', () => {
    const created = choose({ accounts: 20, chainId: 'mine-1', param: [['gas_price', '0']] })
    recordChain(home, created)
    expect(choose({}, false)).toEqual(created)
    expect(choose({ accounts: 20, param: [['gas_price', '0']] }, false)).toEqual(created)
    for (const [flags, line] of [
      [{ accounts: 21 }, /^--accounts: the devnet in .* was created with 20. Leave the flag out, .*--reset/],
      [{ balance: '5' }, /^--balance: .*"100000000000000000000000"/],
      [{ chainId: 'mine-2' }, /^--chain-id: .*"mine-1"/],
      [{ param: [['gas_price', '1']] }, /^--param: .*\{"gas_price":"0"\}/],
      [{ genesis: '/g.json' }, /^--genesis: .*"none"/],
      [{ mnemonic: PRIVATE_MNEMONIC }, /^--mnemonic: .* whose first account is 0x098a8672/],
    ] as const)
      expect(() => choose(flags as Partial<Flags>, false)).toThrow(line)
    expect(readFileSync(join(home, 'config', 'devnet.json'), 'utf8')).not.toContain('test test')
  })

  test('with a private mnemonic goes on only with that one, whose words are not kept', () => {
    recordChain(home, choose({ mnemonic: PRIVATE_MNEMONIC }))
    expect(() => choose({}, false)).toThrow(/^--mnemonic: .* was created with another one/)
    expect(choose({ mnemonic: PRIVATE_MNEMONIC }, false).firstAddress).toBe(
      devnetSigners(PRIVATE_MNEMONIC, 1)[0]?.address,
    )
    expect(readFileSync(join(home, 'config', 'devnet.json'), 'utf8')).not.toContain('winner')
  })

  const read = (flag: string, text: string): unknown => {
    const found = chainOptions.find(({ long }) => long === flag)
    return found?.parseArg?.<unknown>(text, undefined)
  }

  test.each([
    ['--accounts', '0', '--accounts: expected a whole number from 1 to 1000, got "0"'],
    ['--accounts', '1001', '--accounts: expected a whole number from 1 to 1000, got "1001"'],
    [
      '--balance',
      '1.5',
      '--balance: 1.5 has no unit. Write 1.5token, or 1500000000000000000 for the same in base units',
    ],
    ['--balance', `1${'0'.repeat(37)}`, /^--balance: expected at most 10{33} base units, got "10{37}"$/],
    ['--chain-id', 'a b', '--chain-id: expected 1 to 50 printable ASCII characters without spaces, got "a b"'],
    ['--param', 'gas', /^--param: expected NAME=VALUE with one of hold_account, .*, got "gas"$/],
    ['--param', 'max_vals=0', '--param max_vals: expected an integer of 1 to 200, got "0"'],
    ['--mnemonic', 'a b c', '--mnemonic: expected 12 to 24 English BIP-39 words with their checksum'],
  ])('%s %s is refused in one sentence', (flag, text, line) => expect(() => read(flag, text)).toThrow(line))

  test('takes units, and many accounts', () => {
    expect([read('--balance', '1.5token'), read('--param', 'self_staking_ratio=0.50')]).toEqual([
      '1500000000000000000',
      [['self_staking_ratio', '0.5']],
    ])
    expect(new Set(devnetSigners(PUBLIC_MNEMONIC, 1000).map(({ address }) => address)).size).toBe(1000)
  })
})

describe('the gateway of a devnet', () => {
  const optionsWith = (flags: object, authToken?: string) => {
    const endpoint = { host: '127.0.0.1', port: 1 }
    const all = {
      ...none,
      home,
      blockTime: 0,
      gateway: endpoint,
      rpc: endpoint,
      p2p: endpoint,
      validators: 1,
      ...flags,
    }
    const signers = devnetSigners()
    const nodes = devnetNodes({ home, validators: 1, rpc: endpoint, p2p: endpoint })
    const setup = { flags: all, chain: choose({}), signers, nodes, program: '', authToken } as unknown as Setup
    const { signers: given = [], ...rest } = gatewayOptions(setup, { validators: [] })
    return { ...rest, signers: given.length }
  }

  test('signs for everybody with public keys, and for pages of this machine', () =>
    expect(optionsWith({})).toMatchObject({ signers: 10, publicKeys: true, allowOrigins: ['loopback'] }))

  test('signs for nobody with private ones, unless there is a token, and then checks it', () => {
    expect(optionsWith({ mnemonic: PRIVATE_MNEMONIC })).toMatchObject({ signers: 0, publicKeys: false })
    const authToken = 'a-token-of-the-test'
    // The file may be a pipe, which is empty when the parts are started again.
    const flags = { mnemonic: PRIVATE_MNEMONIC, authTokenFile: join(folder.path, 'read before') }
    expect(optionsWith(flags, authToken)).toMatchObject({ signers: 10, publicKeys: false, authToken })
  })

  test('counts a chain as stalled and mines no blocks, unless blocks wait for transactions', () => {
    expect(optionsWith({ blockTime: 1000 })).toMatchObject({ stalledAfterMs: 60_000, propose: undefined })
    expect(optionsWith({ blockTime: 60_000 }).stalledAfterMs).toBe(300_000)
    expect(optionsWith({})).toMatchObject({ stalledAfterMs: 0, propose: expect.any(Function) })
  })

  test('lets in the pages that are named, instead of those of this machine', () =>
    expect(optionsWith({ allowOrigin: ['https://wallet.example'] }).allowOrigins).toEqual(['https://wallet.example']))
})

describe('the state from which a devnet starts', () => {
  const accounts = devnetSigners()
    .slice(0, 3)
    .map(({ address }) => address)
  const stranger = `0x${'12'.repeat(20)}`

  /** A genesis file of another chain with two candidacies, by default the second one larger. */
  const fileOf = (name: string, [first, second] = [100n, 200n]): string => {
    const path = join(folder.path, name)
    const candidacy = (ownerAddress: string, pubKey: string, tokens: bigint) => ({
      owner: ownerAddress,
      pub_key: pubKey,
      shares: `${tokens * TOKEN}`,
      max_shares: `${tokens * TOKEN}`,
    })
    const appState = {
      accounts: [{ address: accounts[0], balance: '7' }],
      params: { inflation_rate: 1 },
      candidacies: [candidacy(stranger, key(1), first), candidacy(accounts[1] ?? '', key(2), second)],
    }
    const genesisTime = '2026-01-01T00:00:00Z'
    writeFileSync(
      path,
      genesisJson({ chainId: 'live-1', genesisTime, appState, validators: [{ pubKey: key(2), power: 1 }] }),
    )
    return path
  }

  test('has the accounts with their balance, and the parameters', () => {
    const chain = choose({
      balance: '5',
      param: [
        ['gas_price', '0'],
        ['stake_limit', '0.5'],
      ],
    })
    const state = appStateOf({ chain, accounts, validators: 1, stateFile: undefined })([owner(0, 9)])
    const { accounts: made, params } = readGenesis(state)
    expect(made.map(({ address, balance }) => [address, balance])).toEqual(accounts.map((one) => [one, 5n]))
    expect([params.get('gas_price'), params.get('stake_limit')]).toEqual(['0', '0.5'])
  })

  test('of a genesis file has its validators in the places with most shares, and keeps the others out of the set', () => {
    const chain = choose({ genesis: fileOf('live.json'), balance: '5', param: [['gas_price', '0']] })
    const genesis = readGenesis(appStateOf({ chain, accounts, validators: 1, stateFile: undefined })([owner(0, 9)]))
    expect(
      genesis.candidacies.map((one) => [one.ownerAddress, Buffer.from(one.pubKey, 'hex').toString('base64')]),
    ).toEqual([
      [stranger, key(1)],
      [accounts[1], key(9)],
    ])
    expect([
      genesis.params.get('max_vals'),
      genesis.params.get('inflation_rate'),
      genesis.params.get('gas_price'),
    ]).toEqual(['1', '1', '0'])
    expect(genesis.accounts.map(({ balance }) => balance)).toEqual([7n, 5n, 5n])
  })

  test('of a genesis file with equal candidacies has its validators alone in the set, whatever their keys', () => {
    const chain = choose({ genesis: fileOf('equal.json', [100n, 100n]) })
    const started = new TestChain()
    started.init(appStateOf({ chain, accounts, validators: 1, stateFile: undefined })([owner(0, 9)]))
    expect([...(started.sets.get(1)?.keys() ?? [])].map(printPubKey)).toEqual([key(9)])
  })

  test('of a state file gets no further accounts, and all of its validators may stay', () => {
    const chain = choose({})
    const state = appStateOf({ chain, accounts, validators: 2, stateFile: fileOf('state.json') })
    const genesis = readGenesis(state([owner(0, 8), owner(1, 9)]))
    expect([genesis.accounts.length, genesis.params.get('max_vals')]).toEqual([1, '4'])
  })

  test('is refused before anything is removed: a file that is missing, or has too few candidacies', () => {
    const chain = choose({ genesis: join(folder.path, 'none.json') })
    expect(() => appStateOf({ chain, accounts, validators: 1, stateFile: undefined })).toThrow(
      /^--genesis: .*none.json does not exist/,
    )
    expect(() => appStateOf({ chain, accounts, validators: 3, stateFile: fileOf('few.json') })).toThrow(
      /few.json: expected a candidacy for each of 3 validators in app_state, got 2$/,
    )
  })
})

test('the state of a devnet is saved where a link leads, and takes the place of no other file', () => {
  mkdirSync(join(home, 'data'), { recursive: true })
  const store = openSqliteStore({ path: statePathOf(home), tables, views })
  const chain = new TestChain({ store })
  chain.init({ accounts: [], candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(100) }] })
  chain.block()
  store.close()
  const kept = join(folder.path, 'kept')
  mkdirSync(kept)
  const [link, mine] = ['state.json', 'state.json.new'].map((name) => join(kept, name)) as [string, string]
  symlinkSync('../saved/state.json', link)
  writeFileSync(mine, 'mine')
  mkdirSync(join(folder.path, 'saved'))
  writeFileSync(join(folder.path, 'saved', 'state.json'), 'old')
  saveState(home, 'a-devnet', link)
  expect(readGenesisFile(join(folder.path, 'saved', 'state.json')).chainId).toBe('a-devnet')
  expect([lstatSync(link).isSymbolicLink(), readFileSync(mine, 'utf8')]).toEqual([true, 'mine'])
  expect(readdirSync(kept)).toEqual(['state.json', 'state.json.new'])
  const inNewFolder = join(folder.path, 'new', 'state.json')
  saveState(home, 'a-devnet', inNewFolder)
  expect(readGenesisFile(inNewFolder).chainId).toBe('a-devnet')
})

describe('snapshots of a devnet', () => {
  const file = (): string => join(home, 'data', 'state.db')
  const write = (text: string): void => {
    mkdirSync(join(home, 'data'), { recursive: true })
    writeFileSync(file(), text)
  }

  test('hold what the chain has written, stay after a revert, and those after it go', () => {
    for (const text of ['one', 'two', 'three']) {
      write(text)
      takeSnapshot(home, [home])
    }
    write('four')
    writeFileSync(join(home, 'data', 'later'), '')
    // Heights are used again, so what a light client verified may be of blocks that are no more.
    mkdirSync(join(home, 'light'))
    revertTo(home, [home], 2)
    expect(existsSync(join(home, 'light'))).toBe(false)
    expect([readFileSync(file(), 'utf8'), listDevnetSnapshots(home)]).toEqual(['two', [1, 2]])
    revertTo(home, [home], 1)
    expect([readFileSync(file(), 'utf8'), listDevnetSnapshots(home)]).toEqual(['one', [1]])
    expect(takeSnapshot(home, [home])).toBe(2)
  })

  test('that cannot be copied whole leave the chain and the later ones as they are', () => {
    write('one'.repeat(20_000))
    takeSnapshot(home, [home])
    write('two')
    takeSnapshot(home, [home])
    write('three')
    // No file may have more than 16 KiB, as if the disk were full.
    const snapshots = pathToFileURL(join(import.meta.dirname, '../../src/cli/devnet/snapshots.ts')).href
    const script = `import { revertTo } from ${JSON.stringify(snapshots)}
      try { revertTo(process.argv[1], [process.argv[1]], 1) } catch { process.stdout.write('refused') }`
    const limited = 'trap "" XFSZ; ulimit -f 16; exec "$0" --input-type=module -e "$1" "$2"'
    const said = execFileSync('bash', ['-c', limited, process.execPath, script, home], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: undefined },
    })
    expect(said).toBe('refused')
    expect([readFileSync(file(), 'utf8'), listDevnetSnapshots(home)]).toEqual(['three', [1, 2]])
  })

  test('are at most 10', () => {
    write('one')
    for (let at = 0; at < 9; at++) takeSnapshot(home, [home])
    assertRoom(home)
    takeSnapshot(home, [home])
    expect(() => assertRoom(home)).toThrow(/has 10 snapshots, the maximum. Revert to an earlier one/)
  })
})

describe('orders to a devnet', () => {
  test('are carried out one at a time, checked first, and refused while none is awaited', async () => {
    mkdirSync(home, { recursive: true })
    await expect(sendOrder(home, { do: 'snapshot' })).rejects.toThrow(/^no devnet is running in .* --home DIR/)
    const orders = await listenForOrders(home, (order) => {
      if (order.do === 'revert') throw new Error(`no snapshot ${order.id}`)
    })
    try {
      await expect(sendOrder(home, { do: 'snapshot' })).rejects.toThrow(/is starting, or carrying out another order/)
      const next = orders.next()
      await expect(sendOrder(home, { do: 'revert', id: 3 })).rejects.toThrow('no snapshot 3')
      await expect(sendOrder(home, { do: 'x'.repeat(2000) } as never)).rejects.toThrow(/^the devnet in /)
      await expect(sendOrder(home, { do: 'erase' } as never)).rejects.toThrow('expected an order in JSON')
      const done = sendOrder(home, { do: 'snapshot' })
      const { order, answer } = await next
      expect(order).toEqual({ do: 'snapshot' })
      await expect(sendOrder(home, { do: 'snapshot' })).rejects.toThrow(/another order/)
      answer({ snapshot: 4, height: 12 })
      expect(await done).toEqual({ snapshot: 4, height: 12 })
    } finally {
      orders.close()
    }
  })
})
