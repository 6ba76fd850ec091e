import { expect, test } from '@jest/globals'
import * as store from '../../src/store/index.ts'
import { compileExamples, docOf, exampleOf, exportsOf } from '../support/publicApi.ts'

const INDEX = 'src/store/index.ts'
const exported = exportsOf(INDEX)

test('@svcd/store exports these values and no others', () => {
  expect(Object.keys(store).sort()).toEqual(
    `METADATA_FILE NotARecord SNAPSHOTS_LISTED_MAX SNAPSHOT_FORMAT StoreError bigUint bool chunkFile createOverlay
    decodeMetadata derivedTable encodeProof firstOf hexOf keepNewest listSnapshots newestHeights oldestSnapshot
    openJournal openRestore openSnapshotMaker openSqliteReader openSqliteStore queryRow readChunk readSnapshot
    removeRestore snapshotHash snapshotPath stateSyncHandlers table take text tidySnapshots uint whyNotAbsent
    whyNotMember writeSnapshot`.split(/\s+/),
  )
})

test('@svcd/store exports these types and no others', () => {
  expect(
    exported
      .filter(({ isType }) => isType)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(
    `BlockInfo BlockRecord Change ChunkVerdict ColumnType CommitmentProof CommittedState Derivation HeldState IndexOf
    Journal JournalEntry JournaledBlock KeyColumnType MapKey OfferedSnapshot Overlay PreparedBlock Restore
    RestoreOptions RevertibleState RowAnswer RowCodec RowOf RowQuery Scan Snapshot SnapshotMaker
    SnapshotMakerOptions SnapshotMetadata SqlValue SqliteReader SqliteStore State StateReader StateSyncHandlers
    StateSyncOptions Store StoreLogger StoreOptions Table TableSpec ValuesOf View WireValue`.split(/\s+/),
  )
})

test('every export has a docstring, and everything that is called or declared with has an example', () => {
  expect(exported.filter((one) => !/\w/.test(docOf(one))).map(({ name }) => name)).toEqual([])
  const isConstant = (name: string): boolean => /^[A-Z_]+$/.test(name)
  const called = exported.filter(({ name, isType }) => !isType && !isConstant(name))
  expect(called.filter((one) => exampleOf(one) === undefined).map(({ name }) => name)).toEqual([])
})

test('the examples agree with the types', () => {
  const given = `
    const balances = table('balances', {
      tag: 1,
      key: { owner: text },
      row: { amount: bigUint, nonce: uint },
      indexes: { byAmount: ({ amount }) => uint.toKey(Number(amount)) },
    })
    declare const store: SqliteStore, reader: SqliteReader, restore: Restore, prepared: PreparedBlock, block: BlockInfo
    declare const snapshot: Snapshot, metadata: SnapshotMetadata, metadataBytes: Uint8Array
    declare const appHash: Uint8Array, proof: Uint8Array, value: Uint8Array, chunk: Uint8Array, bytes: Uint8Array
    declare const indexed: number`
  expect(
    compileExamples(
      INDEX,
      given,
      exported.filter((one) => exampleOf(one) !== undefined),
    ),
  ).toEqual([0, ''])
  const [firstOf] = exported.filter(({ name }) => name === 'firstOf')
  expect(compileExamples(INDEX, given.replace('byAmount', 'byOwner'), firstOf ? [firstOf] : [])[1]).toContain(
    'byAmount',
  )
})
