import type { GetTransactionResult } from '../../client/index.ts'
import { linkTo } from '../route.ts'
import { operationWords } from '../operations/index.ts'
import type { Column } from './Table.tsx'
import { AccountLink, Ago, Badge, HeightLink, TxLink } from './text.tsx'
import { Sentence, sentenceText } from './Words.tsx'

/** A transaction in a block; with its block's time where that is known. */
export type Tx = NonNullable<GetTransactionResult> & { readonly time?: string }

/** The part of a transaction's result that says why it failed; undefined when it did not. */
export const failureOf = ({
  check_tx,
  deliver_tx,
}: Tx): { readonly code?: number; readonly log?: string } | undefined =>
  [check_tx, deliver_tx].find(({ code = 0 }) => code !== 0)

const wordsOf = ({ operation, message }: Tx) => operationWords(operation, message)

/** How a transaction ended, in a word that leads to it; the log of a failure is at hand. */
function Outcome({ tx }: { readonly tx: Tx }) {
  const failure = failureOf(tx)
  return (
    <a class='outcome-link' href={linkTo(['transactions', tx.hash])} title={failure?.log}>
      {failure === undefined ? 'done' : <Badge tone='bad'>failed</Badge>}
    </a>
  )
}

const columns = {
  hash: {
    name: 'hash',
    title: 'Hash',
    value: ({ hash }) => hash,
    cell: ({ hash }) => <TxLink hash={hash} />,
    isMinor: true,
    width: '10.5rem',
  },
  what: {
    name: 'operation',
    title: 'Operation',
    value: (tx) => sentenceText(wordsOf(tx)),
    cell: (tx) => (
      <span class='two-lines'>
        <Sentence words={wordsOf(tx)} />
      </span>
    ),
  },
  sender: {
    name: 'sender',
    title: 'Sender',
    value: ({ sender }) => sender ?? '',
    cell: ({ sender }) => (sender === null ? '–' : <AccountLink address={sender} />),
    isMinor: true,
    width: '10.5rem',
  },
  outcome: {
    name: 'result',
    title: 'Result',
    value: (tx) => failureOf(tx)?.log ?? 'done',
    cell: (tx) => <Outcome tx={tx} />,
    width: '5.5rem',
  },
  height: {
    name: 'height',
    title: 'Block',
    value: ({ height }) => height,
    cell: ({ height }) => <HeightLink height={height} />,
    isNumber: true,
    isMinor: true,
    width: '6rem',
  },
  time: {
    name: 'time',
    title: 'Time',
    value: ({ time }) => time ?? '',
    cell: ({ time }) => (time === undefined ? '–' : <Ago time={time} />),
    isNumber: true,
    isMinor: true,
    width: '8.5rem',
  },
} as const satisfies Readonly<Record<string, Column<Tx>>>

/** The columns of a table of transactions of one block. */
export const columnsInBlock: readonly Column<Tx>[] = [columns.what, columns.sender, columns.outcome, columns.hash]

/** The columns of a table of transactions of many blocks. */
export const txColumns: readonly Column<Tx>[] = [
  columns.what,
  columns.sender,
  columns.outcome,
  columns.height,
  columns.time,
  columns.hash,
]
