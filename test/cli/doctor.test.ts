import { afterEach, beforeEach, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { examineBlocks, examineDisk, examineSigning, examineState } from '../../src/cli/doctorChecks.ts'
import { examine, examineCometBft } from '../../src/cli/commands/doctor.ts'
import { writeNodeKeys } from '../../src/comet/home.ts'
import type { NodeStatus } from '../../src/comet/rpc.ts'
import { formatAnswer, formatFields, formatTable } from '../../src/cli/output.ts'
import { printable } from '../../src/base/printable.ts'
import { abciAddressOf } from '../../src/node/paths.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { tempFolder } from '../support/tempFolder.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ path: folder, remove } = tempFolder('doctor'))
  mkdirSync(join(folder, 'data'))
})
afterEach(() => remove())

const statePath = (): string => join(folder, 'data', 'state.db')

function makeState(): void {
  const store = openSqliteStore({ path: statePath(), tables, views })
  const chain = new TestChain({ store })
  const accounts = [{ address: account(1).address, balance: 5n }]
  chain.init({ accounts, candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }] })
  chain.block()
  store.close()
}

const verdicts = (): string[] => examineState(statePath()).map(({ check, verdict }) => `${check} ${verdict}`)

test('a state whose rows give its app hash is well; one balance changed by hand is found', () => {
  makeState()
  expect(verdicts()).toEqual(['SQLite ok', 'app hash ok'])
  const db = new Database(statePath())
  expect(db.prepare("UPDATE accounts SET balance = '6'").run().changes).toBe(1)
  db.close()
  expect(verdicts()).toEqual(['SQLite ok', 'app hash bad'])
})

test('a file that is no state is said so, and an absent one is only noted', () => {
  expect(verdicts()).toEqual(['state note'])
  writeFileSync(statePath(), 'not a database, but long enough to be looked at by anybody who opens it')
  expect(verdicts()).toEqual(['SQLite bad', 'app hash bad'])
})

const findings = () =>
  examine({ home: folder, json: undefined, node: 'http://127.0.0.1:9', acceptProgramVersion: undefined })
const look = async (name: string) => (await findings()).find(({ check }) => check === name)

/** What is found of a node that runs this version. */
async function nodeOf(version: string) {
  const info = { id: '', network: 'test', version }
  const sync = { latest_block_height: '0', latest_app_hash: '', earliest_block_height: '0', catching_up: false }
  const { url, close } = await serveCalls(({ method }) => ({
    result: method === 'status' ? { node_info: info, sync_info: sync } : { n_peers: '0' },
  }))
  const all = await examine({ home: folder, json: undefined, node: url, acceptProgramVersion: undefined })
  await close()
  return all.find(({ check }) => check === 'node')
}

test('a node is asked also where the config.toml of the home cannot be read', async () => {
  mkdirSync(join(folder, 'config'))
  writeFileSync(join(folder, 'config', 'config.toml'), '[')
  expect(await nodeOf('0.38.25')).toMatchObject({ verdict: 'ok' })
})

test('a node of a CometBFT that is not supported is bad, whoever started it', async () => {
  const found = expect.stringContaining('CometBFT 0.38.2 (supported: 0.37 to ')
  expect(await nodeOf('0.38.2')).toMatchObject({ verdict: 'bad', found })
})

test('a mempool that svcd would have to keep is bad, and the setting is named', async () => {
  mkdirSync(join(folder, 'config'))
  const path = join(folder, 'config', 'config.toml')
  for (const type of ['app', 'nop']) {
    writeFileSync(path, `[mempool]\ntype = "${type}"\n`)
    expect(await look('mempool')).toMatchObject({
      verdict: 'bad',
      found: expect.stringContaining(`"flood", got "${type}"`),
    })
  }
  writeFileSync(path, '[mempool]\ntype = "flood"\n')
  expect(await look('mempool')).toBeUndefined()
})

test('a validator key that others may read is bad, and the way to mend it is said', async () => {
  writeNodeKeys(folder)
  const path = join(folder, 'config', 'priv_validator_key.json')
  chmodSync(path, 0o644)
  expect(await look('validator key')).toMatchObject({
    verdict: 'bad',
    found: expect.stringContaining(`chmod 600 ${path}`),
  })
  chmodSync(path, 0o600)
  expect(await look('validator key')).toMatchObject({ verdict: 'ok' })
  for (const damaged of ['{}', 'null', '\u0000']) {
    writeFileSync(path, damaged)
    expect(await look('validator key')).toMatchObject({
      verdict: 'bad',
      found: expect.stringMatching(
        /^cannot read the key in \S+priv_validator_key\.json: .*\. Put the file back from a backup$/,
      ),
    })
  }
})

test('a validator key without a signing state, or with one that cannot be read, is bad: it could sign a height twice', async () => {
  writeNodeKeys(folder)
  const path = join(folder, 'data', 'priv_validator_state.json')
  writeFileSync(path, '{"height":"12","round":0,"step":3}')
  expect(await look('signing state')).toMatchObject({ verdict: 'ok', found: 'the key signed last at height 12' })
  for (const damaged of ['', '{}', 'null']) {
    writeFileSync(path, damaged)
    expect(await look('signing state')).toMatchObject({ verdict: 'bad', found: expect.stringContaining(path) })
  }
  rmSync(path)
  expect(await look('signing state')).toMatchObject({
    verdict: 'bad',
    found: expect.stringContaining('sign a height twice'),
  })
  rmSync(join(folder, 'config', 'priv_validator_key.json')) // A remote signer has both.
  expect(await look('signing state')).toBeUndefined()
})

test('a signing state without its key is bad, because CometBFT would forget it, but not one that has signed nothing', async () => {
  writeNodeKeys(folder)
  rmSync(join(folder, 'config', 'priv_validator_key.json'))
  expect(await look('signing state')).toBeUndefined()
  writeFileSync(join(folder, 'data', 'priv_validator_state.json'), '{"height":"12","round":0,"step":3}')
  expect(await look('signing state')).toMatchObject({
    verdict: 'bad',
    found: expect.stringMatching(
      /priv_validator_key\.json is missing, .* signed last at height 12, .* Put the key back/,
    ),
  })
  setRemoteSigner()
  expect(await look('signing state')).toMatchObject({ verdict: 'bad' })
})

test('the key and the signing state are those that config.toml names', async () => {
  writeNodeKeys(folder)
  const [key, state] = [join(folder, 'key.json'), join(folder, 'state.json')]
  const config = `priv_validator_key_file = ${JSON.stringify(key)}\npriv_validator_state_file = "state.json"\n`
  writeFileSync(join(folder, 'config', 'config.toml'), config)
  writeFileSync(state, '{"height":"12","round":0,"step":3}')
  expect(await look('signing state')).toMatchObject({
    verdict: 'bad',
    found: expect.stringContaining(`${key} is missing`),
  })
  renameSync(join(folder, 'config', 'priv_validator_key.json'), key)
  const found = 'the key signed last at height 12'
  expect(await look('signing state')).toMatchObject({ verdict: 'ok', found })
  rmSync(state)
  const missing = expect.stringContaining(`${state} is missing`)
  expect(await look('signing state')).toMatchObject({ verdict: 'bad', found: missing })
})

const setRemoteSigner = (): void =>
  writeFileSync(join(folder, 'config', 'config.toml'), 'priv_validator_laddr = "tcp://127.0.0.1:26659"\n')

test('with a remote signer the key and the signing state of the home are not said to be those that sign', async () => {
  writeNodeKeys(folder)
  setRemoteSigner()
  expect(await look('signing state')).toBeUndefined()
  expect(await look('validator key')).toMatchObject({
    verdict: 'note',
    found: expect.stringMatching(/^a remote signer signs, by priv_validator_laddr in .* are not used$/),
  })
  chmodSync(join(folder, 'config', 'priv_validator_key.json'), 0o644)
  expect((await findings()).filter(({ check }) => check === 'validator key').map(({ verdict }) => verdict)).toEqual([
    'bad',
    'note',
  ])
})

test('a state of another chain than that of the genesis file is bad, as svcd start refuses it', async () => {
  makeState()
  mkdirSync(join(folder, 'config'))
  const genesis = join(folder, 'config', 'genesis.json')
  writeFileSync(genesis, '{"chain_id":"other"}')
  const found = expect.stringMatching(
    /state\.db is the state of chain test-chain, but .*genesis\.json is of other: put/,
  )
  expect(await look('chain')).toMatchObject({ verdict: 'bad', found })
  writeFileSync(genesis, '{"chain_id":"test-chain"}')
  expect(await look('chain')).toBeUndefined()
})

test('a key that signed above the height of its node is bad, and the finding says how to start over', async () => {
  const at = async (latestHeight: number, catchingUp = false) => {
    const findings = await examineSigning(folder, {
      status: async () => ({ latestHeight, catchingUp }) as NodeStatus,
    })
    return findings.map(({ verdict, found }) => [verdict, found])
  }
  expect(await at(0)).toEqual([]) // A remote signer has the key.
  writeNodeKeys(folder)
  expect(await at(0)).toEqual([])
  writeFileSync(join(folder, 'data', 'priv_validator_state.json'), '{"height":"98"}')
  expect(await at(0)).toEqual([
    [
      'bad',
      'the key signed last at height 98, and the node is at 0: it signs no block up to there. If the chain starts over, ' +
        'stop it and run svcd reset --signing-state',
    ],
  ])
  expect([await at(97), await at(0, true)]).toEqual([[], []])
  setRemoteSigner()
  expect(await at(0)).toEqual([])
})

test('a home whose CometBFT looks for the application in another home is noted', async () => {
  mkdirSync(join(folder, 'config'))
  const path = join(folder, 'config', 'config.toml')
  writeFileSync(path, 'proxy_app = "unix:///old/home/abci.sock"\n')
  const found = expect.stringContaining('If the home was moved, correct proxy_app')
  expect(await look('application')).toMatchObject({ verdict: 'note', found })
  for (const right of [abciAddressOf(folder), 'unix://abci.sock', 'tcp://127.0.0.1:26658']) {
    writeFileSync(path, `proxy_app = "${right}"\n`)
    expect(await look('application')).toBeUndefined()
  }
})

test.each([
  ['{"snapshots":{"interval":"a"}}', 'snapshots.interval: expected a whole number'],
  ['{"pruning":{"keepBlocks":1}}', 'pruning.keepBlocks: expected a whole number'],
  ['{"eni":{"os":"windows"}}', 'eni.os: expected ubuntu or centos, got "windows"'],
  ['{"eni":{"os":"ubuntu","allowAddresses":"10.0.0.1"}}', 'eni.allowAddresses: expected a list'],
  ['{"page":"no"}', 'page: expected true or false'],
])('a setting that svcd start or svcd gateway refuses is bad: %s', async (text, words) => {
  mkdirSync(join(folder, 'config'))
  writeFileSync(join(folder, 'config', 'svcd.json'), text)
  const found = expect.stringContaining(`config/svcd.json: ${words}`)
  expect(await findings()).toContainEqual({ check: 'settings', verdict: 'bad', found })
})

test('a keystore that cannot be listed is bad, and everything else is looked at too', async () => {
  writeFileSync(join(folder, 'keystore'), 'no folder')
  const found = expect.stringContaining('ENOTDIR')
  const all = await findings()
  expect(all).toContainEqual({ check: 'key files', verdict: 'bad', found })
  expect(all.map(({ check }) => check)).toEqual(expect.arrayContaining(['CometBFT', 'home', 'disk', 'node']))
})

/** What is found of CometBFT with these variables. */
async function cometBftWith(env: Readonly<Record<string, string>>): Promise<unknown> {
  const before = process.env
  process.env = { ...before, ...env }
  try {
    return await look('CometBFT')
  } finally {
    process.env = before
  }
}

test('a program that SVCD_COMETBFT names and that cannot be used is bad, although another one is there', async () => {
  const found = expect.stringContaining('no is not an executable file')
  expect(await cometBftWith({ SVCD_COMETBFT: join(folder, 'no') })).toMatchObject({ verdict: 'bad', found })
})

/** A folder with a program that says it is this version of CometBFT. */
function fakeCometBft(version: string): string {
  mkdirSync(join(folder, version))
  writeFileSync(join(folder, version, 'cometbft'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
  return join(folder, version)
}

test('the first CometBFT that is supported counts, as for svcd node, and not the first on PATH', async () => {
  const folders = ['0.34.1', '0.38.25'].map(fakeCometBft)
  const found = expect.stringMatching(/^0\.38\.25 /)
  expect(await cometBftWith({ SVCD_COMETBFT: '', PATH: folders.join(':') })).toMatchObject({ verdict: 'ok', found })
})

test('a CometBFT that is not supported is noted, because svcd passes it over', async () => {
  const found = expect.stringMatching(/^0\.34\.1 on PATH is passed over .*; svcd looks further, and builds one$/)
  const old = join(fakeCometBft('0.34.1'), 'cometbft')
  expect(await examineCometBft('', [old])).toMatchObject({ verdict: 'note', found })
})

test('the room on the disk of a home is told, and nothing of a home that is not there', () => {
  const found = expect.stringMatching(/^\d+ MiB are free on the disk of /)
  expect(examineDisk(folder)).toEqual([{ check: 'disk', verdict: expect.any(String), found }])
  expect(examineDisk(join(folder, 'no'))).toEqual([])
})

test('what somebody wrote on the chain cannot move the cursor, colour the terminal, or turn its text around', () => {
  expect(printable('a\u001b[31mb\nc\u202ed\u0085')).toBe('a\\u001b[31mb\\u000ac\\u202ed\\u0085')
  expect(printable('žluťoučký 验证人 🚀')).toBe('žluťoučký 验证人 🚀')
  expect(formatFields({ a: 'x', pub_key: { type: 't', value: '\u0007' } })).toBe(
    'a              x\npub_key.type   t\npub_key.value  \\u0007',
  )
  expect(
    formatTable(
      ['n', 'long'],
      [
        ['1', 'x'],
        ['22', ''],
      ],
    ),
  ).toBe('n   long\n1   x\n22')
})

test('amounts are shown in tokens: with their unit, or below a heading that names it', () => {
  expect(formatFields({ balance: '1500000000000000000', fee: { value: '1' }, value: '7' })).toBe(
    'balance    1.5 tokens\nfee.value  0.000000000000000001 tokens\nvalue      7',
  )
  expect(formatAnswer([{ amount: '1000000000000000000', completion_height: 7 }])).toBe(
    'amount (tokens)  completion_height\n1                7',
  )
})

test('a clock that is behind does not hide that the chain makes no blocks', async () => {
  const blockAt = async (height: number, timeMs: number, moves: boolean) => {
    const status = { latestHeight: height, latestTimeMs: timeMs, catchingUp: false }
    const rpc = {
      block: async () => ({ timeMs: timeMs - 1000 }),
      status: async () => ({ ...status, latestHeight: height + Number(moves) }),
    }
    const [finding] = await examineBlocks(rpc as never, status as never, folder)
    return finding
  }
  const hourAheadMs = Date.now() + 3_600_000
  expect(await blockAt(500, hourAheadMs, false)).toMatchObject({
    check: 'blocks',
    verdict: 'note',
    found: expect.stringMatching(/^the last one is 500; how old it is cannot be told/),
  })
  const well = { check: 'blocks', verdict: 'ok', found: 'the last one is 500' }
  expect(await blockAt(500, hourAheadMs, true)).toEqual(well)
  expect(await blockAt(500, Date.now() + 1000, false)).toEqual(well)
})
