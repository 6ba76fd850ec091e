/** CheckTx, and the transactions that are remembered from it on. */
import { CheckTxType } from '../abci/data.ts'
import type { CheckTxRequest, CheckTxResponse } from '../abci/types.ts'
import type { TxError } from '../base/txError.ts'
import { nonceOf } from '../modules/accounts/keeper.ts'
import { BAD_NONCE_CODE, kernelErrors } from '../modules/errors.ts'
import { type ReadTx, readTx, runTx, type Verdict } from '../modules/kernel.ts'
import { createOverlay } from '../store/overlay.ts'
import { encodeNonce } from '../tx/nonceQueue.ts'
import { type AppContext, type CheckState, createBlock, logDefect, nextOf } from './context.ts'
import { printVerdict } from './convert.ts'

/**
 * The most transactions without a fee that one sender may have waiting. They cost nothing, so there are few. Source:
 * protocol.md §2, CheckTx.
 */
export const FREE_TXS_MAX = 4

/** The check state: an overlay on the head, as in block head + 1 at the head's time. Source: protocol.md §2, CheckTx. */
function checkStateOf(app: AppContext): CheckState {
  const { head } = app
  head.check ??= {
    overlay: createOverlay(head.state),
    block: createBlock(app, nextOf(app).lastTimeMs),
    free: new Map(),
  }
  return head.check
}

/** Runs the transaction on the check state, which keeps the effects of an accepted one only. */
function judge(app: AppContext, { overlay, block, free }: CheckState, read: ReadTx, isVerified: boolean): Verdict {
  const unwanted = (fee: bigint): TxError | undefined => {
    if (fee !== 0n || read.sender === undefined) return undefined
    const waiting = free.get(read.sender) ?? 0
    if (waiting >= FREE_TXS_MAX) return kernelErrors.tooManyFree
    free.set(read.sender, waiting + 1)
    return undefined
  }
  return runTx(overlay, read, { block, index: 0, mode: 'check', node: app.options.node, isVerified, unwanted })
}

/**
 * `data` of a transaction that is refused for its nonce is the nonce that comes next, so that nobody has to read it out
 * of the log. No other refusal has data, and none of it is part of consensus. Source: protocol.md §2, CheckTx.
 */
function withExpectedNonce(verdict: Verdict, { overlay }: CheckState, { sender }: ReadTx): Verdict {
  if (verdict.code !== BAD_NONCE_CODE || sender === undefined) return verdict
  return { ...verdict, data: encodeNonce(nonceOf(overlay, sender)) }
}

/**
 * Judges a transaction for the mempool, after those that were accepted before it. A recheck does not verify the
 * signature again, because the mempool holds only verified transactions. Source: protocol.md §2, CheckTx.
 */
export function checkTx(app: AppContext, { tx, type }: CheckTxRequest): CheckTxResponse {
  const read = app.txCache.read(tx)
  const check = checkStateOf(app)
  const verdict = judge(app, check, read, type === CheckTxType.recheck)
  // A refused transaction is not remembered, so that nobody can fill the memory with garbage.
  if (verdict.code === 0) app.txCache.keep(read)
  logDefect(app, read, verdict)
  return printVerdict(withExpectedNonce(verdict, check, read), false)
}

/** Most memory that remembered transactions may cost, by `costOf`: 66,000 transfers. */
export const TX_CACHE_BYTES_MAX = 128 * 1024 * 1024

// Measured on Node 24.21 as heapUsed + external over 30,000 entries, signature verified, hash worked out: a transfer of
// 162 bytes costs 1,078 bytes, before it is verified 1,271; a declaration of 434 bytes 1,843; one of 60,200 bytes
// 121,300, as its text is kept beside the bytes, and 181,500 where one character of it makes JavaScript keep two bytes
// a character.
const ENTRY_BYTES = 1536
const BYTES_A_BYTE = 3

/** What it costs to remember a transaction of `length` bytes: at least its memory. */
export const costOf = (length: number): number => ENTRY_BYTES + BYTES_A_BYTE * length

/**
 * Transactions that passed their checks, by their bytes: recheck, proposals and blocks decode and verify only what they
 * have not seen. A memory, not state: what reading gives depends on the bytes alone.
 */
export interface TxCache {
  /** What the bytes say. Nothing is remembered of them. */
  read(bytes: Uint8Array): ReadTx
  /** Remembers a transaction that was accepted. What a stranger can make up without an account never comes here. */
  keep(read: ReadTx): void
  /** What the bytes say, for the last time: the transaction is delivered, and nobody will ask for it again. */
  take(bytes: Uint8Array): ReadTx
}

/**
 * What finds a transaction: 30 bits of its signature, which stands at its end. Small integers, because no Map is faster
 * with other keys. Two transactions of equal tail cannot both be remembered.
 */
function tailOf(bytes: Uint8Array): number {
  const end = bytes.length
  const at = (place: number): number => bytes[end - place] ?? 0
  return at(32) | (at(31) << 8) | (at(30) << 16) | ((at(29) & 0x3f) << 24)
}

/**
 * An empty cache; the transactions kept longest ago are forgotten first, and one of equal tail gives way to the next.
 */
export function createTxCache(bytesMax = TX_CACHE_BYTES_MAX): TxCache {
  const known = new Map<number, ReadTx>()
  let cost = 0
  const drop = (tail: number, { bytes }: ReadTx): void => {
    known.delete(tail)
    cost -= costOf(bytes.length)
  }
  const find = (tail: number, bytes: Uint8Array): ReadTx | undefined => {
    const found = known.get(tail)
    return found !== undefined && (found.bytes as Buffer).equals(bytes) ? found : undefined
  }
  const shrink = (): void => {
    for (const [oldest, one] of known) {
      if (cost <= bytesMax) return
      drop(oldest, one)
    }
  }
  // The request's bytes are a view of the packet.
  const make = (bytes: Uint8Array): ReadTx => readTx(Buffer.from(bytes))
  return {
    read: (bytes) => find(tailOf(bytes), bytes) ?? make(bytes),
    keep: (read) => {
      const tail = tailOf(read.bytes)
      const found = known.get(tail)
      if (found === read) return
      if (found !== undefined) drop(tail, found)
      known.set(tail, read)
      cost += costOf(read.bytes.length)
      if (cost > bytesMax) shrink()
    },
    take: (bytes) => {
      const tail = tailOf(bytes)
      const found = find(tail, bytes)
      if (found === undefined) return make(bytes)
      drop(tail, found)
      return found
    },
  }
}
