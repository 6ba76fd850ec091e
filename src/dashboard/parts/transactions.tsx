import { failureOf } from '../../client/errors.ts'
import type { Tx } from '../data/useTransactions.ts'
import { linkTo } from '../route.ts'
import { operationWords } from '../operations/index.ts'
import { agoColumn, heightColumn } from './columns.tsx'
import type { Column } from './Table.tsx'
import { AccountLink, Badge, TxLink, UserText } from './text.tsx'
import { Sentence, sentenceText } from './Words.tsx'

/** Why a transaction failed: `code 20: Insufficient balance`; undefined when it did not. */
export function whyFailed(tx: Tx): string | undefined {
  const failure = failureOf(tx)
  return failure && `code ${failure.code}: ${failure.log ?? ''}`
}

/** Why something failed, in the chain's own words. */
export const Failure = ({ why }: { readonly why: string }) => (
  <small class='failure'>
    <UserText text={why} />
  </small>
)

const wordsOf = ({ operation, message }: Tx) => operationWords(operation, message)

/** What a transaction asked for, and why it failed where it did. */
function What({ tx }: { readonly tx: Tx }) {
  const why = whyFailed(tx)
  return (
    <>
      <Sentence words={wordsOf(tx)} />
      {why === undefined ? null : <Failure why={why} />}
    </>
  )
}

/** How a transaction ended, in a word that leads to it. */
const Outcome = ({ tx }: { readonly tx: Tx }) => (
  <a class='outcome-link' href={linkTo(['transactions', tx.hash])}>
    {failureOf(tx) === undefined ? 'done' : <Badge tone='bad'>failed</Badge>}
  </a>
)

const columns = {
  hash: {
    title: 'Hash',
    value: ({ hash }) => hash,
    cell: ({ hash }) => <TxLink hash={hash} />,
    width: '8.5rem',
  },
  what: {
    title: 'Operation',
    value: (tx) => sentenceText(wordsOf(tx)),
    cell: (tx) => <What tx={tx} />,
    corner: 'name',
  },
  sender: {
    title: 'Sender',
    value: ({ sender }) => sender ?? '',
    cell: ({ sender }) => (sender === null ? '–' : <AccountLink address={sender} />),
    width: '10.5rem',
  },
  outcome: {
    title: 'Result',
    value: (tx) => whyFailed(tx) ?? 'done',
    cell: (tx) => <Outcome tx={tx} />,
    corner: 'note',
    width: '5.5rem',
  },
  height: heightColumn('Block', ({ height }) => height, { isNumber: true, width: '6rem' }),
  time: agoColumn('Time', ({ time = '' }) => time, { isNumber: true, corner: 'aside', width: '8.5rem' }),
} as const satisfies Readonly<Record<string, Column<Tx>>>

const { hash, what, sender, outcome, height, time } = columns

export const txLink = ({ hash: of }: Tx): string => linkTo(['transactions', of])

export const columnsInBlock: readonly Column<Tx>[] = [what, { ...sender, corner: 'aside' }, outcome, hash]

/** The columns of a table of transactions of many blocks; `moved`: what they brought to an account. */
export const txColumns = (moved?: Column<Tx>): readonly Column<Tx>[] =>
  moved === undefined ? [what, sender, outcome, height, time, hash] : [what, moved, sender, outcome, height, time, hash]
