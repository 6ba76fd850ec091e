import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import type { QueryResponse } from '../../src/abci/types.ts'
import { encodePaths } from '../../src/codec/queryBatch.ts'
import type { QueryLimits } from '../../src/node/queries/queue.ts'
import { startQueryThread } from '../../src/node/queries/thread.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import type { Store } from '../../src/store/store.ts'
import { bytesOf } from '../modules/support.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('queries')
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})
afterAll(remove)

const nothing = new Uint8Array(0)
const LISTS = ['/stake/validators', '/governance/proposals']

interface Setup {
  readonly thread: ReturnType<typeof startQueryThread>
  readonly chain: TestChain
  readonly store: Store
  readonly path: string
  readonly log: object[]
}

/** Limits that a busy machine does not reach; a test of one of them sets its own. */
const PATIENT = {
  answerMsMax: 600_000,
  waitMsMax: 600_000,
  listWaitMsMax: 600_000,
  silentMsMax: 600_000,
  startMsMax: 600_000,
}

/** A chain of `candidacies` on a file, and the thread beside it. */
function setUp(
  name: string,
  { candidacies = 4, limits = {} }: { candidacies?: number; limits?: Partial<QueryLimits> } = {},
): Setup {
  const path = join(folder, `${name}.db`)
  const store = openSqliteStore({ path, tables, views })
  const log: object[] = []
  const logger = { info: () => {}, error: (fields: object) => void log.push(fields) }
  const thread = startQueryThread({ path, logger, height: store.height, limits: { ...PATIENT, ...limits } })
  open.push(store, thread)
  const chain = new TestChain({ store, app: { logger } })
  // The chain's own queries stay with the store; only commits are onMessage to the thread.
  const { commit } = chain.app
  Object.assign(chain.app, {
    commit: (request: object) => {
      const response = commit(request as never)
      thread.committed()
      return response
    },
  })
  const owners = Array.from({ length: candidacies }, (_, at) => ({
    owner: account(at + 1),
    key: nodeKey(at + 1),
    shares: tokens(100 + at),
  }))
  chain.init({
    accounts: owners.map(({ owner }) => ({ address: owner.address, balance: tokens(5000) })),
    candidacies: owners,
  })
  return { thread, chain, store, path, log }
}

const ask = async (
  { thread }: Setup,
  path: string,
  { data = nothing as Uint8Array, height = 0, prove = false } = {},
): Promise<QueryResponse> => await thread.ask({ path, data, height, prove })

/** As plain values: one is from another thread's memory. */
const plain = (response: QueryResponse): unknown =>
  JSON.parse(
    JSON.stringify(structuredClone(response), (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ),
  )

test('the thread answers each path as the application does: before the first block, with proofs, and while pages wait', async () => {
  const setup = setUp('same')
  const { chain } = setup
  const one = account(1).address
  const paths = [
    ...LISTS,
    '/stake/validators?limit=2&offset=1',
    `/stake/validator/${one}`,
    `/stake/candidacy-id/${one}`,
    `/stake/unbonding/${one}`,
    `/accounts/${one}`,
    '/accounts/0x1',
    '/stake/validators?limit=x',
    `/store/accounts/${one}`,
    '/store/nothing/1',
    `/store/accounts/${account(999).address}`,
    '/store/candidacies/1',
    '/governance/votes/AAAA',
    '/stake/account-update/7',
  ]
  const compare = async (): Promise<void> => {
    for (const path of [...paths, ...(chain.height > 0 ? ['/governance/params'] : [])]) {
      for (const prove of [false, true]) {
        const request = { path, data: nothing, height: 0, prove }
        expect([path, plain(await ask(setup, path, { prove }))]).toEqual([
          path,
          plain(chain.app.query(request) as QueryResponse),
        ])
      }
    }
    const data = encodePaths([`/accounts/${one}`, `/stake/validator/${one}`, '/accounts/0x1'])
    const batch = { path: '/batch', data, height: 0, prove: false }
    expect(plain(await ask(setup, '/batch', { data }))).toEqual(plain(chain.app.query(batch) as QueryResponse))
  }
  await compare()
  // The thread knows the node's own queries too.
  expect(await ask(setup, '/nothing')).toMatchObject({ code: 4, log: expect.stringContaining('/history/account/') })
  for (let height = 1; height <= 70; height++) {
    const to = bytesOf(account(1000 + height))
    chain.block({
      txs: [chain.tx(account(1), 'transfer', { to, value: '7' }), chain.tx(account(2), 'transfer', { to, value: '9' })],
    })
    if (height % 6 === 1 || height === 32 || height === 33) await compare()
  }
  expect(await ask(setup, '/governance/params', { height: 71 })).toMatchObject({ code: 20, height: 70 })
})

test('blocks are decided and committed while a list is read, which is of one height', async () => {
  const setup = setUp('beside', { candidacies: 12_000 })
  const { chain } = setup
  chain.block()
  await ask(setup, '/governance/params')
  // QueryAnswer within the application's turn, each list would be of the head at which its answer comes.
  let isBeside = false
  for (let tries = 0; !isBeside && tries < 50; tries++) {
    let answered: QueryResponse | undefined
    void ask(setup, `/stake/validators?offset=${tries}`).then((response) => {
      answered = response
    })
    while (answered === undefined) {
      chain.block()
      // The thread's message is taken here, if it has come.
      await new Promise(setImmediate)
    }
    expect(answered.code).toBe(0)
    expect((JSON.parse(Buffer.from(answered.value as Uint8Array).toString()) as object[]).length).toBe(12_000 - tries)
    isBeside = chain.height > Number(answered.height)
  }
  expect(isBeside).toBe(true)
})

test('a list that takes longer than it may gets a code that names the limit, and others are answered', async () => {
  const setup = setUp('late', { candidacies: 200, limits: { answerMsMax: 0 } })
  setup.chain.block()
  expect(await ask(setup, '/stake/validators')).toMatchObject({
    code: 31,
    height: 1,
    log: 'too much for one answer: expected at most 0 ms of reading, it takes longer; ask for a part of the list with limit and offset',
  })
  expect(await ask(setup, `/accounts/${account(1).address}`)).toMatchObject({ code: 0 })
})

test('queries beyond the bounds of the queue are answered at once with a code that says so', async () => {
  const setup = setUp('bounds', { limits: { waitingMax: 2, listsWaitingMax: 1 } })
  setup.chain.block()
  // None is taken within this turn of the event loop: the thread has not begun.
  const small = [1, 2, 3].map(() => ask(setup, '/governance/params'))
  const lists = LISTS.map((path) => ask(setup, path))
  expect(await small[2]).toEqual({ code: 30, log: 'busy: 2 queries wait already; try again later', height: 1 })
  expect(await lists[1]).toEqual({ code: 30, log: 'busy: 1 lists wait already; try again later', height: 1 })
  expect((await Promise.all([small[0], small[1], lists[0]])).map((response) => response?.code)).toEqual([0, 0, 0])
})

test('lists are paced by what they cost, and other queries are not', async () => {
  const setup = setUp('bucket', { limits: { listBytesPerSecond: 1 } })
  setup.chain.block()
  expect((await ask(setup, '/stake/validators')).code).toBe(0)
  expect(await ask(setup, '/governance/proposals')).toEqual({
    code: 30,
    log: 'busy: whole lists are answered at 1 bytes a second, and these are used up; try again later',
    height: 1,
  })
  expect((await ask(setup, '/governance/params')).code).toBe(0)
})

test('equal list queries of one state share one answer; a block, or a row of the node’s own, makes another', async () => {
  const setup = setUp('shared')
  const { chain, store } = setup
  chain.block()
  const read = async (): Promise<Uint8Array> => (await ask(setup, '/stake/validators')).value as Uint8Array
  const [first, second] = [await read(), await read()]
  expect(second.length).toBeGreaterThan(100)
  first[1] = 0x21
  expect(second[1]).toBe(0x21)
  expect(((await ask(setup, '/stake/validators?offset=0')).value as Uint8Array)[1]).not.toBe(0x21)
  chain.block()
  const third = await read()
  expect(third[1]).not.toBe(0x21)
  third[1] = 0x21
  store.putLocal(tables.find(({ name }) => name === 'power_cap') as never, { name: 'x', tokens: 1n } as never)
  expect((await read())[1]).not.toBe(0x21)
})

test('a failure of the storage is the thread’s own: a code, a line in the log, and another thread', async () => {
  const setup = setUp('failed')
  const { chain, path, log } = setup
  chain.block()
  const direct = new Database(path)
  open.push(direct)
  direct.exec('ALTER TABLE accounts RENAME TO hidden')
  const account1 = `/accounts/${account(1).address}`
  expect(await ask(setup, account1)).toMatchObject({
    code: 32,
    log: expect.stringMatching(/^unavailable: queries are starting anew/),
  })
  expect(log).toMatchObject([{ err: { message: expect.stringContaining('no such table') } }])
  expect(await ask(setup, account1)).toMatchObject({ code: 32 })
  direct.exec('ALTER TABLE hidden RENAME TO accounts')
  chain.block()
  for (;;) {
    const { code } = await ask(setup, account1)
    if (code === 0) break
    await sleep(50)
  }
})

test('a thread that is silent for too long is ended, and what it was asked is answered', async () => {
  const limits = { silentMsMax: 1, listBytesPerSecond: Number.MAX_SAFE_INTEGER }
  const setup = setUp('silent', { candidacies: 6000, limits })
  setup.chain.block()
  // An answer that has come is taken, however late this thread looks.
  let code: unknown = 0
  for (let offset = 0; code === 0; offset++) code = (await ask(setup, `/stake/validators?offset=${offset}`)).code
  expect(code).toBe(32)
  expect(setup.log).toMatchObject([{ err: { message: 'the thread of queries was silent for 1 ms' } }])
})

test('an answer that came while this thread stood still is taken, and the other one counts as not silent', async () => {
  const setup = setUp('stood still', { limits: { silentMsMax: 100 } })
  setup.chain.block()
  expect(await ask(setup, '/governance/params')).toMatchObject({ code: 0 })
  const answer = await new Promise<QueryResponse>((done) => {
    setImmediate(() => {
      done(ask(setup, '/governance/params'))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    })
  })
  expect([answer, setup.log]).toMatchObject([{ code: 0 }, []])
})

test('once it is closed, what waits and what comes is answered that it is not available', async () => {
  const setup = setUp('closed')
  const waiting = ask(setup, '/governance/proposals')
  const closed = setup.thread.close()
  expect(await waiting).toMatchObject({ code: 32, log: 'unavailable: the node is stopping' })
  await closed
  expect(await ask(setup, '/governance/proposals')).toMatchObject({ code: 32 })
})

test('SQLite’s WAL is written back although a list is read at each commit: then lists rest for one', async () => {
  // As fast as they can be read: without a bucket, and none is equal to another.
  const limits = { listBytesPerSecond: Number.MAX_SAFE_INTEGER, restMsMax: 60_000 }
  const setup = setUp('wal', { candidacies: 6000, limits })
  const { store, path, thread } = setup
  setup.chain.block()
  let [asked, stop] = [0, false]
  let begun = (): void => {}
  const caller = async (): Promise<void> => {
    for (let code: unknown = 0; !stop && code === 0; begun())
      code = (await ask(setup, `/stake/validators?offset=${asked++}`)).code
  }
  const callers = Array.from({ length: 4 }, caller)
  const table = tables.find(({ name }) => name === 'power_cap') as never
  let walBytes = 0
  for (let commit = 0; commit < 24; commit++) {
    // Either the next list is just being read, or all of them rest.
    if (commit % 2 === 0)
      await Promise.race([
        new Promise<void>((done) => {
          begun = done
        }),
        sleep(700),
      ]).then(() => sleep(60))
    // What stands for a block: 4 MiB in the WAL.
    store.putLocal(table, { name: String(commit + 1000).repeat(1024 * 1024), tokens: 1n } as never)
    thread.committed()
    walBytes = Math.max(walBytes, statSync(`${path}-wal`).size)
  }
  stop = true
  thread.committed()
  await Promise.all(callers)
  expect(asked).toBeGreaterThan(4)
  expect(walBytes / (1024 * 1024)).toBeLessThan(64)
})
