import { toBase64 } from '../base/bytes.ts'
import { txHash } from '../tx/envelope.ts'
import type { Signer } from '../tx/sign.ts'
import { SvcRpcError } from './errors.ts'
import type { TransactionResult } from './types.ts'
import { BATCH_MAX, type Call, type Reply, type Transport } from './transport.ts'

/** An operation to sign. */
export interface Order {
  readonly operation: string
  readonly message: Readonly<Record<string, unknown>>
}

/**
 * The transactions of one account that this client signs. Results of failed transactions are returned like those of
 * good ones.
 */
export interface Lane {
  /**
   * Sends with the account's next nonce, in the order of the calls. Rejects with an SvcRpcError or the signal's reason.
   */
  readonly submit: (order: Order, signal?: AbortSignal) => Promise<TransactionResult>
  /** The same, while this thread waits. */
  readonly submitBlocking: (order: Order, functionCall: string) => TransactionResult
  /** The call that sends an order with a nonce of the caller's. */
  readonly withNonce: (order: Order, nonce: number, chainId: string) => Call
}

/** What a lane needs of its client. */
export interface LaneSetting {
  readonly transport: Transport
  readonly chainId: () => Promise<string>
  readonly chainIdBlocking: (functionCall: string) => string
}

interface Entry {
  readonly order: Order
  /** Its place among all orders of the account. */
  readonly place: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (result: TransactionResult) => void
  readonly reject: (error: unknown) => void
  /** The nonce that the chain expected when it refused this one's. */
  refusedAt?: number
}

interface Signed {
  readonly entry: Entry
  readonly nonce: number
  readonly bytes: Uint8Array
}

/** Most bytes of base64 in one batch; the gateway takes a body of 1 MiB. */
const BATCH_TEXT_MAX = 700_000
const POLL_MS = 5
const POLL_MS_MAX = 200
const BAD_NONCE = 6

/** The nonce that the chain expects, when it refused a transaction for its nonce. Source: protocol.md §2, check 4. */
function expectedNonce({ check_tx: { code, log = '' } }: TransactionResult): number | undefined {
  const expected = code === BAD_NONCE ? /^bad nonce: expected ([0-9]{1,16}),/.exec(log)?.[1] : undefined
  return expected === undefined ? undefined : Number(expected)
}

/** True when a result has used its nonce up: it is in a block, if only as a failure. Source: protocol.md §2. */
const usesNonce = ({ height, deliver_tx }: TransactionResult): boolean => height > 0 || deliver_tx.code !== undefined

const rawCall = (bytes: Uint8Array): Call => ({ method: 'svc_sendRawTransaction', params: [toBase64(bytes)] })
const pendingCall = (address: string): Call => ({ method: 'svc_getTransactionCount', params: [address, 'pending'] })

/** The same error with the hash of what was sent: it may still be committed. */
function withHash(error: SvcRpcError, bytes: Uint8Array): SvcRpcError {
  const { method, code, message, data } = error
  const told = new SvcRpcError(method, code, message.slice(method.length + 2), {
    hash: txHash(bytes),
    ...(data as object),
  })
  return Object.assign(told, { cause: error })
}

const pause = (ms: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, ms)
  })

/** Orders of one account that wait, what is on its way, and what the next nonce is thought to be. */
function makeBook() {
  const waiting: Entry[] = []
  const used = new Set<number>()
  const book = {
    waiting,
    used,
    inFlight: 0,
    next: undefined as number | undefined,
    /** What the refusals since the last drain say comes next; undefined with `isStale`: to be asked for. */
    resync: undefined as number | undefined,
    isStale: true,
    /** Puts an order back to its place. */
    again: (entry: Entry): void => {
      const at = waiting.findIndex(({ place }) => place > entry.place)
      waiting.splice(at < 0 ? waiting.length : at, 0, entry)
    },
    /** Takes the next orders for one batch; those that were given up are answered. */
    take: (sign: (order: Order, nonce: number) => Uint8Array, first: number): Signed[] => {
      const batch: Signed[] = []
      let length = 0
      while (batch.length < BATCH_MAX && length < BATCH_TEXT_MAX) {
        const entry = waiting.shift()
        if (entry === undefined) break
        if (entry.signal?.aborted === true) continue
        const nonce = first + batch.length
        try {
          const bytes = sign(entry.order, nonce)
          batch.push({ entry, nonce, bytes })
          length += (bytes.length * 4) / 3
        } catch (error) {
          entry.reject(error)
        }
      }
      return batch
    },
  }
  return book
}

type Book = ReturnType<typeof makeBook>

/**
 * Answers the orders of a batch. One that was refused for its nonce goes back to be signed anew: once, and once more
 * each time that somebody else, who signs with the same key, has moved the account on, or an order before it in the
 * batch has left a hole.
 */
function settle(book: Book, batch: readonly Signed[], replies: readonly Reply[]): void {
  let isHole = false
  for (const [at, { entry, nonce, bytes }] of batch.entries()) {
    const reply = replies[at] ?? { error: new SvcRpcError('svc_sendRawTransaction', undefined, 'no answer') }
    if ('error' in reply) {
      book.isStale = isHole = true
      entry.reject(withHash(reply.error, bytes))
      continue
    }
    const result = reply.result as TransactionResult
    const expected = expectedNonce(result)
    if (expected === undefined && usesNonce(result)) {
      // Another order with this nonce is in a block, said in the same words: this one has not been carried out.
      if (book.used.has(nonce)) {
        book.isStale = true
        book.again(entry)
      } else {
        book.used.add(nonce)
        entry.resolve(result)
      }
      continue
    }
    book.isStale = true
    book.resync = Math.max(book.resync ?? 0, expected ?? nonce)
    if (expected === undefined || (!isHole && entry.refusedAt === expected)) entry.resolve(result)
    else {
      if (!isHole) entry.refusedAt = expected
      book.again(entry)
    }
    isHole = true
  }
}

/** Sends what waits, batch after batch; one batch follows another once the gateway knows all of it. */
function makePump(signer: Signer, { transport, chainId }: LaneSetting, book: Book): () => void {
  const pending = async (): Promise<number> => Number(await transport.ask(pendingCall(signer.address)))
  let last: { readonly upTo: number; readonly answered: Promise<void>; isAnswered: boolean } | undefined
  const lastIsTaken = async (): Promise<void> => {
    for (let ms = POLL_MS; last !== undefined && !last.isAnswered; ms = Math.min(2 * ms, POLL_MS_MAX)) {
      if ((await pending()) >= last.upTo) return
      await Promise.race([last.answered, pause(ms)])
    }
  }
  const flights = new Set<Promise<void>>()
  const send = (batch: readonly Signed[]): void => {
    const answered = transport
      .askAll(batch.map(({ bytes }) => rawCall(bytes)))
      .then((replies) => settle(book, batch, replies))
    const flight = { upTo: book.next as number, answered, isAnswered: false }
    last = flight
    flights.add(answered)
    book.inFlight += 1
    void answered.then(() => {
      flight.isAnswered = true
      flights.delete(answered)
      book.inFlight -= 1
      pump()
    })
  }
  const step = async (): Promise<void> => {
    const id = await chainId()
    await lastIsTaken()
    if (book.isStale) {
      // What is on its way decides which nonces are free.
      await Promise.all(flights)
      book.isStale = false
      book.next = book.resync ?? (await pending())
      book.resync = undefined
    }
    const first = book.next as number
    const batch = book.take((order, nonce) => signer.signTx({ chainId: id, nonce, ...order }), first)
    book.next = first + batch.length
    if (batch.length > 0) send(batch)
  }
  let isPumping = false
  const pump = (): void => {
    if (isPumping) return
    if (book.waiting.length === 0) {
      if (book.inFlight === 0) book.used.clear()
      return
    }
    isPumping = true
    step()
      .catch((error: unknown) => {
        book.isStale = true
        for (const { reject } of book.waiting.splice(0)) reject(error)
      })
      .finally(() => {
        isPumping = false
        pump()
      })
  }
  return pump
}

/** The lane of a signer's account. */
export function makeLane(signer: Signer, setting: LaneSetting): Lane {
  const { transport, chainIdBlocking } = setting
  const book = makeBook()
  const pump = makePump(signer, setting, book)
  let orders = 0
  const submit: Lane['submit'] = (order, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const give = (): void => reject(signal?.reason)
      signal?.addEventListener('abort', give, { once: true })
      const done = (): void => signal?.removeEventListener('abort', give)
      orders += 1
      book.waiting.push({
        order,
        place: orders,
        signal,
        resolve: (result) => {
          done()
          resolve(result)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      })
      // Calls of one turn of the program go together.
      queueMicrotask(pump)
    })
  const submitBlocking: Lane['submitBlocking'] = (order, functionCall) => {
    const chainId = chainIdBlocking(functionCall)
    const ask = (call: Call): unknown => transport.askBlocking(call, functionCall)
    let nonce = Number(ask(pendingCall(signer.address)))
    book.isStale = true
    for (let refusedAt: number | undefined; ; ) {
      const bytes = signer.signTx({ chainId, nonce, ...order })
      const result = sendBlocking(ask, bytes)
      const expected = expectedNonce(result)
      if (expected === undefined && usesNonce(result) && book.used.has(nonce)) nonce += 1
      else if (expected === undefined || expected === refusedAt) {
        if (book.inFlight > 0 && usesNonce(result)) book.used.add(nonce)
        return result
      } else refusedAt = nonce = expected
    }
  }
  const withNonce: Lane['withNonce'] = (order, nonce, chainId) => {
    book.isStale = true
    return rawCall(signer.signTx({ chainId, nonce, ...order }))
  }
  return { submit, submitBlocking, withNonce }
}

function sendBlocking(ask: (call: Call) => unknown, bytes: Uint8Array): TransactionResult {
  try {
    return ask(rawCall(bytes)) as TransactionResult
  } catch (error) {
    throw error instanceof SvcRpcError ? withHash(error, bytes) : error
  }
}
