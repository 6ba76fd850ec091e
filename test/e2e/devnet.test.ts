import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { devnetArgs, makePlace, type Place, startDevnet, svcd } from './support/devnet.ts'
import { descendantsOf, isRunning } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder()

/** What a refusal looks like: exit status 2, one line on stderr. */
async function expectRefusal(ended: ReturnType<typeof svcd>, line: RegExp): Promise<void> {
  const { status, stderr } = await ended
  expect({ status, lines: stderr.trim().split('\n') }).toEqual({ status: 2, lines: [expect.stringMatching(line)] })
}

describe('one devnet, stopped and started again', () => {
  let place: Place
  let height = 0
  let balance = ''
  beforeAll(async () => {
    place = await makePlace(join(folder, 'life'))
  })

  test('from nothing to ready in one step, and SIGTERM ends it with status 0 and no process left', async () => {
    const net = await startDevnet(place)
    const [from, to] = await net.call<string[]>('svc_accounts')
    const below = descendantsOf(net.pid).map(({ pid }) => pid)
    expect(below).toEqual(expect.arrayContaining([net.pids.app, net.pids.node]))
    ;({ height } = await net.commit('svc_transfer', { from, to, value: '123' }))
    balance = await net.call<string>('svc_getBalance', [to])
    expect(BigInt(balance) % 1000n).toBe(123n)
    const { status } = await net.stop('SIGTERM')
    expect(status).toBe(0)
    expect([net.pid, ...below].filter(isRunning)).toEqual([])
  })

  test('the next start goes on from the same state, and Ctrl-C, which reaches the whole group, leaves no process', async () => {
    const net = await startDevnet(place)
    const [, to] = await net.call<string[]>('svc_accounts')
    expect(await net.height()).toBeGreaterThanOrEqual(height)
    expect(await net.call('svc_getBalance', [to])).toBe(balance)
    await net.waitForHeight((await net.height()) + 2)
    const { status, stderr } = await net.stop('SIGINT', true)
    expect([status, stderr]).toEqual([0, ''])
  })

  test.each([
    ['CometBFT', 'node', 'cometbft.log'],
    ['the application', 'app', 'app.log'],
  ] as const)(
    'when %s dies the rest is stopped, the last line says what died of what and names its log, and the status is 1',
    async (part, name, log) => {
      const net = await startDevnet(place)
      process.kill(net.pids[name], 'SIGKILL')
      const { status, stdout } = await net.ended
      expect([status, stdout.trim().split('\n').at(-1)]).toEqual([
        1,
        `${part} stopped: ended by SIGKILL; stopping the rest (log: ${join(place.home, 'logs', log)})`,
      ])
    },
  )

  test('a part that cannot start because of its files, or of an error that nobody caught, is named with the cause', async () => {
    const current = join(place.home, 'data/cometbft/blockstore.db/CURRENT')
    const intact = readFileSync(current)
    writeFileSync(current, 'x\n')
    await expectRefusal(
      svcd(devnetArgs(place)),
      /CometBFT stopped during the start: ERROR: .*corrupted or incomplete CURRENT file \(log: .*\/cometbft\.log\)$/,
    )
    writeFileSync(current, intact)
    const fault = 'data:text/javascript,if(process.argv[2]===%22start%22)throw(new(TypeError)(%22boom%22))'
    await expectRefusal(
      svcd(devnetArgs(place), { ...process.env, NODE_OPTIONS: `--import=${fault}` }),
      /the application did not start: TypeError: boom$/,
    )
  })

  test('--reset starts a new chain in the same home; the log flags reach every part', async () => {
    const net = await startDevnet(place, ['--reset', '--log-level', 'debug', '--log-format', 'pretty'])
    const [, to] = await net.call<string[]>('svc_accounts')
    expect(BigInt(await net.call<string>('svc_getBalance', [to])) % 1000n).toBe(0n)
    expect((await net.stop()).status).toBe(0)
    const log = (name: string): string => readFileSync(join(place.home, 'logs', name), 'utf8')
    for (const name of ['app.log', 'gateway.log']) expect(log(name)).toMatch(/^2\S+Z INFO {2}the \w+ listens /m)
    expect(log('cometbft.log')).toMatch(/^D\[.* module=consensus/m)
  })
})

test('a revert goes back to before a retirement: the devnet runs the earlier program version, and so does its next start', async () => {
  const place = await makePlace(join(folder, 'retired'), '0')
  const first = await startDevnet(place)
  const [from] = await first.call<string[]>('svc_accounts')
  expect((await svcd(['devnet', 'snapshot', '--home', place.home])).status).toBe(0)
  const { data } = await first.call<{ data: { pub_key: { value: string } }[] }>('svc_queryValidatorSet')
  const retiredBlockHeight = (await first.height()) + 10
  const preservedValidators = data.map(({ pub_key: key }) => key.value).join(',')
  const members = { from, preservedValidators, retiredBlockHeight }
  const proposed = await first.commit('svc_proposeRetireProgram', members)
  await first.commit('svc_vote', { from, proposalId: proposed.deliver_tx.data, answer: 'Y' })
  await first.call('svc_mine', [10]).catch(() => undefined) // The devnet may end before it answers.
  expect(await first.ended).toMatchObject({ status: 0 })
  const second = await startDevnet(place, ['--accept-program-version', '2'])
  expect(await svcd(['devnet', 'revert', '1', '--home', place.home])).toMatchObject({ status: 0, stderr: '' })
  expect((await second.commit('svc_transfer', { from, to: from, value: '1' })).height).toBeLessThan(retiredBlockHeight)
  expect(await second.stop()).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('snapshot 1 is of program version 1, which this release runs from now on\n'),
  })
  expect((await (await startDevnet(place)).stop()).status).toBe(0)
})

describe('what the person can put right', () => {
  test.each(['gateway', 'rpc', 'p2p'])(
    'a port in use, %s: one line names the port and the flag, exit status 2',
    async (flag) => {
      const place = await makePlace(join(folder, 'ports'))
      const port = place.ports[['gateway', 'rpc', 'p2p'].indexOf(flag)]
      const server = createServer()
      await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
      await expectRefusal(svcd(devnetArgs(place)), new RegExp(`port ${port} .*in use.*--${flag}`))
      await new Promise((done) => server.close(done))
      expect(existsSync(place.home)).toBe(false)
    },
  )

  test('the home of somebody else: one line, exit status 2, and nothing in it is touched, not even by --reset', async () => {
    const home = join(folder, 'foreign')
    mkdirSync(home)
    writeFileSync(join(home, 'thesis.txt'), 'mine')
    const place = await makePlace(home)
    await expectRefusal(svcd(devnetArgs(place)), /not the home of a devnet.*thesis\.txt/)
    await expectRefusal(svcd([...devnetArgs(place), '--reset']), /not the home of a devnet.*thesis\.txt/)
    expect([readdirSync(home), readFileSync(join(home, 'thesis.txt'), 'utf8')]).toEqual([['thesis.txt'], 'mine'])
  })

  test('a CometBFT that cannot be run: one line that names it, exit status 2', async () => {
    const env = { ...process.env, SVCD_COMETBFT: join(folder, 'no-such-program') }
    await expectRefusal(svcd(devnetArgs(await makePlace(join(folder, 'wrong'))), env), /no-such-program/)
  })

  test.each([
    ['--validators', '0'],
    ['--validators', '11'],
    ['--validators', 'many'],
    ['--accept-program-version', '0'],
    ['--gateway', 'here'],
    ['--rpc', '127.0.0.1:0'],
    ['--p2p', '127.0.0.1:70000'],
    ['--block-time', 'soon'],
    ['--os', 'plan9'],
  ])('%s %s: one line that names the flag, exit status 2', async (flag, value) => {
    await expectRefusal(svcd(['devnet', '--home', join(folder, 'flags'), flag, value]), new RegExp(flag))
    expect(existsSync(join(folder, 'flags'))).toBe(false)
  })
})
