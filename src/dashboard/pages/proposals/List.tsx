import { useEffect } from 'preact/hooks'
import {
  askProposals,
  type Proposal,
  proposalLink,
  type ProposalType,
  useLatest,
  useProposalNews,
} from '../../data/proposals.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { useCandidates } from '../../data/validators.ts'
import { formatCount } from '../../format.ts'
import { type CsvValue, csvText, download } from '../../parts/csv.ts'
import { View } from '../../parts/layout.tsx'
import { EmptyNote, ErrorNote, Shown } from '../../parts/notes.tsx'
import { ProposalName, ResultBadge } from '../../parts/proposal.tsx'
import { Steps } from '../../parts/Steps.tsx'
import { partIn } from '../../parts/Table.tsx'
import { SmallTally } from '../../parts/TallyBar.tsx'
import { Ago, HeightLink } from '../../parts/text.tsx'
import { endOf, TimeLeft } from '../../parts/TimeLeft.tsx'
import { useRun } from '../../parts/useRun.ts'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { kinds, titleOf, whatOf } from '../../proposals/index.ts'
import { linkTo, useRoute } from '../../route.ts'

const STATES = ['open', 'Approved', 'Rejected', 'Expired'] as const
const TYPES = Object.keys(kinds) as readonly ProposalType[]

interface Filter {
  readonly state?: (typeof STATES)[number]
  readonly type?: ProposalType
}

/** Proposals of a page: what a screen shows. */
const PAGE_ROWS = 20

/** What the address asks for. What it cannot ask for is left out. */
function useFilter(): { readonly filter: Filter; readonly page: number } {
  const { options } = useRoute()
  const [state, type] = [
    STATES.find((one) => one === options.get('state')),
    TYPES.find((one) => one === options.get('type')),
  ]
  const page = Number(options.get('page'))
  return {
    filter: { ...(state === undefined ? {} : { state }), ...(type === undefined ? {} : { type }) },
    page: Number.isInteger(page) && page >= 1 && Number.isSafeInteger(page * PAGE_ROWS) ? page : 1,
  }
}

const linkOf = ({ state, type }: Filter, page = 1): string =>
  linkTo(['proposals'], { state, type, page: page === 1 ? undefined : String(page) })

/**
 * The state and the type that the list shows, each with the way to the others. `total`: how many there are of those, which
 * the answer with the rows says; each of the others would be one more question.
 */
function Filters({ filter, total }: { readonly filter: Filter; readonly total: number | undefined }) {
  const link = (to: Filter, text: string, isHere: boolean, count?: number) => (
    <a key={text} href={linkOf(to)} {...(isHere ? { 'aria-current': 'true' } : {})}>
      {text} {count === undefined ? null : <span class='count'>{formatCount(count)}</span>}
    </a>
  )
  const { state, ...others } = filter
  return (
    <div class='tabs'>
      <nav aria-label='State'>
        {[undefined, ...STATES].map((one) =>
          link(
            one === undefined ? others : { ...others, state: one },
            one === undefined ? 'All' : one === 'open' ? 'Open' : one,
            one === state,
            one === state ? total : undefined,
          ),
        )}
      </nav>
      <nav aria-label='Type'>
        {[undefined, ...TYPES].map((one) =>
          link(
            { ...(state === undefined ? {} : { state }), ...(one === undefined ? {} : { type: one }) },
            one === undefined ? 'Every type' : kinds[one].title,
            one === filter.type,
          ),
        )}
      </nav>
    </div>
  )
}

/** How an open proposal ends, or how the others did. */
function Outcome({ proposal }: { readonly proposal: Proposal }) {
  const { Result: result, ResultBlockHeight: height, ResultAt: time } = proposal
  return (
    <>
      <ResultBadge result={result} />
      <small class='soft'>
        {result === '' ? (
          <span title={`until ${endOf(proposal)}`}>
            <TimeLeft proposal={proposal} />
          </span>
        ) : (
          <>
            block <HeightLink height={height} />, <Ago time={time} />
          </>
        )}
      </small>
    </>
  )
}

function Row({ proposal }: { readonly proposal: Proposal }) {
  return (
    <li>
      <div class='what'>
        <a href={proposalLink(proposal.Id)}>
          <ProposalName proposal={proposal} />
        </a>
        <small class='soft'>
          {kinds[proposal.Type].title}
          {titleOf(proposal) === whatOf(proposal) ? '' : ` · ${whatOf(proposal)}`}
        </small>
      </div>
      <div class='by'>
        <ValidatorLink owner={proposal.Proposer} />
        <small class='soft'>
          <Ago time={proposal.CreatedAt} />
        </small>
      </div>
      <div>
        <SmallTally tally={proposal.Tally} />
      </div>
      <div class='outcome'>
        <Outcome proposal={proposal} />
      </div>
    </li>
  )
}

const FILED: Readonly<Record<string, (one: Proposal) => CsvValue>> = {
  Number: ({ Number: number }) => number ?? '',
  Id: ({ Id }) => Id,
  Title: titleOf,
  Type: ({ Type }) => Type,
  What: whatOf,
  Reason: ({ Detail }) => Detail.reason,
  Proposer: ({ Proposer }) => Proposer,
  Block: ({ BlockHeight }) => BlockHeight,
  Created: ({ CreatedAt }) => CreatedAt,
  Ends: endOf,
  Result: ({ Result }) => Result || 'open',
  'Result block': ({ ResultBlockHeight }) => ResultBlockHeight,
  'Result time': ({ ResultAt }) => ResultAt,
}

/** Hands over all proposals of a filter as a file. */
async function saveAll(filter: Filter): Promise<void> {
  const rows = (await askProposals({ ...filter, counts: true })).map((one) => Object.values(FILED).map((of) => of(one)))
  download(
    `${['proposals', filter.state, filter.type].filter(Boolean).join('-')}.csv`,
    csvText(Object.keys(FILED), rows),
  )
}

/** `count`: the proposals that this page shows. */
function Foot({ filter, page, count, total }: { filter: Filter; page: number; count: number; total: number }) {
  const { isBusy, error, run } = useRun()
  const offset = (page - 1) * PAGE_ROWS
  return (
    <footer class='list-foot'>
      <Steps
        label='Pages'
        back={{ name: 'Newer', to: page === 1 ? undefined : linkOf(filter, page - 1) }}
        on={{ name: 'Older', to: offset + count >= total ? undefined : linkOf(filter, page + 1) }}
      />
      <span>
        {partIn(offset, count, total) ?? formatCount(total)} {total === 1 ? 'proposal' : 'proposals'}
        <button type='button' class='quiet' disabled={isBusy} onClick={() => void run(() => saveAll(filter))}>
          CSV
        </button>
      </span>
      <ErrorNote error={error} />
    </footer>
  )
}

/** The proposals of a state and a type, the newest first, a page at a time. */
export function ProposalList() {
  const { filter, page } = useFilter()
  const news = useProposalNews()
  const heard = Math.max(0, ...news.values())
  const { state, type } = filter
  const answer = useLatest(
    useAnswer(
      `proposals/${state}/${type}/${page}@${heard}`,
      async () => {
        const offset = (page - 1) * PAGE_ROWS
        const chosen = await svc.async.governance.listProposals({
          newest: true,
          counts: true,
          limit: PAGE_ROWS,
          offset,
          ...filter,
        })
        // While another page is on its way, this one keeps its own number.
        return { ...chosen, page, filter }
      },
      'onReturn',
    ),
  )
  const { data: last } = answer
  const isOfFilter = last !== undefined && last.filter.state === state && last.filter.type === type
  // The rows of a page ask for the names, and those of the next page would ask anew.
  useCandidates()
  useEffect(() => {
    if (scrollY > 0) scrollTo(0, 0)
  }, [state, type, page])
  return (
    <View
      title='Proposals'
      actions={
        <a class='button' href={linkTo(['proposals', 'new'])}>
          New proposal
        </a>
      }
    >
      <div class='proposal-list'>
        <Filters filter={filter} total={isOfFilter ? last.total : undefined} />
        <Shown answer={answer} lines={8}>
          {({ data, total = 0, ...shown }) =>
            data.length === 0 ? (
              <EmptyNote>
                {total > 0
                  ? 'That page does not exist.'
                  : state === undefined && type === undefined
                    ? 'Nobody has proposed anything yet.'
                    : 'There is no such proposal.'}
              </EmptyNote>
            ) : (
              <>
                <ol class='proposals' aria-label='Proposals' aria-busy={answer.isOld}>
                  {data.map((one) => (
                    <Row key={one.Id} proposal={one} />
                  ))}
                </ol>
                <Foot filter={shown.filter} page={shown.page} count={data.length} total={total} />
              </>
            )
          }
        </Shown>
      </div>
    </View>
  )
}
