import { equalBytes, toHex } from '../base/bytes.ts'
import { StoreError } from '../base/storeError.ts'
import type { Change } from './overlay.ts'
import type { StateReader } from './state.ts'
import type { BlockRecord } from './store.ts'
import type { Table } from './table.ts'

/**
 * The length of the key in one byte and that of the row in three stand before each row. A row that was not there has
 * length 0, as no row is empty.
 */
const LENGTHS_BYTES = 4
const KEY_BYTES_MAX = 0xff
const VALUE_BYTES_MAX = 0xffffff

/**
 * The most bytes that are kept to roll a block back. No rule of the chain needs them, and SQLite holds no value above 10^9
 * bytes.
 */
export const UNDO_BYTES_MAX = 256 * 1024 * 1024

/**
 * Encodes what the hashed rows of `changes` were before; undefined when that takes more than `bytesMax`. Throws for a key
 * above 255 bytes and a row above 16,777,215 bytes.
 */
export function encodeUndo(changes: readonly Change[], bytesMax = UNDO_BYTES_MAX): Uint8Array | undefined {
  const rows: { readonly key: Uint8Array; readonly value: Uint8Array | undefined }[] = []
  let bytesNeeded = 0
  for (const { table, key, before } of changes) {
    if (!table.hashed) continue
    const value = before === undefined ? undefined : table.encode(before)
    const length = value?.length ?? 0
    if (key.length > KEY_BYTES_MAX || length > VALUE_BYTES_MAX)
      throw new Error(`undo: a row of ${table.name} with ${key.length} and ${length} bytes is too long to be kept`)
    bytesNeeded += LENGTHS_BYTES + key.length + length
    if (bytesNeeded > bytesMax) return undefined
    rows.push({ key, value })
  }
  const bytes = new Uint8Array(bytesNeeded)
  let offset = 0
  for (const { key, value } of rows) {
    const length = value?.length ?? 0
    bytes[offset] = key.length
    bytes[offset + 1] = length >> 16
    bytes[offset + 2] = length >> 8
    bytes[offset + 3] = length
    bytes.set(key, offset + LENGTHS_BYTES)
    offset += LENGTHS_BYTES + key.length
    if (value !== undefined) bytes.set(value, offset)
    offset += length
  }
  return bytes
}

/** The changes that make the rows of `state` what they were when `encodeUndo` was called. */
export function changesBack(undo: Uint8Array, tables: readonly Table[], state: StateReader): readonly Change[] {
  const changes: Change[] = []
  for (let offset = 0; offset < undo.length; ) {
    const [keyLength = 0, high = 0, middle = 0, low = 0] = undo.subarray(offset, offset + LENGTHS_BYTES)
    const length = (high << 16) | (middle << 8) | low
    const key = undo.slice(offset + LENGTHS_BYTES, (offset += LENGTHS_BYTES + keyLength))
    const value = length === 0 ? undefined : undo.slice(offset, (offset += length))
    const table = tables.find(({ tag }) => tag === key[0])
    const parsed = table?.parseKey(key)
    if (table === undefined || parsed === undefined) throw new Error(`undo: the key ${toHex(key)} is of no table`)
    const after = value === undefined ? undefined : Object.freeze(table.decode(parsed, value))
    changes.push({ table, key, before: state.get(table, parsed), after, value })
  }
  return changes
}

/** The error when nothing is kept for rolling back the block of `height`. */
export const noUndo = (height: number): StoreError =>
  new StoreError(
    'noUndo',
    height === 0
      ? 'there is no committed block to take back'
      : `block ${height} cannot be taken back: only one is kept for that, and none after a rollback, after a restored snapshot, or of ` +
          'a block that changes very much; sync this node anew, or replay its blocks from genesis',
  )

/** Throws a StoreError unless `root`, which the rows have after a rollback, is what the block before committed. */
export function assertRolledBack(root: Uint8Array, last: BlockRecord): void {
  if (equalBytes(root, last.appHash)) return
  throw new StoreError(
    'damaged',
    `the rows of block ${last.height} would have the app hash ${toHex(root).toUpperCase()}, not the committed ` +
      `${toHex(last.appHash).toUpperCase()}: they were changed by hand or by the disk; nothing was taken back, sync this node anew`,
  )
}
