import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawnSvcd } from '../../src/cli/devnet/child.ts'
import { startDevnet } from '../../src/cli/devnet/startDevnet.ts'
import { Svc } from '../../src/client/index.ts'
import { until } from '../../bench/until.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { gatewayClient } from './support/client.ts'
import { svcd } from './support/devnet.ts'
import { allGone, descendantsOf, freePorts, isRunning } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder()
const PRIVATE_MNEMONIC = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

type Devnet = Awaited<ReturnType<typeof startDevnet>>

describe('a devnet of a test runner', () => {
  const state = join(folder, 'state.json')
  let devnet: Devnet
  let svc: Svc
  beforeAll(async () => {
    devnet = await startDevnet({ fast: true, accounts: 12, balance: '5000token', params: { gas_price: 0 }, state })
    svc = new Svc(devnet.url)
    for (const { privateKey } of devnet.accounts) svc.accounts.add(privateKey)
  })
  afterAll(() => devnet.close())

  const at = (index: number): string => devnet.accounts[index]?.address ?? `no account ${index}`
  const height = () => svc.async.blockNumber()

  test('has as many accounts as it should, with the balance it should, and the client signs for them', async () => {
    expect(devnet.accounts).toHaveLength(12)
    expect(await svc.async.getBalance(at(11))).toBe(`5000${'0'.repeat(18)}`)
    expect(await svc.async.transfer({ from: at(11), to: at(1), value: '5' })).toMatchObject({ check_tx: { fee: {} } })
    expect(await svc.async.getBalance(at(1))).toBe(`5000${'0'.repeat(17)}5`)
  })

  test('makes one block for a transaction, one for several that come at once, and none without', async () => {
    const before = await height()
    const { height: first } = await svc.async.transfer({ from: at(2), to: at(3), value: '1' })
    expect(first).toBe(before + 1)
    const both = await Promise.all([4, 5].map((from) => svc.async.transfer({ from: at(from), to: at(3), value: '1' })))
    expect(Math.max(...both.map((one) => one.height))).toBeLessThanOrEqual(before + 3)
    expect(await height()).toBe(Math.max(...both.map((one) => one.height)))
    expect((await fetch(`${devnet.url}/readyz`)).status).toBe(200)
  })

  test('mines on demand, so that a proposal expires after 20 blocks', async () => {
    const proposed = await svc.async.governance.proposeChangeParam({ from: at(0), name: 'max_vals', value: '5' })
    expect(await devnet.mine(19)).toBe(proposed.height + 19)
    const { data: open } = await svc.async.governance.listProposals()
    expect(await devnet.mine()).toBe(proposed.height + 20)
    await devnet.mine()
    const { data: ended } = await svc.async.governance.listProposals()
    expect([open[0]?.Result, ended[0]?.Result, ended[0]?.ResultBlockHeight]).toEqual([
      '',
      'Expired',
      proposed.height + 20,
    ])
  })

  test('mines on demand, so that what unbonds is paid after 20 blocks', async () => {
    const from = at(10)
    const unbonding = async () => (await svc.async.stake.validator.queryUnbonding(from)).data
    const before = await svc.async.getBalance(from)
    await svc.async.stake.validator.declare({ from, pubKey: randomBytes(32).toString('base64') })
    const { height: withdrawn } = await svc.async.stake.validator.withdraw({ from })
    expect(await unbonding()).toMatchObject([{ completion_height: withdrawn + 20 }])
    expect(await svc.async.getBalance(from)).not.toBe(before)
    expect(await svc.async.mine({ blocks: 20 })).toBe(withdrawn + 20)
    expect([await unbonding(), await svc.async.getBalance(from)]).toEqual([[], before])
  })

  test('mines for several callers at once as many blocks as all of them ask for', async () => {
    const before = await height()
    const mined = await Promise.all([2, 3, 4].map((blocks) => svc.async.mine({ blocks })))
    expect([Math.max(...mined), await height()]).toEqual([before + 9, before + 9])
  })

  test.each([0, 5001, -1, 1.5])('does not mine %s blocks', async (blocks) => {
    const { error } = await gatewayClient(devnet.url).ask('svc_mine', { blocks })
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('blocks') })
  })

  test('goes back to a snapshot of the command line, and on from there', async () => {
    const { status, stdout } = await svcd(['devnet', 'snapshot', '--home', devnet.home, '--json'])
    const before = [await height(), await svc.async.getBalance(at(7))]
    expect([status, JSON.parse(stdout)]).toEqual([0, { snapshot: 1, height: before[0] }])
    await svc.async.transfer({ from: at(6), to: at(7), value: '1' })
    await devnet.revert(1)
    expect([await height(), await svc.async.getBalance(at(7))]).toEqual(before)
    expect((await svc.async.transfer({ from: at(6), to: at(7), value: '3' })).height).toBe(Number(before[0]) + 1)
    await expect(devnet.revert(9)).rejects.toThrow('expected the number of a snapshot (1), got 9')
    expect(await svcd(['devnet', '--home', devnet.home, 'revert', '9'])).toMatchObject({
      status: 2,
      stderr: 'svcd: expected the number of a snapshot (1), got 9\n',
    })
  })

  test('saves its state, from which another devnet starts with other keys; no process and no folder is left', async () => {
    const below = descendantsOf(process.pid).filter(({ args }) => args.includes(devnet.home))
    expect(below.length).toBeGreaterThanOrEqual(3)
    await svc.async.transfer({ from: at(8), to: at(9), value: '9' })
    const known = devnet.accounts.slice(8, 10).map(({ address }) => address)
    const balances = () => Promise.all(known.map((address) => svc.async.getBalance(address)))
    const before = await balances()
    await devnet.close()
    await allGone(below.map(({ pid }) => pid))
    expect(existsSync(devnet.home)).toBe(false)
    const poor = at(1)
    devnet = await startDevnet({ state, mnemonic: PRIVATE_MNEMONIC })
    svc = new Svc(devnet.url)
    expect(await balances()).toEqual(before)
    // The keys are private now, so the gateway signs for nobody; and the file alone says who has tokens.
    expect([await svc.async.getAccounts(), await svc.async.getBalance(at(1))]).toEqual([[], '0'])
    expect(await svc.async.getBalance(poor)).toBe(`5000${'0'.repeat(17)}5`)
    expect((await svc.async.governance.getParams()).data).toMatchObject({ unstake_wait_period: 20, gas_price: 0 })
  })
})

test('the sample of docs/devnet.md runs as it stands', async () => {
  const root = join(import.meta.dirname, '../..')
  const [{ code: sample }] = examplesRunBy('test/e2e/startDevnet.test.ts')
  const file = join(folder, 'sample.test.ts')
  writeFileSync(
    file,
    sample
      .replace("'svcd/client'", JSON.stringify(join(root, 'src/client/index.ts')))
      .replace("'svcd/devnet'", JSON.stringify(join(root, 'src/cli/devnet/startDevnet.ts'))),
  )
  const run = spawn(process.execPath, ['--test', '--test-reporter=tap', file], {
    env: { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  run.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [status] = await once(run, 'close')
  expect([status, output]).toEqual([0, expect.stringMatching(/^# pass 2\n# fail 0$/m)])
})

describe('a devnet ends', () => {
  test('with the program that started it, even when that is killed', async () => {
    const runner = spawn(process.execPath, [join(import.meta.dirname, 'startDevnetChild.ts')], {
      env: { ...process.env, NODE_OPTIONS: '', TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(runner.stdout, 'data')
    const below = descendantsOf(runner.pid as number).map(({ pid }) => pid)
    expect(below.length).toBeGreaterThanOrEqual(3)
    runner.kill('SIGKILL')
    await allGone(below)
  })

  test('before it begins when the program that started it has ended by then', async () => {
    const [gateway, rpc, p2p] = (await freePorts(3)).map((port) => `127.0.0.1:${port}`) as [string, string, string]
    const flags = ['--home', join(folder, 'orphan'), '--gateway', gateway, '--rpc', rpc, '--p2p', p2p]
    const { child, output } = spawnSvcd(['devnet', ...flags])
    child.disconnect()
    expect([await once(child, 'exit'), output()]).toEqual([[0, null], 'stopping …\n'])
  })

  test('although blocks are being mined', async () => {
    const devnet = await startDevnet()
    const svc = new Svc(devnet.url)
    const mining = expect(svc.async.mine({ blocks: 5000 })).rejects.toThrow(
      /the gateway closes, and block \d+ is not made/,
    )
    await until(async () => (await svc.async.blockNumber()) > 5)
    await devnet.close()
    await mining
  })

  test('as a whole while its parts start again, so that none is left', async () => {
    const devnet = await startDevnet({ home: join(folder, 'again') })
    const apps = () =>
      descendantsOf(process.pid).filter(({ args }) => args.includes(`svcd.js start --home ${devnet.home}`))
    const [{ pid: first } = { pid: 0 }] = apps()
    const order = expect(devnet.snapshot()).rejects.toThrow('it ended before it was done')
    const second = await until(() => apps().find(({ pid }) => pid !== first)?.pid, 60_000)
    await devnet.close()
    expect(isRunning(second)).toBe(false)
    await order
  })

  test('before it begins when it cannot, which says why and leaves no folder', async () => {
    const before = readdirSync(folder)
    await expect(startDevnet({ params: { gas_price: -1 }, home: join(folder, 'none') })).rejects.toThrow(
      'the devnet did not start: --param gas_price: expected an integer of 0 to 1000000000000, got "-1"',
    )
    await expect(startDevnet({ validators: 2, home: join(folder, 'none') })).rejects.toThrow(
      /--block-time 0 works with one/,
    )
    expect(readdirSync(folder)).toEqual(before)
  })
})
