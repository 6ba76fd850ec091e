import { type ReadTx, readTx } from '../modules/kernel.ts'

/** Most bytes of transactions that are remembered. */
export const TX_CACHE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Transactions read before, by their bytes: recheck, proposals and blocks decode and verify only what they have not seen.
 * A memory, not state: what reading gives depends on the bytes alone.
 */
export interface TxCache {
  read(bytes: Uint8Array): ReadTx
  /** The same, for the last time: it is delivered, and nobody will ask for it again. */
  take(bytes: Uint8Array): ReadTx
}

/**
 * What finds a transaction: 30 bits of its signature, which stands at its end. Small integers, because no Map is faster with other keys.
 * Two transactions of equal tail cannot both be remembered.
 */
function tailOf(bytes: Uint8Array): number {
  const end = bytes.length
  const at = (place: number): number => bytes[end - place] ?? 0
  return at(32) | (at(31) << 8) | (at(30) << 16) | ((at(29) & 0x3f) << 24)
}

interface Known { readonly bytes: Buffer; readonly read: ReadTx }

/** An empty cache; the transactions read longest ago are forgotten first, and one of equal tail gives way to the next. */
export function makeTxCache(bytesMax = TX_CACHE_BYTES_MAX): TxCache {
  const known = new Map<number, Known>()
  let size = 0
  const drop = (tail: number, { bytes }: Known): void => {
    known.delete(tail)
    size -= bytes.length
  }
  const shrink = (): void => {
    for (const [oldest, one] of known) {
      if (size <= bytesMax) return
      drop(oldest, one)
    }
  }
  const make = (bytes: Uint8Array): Known => {
    const copy = Buffer.from(bytes)   // the request's bytes are a view of the packet
    return { bytes: copy, read: readTx(copy) }
  }
  return {
    read: (bytes) => {
      const tail = tailOf(bytes)
      const found = known.get(tail)
      if (found !== undefined) {
        if (found.bytes.equals(bytes)) return found.read
        drop(tail, found)
      }
      const made = make(bytes)
      known.set(tail, made)
      size += bytes.length
      if (size > bytesMax) shrink()
      return made.read
    },
    take: (bytes) => {
      const tail = tailOf(bytes)
      const found = known.get(tail)
      if (found?.bytes.equals(bytes) !== true) return make(bytes).read
      drop(tail, found)
      return found.read
    },
  }
}
