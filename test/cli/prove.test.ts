/** `svcd query --prove` among servers that lie. The servers and the light client are stand-ins for those of CometBFT. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { until } from '../../bench/until.ts'
import { allGone, descendantsOf } from '../e2e/support/processes.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { type Ended, endedWith, makePlace, type Place, run, svcd } from './support.ts'

const OWNER = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'
const HEAD = 100

/** The chain that the node says it is of. */
let chainId = 'my-chain'

/** The first block that the node has. */
let earliest = 1

function answerOf(method: string, height: number): object {
  if (height < earliest) {
    const data = `height ${height} is not available, lowest height is ${earliest}`
    return { error: { code: -32603, message: 'Internal error', data } }
  }
  return { result: resultOf(method, height) }
}

function resultOf(method: string, height: number): unknown {
  const time = new Date(Date.now() - (HEAD - height) * 1000).toISOString()
  const header = { height: String(height), time, chain_id: chainId, app_hash: '' }
  if (method === 'consensus_params') return { consensus_params: { evidence: { max_age_num_blocks: '60478' } } }
  if (method === 'header') return { header }
  if (method === 'block') return { block_id: { hash: 'AB'.repeat(32) }, block: { header, data: { txs: [] } } }
  const heights = {
    latest_block_height: String(HEAD),
    latest_block_time: time,
    earliest_block_height: String(earliest),
  }
  return { node_info: { network: chainId }, sync_info: heights }
}

let node: Awaited<ReturnType<typeof serveCalls>>
let gateway: Awaited<ReturnType<typeof serveCalls>>
/** What the gateway answers whatever it is asked; undefined for nothing. */
let answer: string | undefined = '{}'

/** A light client that keeps the name of its chain, listens, and answers nothing. */
const LIGHT = `#!${process.execPath}
const { createServer } = require('node:http')
const { writeFileSync } = require('node:fs')
const [command, chain, ...flags] = process.argv.slice(2)
if (command === 'version') console.log('0.38.25')
else {
  const folder = flags[flags.indexOf('--home-dir') + 1]
  if (flags.includes('--hash')) writeFileSync(folder + '/headers', chain)
  const server = createServer().listen(0, '127.0.0.1', () =>
    console.log('Starting RPC HTTP server on 127.0.0.1:' + server.address().port))
}
`

let place: Place

beforeAll(async () => {
  const made = makePlace([1, 2, 3])
  const program = join(made.folder, 'cometbft')
  writeFileSync(program, LIGHT, { mode: 0o755 })
  place = { ...made, env: { ...made.env, SVCD_COMETBFT: program } }
  node = await serveCalls(({ method, params }) =>
    answerOf(method, Number((params as { height?: string } | undefined)?.height ?? HEAD)),
  )
  gateway = await serveCalls(() => answer)
})
afterAll(async () => {
  await node.close()
  await gateway.close()
  place.remove()
})

const proving = (trust: readonly string[]): readonly string[] => [
  'query',
  'balance',
  OWNER,
  '--prove',
  ...trust,
  '--node',
  node.url,
  '--gateway',
  gateway.url,
]

const prove = (trust: readonly string[] = ['--trust-first']): Promise<Ended> => svcd(place, proving(trust))

test('an answer of the gateway that is too long is cut off and named', async () => {
  answer = ' '.repeat(65 * 2 ** 20)
  expect(await prove()).toMatchObject(endedWith(1, 'its answer is over 67108864 bytes'))
})

test('a node cannot name its chain so that the headers of another one are lost', async () => {
  answer = '{}'
  for (chainId of ['my-chain', 'my-chain.before', 'my-chain']) expect(await prove()).toMatchObject({ status: 1 })
  expect(readFileSync(join(place.env['SVCD_HOME'] as string, 'light', 'my-chain', 'headers'), 'utf8')).toBe('my-chain')
})

test('a terminal that is closed leaves no light client, which would keep the headers locked', async () => {
  answer = undefined
  const running = await run(place, proving(['--trust-first']), /no --witness was given/)
  const light = await until(() => descendantsOf(running.pid).find(({ args }) => / light my-chain /.test(args)))
  process.kill(running.pid, 'SIGHUP')
  await running.ended
  await allGone([light.pid], 20_000)
})

test('a header to trust that the node has pruned is refused with the lowest one that it has', async () => {
  earliest = 45
  const why = 'header: Internal error: height 1 is not available, lowest height is 45'
  expect(await prove(['--trust-height', '1', '--trust-hash', 'AB'.repeat(32)])).toMatchObject(
    endedWith(2, `svcd: --trust-height: ${node.url}: ${why}\n`),
  )
})
