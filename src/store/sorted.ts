import { asBuffer } from '../base/bytes.ts'
import type { SortedMap } from '../base/sortedMap.ts'

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

/** The entries whose key starts with `bytes`, forwards or backwards. The map must not be written during the walk. */
export function* entriesWithPrefix<V>(
  map: SortedMap<string, V>,
  bytes: Uint8Array | undefined,
  reverse = false,
): Generator<readonly [string, V]> {
  const prefix = bytes === undefined ? '' : toLatin1(bytes)
  // One character above any byte: this sorts behind all keys with the prefix, and before all others that follow them.
  const entries = reverse ? map.entriesReversed(`${prefix}\u0100`) : map.entries(prefix)
  for (const entry of entries) {
    if (!entry[0].startsWith(prefix)) return
    yield entry
  }
}
