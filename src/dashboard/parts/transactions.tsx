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
    corner: 'name',
  },
  sender: {
    name: 'sender',
    title: 'Sender',
    value: ({ sender }) => sender ?? '',
    cell: ({ sender }) => (sender === null ? '–' : <AccountLink address={sender} />),
    width: '10.5rem',
  },
  outcome: {
    name: 'result',
    title: 'Result',
    value: (tx) => failureOf(tx)?.log ?? 'done',
    cell: (tx) => <Outcome tx={tx} />,
    corner: 'note',
    width: '5.5rem',
  },
  height: {
    name: 'height',
    title: 'Block',
    value: ({ height }) => height,
    cell: ({ height }) => <HeightLink height={height} />,
    isNumber: true,
    width: '6rem',
  },
  time: {
    name: 'time',
    title: 'Time',
    value: ({ time }) => time ?? '',
    cell: ({ time }) => (time === undefined ? '–' : <Ago time={time} />),
    isNumber: true,
    corner: 'aside',
    width: '8.5rem',
  },
} as const satisfies Readonly<Record<string, Column<Tx>>>

const { hash, what, sender, outcome, height, time } = columns

/** The view of a transaction. */
export const txLink = ({ hash: of }: Tx): string => linkTo(['transactions', of])

/** The columns of a table of transactions of one block. */
export const columnsInBlock: readonly Column<Tx>[] = [what, { ...sender, corner: 'aside' }, outcome, hash]

/** The columns of a table of transactions of many blocks; `moved`: what they brought to an account. */
export const txColumns = (moved?: Column<Tx>): readonly Column<Tx>[] =>
  moved === undefined ? [what, sender, outcome, height, time, hash] : [what, moved, sender, outcome, height, time, hash]
