/** Full nodes that carry reads and history, as docs/operations.md sets them up: its samples are what runs here. */
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { WebSocket as SecureWebSocket } from 'ws'
import { findCometBft } from '../../src/comet/find.ts'
import { Svc } from '../../src/client/index.ts'
import { type Address, addressBytes } from '../../src/values/address.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { PUBLIC_MNEMONIC, seedOfMnemonic } from '../../src/keys/mnemonic.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { request } from '../support/request.ts'
import { gatewayClient } from './support/client.ts'
import { svcd } from './support/devnet.ts'
import {
  endNetwork,
  headOf,
  makeNetwork,
  type NetworkNode,
  type RunningNode,
  startNode,
  startNodeGateway,
  watchHeads,
} from './support/network.ts'
import { openPage, startBrowser, withBrowser } from './support/page.ts'
import { makeCertificate, NGINX, POSTGRES, startNginx, startPostgres, type SystemServer } from './support/packages.ts'
import { freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

// skip: no nginx with openssl, or no PostgreSQL, on this machine (.ci/run installs Debian's)
const describeWith = (program: string | undefined) => (program === undefined ? describe.skip : describe)

const servers: SystemServer[] = []
const folder = testFolder(async () => {
  await endNetwork()
  await Promise.all(servers.map((server) => server.stop()))
})

/** The code of the page's samples of a language that stand below a heading. */
const samplesOf = (info: string, heading: string): readonly string[] =>
  examplesRunBy('test/e2e/scaleOut.test.ts')
    .filter((one) => one.info === info && one.above.split('\n## ').at(-1)?.startsWith(heading))
    .map(({ code }) => code)

let validator: NetworkNode
/** Two full nodes with a gateway, and the archive node. */
let full: readonly [NetworkNode, NetworkNode]
let archive: NetworkNode
let signing: RunningNode
let running: RunningNode[] = []

beforeAll(async () => {
  const nodes = await makeNetwork(join(folder, 'net'), 1, '200ms', 3)
  ;[validator, full, archive] = [nodes[0], [nodes[1], nodes[2]], nodes[3]] as unknown as [
    NetworkNode,
    readonly [NetworkNode, NetworkNode],
    NetworkNode,
  ]
  signing = await startNode(validator)
})

/** A client that signs for one of the public accounts itself. */
function clientOf(index: number, urls: readonly string[]): { readonly svc: Svc; readonly from: string } {
  let calls = 0
  const alternate: typeof fetch = (_url, init) => fetch(urls[calls++ % urls.length] as string, init)
  const svc = new Svc({ url: urls[0] as string, fetch: alternate })
  return { svc, from: svc.accounts.add(PUBLIC_MNEMONIC, index) }
}

describeWith(NGINX)('two gateways behind nginx', () => {
  let front = ''
  /** The same over TLS and below a path, as people reach it, and the certificate. */
  let site = ''
  let ca = ''
  let gateways: readonly [string, string]
  let metricsPorts: readonly number[] = []
  let pids: readonly number[] = []

  const startGatewayOf = (at: 0 | 1): Promise<number> => {
    const { origin } = new URL(site)
    const metrics = `127.0.0.1:${metricsPorts[at]}`
    const args = ['--trust-proxy', '127.0.0.1', '--allow-origin', origin]
    return startNodeGateway(full[at], [...args, '--metrics', metrics])
  }

  beforeAll(async () => {
    gateways = [full[0].gateway, full[1].gateway]
    running = await Promise.all(full.map((node) => startNode(node)))
    await watchHeads([validator, ...full], 1, 1)
    const [port, tlsPort, first, second, ...others] = await freePorts(6)
    metricsPorts = others
    front = `http://127.0.0.1:${port}`
    site = `https://localhost:${tlsPort}/svcd/`
    pids = await Promise.all([startGatewayOf(0), startGatewayOf(1)])
    const [sample = ''] = samplesOf('nginx', 'Several gateways')
    const moved = (at: string): string =>
      sample
        .replaceAll('8601', String(first))
        .replaceAll('8602', String(second))
        .replace('10.0.0.1:8545', new URL(gateways[0]).host)
        .replace('10.0.0.2:8545', new URL(gateways[1]).host)
        .replace('listen 8545', `listen 127.0.0.1:${port}`)
        .replace('listen 443', `listen 127.0.0.1:${tlsPort}`)
        .replace('/etc/ssl/certs/stake.example.pem', join(at, 'cert.pem'))
        .replace('/etc/ssl/private/stake.example.key', join(at, 'key.pem'))
        .replace('/var/cache/svcd', join(at, 'cache'))
    const configOf = (at: string): string => {
      ca = makeCertificate(at)
      return moved(at)
    }
    servers.push(await startNginx(configOf, `${front}/readyz`))
  })

  /** A call through nginx by a caller at that address of loopback: the HTTP status and the answer. */
  const callFrom = (address: string, method: string, params: unknown = []) =>
    request(
      front,
      { method: 'POST', headers: { 'content-type': 'application/json' }, localAddress: address },
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    )

  const seriesAt = async (gateway: string, pattern: RegExp): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPorts[gateways.indexOf(gateway)]}/metrics`)).text()
    return [...text.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const callsAt = (gateway: string, method = 'svc_status'): Promise<number> =>
    seriesAt(gateway, new RegExp(`^svc_rpc_requests_total\\{method="${method}",code="[^"]+"\\} (\\d+)$`, 'gm'))

  const callers = Array.from({ length: 24 }, (_, at) => `127.0.0.${at + 2}`)
  const callAll = () => Promise.all(callers.map((address) => callFrom(address, 'svc_status')))

  /** Resolves once no caller is led to that gateway any more, which the guards notice within two seconds. */
  const settled = async (at: 0 | 1): Promise<void> => {
    for (let before = Number.NaN, now = 0; before !== now; ) {
      before = await callsAt(gateways[at])
      await callAll()
      now = await callsAt(gateways[at])
    }
  }

  test('callers are shared out, each keeps its gateway, and equal heights give equal answers', async () => {
    const before = await Promise.all(gateways.map((one) => callsAt(one)))
    expect(await callAll()).toEqual(callers.map(() => expect.objectContaining({ status: 200 })))
    const after = await Promise.all(gateways.map((one) => callsAt(one)))
    const shares = after.map((count, at) => count - (before[at] as number))
    expect(shares[0] as number).toBeGreaterThan(0)
    expect(shares[1] as number).toBeGreaterThan(0)
    await callAll()
    expect(
      (await Promise.all(gateways.map((one) => callsAt(one)))).map((count, at) => count - (after[at] as number)),
    ).toEqual(shares)

    const clients = gateways.map(gatewayClient)
    for (const [method, params] of [
      ['svc_queryValidators', []],
      ['svc_getBalance', [full[0].owner ?? validator.owner]],
      ['svc_getProof', ['accounts', validator.owner]],
    ] as const) {
      // Blocks come while both are asked, so they are asked until they have answered at one height.
      let answers: { height: number }[]
      do answers = await Promise.all(clients.map((one) => one.call<{ height: number }>(method, params)))
      while (answers[0]?.height !== answers[1]?.height)
      expect(answers[0]).toEqual(answers[1])
    }
  })

  /** A request over TLS, by a page of that origin if one is named. */
  const visit = (path: string, body?: string, origin?: string) => {
    const headers = { 'content-type': 'application/json', ...(origin === undefined ? {} : { origin }) }
    const method = body === undefined ? 'GET' : 'POST'
    return request(new URL(path, site), { method, headers, ca, agent: false }, body)
  }

  test('the page, its calls and its websocket work over TLS and below a path', async () => {
    const page = await visit('')
    expect(page.text).toContain('<title>svcd</title>')
    const paths = [...page.text.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(2)
    for (const path of [...paths, 'page.json']) expect([path, (await visit(path)).status]).toEqual([path, 200])
    expect((await visit('/svcd')).status).toBe(301)
    for (const path of ['metrics', '/metrics']) expect([path, (await visit(path)).status]).toEqual([path, 404])

    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_status' })
    expect(JSON.parse((await visit('', call, new URL(site).origin)).text)).toHaveProperty('result')
    expect((await visit('', call, 'https://evil.example')).status).toBe(403)

    const origin = new URL(site).origin
    const socket = new SecureWebSocket(site.replace('https', 'wss'), { ca, origin })
    await once(socket, 'open')
    socket.send(call)
    expect(JSON.parse(String((await once(socket, 'message'))[0]))).toHaveProperty('result')
    socket.close()
    const stranger = new SecureWebSocket(site.replace('https', 'wss'), { ca, origin: 'https://evil.example' })
    const [error] = (await once(stranger, 'error')) as [Error]
    expect(error.message).toContain('403')
  })

  withBrowser('in Chromium', () => {
    test('the page below the path shows the chain and hears of new blocks', async () => {
      const browser = await startBrowser()
      try {
        const { page, failures } = await openPage(browser, site, { ignoreHTTPSErrors: true })
        const { height } = await gatewayClient(gateways[0]).call<{ height: number }>('svc_queryParams')
        // The page lists the newest blocks only: on a slow machine any one of them may have gone by.
        for (const ahead of [2, 4])
          await page.waitForFunction(
            (least) =>
              Array.from(document.querySelectorAll('td:first-child'), ({ textContent }) => Number(textContent)).some(
                (n) => n >= least,
              ),
            height + ahead,
          )
        expect(failures).toEqual([])
      } finally {
        await browser.close()
      }
    })
  })

  test('a websocket through nginx brings new blocks', async () => {
    const socket = new WebSocket(front.replace('http', 'ws'))
    const said: string[] = []
    const isNews = new Promise<void>((done, failed) => {
      socket.onmessage = ({ data }) => {
        said.push(String(data))
        if (said.length > 2) done()
      }
      socket.onerror = () => failed(new Error('the websocket failed'))
    })
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_subscribe', params: ['newBlock'] }))
    await isNews
    socket.close()
    expect(said[2]).toMatch(/"method":"svc_subscription".*"height":\d+/)
  })

  test('a transaction that is sent to one gateway is found through the other', async () => {
    const { svc, from } = clientOf(1, [gateways[0]])
    const { hash, height } = await svc.async.transfer({ from, to: validator.owner, value: 1n })
    const other = new Svc(gateways[1])
    expect(await other.async.waitForTx(hash)).toMatchObject({ hash, height })
  })

  test('one account sends 100 transactions through both gateways at once, and none is lost', async () => {
    const { svc, from } = clientOf(2, gateways)
    const sent = Array.from({ length: 100 }, (_, at) =>
      svc.async.transfer({ from, to: validator.owner, value: BigInt(at + 1) }),
    )
    const results = await Promise.all(sent)
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(100)
    // The node of one gateway may be a block behind that of the other.
    const last = Math.max(...results.map(({ height }) => height))
    await Promise.all(gateways.map((one) => gatewayClient(one).waitForHeight(last)))
    expect(await svc.async.getTransactionCount(from)).toBe(100)
  })

  test('a node that lags behind is taken out until it has caught up', async () => {
    await running[1]?.end('SIGTERM')
    // Without peers it stays where it was.
    const lonely = join(folder, 'lonely.sh')
    const alone = '--p2p.laddr=tcp://127.0.0.1:0 --p2p.pex=false --p2p.persistent_peers='
    writeFileSync(lonely, `#!/bin/sh\nexec '${(await findCometBft()).path}' "$@" ${alone}\n`, { mode: 0o700 })
    running[1] = await startNode(full[1], [], lonely)
    const why = async (): Promise<string> => (await fetch(`${gateways[1]}/readyz`)).text()
    while (!(await why()).includes('catching up')) await sleep(50)
    const lagging = await gatewayClient(gateways[1]).height()
    while (((await headOf(validator))?.height ?? 0) < lagging + 5) await sleep(50)
    await settled(1)
    const heights = (await callAll()).map(({ status, text }) => {
      expect(status).toBe(200)
      return (JSON.parse(text) as { result: { height: number } }).result.height
    })
    expect(Math.min(...heights)).toBeGreaterThan(lagging)
    expect(await gatewayClient(gateways[1]).height()).toBe(lagging)

    await running[1]?.end('SIGTERM')
    running[1] = await startNode(full[1])
    const before = await callsAt(gateways[1])
    while ((await callsAt(gateways[1])) === before) await callAll()
  })

  test('a gateway that is lost in the middle of calls costs these calls, and none of them is made again', async () => {
    const signer = signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, 5))
    const { chain_id: chainId } = await gatewayClient(gateways[0]).call<{ chain_id: string }>('svc_status')
    const message = { to: addressBytes(validator.owner as Address), value: '1' }
    const bytes = toBase64(signer.signTx({ chainId, nonce: 0, operation: 'transfer', message }))
    const before = await Promise.all(gateways.map((one) => callsAt(one, 'svc_sendRawTransaction')))
    const waiting = async (at: 0 | 1): Promise<number> => seriesAt(gateways[at], /^svc_tx_waiting (\d+)$/gm)
    // Without the validator there is no block, and the calls wait for one.
    process.kill(signing.pids[0], 'SIGSTOP')
    const calls = callers.map((address) => callFrom(address, 'svc_sendRawTransaction', [bytes]))
    while ((await waiting(0)) + (await waiting(1)) < callers.length) await sleep(20)
    const lost = await waiting(0)
    process.kill(pids[0] as number, 'SIGKILL')
    process.kill(signing.pids[0], 'SIGCONT')
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 502)).toHaveLength(lost)
    expect(statuses.filter((status) => status === 200)).toHaveLength(callers.length - lost)
    expect(lost).toBeGreaterThan(0)
    expect((await callsAt(gateways[1], 'svc_sendRawTransaction')) - (before[1] as number)).toBe(callers.length - lost)
    expect(await gatewayClient(gateways[1]).call('svc_getTransactionCount', [signer.address])).toBe(1)
    await startGatewayOf(0)
  })

  test('with no gateway ready, the callers are told so', async () => {
    await Promise.all(running.map((node) => node.end('SIGTERM')))
    await Promise.all([settled(0), settled(1)])
    for (const { status } of await callAll()) expect([502, 503]).toContain(status)
  })
})

describeWith(POSTGRES)('history in PostgreSQL', () => {
  const heading = 'History in PostgreSQL'
  let postgres: SystemServer
  let node: RunningNode
  let env: NodeJS.ProcessEnv

  const login = (user: string): readonly string[] => [
    ...['-h', postgres.folder],
    ...`-U ${user} -d svcd -v ON_ERROR_STOP=1`.split(' '),
  ]
  const psql = (sql: string, user = 'svcd'): string =>
    execFileSync(join(POSTGRES as string, 'psql'), [...login(user), '-qAt', '-F', ' ', '-c', sql], {
      encoding: 'utf8',
    }).trim()
  const asAdmin = (sql: string): string => psql(sql, 'postgres')
  /** The page's two queries: what an account did, and how many transactions of each kind there were. */
  const queries = (): readonly string[] => (samplesOf('sql', heading)[1] ?? '').split(';\n\n')
  const kinds = (): string => psql(queries()[1] ?? '')
  const transferCount = (): number => Number(/^svc\.accounts\.transfer (\d+)$/m.exec(kinds())?.[1])

  /** Runs the page's commands; `sudo -u` names who does what, which here is the cluster's role of that name. */
  const runShell = (script: string): void => {
    const sudo = 'sudo() { PGUSER=$2; export PGUSER; shift 2; "$@"; }\n'
    execFileSync('sh', ['-ec', sudo + script], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  }

  /** Makes the archive node write into a database, in the page's words. */
  const indexIntoPostgres = (): void => {
    const [sample = ''] = samplesOf('toml', heading)
    const path = join(archive.home, 'config/config.toml')
    const text = readFileSync(path, 'utf8')
    const wanted = sample.replace('/var/run/postgresql', postgres.folder)
    writeFileSync(path, text.replace(/\[tx_index\][^[]*/, `${wanted}\n`))
  }

  beforeAll(async () => {
    postgres = await startPostgres()
    servers.push(postgres)
    env = { ...process.env, PGHOST: postgres.folder, PATH: `${POSTGRES}:${process.env['PATH']}` }
    const [shell = ''] = samplesOf('sh', heading)
    runShell(shell)
    indexIntoPostgres()
    for (const sql of samplesOf('sql', heading).slice(0, 1)) psql(sql)
    node = await startNode(archive)
    await startNodeGateway(validator)
    await watchHeads([archive], 1, 1)
    await startNodeGateway(archive)
  })

  test('the events of transactions and blocks land there, and the samples of the page find them', async () => {
    const { svc, from } = clientOf(3, [validator.gateway])
    const { height, hash } = await svc.async.transfer({ from, to: validator.owner, value: 7n })
    const declared = await svc.async.stake.validator.declare({ from, pubKey: randomBytes(32).toString('base64') })
    while (!kinds().includes('declare')) await sleep(50)
    expect(psql((queries()[0] ?? '').replace(/0x[0-9a-f]{40}/, from)).split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^${declared.height} ${declared.hash} svc.stake.declare \\{`)),
      expect.stringMatching(
        new RegExp(`^${height} ${hash} svc.accounts.transfer \\{.*"to": "${validator.owner}".*"value": "7"`),
      ),
    ])
    expect(kinds().split('\n')).toContain('svc.stake.declare 1')
    const set = (): string =>
      psql("SELECT attributes->>'changed' FROM svc_events WHERE type = 'svc.stake.validator_set'")
    while (set() === '') await sleep(50)
    // The new key joins; what the validator earned may change its own power in the same block.
    expect(set().split('\n')[0]).toMatch(/^[12]$/)
  })

  test('a gateway on that node answers histories, although CometBFT there searches nothing', async () => {
    const client = gatewayClient(archive.gateway)
    await client.waitForIndex(await client.height())
    expect(await client.call('svc_getTransactionCount', [validator.owner])).toBe(0)
    expect(await client.call('svc_getTransaction', ['0'.repeat(64)])).toBeNull()
    expect(await client.call('svc_getTransactions', [validator.owner])).toMatchObject({ earliest_height: 1 })
    expect(await client.call('svc_getValidatorHistory', [clientOf(3, [archive.gateway]).from])).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ type: 'svc.stake.declare' })]),
    })
    for (const search of [
      'tx_search?query="tx.height=2"',
      'block_search?query="block.height=2"',
      `tx?hash=0x${'0'.repeat(64)}`,
    ])
      expect(await (await fetch(`${archive.rpc}/${search}`)).text()).toContain('not supported')
  })

  test('while PostgreSQL does not answer, this node waits and the others do not', async () => {
    const heights = async (): Promise<readonly number[]> =>
      Promise.all([archive, validator].map(async (one) => (await headOf(one))?.height ?? 0))
    const lock = execFile(
      join(POSTGRES as string, 'psql'),
      [...login('svcd'), '-c', 'BEGIN; LOCK TABLE blocks; SELECT pg_sleep(300)'],
      () => undefined,
    )
    const held =
      "SELECT count(*) FROM pg_locks WHERE relation = 'blocks'::regclass AND mode = 'AccessExclusiveLock' AND granted"
    while (asAdmin(held) !== '1') await sleep(50)
    const [from = 0, other = 0] = await heights()
    while (((await heights())[1] ?? 0) < Math.max(from, other) + 6) await sleep(50)
    expect((await heights())[0]).toBeLessThan(from + 3)
    asAdmin(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)' AND pid <> pg_backend_pid()",
    )
    lock.kill()
    while (((await heights())[0] ?? 0) < from + 6) await sleep(50)
  })

  test('a hole that PostgreSQL leaves while it is away does not hold up the node, and syncing anew fills it', async () => {
    const holes =
      'SELECT count(*) FROM generate_series(1, (SELECT max(height) FROM blocks)) AS h WHERE h NOT IN (SELECT height FROM blocks)'
    expect(psql(holes)).toBe('0')
    asAdmin('ALTER ROLE svcd NOLOGIN')
    asAdmin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'svcd'")
    const { svc, from } = clientOf(4, [validator.gateway])
    const { height, hash } = await svc.async.transfer({ from, to: validator.owner, value: 1n })
    await watchHeads([archive], height, 2)
    asAdmin('ALTER ROLE svcd LOGIN')
    const top = (): number => Number(psql('SELECT max(height) FROM blocks'))
    while (top() < height + 4) await sleep(50)
    expect(Number(psql(holes))).toBeGreaterThan(0)
    const transfers = `SELECT height FROM svc_events WHERE type = 'svc.accounts.transfer' AND tx_hash = '${hash}'`
    expect(psql(transfers)).toBe('')
    await node.end('SIGTERM')
    expect((await svcd(['reset', '--home', archive.home, '--yes'])).status).toBe(0)
    const before = transferCount()
    node = await startNode(archive)
    while (psql(holes) !== '0' || psql(transfers) === '') await sleep(50)
    // What was there before is there once.
    expect(psql(transfers)).toBe(String(height))
    expect(transferCount()).toBe(before + 1)
  })
})
