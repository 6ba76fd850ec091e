import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { Command } from 'commander'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import {
  chooseOs,
  machineOs,
  parseAbci,
  parseBlockTime,
  parseEndpoint,
  parseHostName,
  parseOrigin,
  parseOs,
  parseStalledAfter,
  parseTrustPeriod,
  printEndpoint,
  readConfig,
} from '../../src/node/settings.ts'
import { parseAmount, printTokens } from '../../src/cli/amounts.ts'
import { assertFree, configure as configureDevnet } from '../../src/cli/commands/devnet.ts'
import type { ProveFlags } from '../../src/cli/commands/query.ts'
import { chooseRetention } from '../../src/cli/commands/snapshot.ts'
import { configure as configureStart } from '../../src/cli/commands/start.ts'
import { UserError } from '../../src/node/errors.ts'
import { assertOwnHome, noPageOption, pageFrom, parseHome, withOptions } from '../../src/cli/options.ts'
import { program } from '../../src/cli/main.ts'
import { prove } from '../../src/cli/prove.ts'
import { shellWord } from '../../src/cli/networkScripts.ts'
import { allowedAddresses } from '../../src/node/libraries.ts'
import { assertDevnetHome, resetHome } from '../../src/cli/devnet/home.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { abciAddressOf, socketPathOf, userFolder, userName } from '../../src/node/paths.ts'
import { tempFolder } from '../support/tempFolder.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ path: folder, remove } = tempFolder('cli'))
})
afterEach(() => remove())

const write = (name: string, text: string): void => {
  mkdirSync(join(folder, 'config'), { recursive: true })
  writeFileSync(join(folder, 'config', name), text)
}
const writeGenesis = (text: string): void => write('genesis.json', text)
const configure = (config: object): void => write('svcd.json', JSON.stringify(config))

describe('flags', () => {
  test.each([['127.0.0.1:8545'], ['localhost:1'], ['[::1]:65535'], ['example.org:80']])(
    'an endpoint prints as it was read: %s',
    (text) => {
      expect(printEndpoint(parseEndpoint(text, '--gateway'))).toBe(text)
    },
  )

  test.each(['8545', ':8545', 'host', 'host:', 'host:0', 'host:65536', 'host:abc', '::1:80', ''].map((text) => [text]))(
    'no endpoint, and the flag is named: %j',
    (text) => {
      expect(() => parseEndpoint(text, '--rpc')).toThrow(/^--rpc: expected HOST:PORT/)
    },
  )

  test.each([
    ['10ms', 10],
    ['300ms', 300],
    ['1s', 1000],
    ['600s', 600_000],
  ])('a block time of %s', (text, ms) => {
    expect(parseBlockTime(text)).toBe(ms)
  })

  test('a host is a name or an address without a port, as a Host header has it', () => {
    for (const text of ['node.example', 'LOCALHOST', '10.0.0.5', '[::1]']) expect(parseHostName(text, '--x')).toBe(text)
    for (const text of ['node.example:80', '[::1]:80', '::1', 'http://node.example', ''])
      expect(() => parseHostName(text, '--x')).toThrow('--x: expected a host name')
  })

  test('an origin is as a page sends it, or becomes so', () => {
    for (const text of '* loopback null https://wallet.example http://[::1]:8080 chrome-extension://abc file://'.split(
      ' ',
    ))
      expect(parseOrigin(text, '--x')).toBe(text)
    for (const text of ['https://wallet.example/', 'HTTPS://Wallet.Example:443'])
      expect(parseOrigin(text, '--x')).toBe('https://wallet.example')
    for (const text of [
      'wallet.example',
      'https://wallet.example/app',
      'https://a@b.example',
      'https://',
      '',
      'x://a/',
    ])
      expect(() => parseOrigin(text, '--x')).toThrow('--x: expected an origin')
  })

  test('a trust period has minutes and hours too, of 168 hours at most', () => {
    expect(['1s', '90m', '168h'].map(parseTrustPeriod)).toEqual([1000, 5_400_000, 604_800_000])
    for (const text of ['999ms', '169h', '1d', '12', ''])
      expect(() => parseTrustPeriod(text)).toThrow(
        /^--trust-period: expected a time from 1s to 168h, such as 90m or 12h, got /,
      )
  })

  test.each(['9ms', '601s', '1', '1m', '-1s', '0.5s', ''].map((text) => [text]))('no block time: %j', (text) => {
    expect(() => parseBlockTime(text)).toThrow(/^--block-time: expected a time from 10ms to 600s/)
  })

  test.each([
    ['0', 0],
    ['1s', 1000],
    ['1500ms', 1500],
    ['86400s', 86_400_000],
  ])('the chain counts as stalled after %s', (text, ms) => {
    expect(parseStalledAfter(text)).toBe(ms)
  })

  test.each(['999ms', '86401s', '0s', '1', '-1s', ''].map((text) => [text]))('no such time: %j', (text) => {
    expect(() => parseStalledAfter(text)).toThrow(
      /^--stalled-after: expected a time from 1s to 86400s, such as 30s, or 0 for never/,
    )
  })

  test.each([
    ['1.5token', '1500000000000000000'],
    ['0.000000000000000001 tokens', '1'],
    ['2000token', '2000000000000000000000'],
    ['01.10token', '1100000000000000000'],
    ['0token', '0'],
    ['1500000000000000000', '1500000000000000000'],
    ['0x10', '0x10'],
  ])('an amount: %s is %s base units', (text, units) => {
    expect(parseAmount(text, '--value')).toBe(units)
  })

  test('an amount with a fraction and no unit is refused with the two spellings that would do', () => {
    const why = '--value: 1.5 has no unit. Write 1.5token, or 1500000000000000000 for the same in base units'
    expect(() => parseAmount('1.5', '--value')).toThrow(new UserError(why))
  })

  test('no token has more than 18 decimals', () => {
    const [most, more] = [`0.${'1'.repeat(18)}token`, `0.${'1'.repeat(19)}token`]
    expect(parseAmount(most, '--value')).toBe('1'.repeat(18))
    const why = `--value: a token has at most 18 decimals, but "${more}" has 19`
    expect(() => parseAmount(more, '--value')).toThrow(new UserError(why))
  })

  test.each(['', 'token', '.5token', '1.token', '-1token', '1e3token', '1,5token', '1.5eth', '1  token', '1token '])(
    'no amount: %j',
    (text) => {
      const why = '--value: expected an amount in base units, or in tokens with their unit, such as 1.5token, got '
      expect(() => parseAmount(text, '--value')).toThrow(`${why}${JSON.stringify(text)}`)
    },
  )

  test.each(['0 tokens', '1 token', '1.5 tokens', '0.000000000000000001 tokens', '100000 tokens'])(
    'base units print as tokens, and are read as they were printed: %s',
    (text) => {
      expect(printTokens(parseAmount(text, '--value'))).toBe(text)
    },
  )

  test('a home that this user may not look into is refused where it is used, and one that is not there is taken', () => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o000 })
    const isRoot = process.geteuid?.() === 0 // Root may look into everything.
    if (isRoot) process.seteuid?.(65_534)
    try {
      // It may be the default, beside which another one was named.
      expect(parseHome(closed, '--home')).toBe(closed)
      expect(() => assertOwnHome(closed, 'keys')).toThrow(`--home: ${closed} is closed to this user`)
    } finally {
      if (isRoot) process.seteuid?.(0)
      chmodSync(closed, 0o700)
    }
    expect(() => assertOwnHome(join(closed, 'none'), 'keys')).not.toThrow()
    expect(() => parseHome('', '--home')).toThrow('--home: expected a folder, got ""')
  })

  test('a user whom the system does not know has the folder / and a number for a name', () => {
    const unknown = (): string => {
      throw new Error('uv_os_get_passwd returned ENOENT')
    }
    expect([userFolder(unknown), userFolder()]).toEqual(['/', homedir()])
    expect([userName(unknown), userName()]).toEqual([String(process.getuid?.()), userInfo().username])
  })

  test('root only reads beside the data of another user', async () => {
    const data = join(folder, 'data')
    if (process.geteuid?.() === 0) chownSync(folder, 65_534, 65_534)
    else jest.spyOn(process, 'geteuid').mockReturnValue(0)
    expect(() => assertOwnHome(folder, 'rollback')).not.toThrow()
    mkdirSync(data)
    if (process.getuid?.() === 0) chownSync(data, 65_534, 65_534)
    const { uid } = statSync(data)
    expect(() => assertOwnHome(folder, 'doctor')).not.toThrow()
    const refusal =
      `--home: the data in ${folder} is another user's, whose node cannot use what root writes there. ` +
      `Run this as its owner: sudo -u '#${uid}' svcd …`
    expect(() => assertOwnHome(folder, 'rollback')).toThrow(refusal)
    const runs = async (args: string) =>
      (await program(args.split(' '))).parseAsync([...args.split(' '), '--home', folder], { from: 'user' })
    await expect(runs('snapshot verify')).rejects.toThrow(/holds no snapshot$/)
    await expect(runs('keys show alice')).rejects.toThrow(/alice/)
    await expect(runs('snapshot create')).rejects.toThrow(refusal)
    const ask = () => Promise.reject(new Error('asked'))
    await expect(prove({ home: folder } as ProveFlags, ask)).rejects.toThrow(refusal)
    jest.restoreAllMocks()
  })

  test.each(['foo', 'unix://', 'tcp://h', 'tcp://h:65536', 'tcp://a:b:1'])('%s is no ABCI address', (text) => {
    expect(() => parseAbci(text, '--abci')).toThrow(/^--abci: expected unix:\/\/\/path or tcp:\/\/host:port, got /)
  })

  test('ABCI addresses are a socket, or a host and a port', () => {
    for (const text of ['unix:///a b/abci.sock', 'tcp://127.0.0.1:26658', 'tcp://[::1]:0'])
      expect(parseAbci(text, '--abci')).toBe(text)
  })

  test('a path with a space or a quote is printed as a shell reads it back', () => {
    expect(['/a/b-1', '/a b', "/it's"].map(shellWord)).toEqual(['/a/b-1', "'/a b'", "'/it'\\''s'"])
  })

  test('an OS that fileUrl does not know is refused', () => {
    expect(parseOs('centos')).toBe('centos')
    expect(() => parseOs('windows')).toThrow('--os: expected ubuntu or centos, got "windows"')
  })
})

describe('the OS of a node', () => {
  test('is that of os-release only when fileUrl knows it', () => {
    const path = join(folder, 'os-release')
    const files = [
      ['ID=ubuntu\n', 'ubuntu'],
      ['NAME=x\nID="centos"\n', 'centos'],
      ['ID=debian\n', undefined],
      ['ID_LIKE=ubuntu\n', undefined],
    ] as const
    for (const [text, os] of files) {
      writeFileSync(path, text)
      expect(machineOs(path)).toBe(os)
    }
    expect(machineOs(join(folder, 'absent'))).toBeUndefined()
  })

  test("is the flag's, else the file's", () => {
    configure({ eni: { os: 'centos' } })
    expect(chooseOs(folder, undefined, () => {})).toBe('centos')
    expect(chooseOs(folder, 'ubuntu', () => {})).toBe('ubuntu')
    expect(() => chooseOs(folder, 'beos', () => {})).toThrow('--os')
  })

  test('where the machine has none of them ubuntu is written to the file and said', () => {
    if (machineOs() !== undefined) return expect(chooseOs(folder, undefined, () => {})).toBe(machineOs())
    const said: string[] = []
    expect(chooseOs(folder, undefined, (line) => said.push(line))).toBe('ubuntu')
    expect(said.join()).toContain('eni.os')
    expect(readConfig(folder)).toEqual({ eni: { os: 'ubuntu' } })
  })

  test.each([
    ['{', 'expected a JSON object'],
    [
      '{"prunning": {"keepBlocks": 5}}',
      'prunning.keepBlocks: no such setting; expected eni.os, eni.allowAddresses, gateway',
    ],
    ['{"snapshots": {"interval": 5, "kept": 2}}', 'snapshots.kept: no such setting'],
    ['{"pruning": 5}', 'pruning: no such setting'],
  ])('a file that says %s is named', (text, words) => {
    write('svcd.json', text)
    expect(() => readConfig(folder)).toThrow(`svcd.json: ${words}`)
  })
})

test('a file that cannot be read is not one with other contents', () => {
  mkdirSync(join(folder, 'config', 'svcd.json'), { recursive: true })
  expect(() => readConfig(folder)).toThrow(/config\/svcd\.json: cannot be read: EISDIR$/)
})

describe('what a node keeps', () => {
  test("is the flag's, else the file's, else the default", () => {
    expect(chooseRetention(folder, {})).toEqual({ interval: 1000, keep: 2, keepBlocks: 0 })
    configure({ snapshots: { interval: 50, keep: 10 }, pruning: { keepBlocks: 2 } })
    expect(chooseRetention(folder, {})).toEqual({ interval: 50, keep: 10, keepBlocks: 2 })
    expect(chooseRetention(folder, { snapshotInterval: '0', keepBlocks: '0' })).toEqual({
      interval: 0,
      keep: 10,
      keepBlocks: 0,
    })
    expect(
      chooseRetention(folder, { snapshotInterval: '1000000', snapshotKeep: '2', keepBlocks: '1000000000' }),
    ).toEqual({ interval: 1_000_000, keep: 2, keepBlocks: 1_000_000_000 })
  })

  test.each([
    [
      { snapshotInterval: '1000001' },
      {},
      '--snapshot-interval: expected a whole number from 1 to 1000000, or 0, got "1000001"',
    ],
    [{ snapshotInterval: '-1' }, {}, '--snapshot-interval: expected'],
    [{ snapshotInterval: '' }, {}, '--snapshot-interval: expected'],
    [{ snapshotKeep: '1' }, {}, '--snapshot-keep: expected a whole number from 2 to 10, got "1"'],
    [{ snapshotKeep: '11' }, {}, '--snapshot-keep: expected'],
    [{ keepBlocks: '1' }, {}, '--keep-blocks: expected a whole number from 2 to 1000000000, or 0, got "1"'],
    [{ keepBlocks: '1e3' }, {}, '--keep-blocks: expected'],
    [
      {},
      { snapshots: { interval: '5' } },
      'config/svcd.json: snapshots.interval: expected a whole number from 1 to 1000000, or 0, got "5"',
    ],
    [
      {},
      { snapshots: { keep: 2.5 } },
      'config/svcd.json: snapshots.keep: expected a whole number from 2 to 10, got 2.5',
    ],
    [{}, { pruning: { keepBlocks: null } }, 'config/svcd.json: pruning.keepBlocks: expected'],
  ])('%j over %j is refused with its name', (flags, file, message) => {
    configure(file)
    expect(() => chooseRetention(folder, flags)).toThrow(message)
  })
})

describe('addresses that libraries may come from', () => {
  test('none by default; those of the file; those of the flag instead', () => {
    expect(allowedAddresses(folder, undefined)).toEqual([])
    configure({ eni: { allowAddresses: ['10.0.0.0/8', '::1'] } })
    expect(allowedAddresses(folder, undefined)).toEqual(['10.0.0.0/8', '::1'])
    expect(allowedAddresses(folder, '127.0.0.1, fd00::/8')).toEqual(['127.0.0.1', 'fd00::/8'])
  })

  test.each([['10.0.0.0/8'], [['localhost']], [[1]], [['10.0.0.0/40']], [{}]])(
    '%j in the file is told in one line',
    (allowAddresses) => {
      configure({ eni: { allowAddresses } })
      expect(() => allowedAddresses(folder, undefined)).toThrow(/^config\/svcd\.json: eni\.allowAddresses: expected /)
    },
  )

  test('so is a flag', () => {
    expect(() => allowedAddresses(folder, '127.0.0.1,,')).toThrow(
      '--eni-allow: expected an address or a block such as 10.0.0.5',
    )
  })
})

describe('the home of a devnet', () => {
  test('an absent or empty folder, and that of a devnet, will do', () => {
    assertDevnetHome(join(folder, 'absent'))
    assertDevnetHome(folder)
    writeGenesis('{"chain_id":"svcd-devnet"}')
    assertDevnetHome(folder)
  })

  test('a folder with anything else is left alone, and what it holds is named', () => {
    writeFileSync(join(folder, 'thesis.txt'), '')
    expect(() => assertDevnetHome(folder)).toThrow(/is not the home of a devnet, because it holds thesis\.txt/)
  })

  test('another chain is named', () => {
    writeGenesis('{"chain_id":"mainnet"}')
    expect(() => assertDevnetHome(folder)).toThrow(/holds the chain mainnet, not svcd-devnet/)
  })

  test('a genesis file that is none is named', () => {
    writeGenesis('{}')
    expect(() => assertDevnetHome(folder)).toThrow(/genesis\.json: expected a genesis file: JSON with a chain_id/)
  })

  test('reset removes what is ours, but keeps the settings', () => {
    writeGenesis('{"chain_id":"svcd-devnet"}')
    configure({ page: false })
    mkdirSync(join(folder, 'data'))
    resetHome(folder)
    expect([existsSync(join(folder, 'data')), readdirSync(join(folder, 'config'))]).toEqual([false, ['svcd.json']])
    assertDevnetHome(folder)
  })

  test('the socket is in the home; a path too long for a socket is refused, and any on Windows', () => {
    expect(abciAddressOf(folder)).toBe(`unix://${folder}/abci.sock`)
    const longest = join(folder, 'x'.repeat(103 - `${folder}//abci.sock`.length))
    expect(abciAddressOf(longest)).toBe(`unix://${longest}/abci.sock`)
    expect(() => abciAddressOf(`${longest}y`)).toThrow(
      `${longest}y/abci.sock: the path of a socket has at most 103 bytes, and this one has 104. Choose a home with`,
    )
    expect(() => socketPathOf(folder, 'abci.sock', 'win32')).toThrow(/Run it in WSL/)
  })
})

describe('a port that is taken', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.close()
  })

  test('by an outgoing connection is told from one of a server, with what to do', async () => {
    server = createServer()
    await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
    const client = connect(server.address() as { port: number })
    await once(client, 'connect')
    const { localAddress: host = '', localPort: port = 0 } = client
    const words =
      `port ${port} (gateway) is in use, not by a server but by an outgoing connection, to which the system gave it. Wait ` +
      `until that connection has ended. To keep the port for servers, run sysctl -w net.ipv4.ip_local_reserved_ports=${port}. ` +
      'Choose another one with --gateway HOST:PORT'
    await expect(assertFree({ host, port }, 'gateway', '--gateway')).rejects.toThrow(words)
    client.destroy()
  })

  test('is named with what wants it and the flag that changes it', async () => {
    server = createServer()
    await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    await expect(assertFree({ host: '127.0.0.1', port }, 'gateway', '--gateway')).rejects.toThrow(
      `port ${port} (gateway) is in use, perhaps by another devnet. Choose another one with --gateway HOST:PORT`,
    )
    await expect(assertFree({ host: '203.0.113.1', port }, 'CometBFT RPC', '--rpc')).rejects.toThrow(
      'cannot listen on 203.0.113.1',
    )
  })
})

/** The options that a command takes from these arguments and from the variables. */
function parsed(configureIt: (command: Command) => unknown, args: readonly string[] = []): Record<string, unknown> {
  const command = new Command()
  configureIt(command)
  return command
    .action(() => {})
    .parse(args, { from: 'user' })
    .opts()
}

describe('the page of a gateway', () => {
  const served = (...args: readonly string[]): boolean => {
    const { page } = parsed((command) => withOptions(command, '', [noPageOption]), args)
    return pageFrom({ page: page === true, home: folder }).page !== false
  }
  afterEach(() => {
    delete process.env['SVCD_NO_PAGE']
  })

  test('is served unless the flag, the variable or the file says otherwise', () => {
    expect([served(), served('--no-page')]).toEqual([true, false])
    for (const [value, is] of [
      ['1', false],
      ['true', false],
      ['0', true],
      ['', true],
    ] as const) {
      process.env['SVCD_NO_PAGE'] = value
      expect(served()).toBe(is)
    }
    configure({ page: true })
    expect([served(), served('--no-page')]).toEqual([true, false])
    configure({ page: false })
    expect(served()).toBe(false)
  })

  test('a setting that is neither true nor false is refused', () => {
    configure({ page: 'no' })
    expect(() => served()).toThrow('config/svcd.json: page: expected true or false, got "no"')
  })
})

test.each([
  ['1', false],
  ['yes', false],
  ['0', true],
  ['', true],
])('with SVCD_NO_HISTORY="%s" a node keeps its index of histories: %s', (value, isKept) => {
  process.env['SVCD_NO_HISTORY'] = value
  expect(parsed(configureStart)['history']).toBe(isKept)
  expect(parsed(configureStart, ['--no-history'])['history']).toBe(false)
  delete process.env['SVCD_NO_HISTORY']
})

test.each([
  ['1', true],
  ['0', undefined],
])('with SVCD_RESET="%s" a devnet begins a new chain: %s', (value, is) => {
  process.env['SVCD_RESET'] = value
  expect(parsed(configureDevnet)['reset']).toBe(is)
  expect(parsed(configureDevnet, ['--reset'])['reset']).toBe(true)
  delete process.env['SVCD_RESET']
})

test('the samples of config/svcd.json in the pages are read as they stand, and name no setting that is unknown', () => {
  for (const { code } of examplesRunBy('test/cli/settings.test.ts')) {
    write('svcd.json', code)
    const config = readConfig(folder)
    const { os, allowAddresses = [] } = config.eni ?? {}
    if (os !== undefined) expect(chooseOs(folder, undefined, () => {})).toBe(os)
    expect(allowedAddresses(folder, undefined)).toHaveLength(allowAddresses.length)
    expect(chooseRetention(folder, {})).toMatchObject({ ...config.snapshots, ...config.pruning })
  }
})
