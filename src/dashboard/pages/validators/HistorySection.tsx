import { events, moduleOfEvent } from '../../../client/gen/events.ts'
import { svc } from '../../data/gateway.ts'
import { type Answer, useAnswer } from '../../data/useAnswer.ts'
import { agoColumn, heightColumn } from '../../parts/columns.tsx'
import { ChoiceFilter } from '../../parts/Filter.tsx'
import { Section } from '../../parts/layout.tsx'
import { Shown } from '../../parts/notes.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { TxLink } from '../../parts/text.tsx'
import { useRun } from '../../parts/useRun.ts'
import { Sentence, sentenceText } from '../../parts/Words.tsx'
import { eventWords } from '../../events.ts'
import { linkTo, useRoute } from '../../route.ts'
import type { History, HistoryEvent } from './useHistory.ts'

const ANSWERS: Readonly<Record<string, string>> = { Y: 'voted yes on ', N: 'voted no on ' }

/** What happened. Only the transaction of a vote tells its answer. */
function EventSentence({ event, owner }: { readonly event: HistoryEvent; readonly owner: string }) {
  const { hash } = event
  const vote = hash !== null && event.type === events.governance.vote ? hash : undefined
  const { data } = useAnswer(
    vote === undefined ? undefined : `transaction/${vote}`,
    () => svc.async.getTransaction(vote ?? ''),
    'once',
  )
  const answered = ANSWERS[String(data?.message?.['answer'])]
  const words = eventWords(event, owner)
  return <Sentence words={answered === undefined ? words : [answered, ...words.slice(1)]} />
}

const columnsOf = (owner: string): readonly Column<HistoryEvent>[] => [
  heightColumn('Block', ({ height }) => height, { corner: 'note', label: 'Block', width: '4.5rem' }),
  {
    title: 'What happened',
    value: (event) => sentenceText(eventWords(event, owner)),
    cell: (event) => <EventSentence event={event} owner={owner} />,
    corner: 'name',
  },
  {
    title: 'Transaction',
    value: ({ hash }) => hash ?? '',
    cell: ({ hash }) => (hash === null ? <span class='soft'>by the block</span> : <TxLink hash={hash} />),
    width: '10rem',
  },
  agoColumn('Time', ({ time }) => time, { isNumber: true, corner: 'aside', width: '8rem' }),
]

const isOf = (module: 'stake' | 'governance', type: string): boolean => moduleOfEvent(type) === module

/** Whose doing an event is. */
const KINDS: readonly (readonly [value: string, title: string, (event: HistoryEvent) => boolean])[] = [
  ['', 'All', () => true],
  ['candidacy', 'The candidacy', ({ hash, type }) => hash !== null && isOf('stake', type)],
  ['governance', 'Votes and proposals', ({ type }) => isOf('governance', type)],
  ['blocks', 'The validator set', ({ hash, type }) => hash === null && isOf('stake', type)],
]

/** Everything that happened to a candidacy, the newest first. */
export function HistorySection({
  owner,
  history,
  loadOlder,
}: {
  readonly owner: string
  readonly history: Answer<History>
  readonly loadOlder: () => Promise<void>
}) {
  const { isBusy, run } = useRun()
  const asked = useRoute().options.get('events') ?? ''
  const [, , isShown] = KINDS.find(([value]) => value === asked) ?? (KINDS[0] as (typeof KINDS)[number])
  return (
    <Section title='History'>
      <Shown answer={history} lines={4}>
        {({ events, next }) => (
          <div class='stack'>
            <ChoiceFilter
              name='events'
              label='Events'
              // Of a history that goes on, nobody has counted the rest.
              choices={KINDS.map(([value, title, is]) => ({
                value,
                title,
                count: next === null ? events.filter(is).length : undefined,
              }))}
            />
            <Table
              label='History'
              columns={columnsOf(owner)}
              rows={events.filter(isShown)}
              keyOf={(event) => `${event.height}/${event.hash}/${event.type}/${JSON.stringify(event.attributes)}`}
              linkOf={({ hash, height }) => linkTo(hash === null ? ['blocks', height] : ['transactions', hash])}
              empty={
                next === null
                  ? `${asked === '' ? 'Nothing' : 'Nothing of this kind'} has happened since the first block that this node has.`
                  : 'Nothing of this kind is among the newest events.'
              }
            />
            {next === null ? null : (
              <button type='button' disabled={isBusy} onClick={() => void run(loadOlder)}>
                Older
              </button>
            )}
          </div>
        )}
      </Shown>
    </Section>
  )
}
