/**
 * What a stranger can send to a node's RPC and p2p ports, against the real node: each request gets its refusal, and the
 * chain goes on.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
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

/** Sends requests one after the other and returns them with their answers. Two more blocks must follow. */
const answersTo = <T>(requests: readonly T[], send: (rpc: string, request: T) => Promise<Answer>) =>
  survives(async (rpc) => {
    const answers: (readonly [T, Answer])[] = []
    for (const request of requests) answers.push([request, await send(rpc, request)])
    return answers
  })

/** How many answers of a test were the application's own. */
let judged = 0
beforeEach(() => void (judged = 0))

/** A refusal of what `name` says: by the application with a code and a log, or by CometBFT itself. */
function expectRefusal(name: string, { result, error }: Answer, log: RegExp): void {
  if (error !== undefined) return
  judged++
  const { code = 0, log: said } = result?.response ?? {}
  expect([name, code > 0, said]).toEqual([name, true, expect.stringMatching(log)])
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
  afterEach(() => expect(judged).toBeGreaterThan(0))

  test('/governance/params at a height that no block has is refused', async () => {
    const ask = (rpc: string, height: string) => get(rpc, `path=%22/governance/params%22&height=${height}`)
    for (const [height, answer] of await answersTo(HEIGHTS, ask))
      expectRefusal(height, answer, /height: expected 0 to the head/)
  })

  test('/store/params/max_vals/0 at a height that no block has is refused', async () => {
    const ask = (rpc: string, height: string) =>
      get(rpc, `path=%22/store/params/max_vals/0%22&height=${height}&prove=true`)
    for (const [height, answer] of await answersTo(HEIGHTS, ask)) expectRefusal(height, answer, /height: /)
  })

  test('a path of bytes that are no path is refused', async () => {
    const paths = ['0x2ffffe', '0xff', `0x2f73746f72652f706172616d732f${'ff'.repeat(64)}2f30`, '0x00']
    for (const [path, answer] of await answersTo(paths, (rpc, path) => get(rpc, `path=${path}`)))
      expectRefusal(path, answer, /path/)
  })

  test('what is too long, or empty, is refused in a short line', async () => {
    const requests: readonly (readonly [string, object, RegExp])[] = [
      [
        'a path of 500,000 characters',
        { path: '/x'.repeat(250_000) },
        /path: expected at most 1000 characters, got 500000$/,
      ],
      ['a path of 100,000 slashes below /store', { path: `/store/${'/'.repeat(100_000)}` }, /path: /],
      ['data of 300,000 bytes that are no list', { path: '/batch', data: 'ff'.repeat(300_000) }, /data: /],
      ['an empty path', { path: '' }, /path/],
    ]
    for (const [[name, , log], answer] of await answersTo(requests, (rpc, [, params]) =>
      post(rpc, 'abci_query', params),
    )) {
      expectRefusal(name, answer, log)
      expect(answer.result?.response.log?.length ?? 0).toBeLessThan(1000)
    }
  })
})

test('a transaction of nothing, of a byte or of 200,000 bytes is refused', async () => {
  const txs = ['', '/w==', Buffer.alloc(200_000, 0xff).toString('base64')]
  for (const [tx, { result, error }] of await answersTo(txs, (rpc, tx) => post(rpc, 'broadcast_tx_sync', { tx })))
    if (error === undefined) {
      judged++
      expect([tx.length, result?.code]).toEqual([tx.length, 2])
    }
  expect(judged).toBeGreaterThan(0)
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
