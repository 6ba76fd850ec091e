/** `svcd node`: a home as one node, whose parts are started again when they end. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startApp } from '../../src/cli/devnet/processes.ts'
import { homeFiles } from '../../src/comet/home.ts'
import { SVCD_WORDS } from '../../src/node/paths.ts'
import { gatewayClient } from '../e2e/support/client.ts'
import { allGone, descendantsOf, freePorts } from '../e2e/support/processes.ts'
import { endedWith, makePlace, type Place, run, type Running, svcd } from './support.ts'

let place: Place
let gateway: ReturnType<typeof gatewayClient>
let node: Running | undefined

const start = async (): Promise<Running> => (node = await run(place, ['node', '--devnet'], /gateway ready: /))

beforeAll(async () => {
  const ports = await freePorts(3)
  place = makePlace(ports)
  gateway = gatewayClient(`http://127.0.0.1:${ports[0]}`)
  const [rpc, p2p] = ports.slice(1).map((port) => `127.0.0.1:${port}`) as [string, string]
  const init = ['init', '--devnet', '--block-time', '200ms', '--rpc', rpc, '--p2p', p2p]
  expect(await svcd(place, init)).toMatchObject({ status: 0 })
})
afterAll(async () => {
  await node?.stop()
  place.remove()
})

/** The processes of the node that are the application, or CometBFT. */
const partsOf = ({ pid }: Running, part: 'app' | 'CometBFT') =>
  descendantsOf(pid).filter(({ args }) => (part === 'app' ? / start --home /.test(args) : /cometbft node /.test(args)))

const height = async (): Promise<number> => gateway.call<number>('svc_blockNumber').catch(() => 0)

async function untilAbove(low: number): Promise<number> {
  for (;;) {
    const now = await height()
    if (now > low) return now
    await sleep(100)
  }
}

const balances = (): Promise<unknown[]> =>
  gateway
    .call<string[]>('svc_accounts')
    .then((all) => Promise.all(all.map((one) => gateway.call('svc_getBalance', [one]))))

test('it runs application, CometBFT and gateway, starts again what was killed, and ends cleanly with its state', async () => {
  const running = await start()
  expect(running.said()).toMatch(/^CometBFT \d+\.\d+\.\d+ at /)
  const [from, to] = await gateway.call<string[]>('svc_accounts')
  await gateway.commit('svc_transfer', { from, to, value: '5' })
  for (const part of ['app', 'CometBFT'] as const) {
    const [first, ...more] = partsOf(running, part)
    expect(more).toEqual([])
    const before = await height()
    process.kill(first?.pid as number, 'SIGKILL')
    await untilAbove(before + 2)
    expect(partsOf(running, part).map(({ pid }) => pid)).not.toContain(first?.pid)
  }
  const said = running.said()
  expect(said).toMatch(/svcd: the application stopped: ended by SIGKILL; both start again \(log: .*app\.log\)\n/)
  expect(said).toMatch(/svcd: CometBFT stopped: ended by SIGKILL; both start again \(log: .*cometbft\.log\)\n/)
  const held = await balances()
  const pids = descendantsOf(running.pid).map(({ pid }) => pid)
  const stoppedAt = await height()
  expect(await running.stop()).toBe(0)
  await allGone(pids)
  await start()
  await untilAbove(stoppedAt)
  expect(await balances()).toEqual(held)
})

test('a second one on the same home is refused, and the first goes on', async () => {
  const [port] = await freePorts(1)
  const second = await svcd(place, ['node', '--devnet', '--listen', `127.0.0.1:${port}`])
  expect(second).toMatchObject(endedWith(2, /state\.db: is open in another process/))
  await untilAbove(await height())
})

test('a port of the gateway that is in use ends all of it', async () => {
  const running = node as Running
  await running.stop()
  const listener = await run(place, ['gateway', '--devnet'], /page: /)
  try {
    const refused = await svcd(place, ['node', '--devnet'])
    expect(refused).toMatchObject(endedWith(2, /cannot listen on 127\.0\.0\.1:\d+: /))
  } finally {
    await listener.stop()
  }
})

test('a folder that is no home is refused, and nothing is made there', async () => {
  const home = `${place.folder}/nothing`
  expect(await svcd(place, ['node', '--home', home])).toMatchObject(endedWith(2, /has no config\/genesis\.json/))
  expect(existsSync(home)).toBe(false)
})

test('a signing state without its key is refused, and stays as it is: CometBFT would set it to height 0', async () => {
  const { validatorKey, validatorState } = homeFiles(place.env['SVCD_HOME'] as string)
  const before = readFileSync(validatorState, 'utf8')
  const signed = '{"height":"12","round":0,"step":3}'
  writeFileSync(validatorState, signed)
  renameSync(validatorKey, `${validatorKey}.away`)
  await expect(start()).rejects.toThrow(
    /ended with 2:.*_key\.json is missing, .* Put the key back, or move the file to/s,
  )
  expect(existsSync(validatorKey)).toBe(false)
  expect(readFileSync(validatorState, 'utf8')).toBe(signed)
  renameSync(`${validatorKey}.away`, validatorKey)
  writeFileSync(validatorState, before)
})

test('an application that cannot be started has not started, and says why', async () => {
  const words = SVCD_WORDS as string[]
  const program = words.splice(0, 1, '/missing/node')
  const app = startApp([])
  words.splice(0, 1, ...program)
  await expect(app.listens()).rejects.toThrow(/^the application did not start: spawn .*ENOENT$/)
})

test('it ends when it is told to while it still looks for CometBFT', async () => {
  const [old, slow] = ['old', 'slow'].map((name) => join(place.folder, name)) as [string, string]
  for (const [folder, does] of [
    [old, 'echo 0.34.1'],
    [slow, 'exec sleep 20'],
  ] as const) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'cometbft'), `#!/bin/sh\n${does}\n`, { mode: 0o755 })
  }
  const env = { ...place.env, SVCD_COMETBFT: '', PATH: `${old}:${slow}:${place.env['PATH']}` }
  const running = await run({ ...place, env }, ['node', '--devnet'], /old.* is passed over: /)
  expect(await running.stop()).toBe(0)
  expect(running.said()).not.toMatch(/slow|CometBFT \d+\.\d+\.\d+ at /)
})

test('when its program is retired it ends with status 0, and does not begin again without a successor', async () => {
  const running = await start()
  const [from] = await gateway.call<string[]>('svc_accounts')
  const { data: set } = await gateway.call<{ data: { pub_key: { value: string } }[] }>('svc_queryValidatorSet')
  // Far enough that proposal and vote are in blocks before it on a busy machine.
  const point = (await height()) + 50
  const { deliver_tx: proposed } = await gateway.commit('svc_proposeRetireProgram', {
    from,
    preservedValidators: set.map(({ pub_key: key }) => key.value).join(','),
    retiredBlockHeight: point,
  })
  await gateway.commit('svc_vote', { from, proposalId: proposed.data, answer: 'Y' })
  expect(await running.ended).toBe(0)
  expect(running.said()).toMatch(new RegExp(`^program 1 retired at height ${point}$`, 'm'))
  expect(await svcd(place, ['node', '--devnet'])).toMatchObject(
    endedWith(2, /runs version 1, which the chain has retired: it is at version 2/),
  )
})
