import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { utf8 } from '../../src/base/bytes.ts'
import { addressBytes, addressOf } from '../../src/values/address.ts'
import { createOverlay, type Overlay } from '../../src/store/overlay.ts'
import type { State, StateReader } from '../../src/store/state.ts'
import type { BlockInfo, Store } from '../../src/store/store.ts'
import { makeModel, type Model, modelGet, modelPut, modelScan, questions, random, randomRow, step } from './model.ts'
import {
  absences,
  accounts,
  addressAt,
  letters,
  notes,
  params,
  proposalIdAt,
  totals,
  voteCounts,
  votes,
} from './tables.ts'

const block = (height: number): BlockInfo => ({
  height,
  timeMs: height * 1000 + 7,
  chainId: 'test',
  transactions: height % 5,
})

/** As toEqual, which alone would take half of the time of this file. */
function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

function expectSame(state: StateReader, model: Model, next: (below: number) => number): void {
  for (const { table, ...scan } of questions(next)) {
    const expected = modelScan(model, table, scan)
    expectEqual([...state.scan(table, scan)], expected)
    expectEqual(state.count(table, scan), expected.length)
    const { index } = scan
    if (index === undefined) continue
    const whole = modelScan(model, table, { index })
    const at = next(whole.length + 1)
    if (whole[at] !== undefined) expect(state.rank(table, index, whole[at])).toBe(at)
  }
  for (const letter of 'abcdefg') {
    const key = utf8(letter)
    expectEqual(state.find(letters, 'byLetter', key), modelScan(model, letters, { index: 'byLetter', prefix: key })[0])
  }
  for (let at = 0; at < 20; at++) {
    const { table, row } = randomRow(next)
    expectEqual(state.get(table, row), modelGet(model, table, row))
  }
}

function commitWith(store: Store, write: (state: State) => void, height = store.height() + 1): void {
  const overlay = createOverlay(store)
  write(overlay)
  store.commit(store.prepare(overlay), block(height))
}

/** What every store keeps to. `open` gives an empty one. */
export function conformance(name: string, open: () => Store): void {
  let store: Store
  beforeEach(() => {
    store = open()
  })
  afterEach(() => store.close())

  describe(name, () => {
    test('an empty store has height 0, the empty root and no chain', () => {
      expect([store.height(), store.timeMs(), store.chainId(), store.block(0)]).toEqual([0, 0, undefined, undefined])
      expect(store.appHash()).toEqual(new Uint8Array(32))
      expect(store.recomputeRoot()).toEqual(new Uint8Array(32))
      expect(store.prove(accounts, { address: addressAt(1) })).toBeUndefined()
    })

    test.each([1, 2, 3, 4, 5, 6])('random blocks with savepoints agree with a naive state (seed %i)', (seed) => {
      const next = random(seed)
      let model = makeModel()
      for (let height = 1; height <= 12; height++) {
        // As the first block stands above what InitChain made.
        const blockOverlay: Overlay = createOverlay(height % 3 === 1 ? createOverlay(store) : store)
        for (let tx = 0; tx < 6; tx++) {
          const attempt = makeModel(model.rows)
          if (next(3) === 0) expectSame(blockOverlay, attempt, next) // orders made before the writes as well as after
          blockOverlay.savepoint()
          for (let writes = next(12); writes > 0; writes--) step(next, blockOverlay, attempt)
          if (next(3) > 0) expectSame(blockOverlay, attempt, next) // orders made between savepoint and rollback
          if (next(3) === 0) blockOverlay.rollback()
          else {
            blockOverlay.release()
            model = attempt
          }
          if (next(2) === 0) step(next, blockOverlay, (model = makeModel(model.rows))) // outside of a savepoint
        }
        expectSame(blockOverlay, model, next)
        const prepared = store.prepare(blockOverlay)
        store.commit(prepared, block(height))
        expectSame(store, model, next)
        expect(Buffer.from(store.appHash()).toString('hex')).toBe(Buffer.from(store.recomputeRoot()).toString('hex'))
        expect(store.appHash()).toEqual(prepared.appHash)
      }
    })

    test.each([1, 2, 3])(
      'a rollback gives the rows and the head of the block before, which can be made again (seed %i)',
      (seed) => {
        const next = random(seed)
        const seen = (): readonly unknown[] => [
          store.height(),
          store.timeMs(),
          store.chainId(),
          store.appHash(),
          store.recomputeRoot(),
        ]
        let model = makeModel()
        for (let height = 1; height <= 8; height++) {
          const [before, was] = [seen(), model]
          const makeBlock = (): void => {
            const again = random(seed * 100 + height)
            model = makeModel(was.rows)
            commitWith(
              store,
              (state) => {
                for (let writes = again(40); writes > 0; writes--) step(again, state, model)
              },
              height,
            )
          }
          makeBlock()
          const after = seen()
          if (next(3) > 0) {
            expect(() =>
              store.rollback(() => {
                throw new Error('not agreed')
              }),
            ).toThrow('not agreed')
            expect(seen()).toEqual(after)
            store.rollback((last) => expect([last.height, last.appHash]).toEqual([before[0], before[3]]))
            expect(seen()).toEqual(before)
            expect(store.block(height)).toBeUndefined()
            expect(store.appHash()).toEqual(store.recomputeRoot())
            // The node's own rows are as the block left them.
            const local = [...model.rows].filter(([, { table }]) => !table.hashed)
            model = makeModel(new Map([...[...was.rows].filter(([, { table }]) => table.hashed), ...local]))
            expectSame(store, model, next)
            expect(() => store.rollback()).toThrow(
              height === 1 ? 'no committed block' : `block ${height - 1} cannot be taken back`,
            )
            makeBlock()
          }
          expect(seen()).toEqual(after)
          expectSame(store, model, next)
        }
      },
    )

    test('a walk that is taken up after a rollback throws', () => {
      commitWith(store, (state) => {
        for (let id = 0; id < 700; id++) state.put(absences, { candidacyId: id, count: 1 })
      })
      const walk = store.scan(absences)[Symbol.iterator]()
      walk.next()
      store.rollback()
      expect(() => walk.next()).toThrow('walk')
      expect(store.count(absences)).toBe(0)
    })

    test('preparing writes nothing, may be done again, and a commit makes other prepared blocks worthless', () => {
      const first = createOverlay(store)
      first.put(accounts, { address: addressAt(1), balance: 5n, nonce: 0 })
      const second = createOverlay(store)
      second.put(accounts, { address: addressAt(2), balance: 6n, nonce: 0 })
      const dropped = store.prepare(first)
      const kept = store.prepare(second)
      expect(store.count(accounts)).toBe(0)
      expect(store.prepare(first).appHash).toEqual(dropped.appHash)
      store.commit(kept, block(1))
      expect(() => store.commit(dropped, block(2))).toThrow('prepared')
      expect([...store.scan(accounts)].map((row) => row.balance)).toEqual([6n])
      expect(store.appHash()).toEqual(store.recomputeRoot())
    })

    test('rows whose place in an index is nothing but ff are found by it', () => {
      const highest = addressOf(new Uint8Array(20).fill(0xff))
      const vote = { proposalId: proposalIdAt(1), candidacyId: 1, voter: highest, answer: 'Y', blockHeight: 1 }
      commitWith(store, (state) => {
        state.put(votes, vote)
        state.put(votes, { ...vote, candidacyId: 2, voter: addressAt(1) })
      })
      for (const prefix of [addressBytes(highest), Uint8Array.of(0xff)]) {
        expect([...store.scan(votes, { index: 'byVoter', prefix })]).toEqual([vote])
        expect(store.count(votes, { index: 'byVoter', prefix })).toBe(1)
      }
    })

    test('a row that was written again and again since the savepoint is read as before, at once after the rollback', () => {
      commitWith(store, (state) => state.put(accounts, { address: addressAt(1), balance: 5n, nonce: 0 }))
      const overlay = createOverlay(store)
      for (const address of [addressAt(1), addressAt(2)]) {
        const before = overlay.get(accounts, { address })
        overlay.savepoint()
        overlay.put(accounts, { address, balance: 6n, nonce: 1 })
        overlay.put(accounts, { address, balance: 7n, nonce: 2 })
        overlay.rollback()
        expect(overlay.get(accounts, { address })).toEqual(before)
        overlay.savepoint()
        overlay.put(accounts, { address, balance: 8n, nonce: 3 })
        overlay.release()
        expect(overlay.get(accounts, { address })?.balance).toBe(8n)
      }
    })

    test('an overlay above another one that was never kept is committed with it', () => {
      const genesis = createOverlay(store)
      genesis.put(accounts, { address: addressAt(1), balance: 5n, nonce: 0 })
      genesis.put(absences, { candidacyId: 4, count: 1 })
      const first = createOverlay(genesis)
      first.put(accounts, { address: addressAt(2), balance: 6n, nonce: 0 })
      first.remove(absences, { candidacyId: 4 })
      expect([...first.changes()].length).toBe(2)
      store.commit(store.prepare(first), block(1))
      expect([store.count(accounts), store.count(absences)]).toEqual([2, 0])
      expect(store.appHash()).toEqual(store.recomputeRoot())
    })

    test('rows written back to what they were are no change and leave the root as it was', () => {
      commitWith(store, (state) => state.put(accounts, { address: addressAt(1), balance: 5n, nonce: 1 }))
      const overlay = createOverlay(store)
      overlay.put(accounts, { address: addressAt(1), balance: 9n, nonce: 1 })
      overlay.put(accounts, { address: addressAt(1), balance: 5n, nonce: 1 })
      overlay.put(absences, { candidacyId: 1, count: 3 })
      overlay.remove(absences, { candidacyId: 1 })
      expect([...overlay.changes()]).toEqual([])
      expect(store.prepare(overlay).appHash).toEqual(store.appHash())
    })

    test('a row of default values only does not exist', () => {
      commitWith(store, (state) => state.put(totals, { genesisSupply: 1n, minted: 0n, burned: 0n }))
      expect(store.get(totals, {})).toEqual({ genesisSupply: 1n, minted: 0n, burned: 0n })
      commitWith(store, (state) => state.put(totals, { genesisSupply: 0n, minted: 0n, burned: 0n }))
      expect(store.get(totals, {})).toBeUndefined()
      expect(store.appHash()).toEqual(new Uint8Array(32))
    })

    test('rows are frozen', () => {
      commitWith(store, (state) => state.put(absences, { candidacyId: 1, count: 3 }))
      const overlay = createOverlay(store)
      overlay.put(absences, { candidacyId: 2, count: 4 })
      for (const row of overlay.scan(absences)) expect(Object.isFrozen(row)).toBe(true)
    })

    test('a walk gives the rows of the moment of the call, whatever is written meanwhile', () => {
      commitWith(store, (state) => {
        for (let id = 0; id < 700; id += 2) state.put(absences, { candidacyId: id, count: 1 })
      })
      for (const index of [undefined, 'byCount'] as const) {
        const overlay = createOverlay(store)
        overlay.put(absences, { candidacyId: 5, count: 1 })
        const walk = overlay.scan(absences, index === undefined ? {} : { index })
        const seen: number[] = []
        overlay.put(absences, { candidacyId: 3, count: 1 })
        for (const row of walk) {
          seen.push(row.candidacyId)
          overlay.remove(absences, row)
          overlay.put(absences, { candidacyId: row.candidacyId + 1, count: 2 })
        }
        const expected = Array.from({ length: 350 }, (_, at) => at * 2)
        expect(seen).toEqual([...expected, 5].sort((a, b) => a - b))
        expect(overlay.count(absences)).toBe(349)
      }
    })

    test('a walk of committed rows that is taken up after a commit throws, and a new one gives the new rows', () => {
      commitWith(store, (state) => {
        for (let id = 0; id < 700; id++) state.put(absences, { candidacyId: id, count: 1 })
      })
      const walk = store.scan(absences)[Symbol.iterator]()
      walk.next()
      commitWith(store, (state) => state.remove(absences, { candidacyId: 600 }))
      expect(() => {
        while (walk.next().done !== true) {
          /* to its end */
        }
      }).toThrow('walk')
      expect(store.count(absences)).toBe(699)
    })

    test("a walk that is taken up after a row of the node's own was written throws too", () => {
      for (const id of [1, 2]) store.putLocal(notes, { id, verified: true, name: 'a' })
      const walk = store.scan(notes)[Symbol.iterator]()
      walk.next()
      store.removeLocal(notes, { id: 2 })
      expect(() => walk.next()).toThrow('walk')
    })

    test('key order is number order and byte order, up to 2^53 - 1', () => {
      const heights = [0, 1, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, 2 ** 48, Number.MAX_SAFE_INTEGER]
      commitWith(store, (state) => {
        for (const height of [...heights].reverse()) {
          state.put(params, { name: 'p', height, value: 'x' })
          state.put(absences, { candidacyId: height, count: 1 })
        }
      })
      expect([...store.scan(params)].map((row) => row.height)).toEqual(heights)
      expect([...store.scan(absences)].map((row) => row.candidacyId)).toEqual(heights)
      expect([...store.scan(absences, { reverse: true })].map((row) => row.candidacyId)).toEqual([...heights].reverse())
    })

    test.each([2 ** 53, -1, 0.5, Number.NaN])('a number outside 0 to 2^53 - 1 is refused: %p', (bad) => {
      const overlay = createOverlay(store)
      expect(() => overlay.put(absences, { candidacyId: bad, count: 1 })).toThrow()
      overlay.put(absences, { candidacyId: 1, count: bad })
      expect(() => store.prepare(overlay)).toThrow()
    })

    test('amounts of any size are exact', () => {
      const balances = [2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 64n - 1n, 10n ** 36n]
      commitWith(store, (state) =>
        balances.forEach((balance, at) =>
          state.put(accounts, { address: addressAt(at), balance, nonce: Number.MAX_SAFE_INTEGER }),
        ),
      )
      balances.forEach((balance, at) =>
        expect(store.get(accounts, { address: addressAt(at) })).toEqual({
          address: addressAt(at),
          balance,
          nonce: Number.MAX_SAFE_INTEGER,
        }),
      )
    })

    test('a height that does not follow and another chain are refused', () => {
      commitWith(store, () => undefined, 5)
      expect(() => commitWith(store, () => undefined, 5)).toThrow('height 5 does not follow 5')
      const overlay = createOverlay(store)
      expect(() => store.commit(store.prepare(overlay), { ...block(6), chainId: 'other' })).toThrow(
        'state of test, not of other',
      )
      expect(store.height()).toBe(5)
    })

    test('what was committed is told by the store and its blocks', () => {
      commitWith(store, (state) => state.put(absences, { candidacyId: 1, count: 3 }), 1)
      const root = store.appHash()
      commitWith(store, (state) => state.put(absences, { candidacyId: 2, count: 4 }), 2)
      expect([store.height(), store.timeMs(), store.chainId()]).toEqual([2, 2007, 'test'])
      expect(store.block(1)).toEqual({ height: 1, timeMs: 1007, appHash: root, transactions: 1 })
      expect([store.appHash(), store.recomputeRoot(), [...store.scan(absences)].length]).toEqual([
        store.block(2)?.appHash,
        store.appHash(),
        2,
      ])
    })

    test("a table of the node's own is written at once or with a block, and is never under the app hash", () => {
      store.putLocal(notes, { id: 1, verified: true, name: 'a' })
      commitWith(store, (state) => state.put(notes, { id: 2, verified: false, name: 'b' }))
      expect([...store.scan(notes)].map((row) => row.name)).toEqual(['a', 'b'])
      store.putLocal(notes, { id: 1, verified: true, name: 'c' })
      store.removeLocal(notes, { id: 2 })
      expect([...store.scan(notes)].map((row) => row.name)).toEqual(['c'])
      expect(store.appHash()).toEqual(new Uint8Array(32))
      expect(store.prove(notes, { id: 1 })).toBeUndefined()
      expect(() => store.putLocal(accounts, { address: addressAt(1), balance: 1n, nonce: 0 })).toThrow(
        'under the app hash',
      )
      expect(() => store.removeLocal(accounts, { address: addressAt(1) })).toThrow('under the app hash')
    })

    test("a row of the node's own that changes after a block was prepared does not stop its commit", () => {
      const overlay = createOverlay(store)
      overlay.put(notes, { id: 1, verified: true, name: 'block' })
      const prepared = store.prepare(overlay)
      store.putLocal(notes, { id: 1, verified: false, name: 'meanwhile' })
      store.commit(prepared, block(1))
      expect([...store.scan(notes)].map((row) => row.name)).toEqual(['block'])
    })

    test('a derived row follows commits, overlays that are kept or dropped, and rollbacks, and is never under the app hash', () => {
      const proposalId = proposalIdAt(1)
      const countIn = (state: StateReader): number | undefined => state.get(voteCounts, { proposalId })?.count
      const vote = (state: State, candidacyId: number): void => {
        state.put(votes, { proposalId, candidacyId, voter: addressAt(1), answer: 'Y', blockHeight: 1 })
        state.put(voteCounts, { proposalId, count: (countIn(state) as number) + 1 })
      }
      expect(countIn(store)).toBe(0)
      commitWith(store, (state) => [1, 2].forEach((candidacyId) => vote(state, candidacyId)))
      const overlay = createOverlay(createOverlay(store))
      overlay.savepoint()
      vote(overlay, 3)
      expect([countIn(overlay), countIn(store)]).toEqual([3, 2])
      overlay.rollback()
      expect(countIn(overlay)).toBe(2)
      vote(overlay, 4)
      store.commit(store.prepare(overlay), block(2))
      expect([countIn(store), store.appHash()]).toEqual([3, store.recomputeRoot()])
      store.rollback()
      expect([countIn(store), store.appHash()]).toEqual([2, store.recomputeRoot()])
      commitWith(store, (state) => state.remove(voteCounts, { proposalId }))
      expect(countIn(store)).toBe(2)
    })

    test('an index that a table lacks is refused', () => {
      expect(() => [...store.scan(votes, { index: 'byNothing' as 'byVoter' })]).toThrow('byNothing')
    })

    test('the root depends on the rows alone, not on the blocks that brought them', () => {
      const other = open()
      const next = random(9)
      const model = makeModel()
      for (let height = 1; height <= 20; height++)
        commitWith(store, (state) => {
          for (let at = 0; at < 30; at++) step(next, state, model)
        })
      commitWith(other, (state) => {
        for (const { table, row } of [...model.rows.values()].reverse()) state.put(table, { ...row })
      })
      expect(other.appHash()).toEqual(store.appHash())
      const copy = makeModel()
      for (const { table, row } of model.rows.values()) modelPut(copy, table, row)
      expect(copy.rows.size).toBe(model.rows.size)
      other.close()
    })
  })
}
