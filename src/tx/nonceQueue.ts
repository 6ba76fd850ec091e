import { fromUtf8, utf8 } from '../base/bytes.ts'

/**
 * What became of a transaction that was sent with a nonce. `result` is what the caller is told.
 *
 * - `accepted`: the transaction is in the mempool. Its nonce is pending until the promise of `ended` resolves; when that
 *   promise rejects, the transaction is in no block.
 * - `unclear`: no answer came in time, and the transaction may be in the mempool.
 * - `known`: the node had these very bytes before.
 * - `taken`: the same, and those bytes are another call's. The transaction is signed again with the next nonce, however
 *   often, so only a node that is trusted may say so.
 * - `badNonce`: another nonce comes next. `expected` is that nonce where it is known.
 * - `refused`: the transaction was refused for another reason, and its nonce is free. `expected`: the nonce that comes
 *   next, where the answer says so.
 * - `failed`: the transaction could not be sent, or nobody knows what became of it.
 */
export type Sent<R> =
  | { readonly state: 'accepted' | 'unclear' | 'known'; readonly result: R; readonly ended: () => Promise<unknown> }
  | { readonly state: 'taken' }
  | { readonly state: 'badNonce'; readonly result: R; readonly expected: number | undefined }
  | { readonly state: 'refused'; readonly result: R; readonly expected?: number | undefined }
  | { readonly state: 'failed'; readonly error: unknown }

/** The nonce that comes next, as `data` of a CheckTx answer has it: its decimal digits. */
export const encodeNonce = (nonce: number): Uint8Array => utf8(String(nonce))

/** The nonce in such data; undefined when there is none. */
export function decodeNonce(data: Uint8Array): number | undefined {
  const digits = fromUtf8(data) ?? ''
  return /^[0-9]{1,16}$/.test(digits) ? Number(digits) : undefined
}

/** The code of a transaction whose nonce is not the next one of its sender. Source: protocol.md §2, check 4. */
export const BAD_NONCE_CODE = 6

/**
 * After how long a transaction that is in no block yet is sent again each time, in ms. CheckTx then tells of one that the
 * mempool has dropped because a block made it invalid.
 */
export const REBROADCAST_MS = 5_000

/**
 * True for the refusal of a transaction that no block holds. A nonce that is used up may have been used by these very
 * bytes. `expected`: the nonce that comes next, where the refusal names it.
 */
export const isInNoBlock = (code: number | undefined, expected: number | undefined, nonce: number): boolean =>
  code !== BAD_NONCE_CODE || (expected !== undefined && expected < nonce)

/**
 * A transaction with the nonce to sign it with. `isFixed`: the caller chose that nonce. `signal`: once it is aborted, the
 * transaction must not be sent any more.
 */
export interface Numbered<T> {
  readonly tx: T
  readonly nonce: number
  readonly isFixed: boolean
  readonly signal: AbortSignal | undefined
}

/** How a queue reaches the chain. */
export interface NonceSource<T, R> {
  /** Reads the next nonce of the account. Transactions that this queue has sent may be missing from it. */
  readonly readNonce: () => Promise<number>
  /**
   * Signs and sends transactions in their order, and says of each what became of it. After one that `failed` it may leave
   * the others: they are signed with other nonces then.
   */
  readonly send: (batch: readonly Numbered<T>[]) => Promise<readonly Sent<R>[]>
  /** The most transactions that `send` takes at a time. */
  readonly batchMax: number
  /** The most nonces that one transaction is signed with: whoever gets to see them may have each of them executed. */
  readonly noncesMax: number
}

/** The transactions of one account, sent in the order of the calls. */
export interface NonceQueue<T, R> {
  /**
   * Sends a transaction with the account's next nonce, or with `nonce` when the caller chooses it. Resolves once the
   * transaction was sent or refused. Rejects with the error of a `failed` transaction, or with the signal's reason when
   * it is aborted before the transaction is sent.
   */
  readonly submit: (
    tx: T,
    options?: { readonly nonce?: number | undefined; readonly signal?: AbortSignal | undefined },
  ) => Promise<R>
  /** To be called when a transaction of the account was sent with this nonce beside the queue. */
  readonly consume: (nonce: number) => void
  /** The nonce behind those of the transactions that wait for their block; 0 when none does. */
  readonly afterPending: () => number
}

/**
 * How often a transaction is sent again, with the same nonce or another, because another one comes next. Once is enough
 * for one program; two that sign for one account overtake each other at about every second try (6 of 1,000 calls lost
 * ten tries in a row).
 */
export const RESIGNS_MAX = 50

/**
 * The most nonces that a client signs one transaction with. A gateway that lies can keep what it refuses and have it
 * executed later, once for each nonce, higher or lower. Sending the same bytes again adds nothing to that. One program
 * alone needs two: a nonce that was read at a node that lags, or that a refused transaction before it in a batch leaves,
 * is corrected once. Programs that share a key need more: with 3, calls of two that send 500 transactions each are lost on
 * a busy machine.
 */
export const NONCES_OF_TX_MAX = 20

/**
 * How long a queue pauses, in ms, when a node expects a nonce that is pending: the node has not heard of that transaction
 * yet, because it was sent to another node or lost. Within RESIGNS_MAX pauses the transaction is sent again, too.
 */
export const BEHIND_MS = 200

/**
 * The nonce to sign a transaction with again; undefined when the answer that it got is final. The walk over taken
 * nonces ends because a node remembers a limited number of transactions.
 */
export function nonceToRetry(
  sent: Sent<unknown>,
  nonce: number,
  resigns: number,
  resignsMax = RESIGNS_MAX,
): number | undefined {
  if (sent.state === 'taken') return nonce + 1
  if (sent.state !== 'badNonce' || sent.expected === nonce || resigns >= resignsMax) return undefined
  return sent.expected
}

interface Waiting<T, R> extends PromiseWithResolvers<R> {
  readonly tx: T
  readonly nonce: number | undefined
  readonly signal: AbortSignal | undefined
  /** The nonces that it was signed with. */
  readonly signed: Set<number>
  /** The last refusal because of its nonce. */
  refusal?: { readonly result: R }
  resigns: number
}

/** The nonces of one account: the next one while it is known, and the pending ones, which are in no block yet. */
function createNonces(readNonce: () => Promise<number>) {
  const pending = new Set<number>()
  let next: number | undefined
  let isBehind = false
  const pause = (): Promise<void> => new Promise((done) => setTimeout(done, BEHIND_MS))
  const afterPending = (): number => [...pending].reduce((after, nonce) => Math.max(after, nonce + 1), 0)
  const read = async (): Promise<number> => Math.max(next ?? 0, await readNonce(), afterPending())
  /** Reads the nonce until it stands still. Bounded by RESIGNS_MAX pauses. */
  const readWhenCalm = async (): Promise<number> => {
    let last = await read()
    for (let reads = 1; reads < RESIGNS_MAX; reads++) {
      await pause()
      const again = await read()
      if (again === last) break
      last = again
    }
    return last
  }
  const reset = (): void => {
    next = undefined
  }
  const nonces = {
    /** Another program was faster with the last nonce. */
    isOvertaken: false,
    /** Forgets the next nonce: it is read before it is used. */
    reset,
    afterPending,
    /** Takes in the nonce that a node expects. One that is pending says that the node has not heard of it yet. */
    expect: (nonce: number | undefined): void => {
      if (nonce !== undefined && pending.has(nonce)) isBehind = true
      else next = nonce
    },
    /**
     * The next nonce, after a pause when a node is behind. `isLastTry`: after another program was faster, waits until it
     * pauses. Measured with NONCES_OF_TX_MAX on a quiet machine: of 8,000 calls of two processes 3 were lost without
     * that, and none with it.
     */
    next: async (isLastTry: boolean): Promise<number> => {
      if (isBehind) await pause()
      if (isLastTry && nonces.isOvertaken) next = await readWhenCalm()
      isBehind = false
      return (next ??= await read())
    },
    /** Leaves a nonce behind. */
    consume: (nonce: number): void => {
      if (next !== undefined) next = Math.max(next, nonce + 1)
    },
    /** Makes a nonce pending until its transaction is included or dropped. */
    await: (nonce: number, ended: Promise<unknown>): void => {
      pending.add(nonce)
      const included = (): unknown => pending.delete(nonce)
      // Whatever is signed with the nonces above would wait for this hole to be filled.
      const dropped = (): void => {
        pending.delete(nonce)
        reset()
      }
      ended.then(included, dropped)
    },
  }
  return nonces
}

/**
 * Takes the next transactions that were not given up: either all with a nonce of the caller's, or all without. One on its
 * last try must be the first, so that none before it leaves a hole.
 */
function takeBatch<T, R>(
  waiting: Waiting<T, R>[],
  { batchMax, noncesMax }: Pick<NonceSource<T, R>, 'batchMax' | 'noncesMax'>,
): Waiting<T, R>[] {
  const batch: Waiting<T, R>[] = []
  while (waiting.length > 0 && batch.length < batchMax) {
    const [next] = waiting as [Waiting<T, R>]
    const [first] = batch
    const mustBeFirst = next.signed.size >= noncesMax - 1
    if (first !== undefined && (mustBeFirst || (first.nonce === undefined) !== (next.nonce === undefined))) break
    waiting.shift()
    if (next.signal?.aborted) next.reject(next.signal.reason)
    else batch.push(next)
  }
  return batch
}

/**
 * A queue for one account, which sends one batch after another. A transaction that is refused for its nonce is signed
 * again, RESIGNS_MAX times and with `noncesMax` nonces at most, but never with a nonce that is pending.
 *
 *     submit ─▶ waiting ─▶ signed with `next` ─┬─ accepted, known ─▶ pending ─┬─▶ included
 *                  ▲        │      │           │      (consume)      ▲       └─▶ dropped ─▶ reset
 *                  │        │      │           └─ unclear ─▶ reset ──┘
 *                  │        │      └─ failed ─▶ reset; refused: its nonce is free
 *                  └────────┴─ badNonce: `next` is what the node expects; taken: the one after
 *
 * `reset`: the next nonce is read from the chain before it is used. The gateway rebroadcasts transactions that are
 * pending, its own and those of clients.
 */
export function createNonceQueue<T, R>(source: NonceSource<T, R>): NonceQueue<T, R> {
  const { readNonce, send, noncesMax } = source
  const waiting: Waiting<T, R>[] = []
  const nonces = createNonces(readNonce)

  /** Takes in what became of a transaction. True when it must be signed again. */
  const settle = (one: Waiting<T, R>, nonce: number, sent: Sent<R>, isAfterHole: boolean): boolean => {
    const isFixed = one.nonce !== undefined
    if (sent.state === 'failed' || (sent.state === 'taken' && isFixed)) {
      nonces.reset()
      one.reject(sent.state === 'failed' ? sent.error : new Error(`nonce ${nonce} is taken`))
      return false
    }
    if (sent.state === 'taken') {
      nonces.expect(nonce + 1)
      return true
    }
    if ('ended' in sent) {
      nonces.await(nonce, sent.ended())
      if (sent.state === 'unclear') nonces.reset()
      else nonces.consume(nonce)
    } else if (isFixed) {
      if (sent.expected !== undefined) nonces.expect(sent.expected)
    } else if (sent.state === 'badNonce') {
      nonces.expect(sent.expected)
      one.refusal = sent
      // A hole that a transaction before it in the batch has left is not its fault.
      if (isAfterHole) return true
      nonces.isOvertaken = sent.expected !== undefined && sent.expected > nonce
      if (nonceToRetry(sent, nonce, one.resigns) !== undefined) {
        one.resigns += 1
        return true
      }
    }
    one.resolve(sent.result)
    return false
  }

  const sendBatch = async (batch: readonly Waiting<T, R>[]): Promise<void> => {
    const [one, ...others] = batch as [Waiting<T, R>, ...Waiting<T, R>[]]
    const isFixed = one.nonce !== undefined
    const first = isFixed ? 0 : await nonces.next(one.signed.size === noncesMax - 1)
    if (one.refusal !== undefined && one.signed.size >= noncesMax && !one.signed.has(first)) {
      one.resolve(one.refusal.result)
      waiting.unshift(...others)
      return
    }
    const numbered = batch.map(({ tx, nonce, signal }, index) => ({
      tx,
      nonce: nonce ?? first + index,
      isFixed,
      signal,
    }))
    const answers = await send(numbered)
    const again: Waiting<T, R>[] = []
    let isAfterHole = false
    for (const [index, one] of batch.entries()) {
      const { nonce } = numbered[index] as Numbered<T>
      const sent = answers[index]
      if (sent !== undefined) one.signed.add(nonce)
      if (sent === undefined || settle(one, nonce, sent, isAfterHole)) again.push(one)
      isAfterHole ||= sent !== undefined && !('ended' in sent) && sent.state !== 'taken'
    }
    waiting.unshift(...again)
  }

  let isSending = false
  const sendAll = async (): Promise<void> => {
    if (isSending) return
    isSending = true
    while (waiting.length > 0) {
      const batch = takeBatch(waiting, source)
      if (batch.length === 0) continue
      await sendBatch(batch).catch((error: unknown) => {
        nonces.reset()
        for (const { reject } of batch) reject(error)
      })
    }
    isSending = false
  }

  const submit: NonceQueue<T, R>['submit'] = (tx, { nonce, signal } = {}) => {
    const one = { ...Promise.withResolvers<R>(), tx, nonce, signal, signed: new Set<number>(), resigns: 0 }
    waiting.push(one)
    // Calls of one turn of the program go together.
    queueMicrotask(() => void sendAll())
    return one.promise
  }
  return { submit, consume: nonces.consume, afterPending: nonces.afterPending }
}
