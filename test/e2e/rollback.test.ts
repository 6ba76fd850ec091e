import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { Svc } from '../../src/client/index.ts'
import { findCometBft } from '../../src/comet/find.ts'
import { homeFiles } from '../../src/comet/home.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { checkDisk } from './support/crash.ts'
import { type Ended, svcd } from './support/devnet.ts'
import { endNetwork, makeNetwork, type NetworkNode, startNode, startNodeGateway } from './support/network.ts'
import { type Committed, committedBlocks, replayFromGenesis, waitForHead } from './support/replay.ts'
import { testFolder } from './support/testFolder.ts'

const LIMIT_MS = 300_000
const SINK = `0x${'5e'.repeat(20)}`
const folder = testFolder(endNetwork)
let node: NetworkNode

beforeAll(async () => {
  ;[node] = (await makeNetwork(join(folder, 'net'), 1, '100ms')) as [NetworkNode]
})

/**
 * Runs the node for some blocks, with `work` while it runs, and stops it. Returns what it has committed since its first
 * block.
 */
async function runFor(
  blocks: number,
  work: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly Committed[]> {
  const before = committedHeight()
  const running = await startNode(node)
  await waitForHead(node, running, before + blocks, LIMIT_MS)
  await work()
  expect(await running.end('SIGTERM')).toBe(0)
  checkDisk(node)
  return committedBlocks(node.home)
}
const committedHeight = (): number => {
  try {
    return committedBlocks(node.home).length
  } catch {
    return 0 // not started yet
  }
}
const tryRollback = (...flags: readonly string[]): Promise<Ended> =>
  svcd(['rollback', '--home', node.home, '--json', ...flags])

/** Rolls the stopped node back. What its validator has signed stays: it must sign no height twice. */
async function rollback(...flags: readonly string[]): Promise<Ended> {
  const { validatorState } = homeFiles(node.home)
  const signed = readFileSync(validatorState, 'utf8')
  const ended = await tryRollback(...flags)
  expect(readFileSync(validatorState, 'utf8')).toBe(signed)
  return ended
}
const cometRollback = async (): Promise<string> =>
  execFileSync((await findCometBft()).path, ['rollback', '--home', node.home], { encoding: 'utf8' })

/** The blocks from `before` are there again, and more. */
const expectAgain = (after: readonly Committed[], before: readonly Committed[]): void => {
  expect(after.length).toBeGreaterThan(before.length)
  expect(after.slice(0, before.length)).toEqual(before)
}

test(
  'a rollback takes application and CometBFT back one height, once; then the block is made again as it was',
  async () => {
    const before = await runFor(3, async () => {
      await startNodeGateway(node)
      const svc = new Svc(node.gateway)
      await svc.async.transfer({ from: svc.accounts.add(PUBLIC_MNEMONIC, 0), to: SINK, value: 7n })
    })
    const [to, from] = before.slice(-2).map(({ height, hash }) => ({ height, app_hash: hash.toUpperCase() }))
    const done = await rollback()
    expect([done.stderr, JSON.parse(done.stdout)]).toEqual(['', { home: node.home, from, to, cometbft: true }])
    expect(committedBlocks(node.home)).toEqual(before.slice(0, -1))
    checkDisk(node)
    expect(await cometRollback()).toContain(`Rolled back state to height ${to?.height} and hash ${to?.app_hash}`)
    expect(await rollback()).toMatchObject({
      status: 2,
      stderr:
        `svcd: block ${to?.height} cannot be taken back: only one is kept for that, and none after a rollback, after a restored ` +
        'snapshot, or of a block that changes very much; sync this node anew, or replay its blocks from genesis\n',
    })
    expectAgain(await runFor(2), before)
  },
  2 * LIMIT_MS,
)

test(
  'killed between CometBFT and the application, a rollback is finished by another one, or undone by a start',
  async () => {
    const before = committedBlocks(node.home)
    await cometRollback()
    const started = await runFor(1)
    expectAgain(started, before)
    await cometRollback()
    expect((await rollback()).status).toBe(0)
    expect(committedBlocks(node.home)).toEqual(started.slice(0, -1))
    expectAgain(await runFor(2), started)
  },
  2 * LIMIT_MS,
)

test('--app-only leaves CometBFT where it is, which executes the block again', async () => {
  const before = committedBlocks(node.home)
  expect(JSON.parse((await rollback('--app-only')).stdout)).toMatchObject({
    cometbft: false,
    to: { height: before.length - 1 },
  })
  expectAgain(await runFor(2), before)
})

test('it is refused while the node runs, and changes nothing', async () => {
  const before = committedBlocks(node.home)
  const refused: Ended[] = []
  const after = await runFor(1, async () => {
    refused.push(await tryRollback())
  })
  expect(refused).toMatchObject([{ status: 2, stderr: expect.stringContaining('is open in another process') }])
  expectAgain(after, before)
})

test(
  'without its state, CometBFT replays every block of the chain from genesis to the same app hashes',
  async () => {
    const { before, after } = await replayFromGenesis(node, LIMIT_MS)
    expect(before.length).toBeGreaterThan(8)
    expect(after.slice(0, before.length)).toEqual(before)
    checkDisk(node)
  },
  2 * LIMIT_MS,
)
