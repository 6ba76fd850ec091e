/** The addresses in a home are those at which its parts meet, and every part says what it waits for and why it stops. */
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { gatewayUrl, nodeOfHome, nodeUrl } from '../../src/cli/options.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { account, CHAIN_ID } from '../support/testChain.ts'
import { endedWith, makePlace, type Place, run, svcd } from './support.ts'

const ADDRESS_VARIABLES = ['SVCD_NODE', 'SVCD_GATEWAY', 'SVCD_LISTEN', 'SVCD_RPC', 'SVCD_P2P']
let place: Place
let home = ''
let ports: readonly number[] = []

beforeAll(async () => {
  ports = await freePorts(5)
  const made = makePlace([ports[0] as number, 1, 2])
  // As for a person who has set nothing.
  const env = Object.fromEntries(Object.entries(made.env).filter(([name]) => !ADDRESS_VARIABLES.includes(name)))
  place = { ...made, env }
  home = place.env['SVCD_HOME'] as string
  const addresses = ['--rpc', `0.0.0.0:${ports[1]}`, '--p2p', `127.0.0.1:${ports[2]}`]
  const made2 = await svcd(place, ['init', '--chain-id', CHAIN_ID, '--owner', account(1).address, ...addresses])
  expect(made2).toMatchObject({ status: 0, stdout: expect.stringContaining(`  svcd gateway --home ${home}\n`) })
})
afterAll(() => place.remove())

test('the node is that of the home, unless a flag or config/svcd.json names another', () => {
  const none = { node: undefined, gateway: undefined }
  expect(nodeUrl({ home, ...none })).toBe(`http://127.0.0.1:${ports[1]}`)
  expect(nodeUrl({ home, ...none, node: '127.0.0.1:9' })).toBe('http://127.0.0.1:9')
  const other = join(place.folder, 'other')
  expect(nodeUrl({ home: other, ...none })).toBe('http://127.0.0.1:26657')
  expect(gatewayUrl({ home: other })).toBe('http://127.0.0.1:8545')
  mkdirSync(join(other, 'config'), { recursive: true })
  const settings = { node: 'http://node.example:1', gateway: 'https://gateway.example' }
  writeFileSync(join(other, 'config', 'svcd.json'), JSON.stringify(settings))
  expect([nodeUrl({ home: other, ...none }), gatewayUrl({ home: other })]).toEqual([settings.node, settings.gateway])
})

test('a node that listens on every address without naming one is called on this machine', () => {
  const config = join(home, 'config', 'config.toml')
  const written = readFileSync(config, 'utf8')
  writeFileSync(config, written.replace(`tcp://0.0.0.0:${ports[1]}`, `tcp://:${ports[1]}`))
  expect(nodeOfHome(home)).toBe(`http://127.0.0.1:${ports[1]}`)
  writeFileSync(config, written)
})

test('a URL with a user name or password is refused, and neither is printed', () => {
  for (const user of ['rpc:hunter2', 'hunter2', ':hunter2']) {
    const url = `https://${user}@node.example`
    expect(() => nodeUrl({ home, node: url })).toThrow(/^--node: .* without a user name or password$/)
    expect(() => gatewayUrl({ home, gateway: url })).toThrow(/^--gateway: .* without a user name or password$/)
  }
})

describe('svcd gateway', () => {
  test('calls the node of its home, and is not ready while that one does not answer', async () => {
    const gateway = ['gateway', '--home', home, '--listen', `127.0.0.1:${ports[3]}`]
    const running = await run(place, gateway, /not ready yet/)
    expect(running.said()).toMatch(
      new RegExp(`^gateway listens: http://127.0.0.1:${ports[3]}, node http://127.0.0.1:${ports[1]}, `, 'm'),
    )
    expect(running.said()).toMatch(
      new RegExp(`^not ready yet: status: cannot reach the node at http://127.0.0.1:${ports[1]}: `, 'm'),
    )
    expect(running.said()).not.toMatch(/gateway ready/)
    const answer = await fetch(`http://127.0.0.1:${ports[3]}/readyz`)
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ ready: false })])
    expect(await running.stop()).toBe(0)
  })
})

describe('svcd doctor', () => {
  let taken: Server
  beforeAll(async () => {
    taken = createServer()
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
    const gateway = `127.0.0.1:${(taken.address() as AddressInfo).port}`
    writeFileSync(join(home, 'config', 'svcd.json'), JSON.stringify({ gateway, eni: { os: 'ubuntu' } }))
  })
  afterAll(() => void taken.close())
  const doctor = (...args: readonly string[]) => svcd(place, ['doctor', '--home', home, ...args])

  test('looks at the ports and the node that the files of the home name', async () => {
    const { stdout } = await doctor()
    const port = (taken.address() as AddressInfo).port
    expect(stdout).toMatch(
      new RegExp(`ports +gateway ${port} in use, CometBFT RPC ${ports[1]} free, CometBFT p2p ${ports[2]} free`),
    )
    expect(stdout).toContain(`cannot reach the node at http://127.0.0.1:${ports[1]}`)
  })

  test('fails for a home that is not there', async () => {
    const missing = join(place.folder, 'missing')
    expect(await doctor('--home', missing)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^bad +home +\/\S+missing does not exist: name another with --home DIR/m),
      stderr: expect.stringMatching(/^svcd: 1 check failed\n/),
    })
  })
})

/** Another home, which no node has run. */
async function makeHome(name: string): Promise<string> {
  const made = join(place.folder, name)
  const ended = await svcd(place, ['init', '--home', made, '--chain-id', 'c', '--owner', account(1).address])
  expect(ended).toMatchObject({ status: 0 })
  return made
}

test('svcd start says of each address why it cannot listen there', async () => {
  const other = await makeHome('unheard')
  const taken = createServer()
  const socket = join(other, 'taken.sock')
  const listening = createServer()
  await Promise.all([once(taken.listen(0, '127.0.0.1'), 'listening'), once(listening.listen(socket), 'listening')])
  try {
    for (const [address, why] of [
      [`tcp://127.0.0.1:${(taken.address() as AddressInfo).port}`, 'the port is in use'],
      [`unix://${socket}`, 'another server listens on'],
      [`unix://${join(other, 'config', 'svcd.json')}`, 'is there and is no socket'],
      [`unix://${join(other, 'missing', 'abci.sock')}`, 'listen EACCES'],
      [`unix:///${'a'.repeat(150)}`, 'listen E'],
    ] as const) {
      const ended = await svcd(place, ['start', '--home', other, '--abci', address])
      expect(ended).toMatchObject(endedWith(2, `svcd: --abci: cannot listen on ${address}: `))
      expect(ended.stderr).toContain(why)
    }
  } finally {
    taken.close()
    listening.close()
  }
})

test('svcd start logs why it stops', async () => {
  const other = await makeHome('stopped')
  const running = await run(place, ['start', '--home', other], /the application listens/)
  expect(await running.stop()).toBe(0)
  const last = JSON.parse(running.said().trim().split('\n').at(-1) ?? '')
  expect(last).toMatchObject({ msg: 'the application stops', reason: 'it received SIGTERM', height: 0 })
})
