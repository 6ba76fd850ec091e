/** CheckTx, and the transactions that are remembered from it on. */
import { type CheckTxRequest, type CheckTxResponse, CheckTxType } from '../abci/types.ts'
import { asBuffer, utf8 } from '../base/bytes.ts'
import type { TxError } from '../base/txError.ts'
import { nonceOf } from '../modules/accounts/keeper.ts'
import { hasChain } from '../modules/chain/keeper.ts'
import { kernelErrors } from '../modules/errors.ts'
import { type ReadTx, readTx, runTx, type Verdict, type Verify } from '../modules/kernel.ts'
import { createOverlay } from '../store/index.ts'
import { BAD_NONCE_CODE, encodeNonce } from '../tx/nonceQueue.ts'
import { encodeShortfall } from '../tx/shortfall.ts'
import { type AppContext, type CheckState, createBlock, logDefect, nextOf } from './context.ts'
import { printVerdict } from './convert.ts'

/**
 * The most transactions without a fee that one sender may have waiting. They cost nothing, so there are few. Source:
 * protocol.md §2, CheckTx.
 */
export const FREE_TXS_MAX = 4

/**
 * How many blocks may pass a transaction by. CometBFT sends it to each peer once, and a peer that refuses it, because its
 * mempool is full or because what comes before it has not arrived, never hears of it again. So this node forgets what the
 * proposers evidently do not have: whoever sends it again then has it sent to all peers again. Source: protocol.md §2,
 * CheckTx, and decision record 0036.
 */
export const PASSES_MAX = 4

/**
 * The check state: an overlay on the head, as in block head + 1 at the head's time; undefined while there is no state.
 * Source: protocol.md §2, CheckTx.
 */
function checkStateOf(app: AppContext): CheckState | undefined {
  const { head } = app
  if (head.check === undefined && !hasChain(head.state)) return undefined
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
 * `data` of a refused transaction is the nonce that comes next, or what the balance lacks, so that nobody has to read the
 * log. It is no part of consensus, and of all members only it reaches who has sent the transaction. Source: protocol.md
 * §2, CheckTx.
 */
function withReason(verdict: Verdict, { overlay }: CheckState, { sender }: ReadTx): Verdict {
  if (verdict.shortfall !== undefined) return { ...verdict, data: utf8(encodeShortfall(verdict.shortfall)) }
  if (verdict.code !== BAD_NONCE_CODE || sender === undefined) return verdict
  return { ...verdict, data: encodeNonce(nonceOf(overlay, sender)) }
}

/** The answer of CheckTx without a run. An error has members that no reply may have. */
const refusal = ({ code, log }: TxError): CheckTxResponse => ({ code, log })

/**
 * Judges a transaction for the mempool, after those that were accepted before it. A recheck does not verify the
 * signature again, because the mempool holds only verified transactions. While CometBFT 0.37 and 0.38 look for a
 * snapshot, they pass on what strangers send, although there is no state yet. Source: protocol.md §2, CheckTx.
 */
export function checkTx(app: AppContext, { tx, type }: CheckTxRequest): CheckTxResponse {
  const check = checkStateOf(app)
  if (check === undefined) return refusal(kernelErrors.unavailable('this node has no state yet'))
  const { read, since: before } = app.txCache.read(tx)
  const isRecheck = type === CheckTxType.recheck
  const since = (isRecheck ? before : undefined) ?? app.passes
  if (app.passes - since >= PASSES_MAX) return refusal(kernelErrors.leftOut(PASSES_MAX))
  const verdict = judge(app, check, read, isRecheck)
  // A refused transaction is not remembered, so that nobody can fill the memory with garbage.
  if (verdict.code === 0) app.txCache.keep(read, since)
  logDefect(app, read, verdict)
  return printVerdict(withReason(verdict, check, read))
}

/** The most memory that remembered transactions may cost, as counted by `costOf`: 66,000 transfers. */
export const TX_CACHE_BYTES_MAX = 128 * 1024 * 1024

// Measured on Node 24.21 as heapUsed + external over 30,000 entries with verified signatures and computed hashes: a
// transfer of 162 bytes costs 1,078 bytes (1,271 before it is verified), a declaration of 434 bytes 1,843, and one of
// 60,200 bytes 121,300, because its text is kept beside the bytes. A single character beyond Latin-1 makes JavaScript
// keep that text in two bytes a character, which is then 181,500.
const ENTRY_BYTES = 1536
const BYTES_A_BYTE = 3

/** The cost of remembering a transaction of `length` bytes. It is never less than the memory used. */
export const costOf = (length: number): number => ENTRY_BYTES + BYTES_A_BYTE * length

interface Remembered {
  readonly read: ReadTx
  /** How many blocks had passed by when the mempool took it; undefined when it has not. */
  since: number | undefined
}

/**
 * Remembers transactions that passed their checks, so that recheck, proposals and blocks decode and verify only what is
 * new to them. It is not part of the state: what reading gives depends on the bytes alone.
 */
export type TxCache = ReturnType<typeof createTxCache>

/**
 * The key of a transaction: 30 bits of its signature, which is at its end. Small integers are the fastest keys of a Map.
 *
 * Measured in process as CPU time, medians of 6 to 9 interleaved runs on a busy machine. With the transaction's sha256
 * as the key, a transaction costs 1.05 times as much from CheckTx to Commit, a block 1.07 to 1.14, and a recheck 1.18 to
 * 1.27. With all of its bytes as text these are 1.10, 1.12 and 1.06; with half of its signature as text 1.00 to 1.13,
 * 1.01 to 1.11 and 1.15 to 1.22. Source: decision record 0016.
 */
export function tailOf(bytes: Uint8Array): number {
  const end = bytes.length
  const byteAt = (distance: number): number => bytes[end - distance] ?? 0
  return byteAt(32) | (byteAt(31) << 8) | (byteAt(30) << 16) | ((byteAt(29) & 0x3f) << 24)
}

/**
 * Creates an empty cache. When it is full, it forgets the transactions that it has kept for longest. Of two transactions
 * with equal tails it remembers only the later one. `verify`: how the signatures of those that it reads are verified.
 */
export function createTxCache(bytesMax = TX_CACHE_BYTES_MAX, verify?: Verify) {
  const remembered = new Map<number, Remembered>()
  let cost = 0
  const forget = (tail: number, { bytes }: ReadTx): void => {
    remembered.delete(tail)
    cost -= costOf(bytes.length)
  }
  const find = (tail: number, bytes: Uint8Array): Remembered | undefined => {
    const found = remembered.get(tail)
    return found !== undefined && asBuffer(found.read.bytes).equals(bytes) ? found : undefined
  }
  const shrink = (): void => {
    for (const [oldest, { read }] of remembered) {
      if (cost <= bytesMax) return
      forget(oldest, read)
    }
  }
  // The bytes of a request are a view of the packet, which is not kept.
  const readCopy = (bytes: Uint8Array): Remembered => ({ read: readTx(Buffer.from(bytes), verify), since: undefined })
  return {
    /** The transaction in `bytes`. Nothing is remembered. */
    read: (bytes: Uint8Array): Readonly<Remembered> => find(tailOf(bytes), bytes) ?? readCopy(bytes),
    /**
     * Remembers a transaction that was accepted. Others must not come here: anybody can make those up without an account.
     * `since`: how many blocks had passed by when the mempool took it; left as it is when undefined.
     */
    keep: (read: ReadTx, since?: number): void => {
      const tail = tailOf(read.bytes)
      const found = remembered.get(tail)
      if (found?.read === read) {
        found.since = since ?? found.since
        return
      }
      if (found !== undefined) forget(tail, found.read)
      remembered.set(tail, { read, since })
      cost += costOf(read.bytes.length)
      if (cost > bytesMax) shrink()
    },
    /** The transaction in `bytes`, which is delivered now and then forgotten. */
    take: (bytes: Uint8Array): Readonly<Remembered> => {
      const tail = tailOf(bytes)
      const found = find(tail, bytes)
      if (found === undefined) return readCopy(bytes)
      forget(tail, found.read)
      return found
    },
    /** False when the transaction is not remembered. May report a false positive when two transactions end in the same bytes. */
    mayHave: (bytes: Uint8Array): boolean => remembered.has(tailOf(bytes)),
  }
}
