/**
 * What a stranger can send to a node's RPC and p2p ports, against the real node: each request gets its refusal, and the
 * chain goes on.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { readNodeId } from '../../src/comet/home.ts'
import { DEVNET_CHAIN_ID } from '../../src/cli/devnet/chain.ts'
import { buildStranger } from '../p2p/build.ts'
import { type Devnet, makePlace, type Place, startDevnet } from './support/devnet.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(() => net?.stop())
let place: Place
let stranger = ''
let net: Devnet | undefined

beforeAll(async () => {
  stranger = buildStranger('chunks', folder)
  place = await makePlace(join(folder, 'home'))
})

/**
 * Runs `hostile` against the devnet; then two more blocks must follow. A devnet that it ended is started again for the
 * next test.
 */
async function survives<T>(hostile: (rpc: string) => Promise<T>): Promise<T> {
  net ??= await startDevnet(place)
  try {
    const before = await net.height()
    const seen = await hostile(net.node.url)
    await net.waitForHeight(before + 2)
    return seen
  } catch (error) {
    await net.stop()
    net = undefined
    throw error
  }
}

interface Refusal {
  readonly code?: number
  readonly log?: string
}
interface Answer {
  readonly result?: { readonly response: Refusal } & Refusal
  readonly error?: object
}

const get = (rpc: string, search: string): Promise<Answer> =>
  fetch(`${rpc}/abci_query?${search}`).then((response) => response.json() as Promise<Answer>)

function post(rpc: string, method: string, params: object): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
    (response) => response.json() as Promise<Answer>,
  )
}

/** A refusal: by the application with a code and a log, or by CometBFT itself. */
function expectRefusal({ result, error }: Answer, log: RegExp): void {
  if (error !== undefined) return
  expect(result?.response.code).toBeGreaterThan(0)
  expect(result?.response.log).toMatch(log)
}

const HEIGHTS = [
  '9223372036854775807',
  '9007199254740992',
  '9007199254740991',
  '-1',
  '-9007199254740992',
  '-9223372036854775808',
]

describe('abci_query', () => {
  test.each(HEIGHTS)('/governance/params at height %s is refused', async (height) => {
    expectRefusal(
      await survives((rpc) => get(rpc, `path=%22/governance/params%22&height=${height}`)),
      /height: expected 0 to the head/,
    )
  })

  test.each(HEIGHTS)('/store/params/max_vals/0 at height %s is refused', async (height) => {
    expectRefusal(
      await survives((rpc) => get(rpc, `path=%22/store/params/max_vals/0%22&height=${height}&prove=true`)),
      /height: /,
    )
  })

  test.each(['0x2ffffe', '0xff', `0x2f73746f72652f706172616d732f${'ff'.repeat(64)}2f30`, '0x00'])(
    'a path of the bytes %s is refused',
    async (path) => {
      expectRefusal(await survives((rpc) => get(rpc, `path=${path}`)), /path/)
    },
  )

  test.each<[string, object, RegExp]>([
    [
      'a path of 500,000 characters',
      { path: '/x'.repeat(250_000) },
      /path: expected at most 1000 characters, got 500000$/,
    ],
    ['a path of 100,000 slashes below /store', { path: `/store/${'/'.repeat(100_000)}` }, /path: /],
    ['data of 300,000 bytes that are no list', { path: '/batch', data: 'ff'.repeat(300_000) }, /data: /],
    ['an empty path', { path: '' }, /path/],
  ])('%s is refused', async (_, params, log) => {
    const answer = await survives((rpc) => post(rpc, 'abci_query', params))
    expectRefusal(answer, log)
    expect(answer.result?.response.log?.length ?? 0).toBeLessThan(1000)
  })
})

test.each([
  ['nothing', ''],
  ['a byte', '/w=='],
  ['200,000 bytes', Buffer.alloc(200_000, 0xff).toString('base64')],
])('a transaction of %s is refused', async (_, tx) => {
  const answer = await survives((rpc) => post(rpc, 'broadcast_tx_sync', { tx }))
  if (answer.error === undefined) expect(answer.result?.code).toBe(2)
})

test('a peer that asks for chunks of any height, format and index gets an empty answer for each', async () => {
  const { stdout } = await survives(() =>
    promisify(execFile)(stranger, [`${readNodeId(place.home)}@127.0.0.1:${place.ports[2]}`, DEVNET_CHAIN_ID]),
  )
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { height: string; bytes: number })
  expect(answers.map(({ height }) => height)).toEqual([
    '9223372036854775808',
    '18446744073709551615',
    '9007199254740992',
    '9007199254740991',
    '9223372036854775807',
    '1',
    '1',
  ])
  expect(answers.map(({ bytes }) => bytes)).toEqual(answers.map(() => 0))
})
