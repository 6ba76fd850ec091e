import { asBuffer } from '../base/bytes.ts'
import type { SortedMap } from '../base/sortedMap.ts'
import type { Scan } from './state.ts'

/** Compares texts by code unit. For texts of `toLatin1` this is the byte order. */
export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Bytes as a text with one character for each byte: usable as a map key, and sorted in byte order. */
export function toLatin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1')
}

/** The bytes of a text of `toLatin1`. */
export function fromLatin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

/** The entries that a scan of an index, whose sort keys are those of `map`, reads. `map` must not be written meanwhile. */
export function* entriesOf<V>(map: SortedMap<string, V>, scan: Scan<string>): Generator<readonly [string, V]> {
  const prefix = scan.prefix === undefined ? '' : toLatin1(scan.prefix)
  // One character above any byte: this sorts behind all keys with the prefix, and before all others that follow them.
  const behind = `${prefix}\u0100`
  const before = scan.before === undefined ? behind : toLatin1(scan.before)
  const end = before < behind ? before : behind
  const isEndLeftOut = true
  const entries = scan.reverse === true ? map.entriesReversed(end, undefined, isEndLeftOut) : map.entries(prefix)
  for (const entry of entries) {
    if (entry[0] >= end || !entry[0].startsWith(prefix)) return
    yield entry
  }
}
