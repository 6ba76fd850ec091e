import { events } from '../../../client/gen/events.ts'
import { Section } from '../../parts/layout.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { HeightLink } from '../../parts/text.tsx'
import { linkTo } from '../../route.ts'
import type { History, HistoryEvent } from './useHistory.ts'

const { stake } = events

/** How a run of missed blocks ended: it goes on, with a signature, or because no signature is asked for any more. */
type End = 'open' | 'signed' | 'left'

/** Blocks in a row that a validator had to sign and did not. */
interface Run {
  /** The first of them. */
  readonly first: number
  readonly end: End
  /** How many; known when a signature ended it. */
  readonly missed: number | undefined
  /** The block that told of the end. */
  readonly toldIn: number | undefined
}

/** What makes the chain forget how many were missed. Nothing but these and a signature ends a run of who is in the set. */
const FORGOTTEN = new Set<string>([stake.removed, stake.withdraw])

/** The runs of missed blocks that a history tells of, the newest first. `isSigning`: a key of it is in the set now. */
function runsOf(told: readonly HistoryEvent[], isSigning: boolean): readonly Run[] {
  const runs: Run[] = []
  const now: Omit<Run, 'first'> = { end: isSigning ? 'open' : 'left', missed: undefined, toldIn: undefined }
  let ended = now
  for (const { type, height, attributes } of told) {
    if (type === stake.present) ended = { end: 'signed', missed: Number(attributes['missed']), toldIn: height }
    else if (FORGOTTEN.has(type) || (type === stake.left && ended === now && !isSigning))
      ended = { end: 'left', missed: undefined, toldIn: height }
    else if (type === stake.absent) {
      // The commit of a block is judged by the block behind it.
      runs.push({ first: height - 1, ...ended })
      ended = { end: 'left', missed: undefined, toldIn: undefined }
    }
  }
  return runs
}

const END_WORDS: Readonly<Record<End, string>> = {
  open: 'it goes on',
  signed: 'it signed again',
  left: 'it had to sign no more',
}

const columns: readonly Column<Run>[] = [
  {
    name: 'first',
    title: 'First missed',
    value: ({ first }) => first,
    cell: ({ first }) => <HeightLink height={first} />,
    corner: 'name',
  },
  {
    name: 'missed',
    title: 'Missed',
    value: ({ missed }) => missed ?? '',
    cell: ({ missed }) => missed?.toLocaleString('en') ?? '–',
    isNumber: true,
    corner: 'figure',
    label: 'Missed',
  },
  { name: 'end', title: 'Until', value: ({ end }) => END_WORDS[end], isNumber: true, corner: 'note' },
]

/** The runs as marks on a line from the first block that the history tells of to the head. */
function RunLine({ runs, from, to }: { readonly runs: readonly Run[]; readonly from: number; readonly to: number }) {
  const blocks = Math.max(1, to - from + 1)
  const part = (count: number): string => `${(100 * count) / blocks}%`
  return (
    <div class='run-line' aria-hidden='true'>
      <div>
        {runs.map(({ first, missed = 1, end, toldIn = first + 1 }) => (
          <span
            key={first}
            class='run'
            style={{
              left: part(first - from),
              width: part(end === 'signed' ? missed : (end === 'open' ? to : toldIn) - first),
            }}
          />
        ))}
      </div>
      <span class='number'>{from.toLocaleString('en')}</span>
      <span class='number'>{to.toLocaleString('en')}</span>
    </div>
  )
}

/** The blocks that a validator had to sign and did not. `first`: where its candidacy begins. */
export function Missed({ history, first, isSigning }: { history: History; first: number; isSigning: boolean }) {
  const runs = runsOf(history.events, isSigning)
  const from = Math.max(1, history.next === null ? first : (history.events.at(-1)?.height ?? first))
  const now = runs.find(({ end }) => end === 'open')
  return (
    <Section title='Missed blocks' aside={`since block ${from.toLocaleString('en')}`}>
      {now !== undefined && (
        <p class='note bad'>
          It is missing now: it has signed no block since <HeightLink height={now.first} />.
        </p>
      )}
      {runs.length === 0 ? (
        <p class='soft'>None.</p>
      ) : (
        <>
          <RunLine runs={runs} from={from} to={history.height} />
          <Table
            label='Missed blocks'
            columns={columns}
            rows={runs}
            keyOf={({ first: key }) => key}
            linkOf={({ first: height }) => linkTo(['blocks', height])}
            empty=''
          />
        </>
      )}
    </Section>
  )
}
