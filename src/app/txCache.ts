import { equalBytes } from '../base/bytes.ts'
import { type ReadTx, readTx } from '../modules/kernel.ts'
import { bytesKey } from './convert.ts'

/** Most bytes of transactions that are remembered. */
export const TX_CACHE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Transactions read before, by their bytes: recheck, proposals and blocks decode and verify only what they have not seen.
 * A memory, not state: what reading gives depends on the bytes alone.
 */
export interface TxCache {
  read(bytes: Uint8Array): ReadTx
  /** Lets go of a transaction that nobody will ask for again: it was delivered. */
  forget(bytes: Uint8Array): void
}

/** Bytes at the end of a transaction that find it: of its signature, which no two transactions share but by design. */
const TAIL_BYTES = 24

const tailOf = (bytes: Uint8Array): string => bytesKey(bytes.subarray(-TAIL_BYTES))

interface Known { readonly bytes: Uint8Array; readonly read: ReadTx }

/** An empty cache; the transactions read longest ago are forgotten first, and one of equal tail gives way to the next. */
export function makeTxCache(bytesMax = TX_CACHE_BYTES_MAX): TxCache {
  const known = new Map<string, Known>()
  let size = 0
  const drop = (tail: string, { bytes }: Known): void => {
    known.delete(tail)
    size -= bytes.length
  }
  return {
    read: (bytes) => {
      const tail = tailOf(bytes)
      const found = known.get(tail)
      if (found !== undefined) {
        if (equalBytes(found.bytes, bytes)) return found.read
        drop(tail, found)
      }
      const copy = Buffer.from(bytes)   // the request's bytes are a view of the packet
      const read = readTx(copy)
      known.set(tail, { bytes: copy, read })
      size += bytes.length
      for (const [oldest, one] of known) {
        if (size <= bytesMax) break
        drop(oldest, one)
      }
      return read
    },
    forget: (bytes) => {
      const tail = tailOf(bytes)
      const found = known.get(tail)
      if (found !== undefined && equalBytes(found.bytes, bytes)) drop(tail, found)
    },
  }
}
