import { expect, test } from '@jest/globals'
import type { QueryResponse } from '../../src/abci/types.ts'
import { answerQuery } from '../../src/app/query.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { BATCH_PATHS_MAX, encodePaths } from '../../src/codec/queryBatch.ts'
import { historyQueries } from '../../src/node/history/queries.ts'
import { tables } from '../../src/modules/registry.ts'
import { openMemoryStore } from '../support/memoryStore.ts'
import { account, TestChain } from '../support/testChain.ts'
import { startChain } from '../modules/support.ts'

const ask = (chain: TestChain, data: Uint8Array): QueryResponse =>
  chain.app.query({ path: '/batch', data, height: 0, prove: false }) as QueryResponse
const dataOf = ({ value }: QueryResponse): unknown => JSON.parse(new TextDecoder().decode(value))

test('a batch answers each path as the path alone is answered, at the head, in order', () => {
  const chain = startChain()
  chain.advanceTo(3)
  const paths = [
    `/stake/validator/${account(1).address}`,
    `/accounts/${account(2).address}`,
    `/stake/validator/${account(99).address}`,
    '/governance/params',
  ]
  const answer = ask(chain, encodePaths(paths))
  expect([answer.code, answer.height]).toEqual([0, 3])
  expect(dataOf(answer)).toEqual(paths.map((path) => ({ data: chain.query(path) })))
})

test('a path that is refused leaves the others as they are; a batch holds no batch and no row', () => {
  const chain = startChain()
  const good = `/accounts/${account(2).address}`
  const bad = ['/accounts/0x12', '/nothing', '/batch', '/store/totals', '/stake/account-update/x']
  const answers = dataOf(ask(chain, encodePaths([...bad, good]))) as { code?: number; log?: string }[]
  expect(answers.map(({ code }) => code)).toEqual([20, 4, 4, 4, 20, undefined])
  for (const [at, path] of ['/accounts/0x12', '/nothing'].entries()) {
    const { code, log } = chain.abciQuery(path)
    expect(answers[at]).toEqual({ code, log })
  }
  expect(answers[bad.length]).toEqual({ data: chain.query(good) })
})

test('a batch with a list is refused and names it: every path whose answer grows with the state, with options too', () => {
  const chain = startChain()
  chain.advanceTo(2)
  const id = Buffer.alloc(32).toString('base64url')
  const lists = [
    '/stake/validators',
    '/stake/validators?limit=1',
    `/stake/unbonding/${account(1).address}`,
    '/governance/proposals',
    `/governance/proposal/${id}`,
    `/governance/votes/${id}`,
  ]
  for (const list of lists) {
    expect(chain.abciQuery(list).code).toBe(0)
    const { code, log, value } = ask(chain, encodePaths(['/governance/params', list]))
    expect([code, log, value]).toEqual([
      20,
      `Invalid parameter: data: /batch takes no lists, got ${JSON.stringify(list.slice(0, 80))}; ask for that path alone`,
      undefined,
    ])
  }
})

test('a batch takes no page of a history, of which sixteen would hold up the other queries, but a transaction by its hash', () => {
  const chain = startChain()
  const local = historyQueries(undefined)
  const askFor = (path: string): QueryResponse =>
    answerQuery(
      chain.store,
      { path: '/batch', data: encodePaths(['/governance/params', path]), height: 0, prove: false },
      { once: (_, make) => make(), onDefect: () => {}, local },
    )
  for (const { path } of local) {
    const asked = path.replace('<address>', account(1).address).replace('<hash>', '0'.repeat(64))
    const isPage = !asked.startsWith('/history/transaction/')
    expect([asked, askFor(asked).code]).toEqual([asked, isPage ? 20 : 0])
    if (isPage) expect(askFor(`${asked}?limit=1`).log).toMatch(/takes no lists, got "\/history\//)
  }
})

test('a batch may hold as many paths as the limit says', () => {
  const paths = new Array<string>(BATCH_PATHS_MAX).fill('/governance/params')
  expect(dataOf(ask(startChain(), encodePaths(paths)))).toHaveLength(BATCH_PATHS_MAX)
})

test.each([
  ['nothing', new Uint8Array(0)],
  ['no JSON', utf8('[')],
  ['no UTF-8', Uint8Array.of(0xff)],
  ['an object', utf8('{}')],
  ['no path', utf8('[]')],
  ['a number', utf8('["/governance/params",1]')],
  ['one path too many', encodePaths(new Array<string>(BATCH_PATHS_MAX + 1).fill('/governance/params'))],
])('%s is no batch', (_what, data) => {
  const { code, log, height } = ask(startChain(), data)
  expect([code, log, height]).toEqual([20, expect.stringMatching(/data: expected a JSON array of 1 to 16 paths$/), 1])
})

test('a defect stays with its path, and a failure of storage stops the batch', () => {
  const store = openMemoryStore({ tables })
  const errors: object[] = []
  let thrown: Error = new Error('a mistake of ours')
  const chain = new TestChain({
    app: {
      logger: { info: () => {}, error: (fields) => errors.push(fields) },
      store: {
        ...store,
        get: (table, key) => {
          if ((key as { address?: string }).address === account(7).address) throw thrown
          return store.get(table, key)
        },
      },
    },
  })
  const paths = encodePaths([`/accounts/${account(7).address}`, `/accounts/${account(8).address}`])
  expect(dataOf(ask(chain, paths))).toEqual([
    { code: 1000, log: 'internal defect' },
    { data: { address: account(8).address, balance: '0', nonce: 0 } },
  ])
  expect(errors).toMatchObject([{ path: `/accounts/${account(7).address}`, err: { message: 'a mistake of ours' } }])
  thrown = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
  expect(() => ask(chain, paths)).toThrow('disk I/O error')
})
