import { toBase64 } from '../base/bytes.ts'
import { txHash } from '../tx/envelope.ts'
import { createNonceQueue, nonceToRetry, type Numbered, type Sent } from '../tx/nonceQueue.ts'
import type { TransactionResult } from '../tx/result.ts'
import type { Signer } from '../tx/sign.ts'
import { isFailed, NOT_IN_BLOCK, SvcRpcError, TOO_MANY } from './errors.ts'
import { BATCH_MAX, type Call, pause, POLL_MS, type Reply, resultOf, type Transport, WAIT_MS } from './transport.ts'
import type { WaitOptions } from './types.ts'

/** A transaction that is not signed yet. */
export interface PendingTx {
  readonly operation: string
  readonly message: Readonly<Record<string, unknown>>
  /** The caller's nonce; the next one of the account when left out. */
  readonly nonce: number | undefined
}

/**
 * Signs and sends the transactions of one account. Results of failed transactions are returned like those of good ones.
 */
export interface AccountSender {
  /** Sends in the order of the calls. Rejects with an SvcRpcError or with the signal's reason. */
  readonly submit: (tx: PendingTx, signal?: AbortSignal) => Promise<TransactionResult>
  /** The same, while this thread waits. */
  readonly submitBlocking: (tx: PendingTx, functionCall: string) => TransactionResult
}

/** What a sender needs of its client. */
export interface SenderSetting {
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

/** The same error with the hash of what was sent: the transaction may still be committed. */
function withHash(error: SvcRpcError, hash: string): SvcRpcError {
  const { method, code, message, data } = error
  const words = message.slice(method.length + 2)
  return Object.assign(new SvcRpcError(method, code, words, { hash, ...(data as object) }), { cause: error })
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
 * Creates a function that resolves with a transaction's result once the transaction is in a block. Transactions must be
 * given in the order in which blocks take them: only the first one that is not in a block yet is asked for again and
 * again, and the others when it was found. Rejects with SvcRpcError -32012 after `timeoutMs`.
 */
export function createFollower(
  transport: Transport,
): (hash: string, options?: WaitOptions) => Promise<TransactionResult> {
  interface Followed extends PromiseWithResolvers<TransactionResult> {
    readonly deadlineMs: number
    readonly timeoutMs: number
    readonly signal: AbortSignal | undefined
  }
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

  const giveUp = (isOver: (one: Followed) => boolean, reason: (hash: string, one: Followed) => unknown): void => {
    for (const [hash, one] of followed) {
      if (!isOver(one)) continue
      followed.delete(hash)
      one.reject(reason(hash, one))
    }
  }

  /** Looks for what is in blocks, and returns how long to pause, in ms. */
  const lookOnce = async (): Promise<number> => {
    try {
      for (let count = 1; followed.size > 0 && (await look(count)); ) count = BATCH_MAX
      return POLL_MS
    } catch (error) {
      const waitMs = retryAfterMs(error)
      if (waitMs === undefined)
        giveUp(
          () => true,
          (hash) => (error instanceof SvcRpcError ? withHash(error, hash) : error),
        )
      return waitMs ?? 0
    }
  }

  const lookUntilEmpty = async (): Promise<void> => {
    while (followed.size > 0) {
      const pauseMs = await lookOnce()
      giveUp(
        ({ signal }) => signal?.aborted === true,
        (_hash, { signal }) => signal?.reason,
      )
      giveUp(
        ({ deadlineMs }) => performance.now() >= deadlineMs,
        (hash, { timeoutMs }) => notInBlock(hash, timeoutMs),
      )
      if (followed.size > 0) await pause(pauseMs)
    }
  }

  return (hash, { signal, timeoutMs = WAIT_MS } = {}) => {
    const known = followed.get(hash)
    if (known !== undefined) return known.promise
    const one = {
      ...Promise.withResolvers<TransactionResult>(),
      deadlineMs: performance.now() + timeoutMs,
      timeoutMs,
      signal,
    }
    followed.set(hash, one)
    if (followed.size === 1) void lookUntilEmpty()
    return one.promise
  }
}

/** A transaction as far as CheckTx: refused with a result, or to be followed into its block. */
type Checked = { readonly result: TransactionResult } | { readonly landed: Promise<TransactionResult> }

interface Signed {
  readonly hash: string
  readonly bytes: Uint8Array
  readonly isFixed: boolean
}

/** What the gateway's answer with `wait: false` says. `isFixed`: the caller chose the nonce. */
function readSent(
  { expected_nonce: expected, known, ...result }: TransactionResult,
  isFixed: boolean,
  follow: () => Promise<TransactionResult>,
): Sent<Checked> {
  if (known === true && !isFixed) return { state: 'taken' }
  if (expected !== undefined) return { state: 'badNonce', result: { result }, expected }
  if (isFailed(result)) return { state: 'refused', result: { result } }
  const landed = follow()
  landed.catch(() => undefined)
  return { state: known === true ? 'known' : 'accepted', result: { landed }, ended: () => landed }
}

const readReply = (
  reply: Reply,
  { hash, isFixed }: Signed,
  follow: (hash: string) => Promise<TransactionResult>,
): Sent<Checked> =>
  'error' in reply
    ? { state: 'failed', error: withHash(reply.error, hash) }
    : readSent(reply.result as TransactionResult, isFixed, () => follow(hash))

type Numbering = readonly [number, Signed]

/** Splits transactions into batches that a body can hold. */
function* batchesOf(all: readonly Numbering[]): Generator<readonly Numbering[]> {
  let batch: Numbering[] = []
  let length = 0
  for (const one of all) {
    const more = (one[1].bytes.length * 4) / 3
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

/** Rejects with the signal's reason as soon as it is aborted. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Creates the sender of a signer's account. */
export function createAccountSender(signer: Signer, setting: SenderSetting): AccountSender {
  const { transport, chainId, chainIdBlocking } = setting
  const follow = createFollower(transport)
  const sign = (id: string, { operation, message }: PendingTx, nonce: number, isFixed: boolean): Signed => {
    const bytes = signer.signTx({ chainId: id, nonce, operation, message })
    return { bytes, hash: txHash(bytes), isFixed }
  }

  const send = async (all: readonly Numbered<PendingTx>[]): Promise<readonly Sent<Checked>[]> => {
    const id = await chainId()
    const sent: Sent<Checked>[] = []
    const signed = new Map<number, Signed>()
    for (const [index, { tx, nonce, isFixed }] of all.entries()) {
      try {
        signed.set(index, sign(id, tx, nonce, isFixed))
      } catch (error) {
        sent[index] = { state: 'failed', error }
      }
    }
    for (const batch of batchesOf([...signed])) {
      const replies = await transport.askAll(batch.map(([, { bytes }]) => sendCall(bytes)))
      for (const [place, [index, one]] of batch.entries()) sent[index] = readReply(replies[place] as Reply, one, follow)
    }
    return sent
  }

  const queue = createNonceQueue<PendingTx, Checked>({
    readNonce: async () => Number(await transport.ask(pendingCall(signer.address))),
    send,
    batchMax: BATCH_MAX,
  })

  const submit: AccountSender['submit'] = (tx, signal) => {
    const ended = queue
      .submit(tx, { nonce: tx.nonce, signal })
      .then((checked) => ('landed' in checked ? checked.landed : checked.result))
    return abortable(ended, signal)
  }

  const submitBlocking: AccountSender['submitBlocking'] = (tx, functionCall) => {
    const id = chainIdBlocking(functionCall)
    const ask = (call: Call): unknown => transport.askBlocking(call, functionCall)
    const isFixed = tx.nonce !== undefined
    let nonce = tx.nonce ?? Number(ask(pendingCall(signer.address)))
    for (let resigns = 0; ; resigns++) {
      const { bytes, hash } = sign(id, tx, nonce, isFixed)
      try {
        const answer = ask(sendCall(bytes)) as TransactionResult
        const sent = readSent(answer, isFixed, async () => answer)
        const retry = isFixed ? undefined : nonceToRetry(sent, nonce, resigns)
        if (retry !== undefined) nonce = retry
        else if ('ended' in sent) return ask(waitCall(bytes)) as TransactionResult
        else return resultOfFound(answer)
      } catch (error) {
        throw error instanceof SvcRpcError ? withHash(error, hash) : error
      }
    }
  }
  return { submit, submitBlocking }
}
