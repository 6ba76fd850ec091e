import type { GetShortfallResult } from '../../client/index.ts'
import { useRef } from 'preact/hooks'
import { type Tx, useEarliest } from '../data/useTransactions.ts'
import { head } from '../data/chain.ts'
import { svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { Facts, Section, View } from '../parts/layout.tsx'
import { Fields } from '../parts/Message.tsx'
import { EmptyNote, ErrorNote, Loading, Pending } from '../parts/notes.tsx'
import { AccountLink, Badge, HeightLink, Moment, Short, Tokens, UserText, Whole } from '../parts/text.tsx'
import { Failure, whyFailed } from '../parts/transactions.tsx'
import { Sentence } from '../parts/Words.tsx'
import { proposalLink } from '../data/proposals.ts'
import { visibleText } from '../marks.ts'
import { linkTo } from '../route.ts'
import { operationTitle, operationWords } from '../operations/index.ts'
import { sent, type Sent } from '../wallet/act.ts'
import { ProgressNote } from '../wallet/ReviewDialog.tsx'
import { formatCount } from '../format.ts'

const decoded = (base64: string): string | undefined => {
  try {
    return atob(base64)
  } catch {
    return undefined
  }
}

/** What the operation gave back: the id of a proposal, or of a request. */
function Data({ tx, data }: { readonly tx: Tx; readonly data: string }) {
  if (tx.operation?.startsWith('propose') === true)
    return (
      <>
        the id of a proposal, <Short text={data} to={proposalLink(data)} />
      </>
    )
  const text = decoded(data)
  if (tx.operation === 'updateCandidacyAccount' && text !== undefined)
    return (
      <>
        the id of an account update request, <span class='number'>{text}</span>
      </>
    )
  return <span class='mono'>{data}</span>
}

function Fee({ fee }: Pick<Tx['deliver_tx'], 'fee'>) {
  if (fee.value === undefined) return <span class='soft'>none</span>
  return (
    <>
      <Tokens units={fee.value} decimals={18} /> <span class='soft'>({decoded(fee.key ?? '')})</span>
    </>
  )
}

/** One of the two results of a transaction: what it says, and beside that how the interface shows it. */
function Result({ title, part, tx }: { readonly title: string; readonly part: Tx['deliver_tx']; readonly tx: Tx }) {
  const { code = 0, log, gasUsed, fee, data } = part
  return (
    <section class='result' aria-label={title}>
      <h3 class='mono'>{title}</h3>
      <Facts
        facts={{
          Code: code === 0 ? '0 (success)' : code,
          Log: log === undefined ? undefined : <UserText text={log} />,
          'Gas used':
            gasUsed === undefined ? undefined : <span class='number'>{Number(gasUsed).toLocaleString('en')}</span>,
          Fee: <Fee fee={fee} />,
          Data: data === undefined ? undefined : <Data tx={tx} data={data} />,
        }}
      />
      <details>
        <summary>JSON</summary>
        <pre class='raw'>{visibleText(JSON.stringify(part, null, 2))}</pre>
      </details>
    </section>
  )
}

/** Which balance was too low, and by how much. */
function Shortfall({ shortfall: { account, needed, fee, available } }: { shortfall: NonNullable<GetShortfallResult> }) {
  const lacking = BigInt(needed) - BigInt(available)
  return (
    <p class='note bad'>
      It needed <Tokens units={needed} decimals={18} /> of <AccountLink address={account} />
      {BigInt(fee) > 0n && (
        <>
          {' '}
          (<Tokens units={fee} decimals={18} /> of it for the fee)
        </>
      )}
      , which had <Tokens units={available} decimals={18} />: <Tokens units={lacking} decimals={18} /> too little.
    </p>
  )
}

/** The candidacy that an operation without further fields is about: its sender's. */
const CANDIDACY = /Candidacy(?:Account)?$/

function Found({ tx }: { readonly tx: Tx }) {
  const why = whyFailed(tx)
  const { height, operation, message, sender, nonce } = tx
  const block = useAnswer(`block/${height}/time`, () => svc.async.getBlock({ block: height, limit: 1 }), 'once')
  const time = block.data?.time
  const concerned = operation !== null && CANDIDACY.test(operation) && operation !== 'verifyCandidacy' ? sender : null
  return (
    <>
      <p class='summary'>
        <Sentence words={operationWords(operation, message)} />{' '}
        {why === undefined ? <Badge tone='good'>done</Badge> : <Badge tone='bad'>failed</Badge>}
        {why === undefined ? null : <Failure why={why} />}
      </p>
      <Facts
        facts={{
          Hash: <Whole text={tx.hash} label='the hash of the transaction' />,
          Block: (
            <>
              <HeightLink height={height} /> <span class='soft'>transaction {tx.index + 1}</span>
            </>
          ),
          Time: time === undefined ? <Pending /> : <Moment time={time} />,
          Sender: sender === null ? 'none: these bytes are no transaction' : <AccountLink address={sender} />,
          Nonce: nonce === null ? undefined : <span class='number'>{nonce}</span>,
          Candidacy: concerned === null ? undefined : <Short text={concerned} to={linkTo(['validators', concerned])} />,
        }}
      />
      {operation !== null && message !== null && (
        <Section title='Fields' aside={<span class='mono'>{operation}</span>}>
          <Fields operation={operation} message={message} />
        </Section>
      )}
      <Section title='Result'>
        <div class='results'>
          <Result title='check_tx' part={tx.check_tx} tx={tx} />
          <Result title='deliver_tx' part={tx.deliver_tx} tx={tx} />
        </div>
      </Section>
    </>
  )
}

/** A transaction of which the node has nothing: only the hash is known, and what that can mean. */
function Unknown() {
  const newest = useStore(head)?.height
  const first = useRef(newest)
  first.current ??= newest
  const earliest = useEarliest()
  const blocks = (newest ?? 0) - (first.current ?? 0)
  return (
    <div role='status'>
      <p class='note'>
        This node does not know this transaction: none of its blocks holds it
        {blocks === 0
          ? ''
          : `, nor ${blocks === 1 ? 'the one' : `any of the ${formatCount(blocks)}`} made since you came`}
        . That can mean:
      </p>
      <ul>
        <li>It was sent a moment ago. This page shows it as soon as it is in a block.</li>
        <li>It was refused. Then nothing of it happened, and only who sent it was told why.</li>
        {earliest > 1 && (
          <li>It is in a block before {formatCount(earliest)}, the first one that this node still has.</li>
        )}
        <li>It is a transaction of another chain, or the hash is mistyped.</li>
      </ul>
    </div>
  )
}

/** A transaction that is in no block. `own`: what this page knows of it, if it has sent it. */
function Missing({ isRefused, own }: { readonly isRefused: boolean; readonly own: Sent | undefined }) {
  if (own?.progress.state === 'failed') {
    return (
      <>
        <p class='summary'>
          <UserText text={own.words} /> <Badge tone='bad'>failed</Badge>
        </p>
        <p class='note bad'>
          <UserText text={own.progress.why} /> It is in no block and waits for none: nothing of it happened.
        </p>
      </>
    )
  }
  if (isRefused) {
    return (
      <EmptyNote>
        This transaction was refused before it came into a block, because a balance was too low. Its sender may send it
        again once the balance covers it.
      </EmptyNote>
    )
  }
  if (own === undefined) return <Unknown />
  return (
    <>
      <p class='summary'>
        <UserText text={own.words} />
      </p>
      <div role='status'>
        <ProgressNote progress={own.progress} />
      </div>
    </>
  )
}

/** A transaction by its hash. One that is in no block yet is shown as soon as it is. */
export function Transaction({ hash }: { readonly hash: string }) {
  const isHash = /^(?:0x)?[0-9a-f]{64}$/i.test(hash)
  const name = hash.replace(/^0x/i, '').toUpperCase()
  const { data: tx, error } = useAnswer(
    isHash ? `tx/${name}` : undefined,
    () => svc.async.getTransaction(name),
    'untilFound',
  )
  const own = useStore(sent).find((one) => one.hash === name)
  const mayLack = tx === null || (tx !== undefined && whyFailed(tx) !== undefined)
  const { data: shortfall } = useAnswer(
    mayLack ? `shortfall/${name}/${tx?.height ?? ''}` : undefined,
    () => svc.async.getShortfall(name),
    'once',
  )
  return (
    <View title={tx ? operationTitle(tx.operation) : 'Transaction'}>
      <ErrorNote error={error} />
      {!isHash && <EmptyNote>A transaction is named by its hash: 64 hex digits.</EmptyNote>}
      {isHash && tx === undefined && error === undefined && <Loading lines={6} />}
      {tx === null && (
        <>
          <Facts facts={{ Hash: <Whole text={name} label='the hash of the transaction' /> }} />
          <Missing isRefused={Boolean(shortfall)} own={own} />
        </>
      )}
      {shortfall && own?.progress.state !== 'failed' ? <Shortfall shortfall={shortfall} /> : null}
      {tx ? <Found tx={tx} /> : null}
    </View>
  )
}
