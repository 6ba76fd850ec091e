import { expect, test } from '@jest/globals'
import { createDerivedRows } from '../../src/store/derivedRows.ts'
import { createOverlay } from '../../src/store/overlay.ts'
import { addressAt, proposalIdAt, voteCounts, votes } from './tables.ts'

/** Rows with two votes on each of five proposals, and how often they were scanned. */
function countedRows() {
  const rows = createOverlay()
  for (let number = 0; number < 5; number++)
    for (const candidacyId of [1, 2])
      rows.put(votes, {
        proposalId: proposalIdAt(number),
        candidacyId,
        voter: addressAt(1),
        answer: 'Y',
        blockHeight: 1,
      })
  let scans = 0
  const counted: Pick<typeof rows, 'get' | 'find' | 'scan' | 'count' | 'rank'> = {
    get: (table, key) => rows.get(table, key),
    find: (table, index, key) => rows.find(table, index, key),
    scan: (table, scan) => {
      scans++
      return rows.scan(table, scan)
    },
    count: (table, scan) => rows.count(table, scan),
    rank: (table, index, row) => rows.rank(table, index, row),
  }
  return { counted, scans: () => scans }
}

test('a row is computed once, and those written longest ago are forgotten when there are too many entries', () => {
  const { counted, scans } = countedRows()
  // Two entries and the row itself: 9 hold three rows.
  const derived = createDerivedRows(counted, 9)
  const read = (number: number): void =>
    expect(derived.get(voteCounts, { proposalId: proposalIdAt(number) })).toEqual({
      proposalId: proposalIdAt(number),
      count: 2,
    })
  for (const number of [0, 1, 2, 0, 1, 2]) read(number)
  expect(scans()).toBe(3)
  read(3)
  for (const number of [1, 2, 3]) read(number)
  expect(scans()).toBe(4)
  read(0)
  expect(scans()).toBe(5)
  derived.clear()
  read(0)
  expect(scans()).toBe(6)
})

test('one row that is larger than all of the memory is computed each time', () => {
  const { counted, scans } = countedRows()
  const derived = createDerivedRows(counted, 2)
  for (let time = 0; time < 3; time++) derived.get(voteCounts, { proposalId: proposalIdAt(0) })
  expect(scans()).toBe(3)
})

test('above no rows a derived row is what follows from none', () => {
  const proposalId = proposalIdAt(0)
  expect(createOverlay().get(voteCounts, { proposalId })).toEqual({ proposalId, count: 0 })
})
