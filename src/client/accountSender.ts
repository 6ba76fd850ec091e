import { toBase64 } from '../base/bytes.ts'
import { txHash } from '../tx/envelope.ts'
import {
  createNonceQueue,
  isInNoBlock,
  NONCES_OF_TX_MAX,
  nonceToRetry,
  type Numbered,
  REBROADCAST_MS,
  type Sent,
} from '../tx/nonceQueue.ts'
import type { TransactionResult } from '../tx/result.ts'
import type { PendingTx, Signer } from '../tx/sign.ts'
import { isFailed, NOT_IN_BLOCK, SvcRpcError, TOO_MANY } from './errors.ts'
import {
  abortable,
  BATCH_MAX,
  type Call,
  pause,
  POLL_MS,
  type Reply,
  resultOf,
  type Transport,
  WAIT_MS,
} from './transport.ts'
import type { CallOptions, WaitOptions } from './types.ts'

/** What a sender needs of its client. */
interface Setting {
  readonly transport: Transport
  readonly chainId: () => Promise<string>
  readonly chainIdBlocking: (functionCall: string) => string
}

/** The most base64 in one batch, in bytes; the gateway takes a body of 1 MiB. */
const BATCH_TEXT_MAX = 700_000

const pendingCall = (address: string): Call => ({ method: 'svc_getTransactionCount', params: [address, 'pending'] })
const sendCall = (bytes: Uint8Array): Call => ({
  method: 'svc_sendRawTransaction',
  params: { transaction: toBase64(bytes), wait: false },
})
const waitCall = (bytes: Uint8Array): Call => ({ method: 'svc_sendRawTransaction', params: [toBase64(bytes)] })
const findCall = (hash: string): Call => ({ method: 'svc_getTransaction', params: [hash] })

/** An SvcRpcError with the hash of what was sent: the transaction may still be committed. Any other error as it is. */
function withHash(error: unknown, hash: string): unknown {
  if (!(error instanceof SvcRpcError)) return error
  const { method, code, reason, data } = error
  return Object.assign(new SvcRpcError(method, code, reason, { hash, ...(data as object) }), { cause: error })
}

const notInBlock = (hash: string, timeoutMs: number): SvcRpcError =>
  new SvcRpcError('svc_getTransaction', NOT_IN_BLOCK, `not in a block after ${timeoutMs} ms`, { hash })

/** The result object of a transaction that svc_getTransaction has found. */
function resultOfFound({ height, hash, check_tx, deliver_tx }: TransactionResult): TransactionResult {
  const result = { height, hash, check_tx, deliver_tx }
  return isFailed(result) ? { ...result, height: 0 } : result
}

/** How long the gateway wants the caller to wait after too many requests, in ms; undefined for any other error. */
function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof SvcRpcError) || error.code !== TOO_MANY) return undefined
  return (error.data as { readonly retryAfterMs: number }).retryAfterMs
}

/**
 * Throws for the result of a transaction that the mempool has dropped because a block made it invalid. Only in such a
 * result has check_tx a code and deliver_tx none.
 */
function needIncluded({ check_tx, deliver_tx }: TransactionResult): void {
  if (check_tx.code !== undefined && deliver_tx.code === undefined)
    throw new Error('the mempool has dropped the transaction')
}

interface Followed extends PromiseWithResolvers<TransactionResult> {
  readonly deadlineMs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly rebroadcast: Rebroadcast | undefined
  rebroadcastPauseMs: number
  rebroadcastAtMs: number
}

/** Sends a transaction again. Resolves with the result of one that is refused now and that no block holds. */
type Rebroadcast = () => Promise<TransactionResult | undefined>

/**
 * Creates a function that resolves with a transaction's result once the transaction is in a block. Transactions must be
 * given in the order in which blocks take them: only the first one that is not in a block yet is asked for again and
 * again, and the others when it was found; only the first is rebroadcast. A transaction that the mempool has dropped
 * resolves with its refusal. Rejects with SvcRpcError -32012 after `timeoutMs`.
 */
export function createFollower(transport: Transport) {
  const followed = new Map<string, Followed>()

  /** Looks for the first `count` transactions. True when all of them are in blocks. */
  const look = async (count: number): Promise<boolean> => {
    const hashes = [...followed.keys()].slice(0, count)
    const replies = await transport.askAll(hashes.map(findCall))
    let isAll = true
    for (const [index, hash] of hashes.entries()) {
      const found = resultOf(replies[index] as Reply) as TransactionResult | null
      if (found === null) isAll = false
      else {
        followed.get(hash)?.resolve(resultOfFound(found))
        followed.delete(hash)
      }
    }
    return isAll
  }

  /** Looks for what is in blocks, and returns how long to pause, in ms. */
  const lookForAll = async (): Promise<number> => {
    try {
      for (let count = 1; followed.size > 0 && (await look(count)); ) count = BATCH_MAX
      return POLL_MS
    } catch (error) {
      const waitMs = retryAfterMs(error)
      if (waitMs !== undefined) return waitMs
      for (const [hash, { reject }] of followed) reject(withHash(error, hash))
      followed.clear()
      return 0
    }
  }

  /** Rebroadcasts the first transaction when it has waited long enough. */
  const rebroadcastFirst = async (): Promise<void> => {
    const [first] = followed
    if (first === undefined) return
    const [hash, one] = first
    if (one.rebroadcast === undefined || performance.now() < one.rebroadcastAtMs) return
    one.rebroadcastPauseMs *= 2
    one.rebroadcastAtMs = performance.now() + one.rebroadcastPauseMs
    const refused = await one.rebroadcast().catch(() => undefined)
    if (refused === undefined) return
    followed.delete(hash)
    one.resolve(refused)
  }

  const lookUntilEmpty = async (): Promise<void> => {
    while (followed.size > 0) {
      const pauseMs = await lookForAll()
      await rebroadcastFirst()
      for (const [hash, { signal, deadlineMs, timeoutMs, reject }] of followed) {
        if (signal?.aborted === true) reject(signal.reason)
        else if (performance.now() >= deadlineMs) reject(notInBlock(hash, timeoutMs))
        else continue
        followed.delete(hash)
      }
      if (followed.size > 0) await pause(pauseMs)
    }
  }

  return (hash: string, options: WaitOptions = {}, rebroadcast?: Rebroadcast): Promise<TransactionResult> => {
    const known = followed.get(hash)
    if (known !== undefined) return known.promise
    const { signal, timeoutMs = WAIT_MS } = options
    const nowMs = performance.now()
    const one = {
      ...Promise.withResolvers<TransactionResult>(),
      deadlineMs: nowMs + timeoutMs,
      timeoutMs,
      signal,
      rebroadcast,
      rebroadcastPauseMs: REBROADCAST_MS,
      rebroadcastAtMs: nowMs + REBROADCAST_MS,
    }
    followed.set(hash, one)
    if (followed.size === 1) void lookUntilEmpty()
    return one.promise
  }
}

/** A transaction as far as CheckTx: refused with a result, or to be followed into its block. */
type Checked =
  | { readonly result: TransactionResult }
  | { readonly hash: string; readonly included: Promise<TransactionResult> }

/**
 * What the gateway's answer with `wait: false` says. Bytes that the node knows are sent, whoever sent them: a transaction
 * that is signed again with the next nonce is one more that the gateway can have executed.
 */
function readSent(
  { expected_nonce: expected, known, ...result }: TransactionResult,
  follow: () => Promise<TransactionResult>,
): Sent<Checked> {
  if (expected !== undefined) return { state: 'badNonce', result: { result }, expected }
  if (isFailed(result)) return { state: 'refused', result: { result } }
  const included = follow()
  included.catch(() => undefined)
  return {
    state: known === true ? 'known' : 'accepted',
    result: { hash: result.hash, included },
    ended: () => included.then(needIncluded),
  }
}

interface Signed {
  /** Its index among those that are sent together. */
  readonly index: number
  readonly nonce: number
  readonly hash: string
  readonly bytes: Uint8Array
}

/** Splits transactions into batches that a body can hold. */
function* batchesOf(all: readonly Signed[]): Generator<readonly Signed[]> {
  let batch: Signed[] = []
  let length = 0
  for (const one of all) {
    const more = (one.bytes.length * 4) / 3
    if (batch.length > 0 && length + more > BATCH_TEXT_MAX) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(one)
    length += more
  }
  if (batch.length > 0) yield batch
}

/**
 * Signs and sends the transactions of one account. Results of failed transactions are returned like those of good ones.
 */
export type AccountSender = ReturnType<typeof createAccountSender>

/** Creates the sender of a signer's account. */
export function createAccountSender(signer: Signer, { transport, chainId, chainIdBlocking }: Setting) {
  const follow = createFollower(transport)
  const sign = (id: string, { operation, message }: PendingTx, nonce: number) => {
    const bytes = signer.signTx({ chainId: id, nonce, operation, message })
    return { bytes, hash: txHash(bytes) }
  }

  const rebroadcast = async (bytes: Uint8Array, nonce: number): Promise<TransactionResult | undefined> => {
    const answer = (await transport.ask(sendCall(bytes))) as TransactionResult
    const { expected_nonce: expected, known, ...result } = answer
    return isFailed(result) && isInNoBlock(result.check_tx.code, expected, nonce) ? result : undefined
  }

  /** Hashes of what the queue has signed and not seen end: a synchronous call in the same words is another transaction. */
  const queued = new Set<string>()
  const followQueued = (hash: string, rebroadcast: Rebroadcast): Promise<TransactionResult> => {
    queued.add(hash)
    const forget = (): unknown => queued.delete(hash)
    const included = follow(hash, {}, rebroadcast)
    included.then(forget, forget)
    return included
  }

  const send = async (all: readonly Numbered<PendingTx>[]): Promise<readonly Sent<Checked>[]> => {
    const id = await chainId()
    const sent: Sent<Checked>[] = []
    const signed: Signed[] = []
    for (const [index, { tx, nonce }] of all.entries()) {
      try {
        signed.push({ index, nonce, ...sign(id, tx, nonce) })
      } catch (error) {
        sent[index] = { state: 'failed', error }
      }
    }
    for (const batch of batchesOf(signed)) {
      for (const { hash } of batch) queued.add(hash)
      const replies = await transport.askAll(batch.map(({ bytes }) => sendCall(bytes)))
      for (const [at, { index, nonce, hash, bytes }] of batch.entries()) {
        const reply = replies[at] as Reply
        queued.delete(hash)
        sent[index] =
          'error' in reply
            ? { state: 'failed', error: withHash(reply.error, hash) }
            : readSent(reply.result as TransactionResult, () => followQueued(hash, () => rebroadcast(bytes, nonce)))
      }
    }
    return sent
  }

  const queue = createNonceQueue<PendingTx, Checked>({
    readNonce: async () => Number(await transport.ask(pendingCall(signer.address))),
    send,
    batchMax: BATCH_MAX,
    noncesMax: NONCES_OF_TX_MAX,
  })

  return {
    /** Sends in the order of the calls. Rejects with an SvcRpcError or with the signal's reason. */
    submit: (tx: PendingTx, { signal, onSent }: CallOptions = {}): Promise<TransactionResult> => {
      const ended = queue.submit(tx, { nonce: tx.nonce, signal }).then((checked) => {
        if ('result' in checked) return checked.result
        onSent?.(checked.hash)
        return checked.included
      })
      return abortable(ended, signal)
    },
    /** The same, while this thread waits. */
    submitBlocking: (tx: PendingTx, functionCall: string): TransactionResult => {
      const id = chainIdBlocking(functionCall)
      const ask = (call: Call): unknown => transport.askBlocking(call, functionCall)
      const isFixed = tx.nonce !== undefined
      let nonce = tx.nonce ?? Number(ask(pendingCall(signer.address)))
      let resigns = 0
      for (;;) {
        const { bytes, hash } = sign(id, tx, nonce)
        try {
          const answer = ask(sendCall(bytes)) as TransactionResult
          const sent = readSent(answer, async () => answer)
          const isOfQueue = !isFixed && queued.has(hash) && 'ended' in sent
          const retry = isFixed || isOfQueue ? undefined : nonceToRetry(sent, nonce, resigns++, NONCES_OF_TX_MAX - 1)
          if (isOfQueue) nonce += 1
          else if (retry !== undefined) nonce = retry
          else if ('ended' in sent) {
            queue.consume(nonce)
            return ask(waitCall(bytes)) as TransactionResult
          } else return resultOfFound(answer)
        } catch (error) {
          throw withHash(error, hash)
        }
      }
    },
  }
}
