import { toBase64 } from '../base/bytes.ts'
import { txHash } from '../tx/envelope.ts'
import {
  BAD_NONCE_CODE,
  BEHIND_MS,
  createNonceQueue,
  NONCES_OF_TX_MAX,
  nonceToRetry,
  type Numbered,
  REBROADCAST_MS,
  type Sent,
} from '../tx/nonceQueue.ts'
import type { TransactionResult } from '../tx/result.ts'
import type { AnySigner, PendingTx } from '../tx/sign.ts'
import { cannotWait, pauseBlocking } from './blocking.ts'
import { isFailed, isUnclear, NOT_IN_BLOCK, retryAfterMs, SvcRpcError } from './errors.ts'
import {
  abortable,
  BATCH_MAX,
  type Call,
  pause,
  POLL_MS,
  type Reply,
  timeoutSignal,
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
const rawCall = (params: unknown): Call => ({ method: 'svc_sendRawTransaction', params, isTransaction: true })
const sendCall = (bytes: Uint8Array): Call => rawCall({ transaction: toBase64(bytes), wait: false })
const waitCall = (bytes: Uint8Array): Call => rawCall([toBase64(bytes)])

/** An SvcRpcError with the hash of what was sent: the transaction may still be committed. Any other error as it is. */
function withHash(error: unknown, hash: string): unknown {
  if (!(error instanceof SvcRpcError)) return error
  const { method, code, reason, data } = error
  return Object.assign(new SvcRpcError(method, code, reason, { ...(data as object), hash }), { cause: error })
}

/** The error of the first call with a transaction. */
const sendError = (error: unknown, hash: string): unknown => (isUnclear(error) ? withHash(error, hash) : error)

/** The result object of a transaction that svc_getTransaction has found. */
function resultOfFound(found: TransactionResult): TransactionResult {
  const { height, hash, check_tx, deliver_tx } = found
  return { height: isFailed(found) ? 0 : height, hash, check_tx, deliver_tx }
}

/**
 * Resolves with the result of a transaction once it is in a block. Rejects with SvcRpcError -32012 after `timeoutMs`, and
 * with the signal's reason.
 */
export async function waitForTx(
  { ask }: Pick<Transport, 'ask'>,
  hash: string,
  { signal, timeoutMs = WAIT_MS }: WaitOptions = {},
): Promise<TransactionResult> {
  const call = { method: 'svc_getTransaction', params: [hash] }
  const late = timeoutSignal(timeoutMs)
  const ending = AbortSignal.any([late, signal ?? late])
  const end = (error: unknown): never => {
    throw late.aborted
      ? new SvcRpcError(call.method, NOT_IN_BLOCK, `not in a block after ${timeoutMs} ms`, { hash })
      : withHash(error, hash)
  }
  for (;;) {
    let pauseMs = POLL_MS
    const found = await ask(call, ending).catch((error: unknown) => {
      pauseMs = retryAfterMs(error) ?? end(error)
    })
    if (found) return resultOfFound(found as TransactionResult)
    await pause(pauseMs, ending).catch(end)
  }
}

/** A result, or an error whose `data` is the gateway's. */
type Answer = { readonly result: unknown } | { readonly error: unknown }

/**
 * How long to pause, in ms, before the gateway is asked again to wait for a transaction that it has taken; undefined
 * when its answer is final. Behind one address may stand several gateways, and the node of another one may not have
 * heard of the transaction, or of those before it.
 */
function pauseBefore(reply: Answer, sinceMs: number): number | undefined {
  if ('error' in reply) return retryAfterMs(reply.error, WAIT_MS - sinceMs)
  const { code } = (reply.result as TransactionResult).check_tx
  return code === BAD_NONCE_CODE && sinceMs < REBROADCAST_MS ? BEHIND_MS : undefined
}

/** Has the gateway wait with `ask`, again and again until its answer is final. */
export async function finalAnswer<A extends Answer>(ask: () => Promise<A>): Promise<A> {
  for (const fromMs = performance.now(); ; ) {
    const answer = await ask()
    const pauseMs = pauseBefore(answer, performance.now() - fromMs)
    if (pauseMs === undefined) return answer
    await pause(pauseMs)
  }
}

function resultIn(reply: Reply, hash: string): TransactionResult {
  if ('error' in reply) throw withHash(reply.error, hash)
  return { ...(reply.result as TransactionResult), hash }
}

/** Has the gateway wait with `ask`, while this thread waits too. */
function waitBlocking(ask: () => unknown, hash: string): TransactionResult {
  for (const fromMs = performance.now(); ; ) {
    let reply: Reply
    try {
      reply = { result: ask() }
    } catch (error) {
      reply = { error: error as SvcRpcError }
    }
    const pauseMs = pauseBefore(reply, performance.now() - fromMs)
    if (pauseMs === undefined) return resultIn(reply, hash)
    pauseBlocking(pauseMs)
  }
}

/**
 * Creates a function that has the gateway wait for the block of a transaction, which it has taken. Calls of one turn of
 * the program go together. A transaction that the mempool has dropped resolves with its refusal.
 */
function createWait({ askAll }: Transport): (bytes: Uint8Array, hash: string) => Promise<TransactionResult> {
  const together: Call[] = []
  let replies: Promise<readonly Reply[]> | undefined
  const ask = async (call: Call): Promise<Reply> => {
    const index = together.push(call) - 1
    if (index === 0) replies = Promise.resolve().then(() => askAll(together.splice(0)))
    return (await replies)?.[index] as Reply
  }
  return async (bytes, hash) => resultIn(await finalAnswer(() => ask(waitCall(bytes))), hash)
}

/**
 * Throws for the result of a transaction that the mempool has dropped because a block made it invalid. Only in such a
 * result has check_tx a code and deliver_tx none.
 */
function needIncluded({ check_tx, deliver_tx }: TransactionResult): void {
  if (check_tx.code !== undefined && deliver_tx.code === undefined)
    throw new Error('the mempool has dropped the transaction')
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
  hash: string,
  wait: () => Promise<TransactionResult>,
): Sent<Checked> {
  if (expected !== undefined) return { state: 'badNonce', result: { result }, expected }
  if (isFailed(result)) return { state: 'refused', result: { result } }
  const included = wait()
  included.catch(() => undefined)
  return {
    state: known ? 'known' : 'accepted',
    result: { hash, included },
    ended: () => included.then(needIncluded),
  }
}

interface Signed {
  /** Its index among those that are sent together. */
  readonly index: number
  readonly signal: AbortSignal | undefined
  readonly hash: string
  readonly bytes: Uint8Array
}

/**
 * Splits transactions into batches that a body can hold. One that is aborted before its own batch is asked for is in none.
 */
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
    if (one.signal?.aborted) continue
    batch.push(one)
    length += more
  }
  if (batch.length > 0) yield batch
}

/** What a signer has made. Throws the Error of `cannotWait` where it makes it later. */
function madeNow(made: Uint8Array | Promise<Uint8Array>, functionCall: string): Uint8Array {
  if (!(made instanceof Promise)) return made
  // The owner may refuse later, when nobody listens any more.
  made.catch(() => undefined)
  throw cannotWait(functionCall, 'a wallet asks its owner before it signs')
}

/**
 * Signs and sends the transactions of one account. Results of failed transactions are returned like those of good ones.
 */
export type AccountSender = ReturnType<typeof createAccountSender>

/** Creates the sender of a signer's account. */
export function createAccountSender(signer: AnySigner, { transport, chainId, chainIdBlocking }: Setting) {
  const wait = createWait(transport)
  const sign = (id: string, { operation, message }: PendingTx, nonce: number) =>
    signer.signTx({ chainId: id, nonce, operation, message })
  const hashed = (bytes: Uint8Array) => ({ bytes, hash: txHash(bytes) })

  /** Hashes of what the queue has signed and not seen end: a synchronous call in the same words is another transaction. */
  const queued = new Set<string>()
  const waitQueued = (bytes: Uint8Array, hash: string): Promise<TransactionResult> => {
    queued.add(hash)
    return wait(bytes, hash).finally(() => queued.delete(hash))
  }

  const send = async (all: readonly Numbered<PendingTx>[]): Promise<readonly Sent<Checked>[]> => {
    const id = await chainId()
    const sent: Sent<Checked>[] = []
    const signed: Signed[] = []
    for (const [index, { tx, nonce, isFixed, signal }] of all.entries()) {
      try {
        signal?.throwIfAborted()
        signed.push({ index, signal, ...hashed(await sign(id, tx, nonce)) })
      } catch (error) {
        sent[index] = { state: 'failed', error }
        // The others have to be signed with other nonces now. A wallet must not ask its owner for them twice.
        if (!isFixed) break
      }
    }
    // The signals are looked at just before each batch goes: a wallet may have taken minutes to sign.
    for (const batch of batchesOf(signed)) {
      for (const { hash } of batch) queued.add(hash)
      const replies = await transport.askAll(batch.map(({ bytes }) => sendCall(bytes)))
      for (const [at, { index, hash, bytes }] of batch.entries()) {
        const reply = replies[at] as Reply
        queued.delete(hash)
        sent[index] =
          'error' in reply
            ? { state: 'failed', error: sendError(reply.error, hash) }
            : readSent(reply.result as TransactionResult, hash, () => waitQueued(bytes, hash))
      }
    }
    for (const { index, signal } of signed) sent[index] ??= { state: 'failed', error: signal?.reason }
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
        // If it throws, the call still succeeds: the transaction was sent.
        queueMicrotask(() => onSent?.(checked.hash))
        return checked.included
      })
      return abortable(ended, signal)
    },
    /** The same, while this thread waits. */
    submitBlocking: (tx: PendingTx, functionCall: string): TransactionResult => {
      const id = chainIdBlocking(functionCall)
      const ask = (call: Call): unknown => transport.askBlocking(call, functionCall)
      const isFixed = tx.nonce !== undefined
      // A nonce of a transaction that waits is none: the node may not have heard of it.
      const free = (told: number): number => Math.max(told, queue.afterPending())
      let nonce = tx.nonce ?? free(Number(ask(pendingCall(signer.address))))
      let resigns = 0
      for (;;) {
        const { bytes, hash } = hashed(madeNow(sign(id, tx, nonce), functionCall))
        let answer: TransactionResult
        try {
          answer = ask(sendCall(bytes)) as TransactionResult
        } catch (error) {
          throw sendError(error, hash)
        }
        const sent = readSent(answer, hash, async () => answer)
        const isOfQueue = !isFixed && queued.has(hash) && 'ended' in sent
        const retry = isFixed || isOfQueue ? undefined : nonceToRetry(sent, nonce, resigns++, NONCES_OF_TX_MAX - 1)
        if (isOfQueue) nonce += 1
        else if (retry !== undefined) {
          nonce = free(retry)
          if (nonce > retry) pauseBlocking(BEHIND_MS)
        } else if ('ended' in sent) {
          queue.consume(nonce)
          return waitBlocking(() => ask(waitCall(bytes)), hash)
        } else return resultOfFound(answer)
      }
    },
  }
}
