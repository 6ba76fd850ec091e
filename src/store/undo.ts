import { equalBytes, toHex } from '../base/bytes.ts'
import type { Change } from './overlay.ts'
import type { StateReader } from './state.ts'
import { type BlockRecord, StoreError } from './store.ts'
import type { Table } from './table.ts'

/**
 * Before each row: the length of its key in one byte, and of its bytes in three: none for a row that was not there, as
 * no row has none.
 */
const HEAD_BYTES = 4
const KEY_BYTES_MAX = 0xff
const VALUE_BYTES_MAX = 0xffffff

/**
 * What the hashed rows of `changes` were before, in one run of bytes. Throws for a key above 255 bytes or a row above
 * 16,777,215.
 */
export function encodeUndo(changes: readonly Change[]): Uint8Array {
  const hashed = changes
    .filter(({ table }) => table.hashed)
    .map(({ table, key, before }) => ({
      table,
      key,
      valueBefore: before === undefined ? undefined : table.encode(before),
    }))
  const bytes = new Uint8Array(
    hashed.reduce((sum, { key, valueBefore }) => sum + HEAD_BYTES + key.length + (valueBefore?.length ?? 0), 0),
  )
  let at = 0
  for (const { table, key, valueBefore } of hashed) {
    const size = valueBefore?.length ?? 0
    if (key.length > KEY_BYTES_MAX || size > VALUE_BYTES_MAX) {
      throw new Error(`undo: a row of ${table.name} with ${key.length} and ${size} bytes is too long to be kept`)
    }
    bytes[at] = key.length
    bytes[at + 1] = size >> 16
    bytes[at + 2] = size >> 8
    bytes[at + 3] = size
    bytes.set(key, at + HEAD_BYTES)
    at += HEAD_BYTES + key.length
    if (valueBefore !== undefined) bytes.set(valueBefore, at)
    at += size
  }
  return bytes
}

/** The changes that make the rows of `state` again what they were when `encodeUndo` saw them. */
export function changesBack(undo: Uint8Array, tables: readonly Table[], state: StateReader): readonly Change[] {
  const changes: Change[] = []
  for (let at = 0; at < undo.length; ) {
    const [length = 0, high = 0, middle = 0, low = 0] = undo.subarray(at, at + HEAD_BYTES)
    const size = (high << 16) | (middle << 8) | low
    const key = undo.slice(at + HEAD_BYTES, (at += HEAD_BYTES + length))
    const value = size === 0 ? undefined : undo.slice(at, (at += size))
    const table = tables.find(({ tag }) => tag === key[0])
    const parts = table?.parseKey(key)
    if (table === undefined || parts === undefined) throw new Error(`undo: the key ${toHex(key)} is of no table`)
    const after = value === undefined ? undefined : Object.freeze(table.decode(parts, value))
    changes.push({ table, key, before: state.get(table, parts), after, value })
  }
  return changes
}

/** What a rollback without an undo record ends with. */
export const nothingKept = (height: number): StoreError =>
  new StoreError(
    height === 0
      ? 'there is no committed block to take back'
      : `block ${height} cannot be taken back: only one is kept for that, and it is used up by a rollback and by a restored snapshot; ` +
          'sync this node anew, or replay its blocks from genesis',
  )

/** Throws a StoreError unless `root`, which the rows have after a rollback, is what the block before committed. */
export function assertBack(root: Uint8Array, last: BlockRecord): void {
  if (equalBytes(root, last.appHash)) return
  throw new StoreError(
    `the rows of block ${last.height} would have the app hash ${toHex(root).toUpperCase()}, not the committed ` +
      `${toHex(last.appHash).toUpperCase()}: they were changed by hand or by the disk; nothing was taken back, sync this node anew`,
  )
}
