import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { type Devnet, devnetArgs, type Place, startDevnet, svcd } from './support/devnet.ts'
import { askNode, headOf, type NetworkNode, watchHeads } from './support/network.ts'
import { descendantsOf, freeBasePort } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder()
let place: Place
let nodes: readonly NetworkNode[] = []

beforeAll(async () => {
  const base = await freeBasePort(4)
  place = { home: join(folder, 'net'), ports: [base + 2, base + 1, base], blockTime: '200ms' }
  nodes = [0, 1, 2, 3].map((at) => ({
    home: '',
    owner: '',
    gateway: '',
    rpc: `http://127.0.0.1:${base + 1 + 10 * at}`,
  }))
})

const start = (...extra: readonly string[]): Promise<Devnet> => startDevnet(place, ['--validators', '4', ...extra])

/** All four applications come to new heights, and tell one app hash at each. */
const expectOneAppHash = (above: number): Promise<void> => watchHeads(nodes, above, 3)

let balance = ''

test('four validators in one command: a transfer is in the state of all under one app hash, and Ctrl-C leaves no process', async () => {
  const net = await start()
  const [from, , , , to] = await net.call<string[]>('svc_accounts')
  const { height } = await net.commit('svc_transfer', { from, to, value: '123' })
  balance = await net.call<string>('svc_getBalance', [to])
  const { data } = await net.call<{ data: readonly { owner_address: string; state: string }[] }>('svc_queryValidators')
  const owners = (await net.call<string[]>('svc_accounts')).slice(0, 4)
  expect(data.map((row) => [row.owner_address, row.state]).sort()).toEqual(
    owners.map((owner) => [owner, 'Validator']).sort(),
  )
  await expectOneAppHash(height)
  expect(descendantsOf(net.pid)).toHaveLength(8)
  const { status, stderr } = await net.stop('SIGINT', true)
  expect([status, stderr]).toEqual([0, ''])
})

test('a home of four is not started with another number, and says with which', async () => {
  for (const other of ['1', '3', '5']) {
    const { status, stderr } = await svcd([...devnetArgs(place), '--validators', other])
    expect(status).toBe(2)
    expect(stderr).toMatch(new RegExp(`^svcd: .* has 4 validators, not ${other}\\. .*--validators 4.*\\n$`))
  }
})

test('the next start goes on from the same state; when one application dies the rest is stopped, and the last line names it', async () => {
  const net = await start()
  const accounts = await net.call<string[]>('svc_accounts')
  expect(await net.call('svc_getBalance', [accounts[4]])).toBe(balance)
  await expectOneAppHash(await net.height())
  const app = descendantsOf(net.pid).find(({ args }) => args.includes(`start --home ${join(place.home, 'node2')} `))
  process.kill(app?.pid as number, 'SIGKILL')
  const { status, stdout } = await net.ended
  expect(status).toBe(1)
  expect(stdout.trim().split('\n').at(-1)).toMatch(
    /^the application of node2 stopped: ended by SIGKILL; stopping the rest \(log: .*node2\/logs\/app\.log\)$/,
  )
})

/** The validator set that CometBFT of a node has at its head. */
async function validatorSetOf(node: NetworkNode): Promise<readonly string[]> {
  const { validators } = await askNode<{ validators: { pub_key: { value: string } }[] }>(node, 'validators')
  return validators.map(({ pub_key: key }) => key.value).sort()
}

test('a retired program ends it; with --accept-program-version all four go on, one of them a block behind, two in the set', async () => {
  const net = await start()
  const [from, ...others] = await net.call<string[]>('svc_accounts')
  const { data, height } = await net.call<{ data: readonly { pub_key: { value: string } }[]; height: number }>(
    'svc_queryValidators',
  )
  // Far enough that proposal and votes are in blocks before it on a busy machine.
  const retiredBlockHeight = height + 50
  const preserved = data.slice(0, 2).map((row) => row.pub_key.value)
  const members = { from, preservedValidators: preserved.join(','), retiredBlockHeight }
  const {
    deliver_tx: { data: proposalId },
  } = await net.commit('svc_proposeRetireProgram', members)
  const voters = [from, ...others.slice(0, 2)]
  await Promise.all(voters.map((voter) => net.commit('svc_vote', { from: voter, proposalId, answer: 'Y' })))
  const retired = [0, `program 1 retired at height ${retiredBlockHeight}`]
  const lastOf = ({ status, stdout }: { status: number | null; stdout: string }) => [
    status,
    stdout.trim().split('\n').at(-1),
  ]
  expect(lastOf(await net.ended)).toEqual(retired)
  const refused = await svcd([...devnetArgs(place), '--validators', '4'])
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('--accept-program-version 2')])
  for (;;) {
    // One that stood before the block of the retirement takes it from the others and retires as they did, perhaps
    // before all is ready.
    const next = await start('--accept-program-version', '2').catch((error: unknown) => String(error))
    if (typeof next === 'string') {
      expect(next).toContain(retired[1])
      continue
    }
    const all = expectOneAppHash(retiredBlockHeight + 1).then(() => 'all go on' as const)
    all.catch(() => undefined)
    const first = await Promise.race([all, next.ended])
    if (first === 'all go on') {
      expect((await headOf(nodes[3] as NetworkNode))?.height).toBeGreaterThan(retiredBlockHeight)
      for (const node of nodes) expect(await validatorSetOf(node)).toEqual([...preserved].sort())
      expect((await next.stop()).status).toBe(0)
      return
    }
    expect(lastOf(first)).toEqual(retired)
  }
})
