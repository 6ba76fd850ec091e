import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../bench/until.ts'
import { expect, test } from '@jest/globals'
import { lastConsensusFailure } from '../../src/comet/home.ts'
import { lastCheck, makeBook, sendUntil } from './support/crash.ts'
import { gatewayClient } from './support/client.ts'
import { waitingAt } from './support/gateways.ts'
import type { TransactionResult } from '../../src/tx/result.ts'
import { makePlace, startDevnet, svcd } from './support/devnet.ts'
import { cometBftOnFullDisk } from './support/fullDisk.ts'
import {
  endNetwork,
  gatewayAnswers,
  makeNetwork,
  type NetworkNode,
  startNode,
  startNodeGateway,
  watchHeads,
} from './support/network.ts'
import { freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const KIB = 100
const folder = testFolder(endNetwork)

test('a devnet whose CometBFT cannot write ends with the cause; with room again all that was acknowledged is there', async () => {
  const place = await makePlace(join(folder, 'devnet'), '100ms')
  // So much that the blocks until it is ready do not fill it on a busy machine.
  const program = await cometBftOnFullDisk(join(folder, 'devnet-cometbft'), 2 * KIB)
  const net = await startDevnet(place, ['--os', 'ubuntu'], { ...process.env, SVCD_COMETBFT: program })
  const book = makeBook()
  let isOver = false
  void net.ended.then(() => {
    isOver = true
  })
  await sendUntil(net, () => isOver, book)
  const { status, stdout } = await net.ended
  expect(stdout).toMatch(
    /^CometBFT makes no more blocks: .*\/data\/.*: file too large; stopping the rest \(log: .*\)$/m,
  )
  expect(status).toBe(1)
  expect(book.acknowledged.size).toBeGreaterThan(0)
  await lastCheck(place, book, /file too large/)
})

// skip: Linux alone has /dev/full
const onLinux = process.platform === 'linux' ? test : test.skip
onLinux('an application whose log finds no room goes on, and loses log lines only', async () => {
  const [node] = (await makeNetwork(join(folder, 'full-log'), 1)) as readonly [NetworkNode]
  const running = await startNode(node, ['--log-file', '/dev/full'])
  await watchHeads([node], 0, 2)
  expect(await running.end('SIGTERM')).toBe(0)
})

interface Readiness {
  readonly ready: boolean
  readonly reason?: string
}

test('a node that lives on without making blocks: readyz, metrics, status, doctor and transactions say so; queries go on', async () => {
  const [node] = (await makeNetwork(join(folder, 'net'), 1)) as readonly [NetworkNode]
  const { home, rpc, gateway: url } = node
  mkdirSync(join(home, 'logs'))
  symlinkSync('cometbft.out.log', join(home, 'logs', 'cometbft.log')) // where `start-all.sh` has it
  const stuck = await startNode(node, [], await cometBftOnFullDisk(join(folder, 'net-cometbft'), KIB))
  const [metricsPort = 0] = await freePorts(1)
  // On a busy machine the node may be stuck before the gateway is up.
  const args = ['--devnet', '--stalled-after', '2s', '--metrics', `127.0.0.1:${metricsPort}`]
  await startNodeGateway(node, args, gatewayAnswers)
  const gateway = gatewayClient(url)
  const [from, to] = await gateway.call<string[]>('svc_accounts')
  const transfer = { from, to, value: '1' }
  const readiness = async (): Promise<Readiness> => (await (await fetch(`${url}/readyz`)).json()) as Readiness

  // On a busy machine there is no block for 2 s now and then also before the node is stuck.
  await until(async () => lastConsensusFailure(home))
  // A gateway that has just begun is not ready for other reasons.
  const reason = await until(async () => {
    const { reason: why = '' } = await readiness()
    return why.includes('no block for') ? why : undefined
  })
  expect(reason).toMatch(/^the chain has made no block for \d+ s: the last one is \d+$/)
  const before = await waitingAt(node)
  const data = { stalledMs: expect.any(Number), height: expect.any(Number) }
  const refused = { code: -32011, message: expect.stringMatching(/no block for/), data }
  expect((await gateway.ask('svc_transfer', [transfer])).error).toEqual(refused)
  expect((await gateway.ask('svc_sendRawTransaction', ['0xdeadbeef'])).result).toMatchObject({
    height: 0,
    check_tx: { code: 2 },
  })
  expect(await waitingAt(node)).toBe(before)
  expect(await gateway.call('svc_getBalance', [from])).toMatch(/^\d+$/)
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toMatch(
    /^svc_head_age_seconds (?:[2-9]|\d\d)/m,
  )

  const status = await svcd(['status', '--gateway', url, '--home', home, '--json'])
  expect(JSON.parse(status.stdout)).toMatchObject({
    ready: false,
    reason: expect.stringMatching(/no block for/),
    cause: expect.stringMatching(/consensus failed: .*file too large/),
  })
  const blocks = await until(async () => {
    const { stdout } = await svcd(['doctor', '--node', rpc, '--home', home, '--json'])
    const findings = JSON.parse(stdout) as { check: string; verdict: string; found: string }[]
    return findings.find(({ check, verdict }) => check === 'blocks' && verdict === 'bad')
  })
  expect(blocks.found).toMatch(/no block for .*consensus failed: .*file too large/)

  await stuck.end('SIGTERM')
  const mended = await startNode(node)
  await until(async () => ((await readiness()).ready ? true : undefined))
  // On a busy machine even this chain is without a block for 2 s now and then.
  const { height } = await until(async () => {
    const { error, result } = await gateway.ask('svc_transfer', [transfer])
    if (error !== undefined) expect(error).toEqual(refused)
    return result as TransactionResult | undefined
  })
  expect(height).toBeGreaterThan(0)
  expect(await mended.end('SIGTERM')).toBe(0)
})
