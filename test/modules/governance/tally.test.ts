import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, test } from '@jest/globals'
import { type PubKey, proposalIdOf } from '../../../src/values/pubKey.ts'
import { sha256 } from '../../../src/base/sha256.ts'
import { putLastBlock } from '../../../src/modules/chain/keeper.ts'
import { createProposal, putVote, tallyOf } from '../../../src/modules/governance/keeper.ts'
import { type Proposal, proposals } from '../../../src/modules/governance/tables.ts'
import { tables } from '../../../src/modules/registry.ts'
import { listSet } from '../../../src/modules/stake/keeper.ts'
import type { SetMember } from '../../../src/modules/stake/tables.ts'
import { createDerivedRows } from '../../../src/store/derivedRows.ts'
import { createOverlay } from '../../../src/store/overlay.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import type { StateReader } from '../../../src/store/state.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Table } from '../../../src/store/table.ts'
import { appOn, memory, random } from '../../chain/support.ts'
import { randomAbsent, randomGenesis, randomTx } from '../../sim/traffic.ts'
import { countedTally } from '../../support/countedTally.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { account, CHAIN_ID, TestChain } from '../../support/testChain.ts'
import { genesisOf, voteOf } from './support.ts'

const { path: folder, remove } = tempFolder('tally')
afterAll(remove)

const all = (store: StateReader): readonly Proposal[] => [...store.scan(proposals)] as Proposal[]

/** Throws unless every open proposal of `store` is tallied as its votes say; returns how many there are. */
function checkOpen(store: StateReader): number {
  const open = all(store).filter(({ result }) => result === '')
  for (const proposal of open) {
    const [kept, counted] = [tallyOf(store, proposal), countedTally(store, proposal.id, listSet(store))]
    if (!isDeepStrictEqual(kept, counted)) expect([proposal.id, kept]).toEqual([proposal.id, counted])
  }
  return open.length
}

/** Throws unless the proposals that the last block resolved carry the tally by `set`, that of the block before. */
function checkResolved({ store, height }: TestChain, set: readonly SetMember[]): number {
  const resolved = all(store).filter(
    // A retirement or a library that is only carried out has its tally from an earlier block.
    ({ type, resultBlockHeight, resultMsg, result }) =>
      resultBlockHeight === height && !(type === 'retire_program' && result === 'Rejected' && resultMsg !== ''),
  )
  for (const { id, yesPower: yes, noPower: no, totalPower: total } of resolved)
    expect([id, { yes, no, total }]).toEqual([id, countedTally(store, id, set)])
  return resolved.length
}

describe('the tally that is kept is that of the votes, block by block', () => {
  // `entries`: with few of them in memory, every tally reads rows.
  test.each([
    [11, undefined],
    [13, 8],
    [14, 1],
  ])('over dropped blocks, CheckTx, restarts, rollbacks and restored states (seed %i)', (seed, entries) => {
    const next = random(seed)
    const open = (name: string): SqliteStore =>
      openSqliteStore({
        path: join(folder, `${seed}${name}.db`),
        tables,
        ...(entries === undefined ? {} : { derivedEntriesMax: entries }),
      })
    const synced = open('synced')
    const chain = new TestChain({ store: open('') })
    const reopen = (): void => {
      chain.store.close()
      const store = open('')
      Object.assign(chain, { store, app: appOn(store) })
    }
    chain.init(randomGenesis(next))
    const executed = new Map<string, number>()
    const seen = { open: 0, resolved: 0 }
    while (chain.height < 80) {
      const traffic = (): Uint8Array[] => {
        const nonces = new Map(executed)
        return Array.from({ length: next(9) }, () => randomTx(next, chain, nonces).bytes)
      }
      const absent = randomAbsent(next, chain.sets.get(chain.height) ?? new Map())
      for (const tx of traffic()) chain.check(tx)
      if (next(3) === 0) chain.finalize({ txs: traffic(), absent })
      const set = listSet(chain.store)
      const isFirst = chain.height === 0
      const before = { height: chain.height, time: chain.time }
      const block = { txs: traffic(), absent, seconds: 1 + next(12) }
      chain.block(block)
      if (next(4) === 0 && !isFirst) {
        chain.store.rollback()
        checkOpen(chain.store)
        Object.assign(chain, before, { app: appOn(chain.store) })
        chain.block(next(2) === 0 ? block : { ...block, txs: traffic() })
      }
      seen.open += checkOpen(chain.store)
      if (!isFirst) seen.resolved += checkResolved(chain, set)
      if (next(8) === 0) {
        synced.replaceBy(join(folder, `${seed}.db`))
        checkOpen(synced)
      }
      if (next(8) === 0) reopen()
      for (let number = 1; number <= 12; number++) executed.set(account(number).address, chain.nonceOf(account(number)))
    }
    chain.store.close()
    synced.close()
    expect(Math.min(seen.open, seen.resolved)).toBeGreaterThan(0)
  })
})

/** A store that counts the rows and index entries that are read of it, those that derived rows are made of too. */
function countedStore(): Store & { readonly read: () => number } {
  const store = memory()
  const { get, scan, count, rank, commit } = store
  let read = 0
  const rows: StateReader = {
    ...store,
    get: (table, key) => {
      read++
      return get(table, key)
    },
    scan: (table, given) => {
      const counted = function* () {
        read++
        for (const row of scan(table, given)) {
          read++
          yield row
        }
      }
      return { [Symbol.iterator]: counted }
    },
    count: (table, given) => {
      const found = count(table, given)
      read += 1 + found
      return found
    },
    rank: (table, index, row) => {
      const before = rank(table, index, row)
      read += 1 + before
      return before
    },
  }
  const derivedRows = createDerivedRows(rows)
  return Object.assign(store, rows, {
    get: <R>(table: Table, key: object) =>
      (table.derived === undefined ? rows.get(table, key) : derivedRows.get(table, key)) as R | undefined,
    commit: (...given: Parameters<Store['commit']>) => {
      commit(...given)
      derivedRows.keep(given[0].changes)
    },
    read: () => read,
  })
}

/** How many rows a block reads. It is not committed. */
function readsOf(chain: TestChain, store: ReturnType<typeof countedStore>, txs: readonly Uint8Array[] = []): number {
  const before = store.read()
  const { txResults = [] } = chain.finalize({ txs })
  expect(txResults.filter(({ code }) => code !== 0)).toEqual([])
  return store.read() - before
}

const idAt = (number: number) => proposalIdOf(sha256(new TextEncoder().encode(`proposal ${number}`)))

type Fields = Parameters<typeof createProposal>[2]
const PARAM: Fields = { type: 'change_param', name: 'max_vals', value: '7' }
const FUND: Fields = {
  type: 'transfer_fund',
  transferFrom: account(1).address,
  transferTo: account(2).address,
  amount: 1n,
  escrow: 0n,
}

/** A chain of so many validators and open proposals with three votes each, which all end in block 10. */
function crowdedChain(validators: number, open: number, fieldsAt: (number: number) => Fields = () => PARAM) {
  const store = countedStore()
  const chain = new TestChain({ store })
  chain.init(genesisOf(new Array<number>(validators).fill(1000)))
  chain.block()
  const overlay = createOverlay(store)
  const at = { chainId: CHAIN_ID, height: 1, timeMs: 0, time: chain.time, params: {} as never }
  for (let number = 0; number < open; number++) {
    const id = idAt(number)
    const given = { proposer: account(1).address, candidacyId: 1 + (number % validators), reason: '', block: at }
    createProposal(
      overlay,
      { ...given, id, index: number, expireBlockHeight: 10, expireTimestamp: 0 },
      fieldsAt(number),
    )
    for (const [candidacyId, answer] of [
      [1, 'Y'],
      [2, 'Y'],
      [3, 'N'],
    ] as const)
      putVote(overlay, { proposalId: id, candidacyId, voter: account(1).address, answer, blockHeight: 1 })
  }
  chain.sets.set(4, chain.sets.get(3) as ReadonlyMap<PubKey, number>)
  Object.assign(chain, { height: 2, time: chain.time + 1 })
  const head = { height: chain.height, timeMs: chain.time * 1000 }
  putLastBlock(overlay, head.height, head.timeMs)
  store.commit(store.prepare(overlay), { ...head, chainId: CHAIN_ID, transactions: 0 })
  Object.assign(chain, { app: appOn(store) })
  return { chain, store }
}

describe('what a block reads', () => {
  test('one in which 1,000 proposals end reads at most ten times as many rows as an empty one', () => {
    const { chain, store } = crowdedChain(200, 1000)
    chain.advanceTo(8)
    const empty = readsOf(chain, store)
    chain.block()
    const ending = readsOf(chain, store)
    chain.block()
    expect(all(store).filter(({ result }) => result === 'Expired')).toHaveLength(1000)
    expect(ending).toBeLessThanOrEqual(10 * empty)
  })

  test('a vote reads no more rows with 200 validators and 1,000 proposals than with 4 and 10', () => {
    const reads = [crowdedChain(4, 10), crowdedChain(200, 1000)].map(({ chain, store }) => {
      readsOf(chain, store) // what is read once for all blocks above a head
      const empty = readsOf(chain, store)
      const id = Buffer.from(idAt(1), 'hex').toString('base64')
      return readsOf(chain, store, [chain.tx(account(4), 'vote', voteOf(id, 'N'))]) - empty
    })
    expect(reads[1]).toBeLessThanOrEqual(reads[0] as number)
  })
})

describe('what a query reads', () => {
  const SEARCH = 'type=change_param&counts=true'
  const numbersOf = (chain: TestChain, search: string) => {
    const { data } = chain.query(`/governance/proposals?${search}`) as { data: { Number: number }[] }
    return data.map((one) => one.Number)
  }
  const readsOfQuery = (open: number): number => {
    const { chain, store } = crowdedChain(4, open)
    chain.query('/governance/proposals?limit=1&counts=true') // what is read once for all queries of a head
    const before = store.read()
    numbersOf(chain, SEARCH)
    return store.read() - before
  }

  test('that numbers chosen proposals grows with their number, and not with its square', () => {
    const [few, many] = [readsOfQuery(200), readsOfQuery(800)]
    expect(few).toBeGreaterThan(200)
    expect(many).toBeLessThan(5 * few)
  })

  test('numbers them alike from both ends, and from the middle, with others between them', () => {
    const { chain } = crowdedChain(4, 180, (number) => (number % 4 < 2 ? FUND : PARAM))
    const numbers = Array.from({ length: 180 }, (_, at) => at + 1).filter((number) => (number - 1) % 4 >= 2)
    expect(numbersOf(chain, SEARCH)).toEqual(numbers)
    expect(numbersOf(chain, `${SEARCH}&newest=true`)).toEqual(numbers.toReversed())
    expect(numbersOf(chain, `${SEARCH}&newest=true&offset=3&limit=70`)).toEqual(numbers.toReversed().slice(3, 73))
  })
})
