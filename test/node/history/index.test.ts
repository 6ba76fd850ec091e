import { lstatSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { startWorkerThread } from '../../../src/base/workerThread.ts'
import { historyBlockCodec, historyResultCodec } from '../../../src/node/history/block.ts'
import { openHistoryWriter, prepareHistory, SPAN } from '../../../src/node/history/file.ts'
import { ACCOUNT_ROWS, accountTxs, AWARDS_PAGE, VALIDATOR_PAGE } from '../../../src/node/history/queries.ts'
import type { HistoryWorkerMessage, HistoryWorkerOptions } from '../../../src/node/history/thread.ts'
import { openConnection } from '../../../src/base/sqlite.ts'
import { txHash } from '../../../src/tx/envelope.ts'
import { bytesOf } from '../../modules/support.ts'
import { account, CHAIN_ID, TestChain, tokens } from '../../support/testChain.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { historyRows, type HistoryPage, openChain } from './support.ts'

const { path: folder, remove } = tempFolder('history')
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})
afterAll(remove)

type Node = ReturnType<typeof openChain>

function openIn(name: string, options?: Parameters<typeof openChain>[1]): Node {
  mkdirSync(join(folder, name), { recursive: true })
  const node = openChain(join(folder, name), options)
  open.push(node)
  return node
}

async function reopen(node: Node, name: string, options: Parameters<typeof openChain>[1] = {}): Promise<Node> {
  await node.close()
  open.splice(open.indexOf(node), 1)
  return openIn(name, { ...options, before: node.chain })
}

const [alice, bob, carol] = [account(1), account(2), account(3)]

/** Transactions of `from` to `to` with the next nonces. */
const transfers = ({ chain }: Node, count: number, from = alice, to = bob): readonly Uint8Array[] => {
  const nonce = chain.nonceOf(from)
  return Array.from({ length: count }, (_, at) =>
    chain.tx(from, 'transfer', { to: bytesOf(to), value: String(at + 1) }, nonce + at),
  )
}

/** Every row of a history, page by page. */
function all({ ask }: Node, path: string, limit: number): HistoryPage['rows'] {
  const rows: HistoryPage['rows'][0][] = []
  for (let before = ''; ; ) {
    const page = ask(`${path}?limit=${limit}${before}`)
    rows.push(...page.rows)
    if (page.next === null) return rows
    before = `&before=${page.next}`
  }
}

test('the pages of an account hold each transaction once, the newest first, failed ones at their sender alone', async () => {
  const node = openIn('pages')
  const first = transfers(node, 5)
  node.chain.block({ txs: first })
  node.chain.block()
  const failed = node.chain.tx(alice, 'transfer', { to: bytesOf(bob), value: tokens(1_000_000).toString() })
  node.chain.block({ txs: [...transfers(node, 1, bob, alice), failed] })
  await node.caughtUp()
  const hashes = [failed, ...transfers(node, 0), ...first.toReversed()].map(txHash)
  const rows = all(node, `account/${alice.address}`, 2)
  expect(rows.map(({ height, index }) => `${height}/${index}`)).toEqual([
    '3/1',
    '3/0',
    '1/4',
    '1/3',
    '1/2',
    '1/1',
    '1/0',
  ])
  expect(rows.filter((_, at) => at !== 1).map(({ hash }) => hash)).toEqual(hashes)
  expect(rows.map(({ code }) => code)).toEqual([20, 0, 0, 0, 0, 0, 0])
  expect(all(node, `account/${bob.address}`, 100)).toEqual(rows.slice(1))
  expect(all(node, 'transactions', 3)).toEqual(rows)
  expect(node.ask('transactions?before=3/1&limit=1')).toMatchObject({ rows: [{ height: 3, index: 0 }], next: '3/0' })
  expect(node.ask('transactions?before=1')).toMatchObject({ rows: [], next: null })
  expect(node.ask(`account/${alice.address}?before=3`).rows).toEqual(rows.slice(2))
  expect(node.ask(`account/${carol.address}`)).toEqual({ first_height: 1, last_height: 3, rows: [], next: null })
  expect(node.ask(`transaction/${hashes[0]}`).transaction).toEqual(rows[0])
  expect(node.ask(`transaction/${'0'.repeat(64)}`).transaction).toBeNull()
})

test('an owner finds operations, what blocks did, and awards apart from both', async () => {
  const node = openIn('owner')
  node.chain.advanceTo(49)
  node.chain.deliver(alice, 'deactivateCandidacy')
  await node.caughtUp()
  const rows = all(node, `validator/${alice.address}`, 1)
  expect(rows.map(({ type, hash }) => [type, hash === null])).toEqual([
    ['svc.stake.left', true],
    ['svc.stake.deactivate', false],
  ])
  expect(node.ask(`awards/${bob.address}`).rows).toMatchObject([{ height: 50, amount: expect.any(String) }])
})

test('what the thread had not taken when the process ended is taken at the next start', async () => {
  const node = openIn('ended')
  await node.index.close()
  for (let at = 0; at < 5; at++) node.chain.block({ txs: transfers(node, 2) })
  const again = await reopen(node, 'ended')
  await again.caughtUp()
  expect(again.ask(`account/${alice.address}`)).toMatchObject({ first_height: 1, last_height: 5 })
  expect(all(again, `account/${alice.address}`, 3)).toHaveLength(10)
})

test('a block that was rolled back and executed again stands in the index as it was executed last', async () => {
  const node = openIn('rollback')
  node.chain.block({ txs: transfers(node, 1) })
  node.chain.block({ txs: transfers(node, 3) })
  await node.caughtUp()
  node.store.rollback()
  const again = await reopen(node, 'rollback')
  const txs = transfers(again, 1, bob, carol)
  again.chain.block({ txs })
  await again.caughtUp()
  expect(all(again, `account/${alice.address}`, 100)).toHaveLength(1)
  expect(again.ask(`account/${carol.address}`).rows.map(({ hash }) => hash)).toEqual(txs.map(txHash))
})

test('an index that lacks blocks begins anew behind them, and one that cannot be read too', async () => {
  const node = openIn('gap')
  node.chain.block({ txs: transfers(node, 1) })
  await node.caughtUp()
  // As after state sync: the state goes on, and nobody has the blocks in between.
  await node.index.close()
  node.chain.advanceTo(3)
  const db = new Database(node.statePath)
  db.exec('DELETE FROM journal')
  db.close()
  const again = await reopen(node, 'gap')
  again.chain.block({ txs: transfers(again, 1) })
  await again.caughtUp()
  expect(again.ask(`account/${alice.address}`)).toMatchObject({
    first_height: 4,
    last_height: 4,
    rows: [{ height: 4 }],
  })
  await again.close()
  open.splice(open.indexOf(again), 1)
  const file = new Database(again.path)
  file.exec("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
  file.close()
  const third = openIn('gap', { before: again.chain })
  third.chain.block()
  await third.caughtUp()
  expect(third.ask(`account/${alice.address}`)).toMatchObject({ first_height: 4, last_height: 5 })
  expect(third.lines).toContainEqual({
    fields: { path: third.path, why: 'it has schema version 99, this program writes 2' },
    line: 'the index of histories was unusable and begins anew',
  })
})

test('an index takes no blocks over a gap that a node without histories left in the journal', async () => {
  const node = openIn('without')
  node.chain.advanceTo(2)
  await node.caughtUp()
  await node.index.close()
  const { height, time, sets } = node.chain
  const without = new TestChain({ store: node.store })
  Object.assign(without, { height, time, sets })
  without.advanceTo(5)
  const again = await reopen(node, 'without')
  await again.index.close()
  again.chain.advanceTo(7)
  const third = await reopen(again, 'without')
  await third.caughtUp()
  expect(third.ask('transactions')).toMatchObject({ first_height: 6, last_height: 7 })
})

test('blocks that CometBFT may forget leave the index with everything of theirs', async () => {
  const node = openIn('pruned')
  node.chain.block({ txs: [...transfers(node, 2), node.chain.tx(bob, 'deactivateCandidacy', {})] })
  node.chain.advanceTo(60)
  await node.caughtUp()
  expect(node.ask(`account/${alice.address}`)).toMatchObject({ first_height: 1, rows: [{}, {}] })
  node.index.committed(51)
  const kept = { first_height: 51, last_height: 60, rows: [], next: null }
  while (node.ask(`account/${alice.address}`).first_height < 51) await sleep(5)
  expect(node.ask(`account/${alice.address}`)).toEqual(kept)
  const rows = Object.entries(historyRows(node.path)).map(([table, all]) => [table, all.length])
  expect(Object.fromEntries(rows)).toEqual({
    blocks: 10,
    transactions: 0,
    account_transactions: 0,
    validator_events: 0,
    awards: 0,
  })
})

test('a journal that nobody reads is dropped at its limit, and the index goes on behind it', async () => {
  const node = openIn('bound', { journalBytesMax: 5_000 })
  await node.index.close()
  for (let at = 0; at < 10; at++) node.chain.block({ txs: transfers(node, 5) })
  const db = new Database(node.statePath, { readonly: true })
  const [bytes] = db.prepare('SELECT sum(length(block)) FROM journal').raw().get() as [number]
  db.close()
  expect(bytes).toBeLessThanOrEqual(5_000)
  expect(node.lines.map(({ line }) => line)).toContainEqual(expect.stringContaining('it begins anew'))
  const again = await reopen(node, 'bound')
  await again.caughtUp()
  const { first_height: first, last_height: last, rows } = again.ask(`account/${alice.address}?limit=100`)
  expect(first).toBeGreaterThan(1)
  expect([last, rows.length]).toEqual([10, 5 * (11 - first)])
})

test('a page of an account reads its own rows and one more, whatever 12,600 transfers of dust stand around it', () => {
  const path = join(folder, 'dust.db')
  expect(prepareHistory(path, 'dust')).toBeUndefined()
  const writer = openHistoryWriter(path, 1024)
  const [count, perBlock] = [12_600, 1_260]
  const result = historyResultCodec.encode({ code: 0, log: '', info: '', data: new Uint8Array(), gasUsed: 0 })
  for (let height = 1; height <= count / perBlock; height++) {
    const txs = Array.from({ length: perBlock }, (_, at) => Buffer.from(`${height}/${at}`))
    const accounts = txs.map((_, at) => Buffer.concat([bytesOf(at === 600 ? carol : bob), bytesOf(alice)]))
    writer.add([[height, { timeMs: height, txs, results: txs.map(() => result), accounts, events: [] }]])
  }
  writer.close()
  const connection = openConnection(path, { readonly: true })
  for (const [one, height, txIndex, newest, found] of [
    [alice, 11, 0, '10/1259', 21],
    [alice, 5, 630, '5/629', 21],
    [alice, 5, 999_999_999, '5/1259', 21],
    [alice, 5, 256, '5/255', 21],
    [carol, 11, 0, '10/600', 10],
    [bob, 1, 3, '1/2', 3],
  ] as const) {
    const rows: string[] = []
    for (const [at, index, time, tx] of accountTxs(connection, one.address, { height, txIndex }, 21)) {
      expect([time, String(tx)]).toEqual([at, `${at}/${index}`])
      if (rows.push(`${at}/${index}`) === 21) break
    }
    expect([rows[0], rows.length, new Set(rows).size]).toEqual([newest, found, found])
  }
  connection.close()
})

test('an index that cannot be opened for now is left as it is, and begins anew on a disk that comes back empty', async () => {
  const away = async (name: string) => {
    const node = openIn(name)
    node.chain.block({ txs: transfers(node, 3) })
    await node.caughtUp()
    node.chain.block()
    await node.caughtUp()
    await node.index.close()
    new Database(node.path).close() // which leaves no log beside the file
    // A link to a disk that is not there yet, as after a boot.
    const [disk, kept] = [join(folder, `${name}-disk`), join(folder, `${name}.db`)]
    renameSync(node.path, kept)
    symlinkSync(join(disk, 'history.db'), node.path)
    const again = await reopen(node, name)
    while (again.lines.length === 0) await sleep(5)
    expect(again.lines).toMatchObject([{ line: 'the thread of the index of histories failed: another one is started' }])
    expect(lstatSync(node.path).isSymbolicLink()).toBe(true)
    return { again, kept, disk }
  }
  const [full, empty] = [await away('full'), await away('empty')]
  // The thread may look at any moment for a file where there is a folder.
  mkdirSync(`${full.disk}-new`)
  renameSync(full.kept, join(`${full.disk}-new`, 'history.db'))
  renameSync(`${full.disk}-new`, full.disk)
  mkdirSync(empty.disk)
  for (const { again } of [full, empty]) again.chain.block({ txs: transfers(again, 1) })
  await Promise.all([full.again.caughtUp(), empty.again.caughtUp()])
  expect(full.again.ask(`account/${bob.address}`)).toMatchObject({ first_height: 1, rows: { length: 4 } })
  expect(empty.again.ask(`account/${bob.address}`)).toMatchObject({ first_height: 2, rows: { length: 1 } })
}, 30_000)

/** What the thread says of a journal of large blocks, two of which are a batch, up to a height; some are missing. */
async function messagesAbout(name: string, to: number, missing: number): Promise<readonly HistoryWorkerMessage[]> {
  const { path, statePath, index, chain, close } = openIn(name)
  await index.close()
  chain.advanceTo(to)
  await close()
  open.pop()
  const nothing = Buffer.alloc(0)
  const large = { timeMs: 1, txs: [Buffer.alloc(3 * 1024 * 1024)], results: [nothing], accounts: [nothing], events: [] }
  const db = new Database(statePath)
  db.prepare('UPDATE journal SET block = ?').run(historyBlockCodec.encode(large))
  db.prepare('DELETE FROM journal WHERE height = ?').run(missing)
  db.close()
  const messages: HistoryWorkerMessage[] = []
  const thread = startWorkerThread<number, HistoryWorkerMessage>({
    file: new URL('../../../src/node/history/worker.ts', import.meta.url),
    workerData: { statePath, path, chainId: CHAIN_ID } satisfies HistoryWorkerOptions,
    tellsLoaded: true,
    restartMs: 0,
    onMessage: (message) => messages.push(message),
    onFailed: () => {},
  })
  while (messages.at(-1)?.kind !== 'done' && messages.length < 10) await sleep(5)
  await thread.close()
  return messages
}

test('the journal may be trimmed behind each batch that the index takes, not only behind all of them', async () => {
  expect(await messagesAbout('batches', 4, 0)).toEqual([
    { kind: 'indexed', doneTo: 2 },
    { kind: 'indexed', doneTo: 4 },
    { kind: 'done', doneTo: 4 },
  ])
})

test('a gap between two batches of the journal is passed once', async () => {
  expect(await messagesAbout('gap-between', 5, 3)).toEqual([
    { kind: 'indexed', doneTo: 2 },
    { kind: 'begunAnew', height: 4 },
    { kind: 'indexed', doneTo: 5 },
    { kind: 'done', doneTo: 5 },
  ])
})

test('a page is found by keys alone, however many rows stand before and behind it', async () => {
  const node = openIn('plan')
  node.chain.block()
  await node.caughtUp()
  const db = new Database(node.path, { readonly: true })
  for (const [sql, ...given] of [
    [ACCOUNT_ROWS, 1],
    [VALIDATOR_PAGE, 1, 1, 1],
    [AWARDS_PAGE, 1, 1, 1],
  ] as const) {
    const plan = (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Buffer.alloc(20), ...given) as { detail: string }[]).map(
      ({ detail }) => detail,
    )
    expect(plan[0]).toMatch(/USING PRIMARY KEY \((account=\? AND first_id<\?|owner=\? AND \(?height)/)
    expect(plan.filter((line) => !/^SEARCH /.test(line))).toEqual([])
  }
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${SPAN}`).all() as { detail: string }[]
  expect(plan.filter(({ detail }) => /^SCAN blocks/.test(detail))).toEqual([])
  db.close()
})
