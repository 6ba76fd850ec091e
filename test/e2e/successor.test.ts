import { beforeAll, expect, test } from '@jest/globals'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../bench/until.ts'
import { findCometBft } from '../../src/comet/find.ts'
import { readNodeId } from '../../src/comet/home.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { type GatewayClient, gatewayClient } from './support/client.ts'
import { type Ended, svcd } from './support/devnet.ts'
import { heightOrZero, makeNetwork, type NetworkNode, setCometConfig, watchHeads } from './support/network.ts'
import { freePorts } from './support/processes.ts'
import { installRelease, makeRelease } from './support/releases.ts'
import { JOINS_LOCALLY, setKeeping } from './support/stateSync.ts'
import { type DropIn, openUnits, type Units } from './support/systemd.ts'
import { testFolder } from './support/testFolder.ts'

/** How long anything here is waited for. */
const WAIT_MS = 300_000
const [upgrade, accept, joinBySnapshot, joinByBlocks] = examplesRunBy('test/e2e/successor.test.ts')

/** A machine with a release of svcd, a home, and the units of its node. */
interface Machine {
  readonly home: string
  /** Runs `svcd` of the release that is installed. */
  readonly svcd: (args: readonly string[]) => Promise<Ended>
  readonly install: (release: string) => void
  readonly openUnits: (folder: string, instance?: string, dropIns?: Readonly<Record<string, DropIn>>) => void
  readonly units: () => Units
  /** Ends what its units run. */
  readonly close: () => Promise<void>
}

const machines: Machine[] = []
const folder = testFolder(() => Promise.all(machines.map((one) => one.close())))
const releaseOf = (version: string): string => join(folder, 'releases', version)
let cometbft = ''
let nodes: readonly NetworkNode[] = []
let validators: readonly Machine[] = []
let gateway: GatewayClient
let preservedValidators = ''
let point = 0

/** Makes a machine, with the release that is installed on it. */
function createMachine(name: string, home: string, release: string, env: NodeJS.ProcessEnv = {}): Machine {
  const [bin, installed] = [join(folder, name, 'bin'), join(folder, name, 'svcd')]
  const program = join(installed, 'src', 'cli', 'svcd.js')
  mkdirSync(bin, { recursive: true })
  symlinkSync(cometbft, join(bin, 'cometbft'))
  writeFileSync(join(bin, 'svcd'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, { mode: 0o755 })
  const { SVCD_COMETBFT: _, ...outer } = process.env
  const all = { ...outer, PATH: `${bin}:${outer['PATH'] ?? ''}`, ...env }
  const install = (version: string): void => installRelease(releaseOf(version), installed)
  install(release)
  let units: Units | undefined
  const machine: Machine = {
    home,
    svcd: (args) => svcd(args, all, program),
    install,
    openUnits: (from, instance, dropIns) => {
      const names = ['svcd-app', 'svcd-cometbft', 'svcd-gateway']
      units = openUnits(from, names, all, instance, dropIns)
    },
    units: () => units as Units,
    close: async () => units?.close(),
  }
  machines.push(machine)
  return machine
}

/** What the documentation writes where a test has a value of its own. */
type Blanks = Readonly<Record<string, string>>

const rpcText = async ({ rpc }: NetworkNode, method: string, pattern: RegExp): Promise<string> => {
  const text = await fetch(`${rpc}/${method}`).then(
    (answer) => answer.text(),
    (error: unknown) => String(error),
  )
  return (text.match(pattern) ?? [text.slice(0, 80)]).join(' ')
}

/** Why the chain stands still: what runs, whom it is connected with, what it waits for, and what it could not sign. */
async function whyStill(): Promise<string> {
  const told = validators.map(async (machine, at) => {
    const down = ['svcd-app', 'svcd-cometbft'].filter((unit) => !machine.units().isActive(unit))
    const [peers, votes] = [
      await rpcText(nodes[at] as NetworkNode, 'net_info', /"n_peers":"\d+"/g),
      await rpcText(nodes[at] as NetworkNode, 'consensus_state', /"height\/round\/step":"[^"]+"|_bit_array":"[^"]+"/g),
    ]
    const refused =
      machine
        .units()
        .journal('svcd-cometbft')
        .match(/^.*(?:signing|onflicting).*$/gm) ?? []
    return `node ${at}: down: ${down}; ${peers} ${votes}; ${refused.slice(-2).join(' ').slice(0, 300)}`
  })
  return (await Promise.all(told)).join('\n')
}

/** Waits until all have told one app hash at each of `count` heights above `above`. */
async function expectAgreement(some: readonly NetworkNode[], above: number, count: number): Promise<void> {
  await watchHeads(some, above, count).catch(async (error: unknown) => {
    throw new Error(await whyStill(), { cause: error })
  })
}

/** Waits until a command says what its comment says, but for the height. */
const untilSaid = (comment: string, say: () => string | Promise<string>): Promise<string> => {
  const said = new RegExp(comment.replaceAll(/\d{3,}/g, '\\d+').replaceAll(' ', ' +'))
  let last = ''
  return until(
    async () => {
      last = await say()
      return said.exec(last)?.[0]
    },
    WAIT_MS,
    () => `no "${comment}" in: ${last}`,
    200,
  )
}

/** Carries out one line of the documentation. `more`: further arguments of svcd init. */
async function carryOut(machine: Machine, line: string, blanks: Blanks, more: readonly string[]): Promise<void> {
  const [command = '', comment = ''] = line.replace(/wait for: /, '').split(/ +# /)
  const filled = Object.entries(blanks).reduce((text, [blank, value]) => text.replaceAll(blank, value), command)
  const [, unit = ''] = /^journalctl --unit (\S+) --grep retired$/.exec(filled) ?? []
  const [, version] = /^sudo npm install --global svcd-(\S+)\.tgz$/.exec(filled) ?? []
  const [, verb, names = ''] = /^sudo systemctl (start|restart) (.+)$/.exec(filled) ?? []
  const [, words] = /^(?:sudo -u svcd )?svcd (.+)$/.exec(filled) ?? []
  if (unit !== '') await untilSaid(comment, () => machine.units().journal(unit))
  else if (version !== undefined) machine.install(version)
  else if (verb !== undefined) {
    for (const name of names.split(' ')) {
      if (verb === 'restart') await machine.units().stop(name)
      machine.units().start(name)
    }
  } else if (words !== undefined) {
    const args = [...words.split(' '), ...(words.startsWith('init ') ? more : [])]
    await untilSaid(comment, async () => {
      const { status, stdout, stderr } = await machine.svcd(args)
      return status === 0 ? stdout : stderr
    })
  } else throw new Error(`the test does not know this line: ${line}`)
}

async function carryOutAll(machine: Machine, { code }: { readonly code: string }, blanks: Blanks = {}): Promise<void> {
  const all = { '/var/lib/svcd': machine.home, ...blanks }
  for (const line of code.trim().split('\n')) {
    const ports = await freePorts(2)
    const more = ['--rpc', `127.0.0.1:${ports[0]}`, '--p2p', `127.0.0.1:${ports[1]}`, '--block-time', '200ms']
    await carryOut(machine, line, all, more)
    if (line.includes('svcd init')) prepare(machine)
  }
}

/** Lets the CometBFT of a home that was just made find peers on one machine, and reads the units. */
function prepare({ home, openUnits: open }: Machine): void {
  setCometConfig({ home }, JOINS_LOCALLY)
  open(join(home, 'systemd'))
}

const rpcOf = ({ home }: Machine): NetworkNode => {
  const [, rpc = ''] =
    /\[rpc\][^[]*?laddr = "tcp:\/\/([^"]+)"/.exec(readFileSync(join(home, 'config/config.toml'), 'utf8')) ?? []
  return { home, owner: '', rpc: `http://${rpc}`, gateway: '' }
}

/** Proposes that the program retires in some blocks, and has every validator approve it. */
async function approveRetirement(): Promise<number> {
  const [from = '', other = ''] = nodes.map(({ owner }) => owner)
  // Far enough that proposal and votes are in blocks before it on a busy machine.
  const retiredBlockHeight = (await gateway.height()) + 50
  const { deliver_tx: done } = await gateway.commit('svc_proposeRetireProgram', {
    from,
    preservedValidators,
    retiredBlockHeight,
  })
  const voteOf = (voter: string) => gateway.commit('svc_vote', { from: voter, proposalId: done.data, answer: 'Y' })
  await Promise.all([from, other].map(voteOf))
  return retiredBlockHeight
}

/** What doctor finds of the program of a home. */
async function programOf(machine: Machine, home: string): Promise<unknown> {
  const { stdout } = await machine.svcd(['doctor', '--home', home, '--json'])
  return (JSON.parse(stdout) as readonly { readonly check: string }[]).find(({ check }) => check === 'program')
}

const journalOf = (machine: Machine): string => machine.units().journal('svcd-app')

/** Waits until the unit with Restart=always has started the retired program again, and that has refused. */
const untilRefused = (machine: Machine): Promise<unknown> =>
  until(
    () =>
      /retired at height \d+\n[\s\S]*runs version 1, which the chain has retired[\s\S]*status=2\n/.test(
        journalOf(machine),
      ),
    WAIT_MS,
    () => journalOf(machine),
  )

const gasOfTransfer = async (): Promise<string | undefined> => {
  const [from = '', to = ''] = nodes.map(({ owner }) => owner)
  return (await gateway.commit('svc_transfer', { from, to, value: '1' })).deliver_tx.gasUsed
}

beforeAll(async () => {
  cometbft = (await findCometBft()).path
  makeRelease(releaseOf('0.2.0'))
  // The successor: a rule that differs, and the number that CONTRIBUTING tells a release to raise.
  makeRelease(releaseOf('0.3.0'), [
    ['src/node/programVersion.ts', 'PROGRAM_VERSION = 1\n', 'PROGRAM_VERSION = 2\n'],
    ['src/modules/accounts/tx/transfer.ts', 'TRANSFER_GAS = 21_000', 'TRANSFER_GAS = 42_000'],
    ['package.json', /"version": "[^"]+"/.exec(readFileSync('package.json', 'utf8'))?.[0] ?? '', '"version": "0.3.0"'],
  ])
  const net = join(folder, 'net')
  nodes = await makeNetwork(net, 2)
  validators = nodes.map((node, at) => {
    setKeeping(node, 5)
    const machine = createMachine(`machine${at}`, node.home, '0.2.0', { SVCD_GATEWAY: node.gateway })
    machine.openUnits(join(net, 'systemd'), `node${at}`, {
      'svcd-gateway': { args: ['--devnet'] },
      ...(at === 1 ? { 'svcd-app': { restart: 'always' } } : {}),
    })
    for (const unit of ['svcd-app', 'svcd-gateway']) machine.units().start(unit)
    return machine
  })
  await watchHeads(nodes, 0, 1)
  gateway = gatewayClient(nodes[0]?.gateway ?? '')
  await until(() => gateway.height().catch(() => undefined), WAIT_MS, 'no gateway')
  const set = await gateway.call<{ data: { pub_key: { value: string } }[] }>('svc_queryValidatorSet')
  preservedValidators = set.data.map(({ pub_key: key }) => key.value).join(',')
})

test('a retired program stays down, or is refused where its unit starts it again, and its doctor says what to do', async () => {
  expect(await gasOfTransfer()).toBe('21000')
  point = await approveRetirement()
  // One of the two may be a block behind, until the other goes on.
  const ended = await until(
    () => validators.find((machine) => journalOf(machine).includes(`program 1 retired at height ${point}\n`)),
    WAIT_MS,
    () => validators.map(journalOf).join('\n'),
  )
  if (ended === validators[1]) await untilRefused(ended)
  else {
    await until(
      () => !ended.units().isActive('svcd-app') && !ended.units().isActive('svcd-cometbft'),
      WAIT_MS,
      () => journalOf(ended),
    )
    // The log and the last words go to two streams, which arrive in either order.
    expect(journalOf(ended)).toMatch(/the chain retired program 1.*the application stops.*\n/)
    expect(journalOf(ended)).toMatch(/\nMain process exited, status=0\n$/)
  }
  expect(await ended.svcd(['doctor', '--home', ended.home])).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(
      /bad +program +this program runs version 1, which the chain has retired: it is at version 2/,
    ),
  })
})

test('by the runbook every node goes on with the successor, whose rules hold from the block after the retirement', async () => {
  const [first, always] = validators as [Machine, Machine]
  await Promise.all([carryOutAll(first, upgrade), untilRefused(always).then(() => carryOutAll(always, upgrade))])
  await expectAgreement(nodes, point, 3)
  // A peer that CometBFT dials of its own choice while it starts would get no votes from it.
  const journals = validators.map((machine) => machine.units().journal('svcd-cometbft'))
  expect(new Set(journals.join().match(/numToDial=\d+/g))).toEqual(new Set(['numToDial=0']))
  expect(await gateway.call('svc_status')).toMatchObject({
    application_version: '0.3.0',
    program_version: 2,
    chain_program_version: 2,
  })
  expect(await gasOfTransfer()).toBe('42000')
})

const blanks = (): Blanks => {
  const [node, other] = nodes as [NetworkNode, NetworkNode]
  const p2p = Number(new URL(node.rpc).port) - 1
  return {
    'genesis.json': join(node.home, 'config', 'genesis.json'),
    'NODE_ID@PEER:26656': `${readNodeId(node.home)}@127.0.0.1:${p2p}`,
    'http://A:26657': node.rpc,
    'http://B:26657': other.rpc,
  }
}

/** Waits until a joiner has the head, and compares its app hashes with those of the network. */
async function expectJoined(machine: Machine): Promise<void> {
  const joined = rpcOf(machine)
  const head = await heightOrZero(nodes[0] as NetworkNode)
  await until(
    async () => (await heightOrZero(joined)) >= head,
    WAIT_MS,
    () => journalOf(machine),
    100,
  )
  await expectAgreement([...nodes, joined], head, 2)
  await Promise.all(['svcd-app', 'svcd-cometbft'].map((unit) => machine.units().stop(unit)))
}

test('a late joiner with the successor: a replay from genesis is refused before CometBFT starts, state sync joins', async () => {
  const home = join(folder, 'replay')
  const machine = createMachine('late', join(folder, 'snapshot'), '0.3.0')
  const genesis = blanks()['genesis.json'] ?? ''
  expect((await machine.svcd(['init', '--home', home, '--genesis', genesis])).status).toBe(0)
  expect(await machine.svcd(['start', '--home', home])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(
      /runs version 2, but this home has no state.*Join by state sync.*release of version 1 until/,
    ),
  })
  await carryOutAll(machine, joinBySnapshot as typeof upgrade, blanks())
  await expectJoined(machine)
})

test('the retired release refuses the snapshot of its successor before that is the state', async () => {
  const machine = createMachine('retired', join(folder, 'retired'), '0.2.0')
  await carryOutAll(machine, joinBySnapshot as typeof upgrade, blanks())
  await untilSaid(
    'runs version 1, which the chain has retired: it is at version 2.*\nMain process exited, status=2',
    () => journalOf(machine),
  )
  await machine.close()
  machine.install('0.3.0')
  expect(await programOf(machine, machine.home)).toEqual({
    check: 'program',
    verdict: 'ok',
    found: 'this release runs version 2, and this home has no state yet',
  })
})

test('a chain that the successor begins is at version 1 like any other, and its homes say so', async () => {
  const machine = createMachine('another', join(folder, 'another'), '0.3.0')
  const net = join(folder, 'another-net')
  const owner = nodes[0]?.owner ?? ''
  for (const made of [
    await machine.svcd(['init', '--home', machine.home, '--chain-id', 'another', '--owner', owner]),
    await machine.svcd(['testnet', '--validators', '1', '--full-nodes', '1', '--output', net]),
  ])
    expect(made).toMatchObject({ status: 0 })
  for (const home of [machine.home, join(net, 'node0'), join(net, 'full0')])
    expect(await programOf(machine, home)).toEqual({
      check: 'program',
      verdict: 'ok',
      found: 'this release runs version 1, and this home has no state yet',
    })
})

test('a late joiner with all blocks: the old release ends at the retirement, and the successor goes on', async () => {
  const machine = createMachine('archive', join(folder, 'blocks'), '0.3.0')
  await carryOutAll(machine, joinByBlocks as typeof upgrade, blanks())
  await expectJoined(machine)
})

test('the same release goes on after another retirement where its operator declares it the successor, and nowhere else', async () => {
  point = await approveRetirement()
  const third = { code: accept?.code.replace('accept 2', 'accept 3') ?? '' }
  await Promise.all(
    validators.map(async (machine) => {
      await untilSaid(`program 2 retired at height ${point}`, () => journalOf(machine))
      await carryOutAll(machine, third)
    }),
  )
  await expectAgreement(nodes, point, 3)
  expect(await gateway.call('svc_status')).toMatchObject({ program_version: 3, chain_program_version: 3 })
})
