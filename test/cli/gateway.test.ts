import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { shellWord } from '../../src/cli/networkScripts.ts'
import { SVCD_WORDS } from '../../src/node/paths.ts'
import { account } from '../support/testChain.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { until } from '../gateway/support.ts'
import { startStubNode } from '../gateway/stubNode.ts'
import { endedWith, makePlace, run, svcd, typed } from './support.ts'
import { commandOnTerminal } from './terminal.ts'

const place = makePlace([1, 2, 3])
afterAll(place.remove)

test('a gateway with public accounts takes no others: one line names both flags, exit status 2', async () => {
  const { status, stderr } = await svcd(place, ['gateway', '--devnet', '--unlock', 'alice'])
  expect([status, stderr]).toEqual([
    2,
    'svcd: --devnet and --unlock cannot be combined, because public accounts need no token\n',
  ])
})

test('a password comes from a pipe too', async () => {
  const node = await startStubNode()
  const { port } = new URL(node.url)
  const password = 'a password of the test'
  const made = await typed(place, `svcd keys new alice --password-file <(echo '${password}')`)
  expect(made).toMatchObject({ status: 0 })
  // The port is in use, which the gateway sees after it has read the password.
  const ended = await typed(
    place,
    `svcd gateway --unlock alice --password-file <(echo '${password}') ` +
      `--auth-token-file <(echo a-token-of-the-test) --listen 127.0.0.1:${port} --node ${node.url}`,
  )
  await node.close()
  expect(ended).toMatchObject(endedWith(2, /^svcd: cannot listen on /))
})

test('a gateway that asks for a password ends when it is told to', async () => {
  const [pidFile, token] = ['pid', 'token'].map((name) => join(place.folder, name)) as [string, string]
  writeFileSync(token, 'a-token-of-the-test\n', { mode: 0o600 })
  const gateway = [...SVCD_WORDS, 'gateway', '--unlock', 'alice', '--auth-token-file', token].map(shellWord).join(' ')
  const stop = () => process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM')
  const command = ['/bin/sh', '-c', `echo $$ > ${shellWord(pidFile)}; exec ${gateway}`]
  const ended = await commandOnTerminal(place, command, [{ seen: /password of alice/, type: stop }])
  expect(ended.status).toBe(0)
})

test.each([
  ['--rate-limit', 'x', 'expected a whole number from 0 to 100000, got "x"'],
  ['--connections', '0', 'expected a whole number from 1 to 100000, got "0"'],
  [
    '--trust-proxy',
    '10.0.0.0/33',
    'expected an IP address or a network, such as 10.0.0.5 or 10.0.0.0/8, got "10.0.0.0/33"',
  ],
  ['--trust-proxy', '::/0', 'expected an IP address or a network, such as 10.0.0.5 or 10.0.0.0/8, got "::/0"'],
  [
    '--allow-host',
    'node.example:8545',
    'expected a host name, or an IP address, of IPv6 in brackets, without a port, got "node.example:8545"',
  ],
  [
    '--allow-origin',
    'https://wallet.example/app',
    'expected an origin such as https://wallet.example, loopback or *, got "https://wallet.example/app"',
  ],
  ['--light', 'light', 'expected HOST:PORT with a port from 1 to 65535, got "light"'],
  [
    '--light',
    'https://127.0.0.1:8888',
    'expected http://HOST:PORT, which is what `cometbft light` serves, got https://127.0.0.1:8888',
  ],
])('%s %s is refused in one line', async (flag, value, why) => {
  const { status, stderr } = await svcd(place, ['gateway', flag, value])
  expect([status, stderr]).toEqual([2, `svcd: ${flag}: ${why}\n`])
})

test('a gateway whose node follows another chain ends with status 1 and says so, for whoever starts it again', async () => {
  const node = await startStubNode()
  const [port] = await freePorts(1)
  const running = await run(place, ['gateway', '--listen', `127.0.0.1:${port}`, '--node', node.url], /gateway ready/)
  node.script.blockHash = 'BB'.repeat(32)
  expect(await running.ended).toBe(1)
  const why = 'the node follows another chain than the one of block \\d+'
  expect(running.said()).toMatch(
    new RegExp(`\\nsvcd: ${node.url}: ${why}\\. Start the gateway again, and it serves that one\\n$`),
  )
  await node.close()
})

test('a gateway that is not ready says why once, although the height in it counts on', async () => {
  const node = await startStubNode({ catchingUp: true })
  const [port] = await freePorts(1)
  const running = await run(place, ['gateway', '--listen', `127.0.0.1:${port}`, '--node', node.url], /not ready yet/)
  const asked = node.count('status')
  await until(() => node.count('status') > asked + 6)
  expect(running.said().match(/not ready yet: the node is catching up, it is at height \d+/g)).toHaveLength(1)
  await running.stop()
  await node.close()
})

test('what a gateway says cannot steer the terminal', async () => {
  const message = '\u001b]0;title\u0007\u001b[2K\rverified\nnext\u009b1m'
  const { url, close } = await serveCalls(() => ({ error: { code: -32602, message } }))
  const { status, stderr } = await svcd(place, ['query', 'balance', account(1).address, '--gateway', url])
  await close()
  const safe = '\\u001b]0;title\\u0007\\u001b[2K\\u000dverified\nnext\\u009b1m\n'
  expect([status, stderr]).toEqual([1, expect.stringContaining(`code -32602: ${safe}`)])
})

test.each([
  [
    '700',
    'the node of URL does not have block 700: it keeps those from 701 on. Ask one that keeps all, with --gateway URL',
  ],
  ['1201', 'block 1201 is not made yet: the newest one is 1200'],
  ['ab'.repeat(32), 'the node of URL has no block of this hash; it may have had it once'],
])('of block %s, which its node does not have, it is said why', async (block, why) => {
  const { url, close } = await serveCalls(({ method, params }) => {
    const { block: height } = params as { block: number }
    const held = height > 700 && height <= 1200 ? { height } : null
    return { result: method === 'svc_blockNumber' ? 1200 : held }
  })
  const { status, stdout, stderr } = await svcd(place, ['query', 'block', block, '--gateway', url])
  await close()
  expect([status, stdout, stderr]).toEqual([0, 'none\n', `${why.replace('of URL', `of ${url}`)}\n`])
})

test('that there is no block is answered also where the gateway refuses to be asked why', async () => {
  let calls = 0
  const { url, close } = await serveCalls(() =>
    calls++ === 0 ? { result: null } : { error: { code: -32015, message: 'Too many requests' } },
  )
  const { status, stdout, stderr } = await svcd(place, ['query', 'block', '7', '--gateway', url])
  await close()
  expect([status, stdout, stderr]).toEqual([0, 'none\n', ''])
})

test('a transaction that was taken is waited for after too many requests, and where a node has not heard of those before', async () => {
  const result = { height: 0, hash: '', check_tx: { fee: {} }, deliver_tx: { fee: {} } }
  const waits = [
    { error: { code: -32015, message: 'Too many requests', data: { retryAfterMs: 1 } } },
    { result: { ...result, check_tx: { code: 6, log: 'bad nonce: expected 5, got 6', fee: {} } } },
    { result: { ...result, height: 7 } },
  ]
  const { url, close } = await serveCalls(({ method, params }) => {
    if (method === 'svc_status') return { result: { chain_id: 'test' } }
    if (method === 'svc_getTransactionCount') return { result: 6 }
    return Array.isArray(params) ? waits.shift() : { result }
  })
  await svcd(place, ['keys', 'import', 'carol', '--private-key'], `${'0a'.repeat(32)}\na password\n`)
  writeFileSync(join(place.folder, 'password.txt'), 'a password\n', { mode: 0o600 })
  const transfer = `tx transfer --from carol --password-file password.txt --to ${account(1).address} --value 1`
  const { status, stdout, stderr } = await svcd(place, `${transfer} --gateway ${url}`)
  await close()
  expect([status, stdout, stderr, waits]).toEqual([0, expect.stringMatching(/^result +ok\nheight +7\n/), '', []])
})
