import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKeystore } from '../../src/keys/keystore.ts'
import { until } from '../../bench/until.ts'
import { gatewayClient } from '../e2e/support/client.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { type ListedCommand, listCommands } from '../../tools/reference/commands.ts'
import { type Between, standBetween } from '../e2e/support/bending.ts'
import { type Ended, endedWith, makePlace, type Place, run, type Running, svcd, typed } from './support.ts'

/** The longest that a transaction waits for its block. */
const BLOCK_MS_MAX = 60_000
const DEVNET_0 = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'

let place: Place
let devnet: Running | undefined
let between: Between | undefined
let commands: readonly ListedCommand[] = []

const isGroup = ({ command }: ListedCommand): boolean => command.commands.length > 0
const shown = (path: string): readonly ListedCommand[] =>
  commands.filter((one) => one.path.startsWith(path) && !isGroup(one))
const exampleOf = (path: string): string => shown(path)[0]?.examples[0] ?? ''
const json = ({ stdout }: Ended): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>
const write = (name: string, text: string, mode = 0o600): void =>
  writeFileSync(join(place.folder, name), text, { mode })

beforeAll(async () => {
  place = makePlace(await freePorts(3))
  write('password.txt', 'correct horse\n')
  write('token.txt', 'sixteen-letters-long\n')
  write('secret.txt', `${'07'.repeat(32)}\n`)
  commands = await listCommands()
  // Only `svcd snapshot create` makes snapshots: those that a devnet makes by itself take the place of older ones.
  const env = { ...place.env, SVCD_SNAPSHOT_INTERVAL: '0' }
  devnet = await run({ ...place, env }, ['devnet', '--block-time', '200ms'], /devnet ready/)
  between = await standBetween(`http://${place.env['SVCD_GATEWAY']}`)
})

afterAll(async () => {
  await between?.close()
  await devnet?.stop()
  place.remove()
})

test('every command shows an example, and takes --home and --json unless it runs a part', () => {
  expect(commands.length).toBeGreaterThan(40)
  for (const one of commands) {
    const { path, examples, help } = one
    if (isGroup(one) && /^svcd tx /.test(path)) continue
    expect([path, examples.length]).toEqual([path, 1])
    if (isGroup(one) || /^svcd (?:devnet|start|completion)$/.test(path)) continue
    expect(help).toContain('--home <dir>')
    expect(help).toContain('--json')
  }
})

describe('keys', () => {
  test('the examples run in order: new, import, multisig, list, show, export, passwd, delete, mnemonic', async () => {
    for (const line of shown('svcd keys ').flatMap(({ examples }) => examples))
      expect([line, await typed(place, line)]).toMatchObject([line, { status: 0 }])
    expect(readdirSync(join(place.folder, 'keys'))).toEqual(['alice.json', 'team.json'])
    expect(statSync(join(place.folder, 'keys', 'alice.json')).mode & 0o777).toBe(0o600)
    const sealed = readFileSync(join(place.folder, 'keys', 'alice.json'), 'utf8')
    expect(openKeystore(sealed, 'correct horse')).toHaveLength(32)
  })

  test('a secret is printed with --unsafe only', async () => {
    expect(await svcd(place, ['keys', 'mnemonic'])).toMatchObject({ status: 2, stdout: '' })
    const short = await svcd(place, ['keys', 'mnemonic', '--unsafe', '--words', '12'])
    expect(short.stdout).toMatch(/^(?:[a-z]+ ){11}[a-z]+\n$/)
    await svcd(place, ['keys', 'import', 'carol', '--private-key'], `${'0a'.repeat(32)}\na password\n`)
    const sealed = await svcd(place, ['keys', 'export', 'carol'])
    expect(sealed.status).toBe(0)
    expect(sealed.stdout + sealed.stderr).not.toContain('0a'.repeat(32))
    const open = await svcd(place, ['keys', 'export', 'carol', '--unsafe'], 'a password\n')
    expect(open).toMatchObject({ status: 0, stdout: `0x${'0a'.repeat(32)}\n` })
  })

  test('a mnemonic from stdin gives the account that the devnet shows', async () => {
    const words = 'test test test test test test test test test test test junk'
    const made = await svcd(
      place,
      ['keys', 'import', 'dev', '--mnemonic', '--index', '0', '--json'],
      `${words}\na password\n`,
    )
    expect(json(made)).toMatchObject({ name: 'dev', address: DEVNET_0 })
    expect((await svcd(place, ['keys', 'delete', 'dev', '--yes'])).status).toBe(0)
  })

  test('a wrong password, a taken name, an open file mode: status 1 and one line; no password at all: 2', async () => {
    expect(await svcd(place, ['keys', 'export', 'alice', '--unsafe'], 'wrong\n')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^svcd: the password is wrong.*\n$/),
    })
    expect(await svcd(place, ['keys', 'new', 'alice'], 'a password\n')).toMatchObject(
      endedWith(1, 'already has a key named alice'),
    )
    expect(await svcd(place, ['keys', 'new', 'dave'])).toMatchObject(endedWith(2, 'there is no password of dave'))
    const path = join(place.folder, 'keys', 'alice.json')
    chmodSync(path, 0o644)
    expect(await svcd(place, ['keys', 'show', 'alice', '--json'])).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('"problem": "file"'),
    })
    chmodSync(path, 0o600)
  })
})

describe('tx', () => {
  test('the examples run against a devnet; only a vote for what nobody proposed and an upgrade are refused', async () => {
    const life = ['declare', 'update', 'deactivate', 'activate', 'update-account', 'accept-account-update', 'verify']
    const order = (path: string): number => life.indexOf(path.split(' ').at(-1) ?? '')
    const first = shown('svcd tx ')
      .filter(({ path }) => order(path) >= 0)
      .sort((a, b) => order(a.path) - order(b.path))
    const last = shown('svcd tx ').filter(({ path }) => path.endsWith(' withdraw'))
    const drafts = shown('svcd tx ').filter(({ path }) => / (?:sign|send)$/.test(path))
    // The retirement keeps the candidacy of `declare`, which no node signs for: after 120 blocks it is removed.
    const rest = shown('svcd tx ')
      .filter((one) => ![...first, ...last, ...drafts].includes(one))
      .sort((a, b) => Number(/retire-program$/.test(b.path)) - Number(/retire-program$/.test(a.path)))
    expect(first).toHaveLength(7)
    for (const { path, examples } of [...first, ...rest, ...last]) {
      const [line = ''] = examples
      const ended = await typed(place, line)
      const refused = /^svcd: [a-z -]+ failed: code \d+: \S.*\(hash [0-9A-F]{64}\)\n$/
      if (/ declare$/.test(path))
        expect(ended.stdout).toMatch(/^staked +1000 tokens; the candidacy may grow to 10000 tokens$/m)
      if (/ vote$|upgrade-program$/.test(path)) expect(ended).toMatchObject(endedWith(1, refused))
      else {
        expect([line, ended.status === 0 ? '' : ended.stderr]).toEqual([line, ''])
        expect(ended.stdout).toContain('ok')
      }
    }
  })

  test('stake delegate and stake undelegate are read as a table in tokens; stake withdraw takes no validator', async () => {
    const holder = '0x5995772c3e6cf3812876b4539487afa4aa33058f' // the fourth account of a devnet
    const send = (...words: readonly string[]) =>
      svcd(place, ['tx', 'stake', ...words, '--from', holder, '--validator-address', DEVNET_0])
    expect((await send('delegate', '--amount', '20token')).status).toBe(0)
    expect((await send('undelegate', '--amount', '5.5token')).status).toBe(0)
    expect((await svcd(place, ['query', 'delegator', holder])).stdout).toMatch(
      /^height \d+\nvalidator_address +delegate_amount \(tokens\) .*\n0x\w{40} +20 +0\.\d+ +5\.5 +0 +14\.5\d* +5\.5 tokens at block \d+\n$/,
    )
    expect((await svcd(place, ['query', 'stake', DEVNET_0])).stdout).toMatch(/^room +[\d.]+ tokens$/m)
    expect(await send('withdraw')).toMatchObject(endedWith(2, /^svcd: unknown option '--validator-address'/))
    expect((await svcd(place, ['tx', 'stake', '--help'])).stdout).toMatch(
      /withdraw \[options\] +Ends the sender's candidacy[\s\S]*undelegate \[options\] +Takes a delegation back/,
    )
  })

  test('the examples of sign and send run, one after the other, on what --unsigned wrote', async () => {
    await svcd(place, ['keys', 'import', 'bob', '--private-key', '--ethereum'], `${'0b'.repeat(32)}\na password\n`)
    write('password.txt', 'a password\n')
    const { address } = json(await svcd(place, ['keys', 'show', 'bob', '--json'])) as { address: string }
    await svcd(place, ['tx', 'transfer', '--from', DEVNET_0, '--to', address, '--value', '5token'])
    const unsigned = ['--to', DEVNET_0, '--value', '1token', '--unsigned', 'transfer.json']
    expect(await svcd(place, ['tx', 'transfer', '--from', 'bob', ...unsigned])).toMatchObject({ status: 0, stdout: '' })
    for (const name of ['sign', 'send'])
      for (const line of shown(`svcd tx ${name}`).flatMap(({ examples }) => examples))
        expect([line, await typed(place, line)]).toMatchObject([line, { status: 0 }])
    write('password.txt', 'correct horse\n')
  })

  test('a key of the keystore signs here; the validator then stands in the list', async () => {
    const { address } = json(await svcd(place, ['keys', 'show', 'alice', '--json'])) as { address: string }
    await svcd(place, ['tx', 'transfer', '--from', DEVNET_0, '--to', address, '--value', '5000token'])
    const pubKey = Buffer.alloc(32, 9).toString('base64')
    const password = '--password-file password.txt'
    const declare = `tx stake declare --from alice ${password} --pub-key ${pubKey} --description-name Alice --json`
    const done = await svcd(place, declare)
    const success = { height: expect.any(Number), check_tx: { fee: {} }, deliver_tx: { gasUsed: '1000000' } }
    expect([done.stderr, json(done)]).toMatchObject(['', success])
    expect((await svcd(place, ['query', 'validators'])).stdout).toMatch(new RegExp(`${address} .* Alice`))
    const balance = await svcd(place, ['query', 'balance', address])
    expect([balance.stdout]).toEqual([`${Number(5000n - 1_000n) - 0.002} tokens\n`])
    const transfer = `tx transfer --to ${DEVNET_0} ${password} --value`
    const needed = `\nneeded: 4000.000042 tokens, with a fee of 0.000042 tokens; the balance of ${address} is 3999.998 tokens\n`
    for (const flag of ['--wait', '--dry-run']) {
      const low = await svcd(place, `${transfer} 4000token --from alice ${flag}`)
      const line = `svcd: transfer failed: code 20: Insufficient balance (hash `
      expect(low).toMatchObject(endedWith(1, line))
      expect([flag, low.stderr.slice(low.stderr.indexOf('\n'))]).toEqual([flag, needed])
    }
    const onChain = (chain: string, flags: string) => svcd(place, `${transfer} 1 --chain-id ${chain} --from ${flags}`)
    for (const [flags, who] of [
      ['alice', 'gateway'],
      ['alice --no-wait', 'node'],
      [DEVNET_0, 'gateway'],
    ] as const) {
      const other = `svcd: --chain-id: expected svcd-devnet, the chain of the ${who}, got`
      const refused = await onChain('my-chain', flags)
      expect([flags, refused]).toMatchObject([flags, { status: 2, stderr: expect.stringContaining(other) }])
    }
    expect(await onChain('svcd-devnet', 'alice')).toMatchObject({ status: 0 })
    const again = await svcd(place, declare)
    expect([again.status, json(again)]).toMatchObject([
      1,
      { height: 0, check_tx: { code: 1, log: 'pubkey has been declared' } },
    ])
  })

  test('--dry-run asks CheckTx and sends nothing; --no-wait sends and ends; both need a key and the node', async () => {
    const transfer = `tx transfer --from alice --password-file password.txt --to ${DEVNET_0} --value 1 --json`
    const gateway = gatewayClient(`http://${place.env['SVCD_GATEWAY']}`)
    const { address } = json(await svcd(place, ['keys', 'show', 'alice', '--json'])) as { address: string }
    const nonceOf = (): Promise<number> => gateway.call('svc_getTransactionCount', [address])
    const before = await nonceOf()
    const checked = await svcd(place, `${transfer} --dry-run`)
    expect([checked.status, json(checked)]).toMatchObject([0, { code: 0, checked: true }])
    const refused = await svcd(place, `${transfer} --dry-run --nonce 77`)
    expect([refused.status, json(refused)]).toMatchObject([
      1,
      { code: 6, log: `bad nonce: expected ${before}, got 77` },
    ])
    expect(await nonceOf()).toBe(before)
    const sent = json(await svcd(place, `${transfer} --no-wait`)) as { hash: string; sent: boolean }
    expect(sent.sent).toBe(true)
    const isInBlock = async (): Promise<boolean> => (await gateway.call('svc_getTransaction', [sent.hash])) !== null
    await until(isInBlock, BLOCK_MS_MAX, () => `${sent.hash} is in no block after ${BLOCK_MS_MAX} ms`)
    expect(await nonceOf()).toBe(before + 1)
    const keyless = `tx transfer --from ${DEVNET_0} --to ${DEVNET_0} --value 1 --dry-run`
    expect(await svcd(place, keyless)).toMatchObject({ status: 2 })
    const away = await svcd(place, `${transfer} --dry-run --node 127.0.0.1:9`)
    expect(away).toMatchObject(endedWith(1, '--node URL'))
  })
})

describe('query', () => {
  test('the example of every query runs', async () => {
    const queries = shown('svcd query ')
    expect(queries.length).toBeGreaterThanOrEqual(13)
    for (const line of queries.flatMap(({ examples }) => examples))
      expect([line, await typed(place, line)]).toMatchObject([line, { status: 0, stdout: expect.stringMatching(/\S/) }])
  })

  // For people `validators` adds who is joining, and `balance` is in tokens.
  test.each(['balance', 'validators'])('%s --json is what the gateway answered', async (name) => {
    const line = exampleOf(`svcd query ${name}`)
    const gateway = between as Between
    let answered: unknown
    gateway.bend = (_method, answer) => void (answered = answer['result'])
    const ended = await typed(place, `${line} --json --gateway ${gateway.url}`)
    expect([line, JSON.parse(ended.stdout)]).toEqual([line, answered])
  })

  test('a slow reader gets a long answer whole, and one that goes away ends the command', async () => {
    const { stdout } = await typed(place, 'svcd query discover --json | (sleep 1; cat)')
    expect(stdout.length).toBeGreaterThan(65_536)
    expect(JSON.parse(stdout)).toMatchObject({ openrpc: expect.any(String) })
    const gone = await typed(place, 'svcd query discover --json | head -n 1; echo $PIPESTATUS')
    expect(gone).toMatchObject({ stdout: '{\n0\n', stderr: '' })
  })

  test('a gateway that is away is status 1, with JSON for programs', async () => {
    const ended = await svcd(place, ['query', 'validators', '--json', '--gateway', '127.0.0.1:9'])
    expect([ended.status, json(ended)]).toMatchObject([
      1,
      { error: { message: expect.stringContaining('does not answer') } },
    ])
  })
})

describe('the rest', () => {
  test('status, doctor, program, export and eni list: the examples run; doctor recomputes the app hash; export loses no unit', async () => {
    for (const path of ['svcd status', 'svcd doctor', 'svcd program accept', 'svcd export', 'svcd eni list']) {
      const line = exampleOf(path)
      const ended = await typed(place, line)
      expect([line, ended]).toMatchObject([line, { status: 0 }])
      if (path.endsWith('doctor')) expect(ended.stdout).toMatch(/ok {2}app hash .*recomputed from the rows/)
    }
    const genesis = JSON.parse(readFileSync(join(place.folder, 'genesis.json'), 'utf8')) as {
      chain_id: string
      app_state: { accounts: { balance: string }[]; candidacies: { shares: string }[] }
    }
    expect(genesis.chain_id).toBe('my-chain-2')
    const told = await svcd(place, ['export', '--chain-id', 'another', '--genesis-time', '2027-01-02T03:04:05Z'])
    expect(json(told)).toMatchObject({ genesis_time: '2027-01-02T03:04:05Z' })
    expect(told.stderr).toContain('nonces')
    const supply = /supply (\d+) base units/.exec(told.stderr)?.[1]
    const { accounts, candidacies } = (JSON.parse(told.stdout) as typeof genesis).app_state
    const units = [...accounts.map(({ balance }) => balance), ...candidacies.map(({ shares }) => shares)]
    expect(units.reduce((all, one) => all + BigInt(one), 0n).toString()).toBe(supply)
    expect(await svcd(place, ['export', '--chain-id', 'svcd-devnet'])).toMatchObject({ status: 2, stdout: '' })
  })

  test('snapshot: the examples run beside the devnet; what is bad or not trusted is refused and no state made of it', async () => {
    for (const {
      path,
      examples: [line = ''],
    } of shown('svcd snapshot')) {
      expect([path, await typed(place, line)]).toMatchObject([path, { status: 0 }])
    }
    const [made] = JSON.parse((await svcd(place, ['snapshot', 'list', '--json'])).stdout) as {
      height: number
      app_hash: string
    }[]
    const { app_hash: appHash, height } = made as { height: number; app_hash: string }
    const headsOf = (home: string): unknown => {
      const db = new Database(join(place.folder, home, 'data', 'state.db'), { readonly: true })
      try {
        return db.prepare('select height, upper(app_hash) as hash from blocks').all()
      } finally {
        db.close()
      }
    }
    expect(headsOf('restored')).toEqual([{ height, hash: appHash }])
    // Named by its height: the devnet makes another one every so many blocks.
    const restore = (...args: string[]): Promise<Ended> =>
      svcd(place, ['snapshot', 'restore', 'home/data/snapshots', '--height', String(height), ...args])
    const trusted = ['--app-hash', appHash.toLowerCase()]
    expect(await restore('--home', 'other', ...trusted)).toMatchObject({ status: 0, stderr: '' })
    expect(await restore('--home', 'other')).toMatchObject(endedWith(0, `header of block ${height + 1}`))
    expect(await restore()).toMatchObject(endedWith(2, 'another process'))
    const wrong = await restore('--home', 'other', '--app-hash', '00'.repeat(32))
    expect(wrong).toMatchObject(endedWith(2, appHash))
    for (const bad of [
      ['--height', '999999'],
      ['--app-hash', 'no'],
    ])
      expect((await restore('--home', 'other', ...bad)).status).toBe(2)
    expect(
      (await svcd(place, ['init', '--home', 'stranger', '--chain-id', 'stranger', '--owner', DEVNET_0])).status,
    ).toBe(0)
    expect(await restore('--home', 'stranger')).toMatchObject(endedWith(2, 'but this home is of stranger'))
    const chunk = join(place.folder, 'home', 'data', 'snapshots', `${height}-1`, '000000.chunk')
    const bytes = readFileSync(chunk)
    writeFileSync(chunk, bytes.fill(bytes.readUInt8(9) ^ 1, 9, 10))
    for (const ended of [await restore('--home', 'other'), await svcd(place, ['snapshot', 'verify'])]) {
      expect(ended).toMatchObject(endedWith(1, '000000.chunk is not the chunk that the metadata names'))
    }
    rmSync(chunk)
    expect(await svcd(place, ['snapshot', 'verify'])).toMatchObject(endedWith(1, 'is missing'))
    expect(headsOf('other')).toEqual([{ height, hash: appHash }])
    expect(existsSync(join(place.folder, 'other', 'data', 'restore.db'))).toBe(false)
  })

  test('init makes a home that reset empties, by their examples; an exported genesis joins; a second init is refused', async () => {
    const init = exampleOf('svcd init')
    expect(await typed(place, init)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('svcd start --home'),
    })
    expect(await typed(place, init)).toMatchObject({ status: 2 })
    expect((await svcd(place, ['init', '--home', 'joined', '--genesis', 'genesis.json'])).status).toBe(0)
    const rollback = exampleOf('svcd rollback')
    expect(await typed(place, rollback)).toMatchObject(endedWith(2, 'this home has no state yet'))
    const reset = exampleOf('svcd reset')
    expect(await typed(place, reset)).toMatchObject({ status: 0 })
    expect(existsSync(join(place.folder, 'my-chain', 'config', 'priv_validator_key.json'))).toBe(true)
  })

  test('reset refuses while the application runs, without a yes, and what is no home', async () => {
    expect(await svcd(place, ['reset', '--yes'])).toMatchObject(endedWith(2, 'another process'))
    expect(await svcd(place, ['reset'])).toMatchObject(endedWith(2, '--yes'))
    expect(await svcd(place, ['reset', '--yes', '--home', place.folder])).toMatchObject({ status: 2 })
    expect(existsSync(join(place.folder, 'home', 'data', 'state.db'))).toBe(true)
  })

  test('start, gateway and a second devnet run by their examples until they are told to stop', async () => {
    const [devnetPort, gatewayPort, ...ports] = await freePorts(5)
    const other = makePlace(ports)
    // Their ports are most machines' own, and of two runs on one machine.
    const args = (line: string): string[] =>
      line
        .replaceAll('~', other.folder)
        .replace('127.0.0.1:9545', `127.0.0.1:${devnetPort}`)
        .replace('127.0.0.1:9645', `127.0.0.1:${gatewayPort}`)
        .split(' ')
        .slice(1)
    try {
      const chain = ['init', '--home', join(other.folder, '.svcd'), '--chain-id', 'my-chain', '--owner', DEVNET_0]
      expect(await svcd(other, chain)).toMatchObject({ status: 0 })
      const start = exampleOf('svcd start')
      expect(await (await run(other, args(start), /the application listens/)).stop()).toBe(0)
      const [second = ''] = commands.find(({ path }) => path === 'svcd devnet')?.examples ?? []
      const secondNet = await run(other, args(second), /devnet ready/)
      for (const { examples } of shown('svcd devnet ')) {
        const ended = await svcd(other, args(examples[0] ?? ''))
        expect(ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/snapshot 1, the devnet goes on at/) })
      }
      expect(await secondNet.stop()).toBe(0)
      const gateway = exampleOf('svcd gateway')
      const running = await run(place, args(gateway), /gateway ready: .* signs for 0x/)
      const accounts = await svcd(place, ['query', 'accounts', '--json', '--gateway', `127.0.0.1:${gatewayPort}`])
      expect(JSON.parse(accounts.stdout)).toHaveLength(1)
      expect(await running.stop()).toBe(0)
      expect(running.said()).not.toContain('correct horse')
    } finally {
      other.remove()
    }
  })

  test('a gateway that would sign for the network is not started without a token; with one it asks for it', async () => {
    const [port] = await freePorts(1)
    const open = ['gateway', '--listen', `0.0.0.0:${port}`, '--unlock', 'alice', '--password-file', 'password.txt']
    expect(await svcd(place, open)).toMatchObject(endedWith(2, '--auth-token-file'))
    const running = await run(place, [...open, '--auth-token-file', 'token.txt'], /gateway ready/)
    try {
      const { address } = json(await svcd(place, ['keys', 'show', 'alice', '--json'])) as { address: string }
      // Another folder has no key of alice: the gateway is asked to sign.
      const where = ['--gateway', `127.0.0.1:${port}`, '--keystore', 'none']
      const transfer = ['tx', 'transfer', '--from', address, '--to', DEVNET_0, '--value', '1', ...where]
      expect(await svcd(place, transfer)).toMatchObject(endedWith(1, '-32014'))
      expect(await svcd(place, [...transfer, '--auth-token-file', 'token.txt'])).toMatchObject({ status: 0 })
    } finally {
      await running.stop()
    }
    expect(running.said()).not.toContain('sixteen-letters-long')
  })
})
