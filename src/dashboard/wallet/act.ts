import { isUnclear } from '../../client/errors.ts'
import { toBase64 } from '../../base/bytes.ts'
import { SvcRpcError, SvcTxError, type TransactionResult } from '../../client/index.ts'
import { type OperationName, forms } from '../../client/gen/forms.ts'
import { txHash } from '../../tx/envelope.ts'
import { sentenceOf as sentenceOfError } from '../data/errors.ts'
import { svc } from '../data/gateway.ts'
import { answerOf } from '../data/questions.ts'
import { createStore } from '../data/store.ts'
import { formatTokens } from '../format.ts'
import { goTo } from '../route.ts'
import { sentenceOf, type TxRequest } from '../operations/index.ts'
import type { Input } from '../operations/operation.ts'
import { readReview, type Review } from './readFacts.ts'
import { currentAccount, openAccount } from './wallet.ts'
import { openWallet } from './walletDialog.ts'

/**
 * What became of a transaction. `asking`: the wallet asks its owner. `late`: in no block in time, and the page goes on
 * looking. `unclear`: the gateway was to sign and send it, and has not said whether it did.
 */
export type Progress =
  | { readonly state: 'asking' | 'waiting' | 'late' }
  | { readonly state: 'done'; readonly height: number }
  | { readonly state: 'failed' | 'unclear'; readonly why: string }

export interface Sent {
  readonly id: number
  readonly words: string
  /** Empty until it is known: where the gateway signs, that is when the transaction is in a block. */
  readonly hash: string
  readonly progress: Progress
}

/** What stands before the reader to be signed. */
export interface OpenReview {
  readonly request: TxRequest
  readonly from: string
  /** What the chain says of it; undefined while it is asked. */
  readonly review: Review | undefined
  readonly error: Error | undefined
  /** The transaction, once the reader has signed. */
  readonly sentId: number | undefined
  /** Called once the gateway has taken it. */
  readonly onSent: () => void
  readonly end: (result: TransactionResult | undefined) => void
}

/** The transactions of this page, the newest first. */
export const sent = createStore<readonly Sent[]>([])

/** What is to be signed now. */
export const openReview = createStore<OpenReview | undefined>(undefined)

const update = (id: number, changed: Partial<Sent>): void =>
  sent.set(sent.get().map((one) => (one.id === id ? { ...one, ...changed } : one)))

let isOpening = false

/**
 * Lets the reader do something on the chain: opens the wallet where no account is open, says in words what is to be
 * signed and what it costs, and sends it once they agree. Resolves with the result when it is in a block, and with
 * undefined when the reader does not want it or it fails, which they are told. `onSent` is called before it is in a
 * block, where the page knows of that.
 */
export async function act<O extends OperationName>(
  operation: O,
  input: Input<O>,
  onSent = () => {},
): Promise<TransactionResult | undefined> {
  if (isOpening || openReview.get() !== undefined) return undefined
  isOpening = true
  const from = currentAccount() ?? (await openWallet())
  isOpening = false
  if (from === undefined) return undefined
  const request: TxRequest<O> = { operation, input }
  return new Promise((end) => {
    openReview.set({ request, from, review: undefined, error: undefined, sentId: undefined, onSent, end })
    answerOf(() => readReview(request, from)).then(
      (review) => changeReview(end, { review }),
      (error: unknown) => changeReview(end, { error: error as Error }),
    )
  })
}

/** Changes the dialog that was opened with `end`, if it is still there. */
function changeReview(end: OpenReview['end'], changed: Partial<OpenReview>): void {
  const open = openReview.get()
  if (open?.end === end) openReview.set({ ...open, ...changed })
}

/** Takes the dialog away. What was not signed is not wanted then; what was signed goes on. */
export function closeReview(): void {
  const open = openReview.get()
  openReview.set(undefined)
  if (open?.sentId === undefined) open?.end(undefined)
}

type Call = (input: object, options: { readonly onSent: (hash: string) => void }) => Promise<TransactionResult>

function functionOf(operation: OperationName): Call {
  let node: unknown = svc.async
  for (const part of forms[operation].call.split('.')) node = (node as Readonly<Record<string, unknown>>)[part]
  return node as Call
}

/** True while the reader still has the dialog of this transaction open, and has gone on to nothing else. */
export const isWatched = ({ hash }: TransactionResult): boolean =>
  sent.get().some((one) => one.hash === hash && one.id === openReview.get()?.sentId)

let nextId = 1

/** Adds to the transactions of this page, and returns its id. */
function addSent(one: Omit<Sent, 'id'>): number {
  const id = nextId++
  sent.set([{ id, ...one }, ...sent.get()])
  return id
}

/** Sends a transaction that is signed already. What becomes of it is in `sent`, by its hash. */
export function sendSigned(words: string, bytes: Uint8Array): void {
  const hash = txHash(bytes)
  const id = addSent({ words, hash, progress: { state: 'waiting' } })
  follow(id, () => svc.async.sendRawTransaction(toBase64(bytes)), { own: hash }).catch((error: Error) =>
    fail(id, error),
  )
}

/** Thrown instead of a signature where others have to sign too: `link` leads to where they do. */
export class DraftMade extends Error {
  override readonly name = 'DraftMade'
  readonly link: string
  constructor(link: string) {
    super('others have to sign too')
    this.link = link
  }
}

/** Signs and sends what the dialog shows, once. */
export async function sign(): Promise<void> {
  const open = openReview.get()
  if (open?.review === undefined || open.sentId !== undefined) return
  const account = openAccount(open.from)
  if (account === undefined) return
  const { request, from, review, end } = open
  const words = sentenceOf(request, review.facts)
  const state = account.origin === 'wallet' ? 'asking' : 'waiting'
  const id = addSent({ words, hash: '', progress: { state } })
  openReview.set({ ...open, sentId: id, error: undefined })
  const onSent = (hash: string): void => {
    update(id, { hash, progress: { state: 'waiting' } })
    open.onSent()
  }
  try {
    const ask = () => functionOf(request.operation)({ ...request.input, from }, { onSent })
    end(await follow(id, ask, { isSignedThere: account.origin === 'devnet' }))
  } catch (error) {
    takeBack(id, end, error as Error)
  }
}

/**
 * Handles a transaction that was not sent. Its dialog shows the error; if the reader has closed the dialog, the list of
 * transactions does. If there is a draft for others to sign, the page goes there.
 */
function takeBack(id: number, end: OpenReview['end'], error: Error): void {
  const isOpen = openReview.get()?.end === end
  const isDraft = error instanceof DraftMade
  if (isOpen || isDraft) sent.set(sent.get().filter((one) => one.id !== id))
  else fail(id, error)
  if (isOpen) changeReview(end, { sentId: undefined, error })
  else end(undefined)
  if (!isDraft) return
  // The dialog of another transaction stays.
  if (isOpen) closeReview()
  goTo(error.link)
}

/**
 * Waits until a transaction is in a block, however long that takes. Rejects when nothing was sent, with why. `own`: its
 * hash, where `ask` does not tell it. `isSignedThere`: the gateway signs it.
 */
async function follow(
  id: number,
  ask: () => Promise<TransactionResult>,
  { own, isSignedThere = false }: { readonly own?: string; readonly isSignedThere?: boolean },
): Promise<TransactionResult | undefined> {
  try {
    const result = await ask()
    update(id, { hash: result.hash, progress: { state: 'done', height: result.height } })
    return result
  } catch (error) {
    if (error instanceof DraftMade) throw error
    if (error instanceof SvcTxError) {
      fail(id, error, error.result.hash)
      return undefined
    }
    // A wallet may throw anything, before there is something to send.
    if (!(error instanceof SvcRpcError)) throw new Error(`${reasonOf(error)}. Nothing was sent`)
    const hash = (error.data as { readonly hash?: string } | undefined)?.hash ?? (isUnclear(error) ? own : undefined)
    if (hash !== undefined) {
      update(id, { hash, progress: { state: 'late' } })
      await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS))
      return follow(id, () => svc.async.waitForTx(hash), {})
    }
    if (!isSignedThere || !isUnclear(error)) throw new Error(`${reasonOf(error)}. Nothing was sent`)
    update(id, { progress: { state: 'unclear', why: reasonOf(error) } })
    return undefined
  }
}

const fail = (id: number, error: Error, hash?: string): void =>
  update(id, { ...(hash === undefined ? {} : { hash }), progress: { state: 'failed', why: whyOf(error) } })

/** How long the page waits until it looks again, in ms. */
const LOOK_AGAIN_MS = 2_000

/** How much of a reason is told: a wallet may say anything. */
const REASON_MAX = 300

/** True where the owner of a wallet has refused what it asked. Source: EIP-1193, Provider Errors. */
const isRefusal = (error: unknown): boolean => (error as { readonly code?: unknown } | null)?.code === 4001

/** Why something failed. What a wallet throws need not be an Error. */
export function reasonOf(error: unknown): string {
  if (isRefusal(error)) return 'You refused it in the wallet'
  if (error instanceof SvcRpcError) return sentenceOfError(error).replace(/\.$/, '')
  const message = (error as { readonly message?: unknown } | null)?.message ?? error ?? 'It did not say why'
  return String(message).slice(0, REASON_MAX)
}

function whyOf(error: Error): string {
  if (!(error instanceof SvcTxError)) return error.message
  const { code, log, shortfall } = error
  const lacked =
    shortfall === undefined
      ? ''
      : `: needed are ${formatTokens(shortfall.needed, 18)} token, there are ${formatTokens(shortfall.available, 18)} token`
  return `The chain refused it with code ${code}, ${log}${lacked}.`
}
