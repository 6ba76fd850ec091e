/** The state of an ABCI application: what `@svcd/store` publishes. Folders above the state machine import this file alone. */

// Tables.
export type { ColumnType, KeyColumnType, SqlValue, WireValue } from '../values/column.ts'
export { bigUint, bool, hexOf, text, uint } from '../values/column.ts'
export type { RowCodec } from './rowCodec.ts'
export type { Derivation, IndexOf, MapKey, RowOf, Table, TableSpec, ValuesOf } from './table.ts'
export { derivedTable, table } from './table.ts'

// Reading and writing rows.
export type { RevertibleState, Scan, State, StateReader } from './state.ts'
export { firstOf, take } from './state.ts'
export type { Change, Overlay } from './overlay.ts'
export { createOverlay } from './overlay.ts'

// The store on disk.
export { StoreError } from '../base/storeError.ts'
export type { BlockInfo, BlockRecord, CommittedState, JournalEntry, PreparedBlock, Store, View } from './store.ts'
export type { SqliteStore, StoreOptions } from './sqlite/sqliteStore.ts'
export { openSqliteStore } from './sqlite/sqliteStore.ts'
export type { HeldState, SqliteReader } from './sqlite/sqliteReader.ts'
export { openSqliteReader } from './sqlite/sqliteReader.ts'
export type { Journal, JournaledBlock } from './sqlite/journal.ts'
export { openJournal } from './sqlite/journal.ts'

// Proofs.
export type { CommitmentProof } from './tree/proof.ts'
export { encodeProof } from './tree/proof.ts'
export type { RowAnswer, RowQuery } from './queryRow.ts'
export { queryRow } from './queryRow.ts'
export { whyNotAbsent, whyNotMember } from '../codec/ics23.ts'

// Snapshots.
export type { Snapshot, SnapshotMetadata } from './snapshot/format.ts'
export { decodeMetadata, NotARecord, SNAPSHOT_FORMAT, snapshotHash } from './snapshot/format.ts'
export { writeSnapshot } from './snapshot/write.ts'
export {
  chunkFile,
  keepNewest,
  listSnapshots,
  METADATA_FILE,
  newestHeights,
  oldestSnapshot,
  readChunk,
  readSnapshot,
  SNAPSHOTS_LISTED_MAX,
  snapshotPath,
  tidySnapshots,
} from './snapshot/folder.ts'
export type { Restore, RestoreOptions } from './sqlite/restore.ts'
export { openRestore, removeRestore } from './sqlite/restore.ts'

// State sync.
export type {
  ChunkVerdict,
  OfferedSnapshot,
  StateSyncHandlers,
  StateSyncOptions,
  StoreLogger,
} from './snapshot/stateSync.ts'
export { stateSyncHandlers } from './snapshot/stateSync.ts'
export type { SnapshotMaker, SnapshotMakerOptions } from './snapshot/maker.ts'
export { openSnapshotMaker } from './snapshot/maker.ts'
