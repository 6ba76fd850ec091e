import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { TxBody } from '../../tx/envelope.ts'
import { useClock } from '../data/blockTime.ts'
import { useStore } from '../data/store.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { ErrorNote, Loading } from '../parts/notes.tsx'
import { Facts } from '../parts/layout.tsx'
import { Failure } from '../parts/transactions.tsx'
import { Badge, HeightLink, LabelsIn, Moment, Short, Tokens, UserText, Whole, WholeAddress } from '../parts/text.tsx'
import { lazyPart } from '../parts/lazyView.tsx'
import { WhenBlock } from '../parts/TimeLeft.tsx'
import { useFocus } from '../parts/useFocus.ts'
import { pageOf, sentenceOf, type TxRequest } from '../operations/index.ts'
import type { Due } from '../operations/operation.ts'
import { formatCount, formatTokens, isDate } from '../format.ts'
import { linkTo } from '../route.ts'
import { closeReview, sent, type Sent, openReview, type OpenReview, sign } from './act.ts'
import type { Review } from './readFacts.ts'
import { useWallet } from './wallet.ts'

const Fields = lazyPart(async () => (await import('../parts/Message.tsx')).Fields)

/** A block or a time to come, with the block that the other is judged by. */
function When({ due: { height, time, blocks } }: { readonly due: Due }) {
  const newest = useClock()?.height
  if (time !== undefined && !isDate(time * 1_000)) return <span class='number'>{time}</span>
  if (time !== undefined) return <Moment time={new Date(time * 1_000).toISOString()} />
  const at = height ?? (newest === undefined || blocks === undefined ? undefined : newest + 1 + blocks)
  if (at === undefined) return <>in {formatCount(blocks ?? 0)} blocks</>
  return (
    <>
      {height === undefined ? 'about block' : 'block'} <span class='number'>{formatCount(at)}</span>
      <WhenBlock height={at} />
    </>
  )
}

/** What a request costs, and what the account has left. */
function costOf({ fee, balance, facts }: Review, request: TxRequest) {
  const outflow = pageOf(request).outflow?.(request.input, facts)
  const needed = fee + (outflow?.units ?? 0n)
  return { outflow, needed, left: balance - needed }
}

function Cost({ review, request, body }: Parameters<typeof Signed>[0]) {
  const { outflow, needed, left } = costOf(review, request)
  const due = pageOf(request).due?.(request.input, review.facts)
  const rows: Readonly<Record<string, ComponentChildren>> = {
    ...(due === undefined ? {} : { [due.name]: <When due={due} /> }),
    ...(body === undefined ? {} : { Chain: <UserText text={body.chainId} />, Nonce: body.nonce }),
    Fee: <Tokens units={review.fee} decimals={18} />,
    ...(outflow === undefined ? {} : { [outflow.name]: <Tokens units={outflow.units} decimals={18} /> }),
    Balance: <Tokens units={review.balance} />,
    ...(left < 0n ? {} : { 'Left after it': <Tokens units={left} /> }),
  }
  return (
    <>
      <Facts facts={{ From: <WholeAddress address={review.facts.from} />, ...rows }} />
      {left < 0n ? (
        <p class='note bad' role='alert'>
          The balance does not cover this: {formatTokens(needed, 18)} token are needed, and there are{' '}
          {formatTokens(review.balance, 18)} token.
        </p>
      ) : null}
    </>
  )
}

const warningOf = (request: TxRequest, { facts }: Review): string | undefined =>
  pageOf(request).warning?.(request.input, facts)

/** A yes and a no stand apart at the first glance. */
const markOf = ({ operation, input }: TxRequest): string =>
  operation === 'vote' ? ('answer' in input && input.answer === 'Y' ? 'yes' : 'no') : ''

/** What is to be signed: in words, what it costs, and all its fields, behind a switch while only the reader wrote it. */
export function Signed({
  request,
  review,
  body,
  id,
}: {
  readonly request: TxRequest
  readonly review: Review
  /** The body of a transaction that is made already. */
  readonly body?: Pick<TxBody, 'chainId' | 'nonce'>
  /** What the button that signs is described by; with `-warning` behind it that of the warning. */
  readonly id?: string
}) {
  const warning = warningOf(request, review)
  return (
    <>
      <p id={id} class={`words-signed ${markOf(request)}`}>
        {sentenceOf(request, review.facts)}
      </p>
      <LabelsIn text={sentenceOf(request, review.facts)} />
      {warning === undefined ? null : (
        <p id={id && `${id}-warning`} class='note bad'>
          {warning}
        </p>
      )}
      <Cost request={request} review={review} {...(body === undefined ? {} : { body })} />
      <details open={body !== undefined}>
        <summary>All that is signed</summary>
        <Facts facts={{ Operation: <span class='mono'>{request.operation}</span> }} />
        <Fields operation={request.operation} message={request.input} />
      </details>
    </>
  )
}

/** What is to be signed, and the button that signs it. */
function Before({ open, review }: { readonly open: OpenReview; readonly review: Review }) {
  const button = useFocus<HTMLButtonElement>()
  const id = useId()
  const { accounts } = useWallet()
  const account = accounts.find(({ address }) => address === open.from)
  const isOpen = account !== undefined
  const canSign = isOpen && costOf(review, open.request).left >= 0n
  return (
    <>
      <Signed id={id} request={open.request} review={review} />
      {account?.origin === 'wallet' ? (
        <p class='note'>Your wallet will show it too, field by field, and asks you to confirm it.</p>
      ) : null}
      {account?.origin === 'several' ? (
        <p class='note'>
          {account.note} keys have to sign it. Next you sign with those that you have, and pass it on to the others.
        </p>
      ) : null}
      {isOpen ? null : <ErrorNote error={new Error('This account was closed in the meantime.')} />}
      <div class='actions'>
        <button
          ref={button}
          type='button'
          // The focus goes here at once: who hears the page hears what is signed.
          aria-describedby={`${id} ${id}-warning`}
          class={warningOf(open.request, review) === undefined ? 'main' : 'main danger'}
          disabled={!canSign}
          // The second click of a double click on whatever opened this dialog signs nothing.
          onClick={({ detail }) => detail < 2 && void sign()}
        >
          {account?.origin === 'several' ? 'Go on to the signatures' : 'Sign and send'}
        </button>
        <button type='button' onClick={closeReview}>
          Cancel
        </button>
      </div>
    </>
  )
}

/** How far a transaction has come. */
export function ProgressNote({ progress }: Pick<Sent, 'progress'>) {
  switch (progress.state) {
    case 'asking':
      return <p class='note waiting'>Confirm it in your wallet. If it shows nothing, connect it again.</p>
    case 'waiting':
      return <p class='note waiting'>Waiting for a block.</p>
    case 'late':
      return (
        <p class='note waiting'>
          It is in no block yet, which takes longer than usual. It may still come, and this page goes on looking.
        </p>
      )
    case 'done':
      return (
        <p class='note good'>
          Done, in block <HeightLink height={progress.height} />.
        </p>
      )
    case 'failed':
      return <p class='note bad'>{progress.why}</p>
    case 'unclear':
      return (
        <p class='note bad'>
          {progress.why}. It may be sent all the same: look at the transactions of the account before you send it again.
        </p>
      )
  }
}

function After({ one }: { readonly one: Sent }) {
  const close = useFocus<HTMLButtonElement>()
  return (
    <>
      <p class='words-signed'>{one.words}</p>
      <div role='status'>
        <ProgressNote progress={one.progress} />
      </div>
      {one.hash === '' ? null : <Facts facts={{ Transaction: <Whole text={one.hash} label='the hash' /> }} />}
      <div class='actions'>
        <button ref={close} type='button' class='main' onClick={closeReview}>
          Close
        </button>
        {one.progress.state === 'done' ? (
          <a class='button' href={linkTo(['transactions', one.hash])}>
            Show the transaction
          </a>
        ) : null}
      </div>
    </>
  )
}

/** How far a transaction has come: the title of its dialog, and its badge in the list. */
const STATES = {
  asking: ['Your wallet asks you', <Badge tone='waiting'>in your wallet</Badge>],
  waiting: ['On its way', <Badge tone='waiting'>waiting</Badge>],
  late: ['Sent', <Badge tone='waiting'>not in time</Badge>],
  done: ['Done', <Badge tone='good'>done</Badge>],
  failed: ['It failed', <Badge tone='bad'>failed</Badge>],
  unclear: ['No answer', <Badge tone='waiting'>no answer</Badge>],
} as const

/** What is to be signed, in front of the page. */
export function ReviewDialog() {
  const open = useStore(openReview)
  const all = useStore(sent)
  if (open === undefined) return null
  const one = all.find(({ id }) => id === open.sentId)
  const { review, error } = open
  return (
    <Dialog title={one === undefined ? 'Sign' : STATES[one.progress.state][0]} onClose={closeReview}>
      <ErrorNote error={error} />
      {one !== undefined ? <After one={one} /> : review !== undefined ? <Before open={open} review={review} /> : null}
      {review === undefined && error === undefined ? <Loading /> : null}
    </Dialog>
  )
}

/** The transactions that this page has sent, the newest first. */
export function SentList() {
  const all = useStore(sent)
  if (all.length === 0) return null
  return (
    <section class='sent' aria-label='Your transactions'>
      <h2>Your transactions</h2>
      <ul>
        {all.map(({ id, words, hash, progress }) => (
          <li key={id}>
            {STATES[progress.state][1]}{' '}
            <span>
              {words} <LabelsIn text={words} />
              {progress.state === 'failed' ? <Failure why={progress.why} /> : null}
            </span>
            {hash === '' ? null : <Short text={hash} to={linkTo(['transactions', hash])} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
