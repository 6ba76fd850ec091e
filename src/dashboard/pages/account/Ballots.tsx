import { type Proposal, proposalLink, useLatest, useProposalNews } from '../../data/proposals.ts'
import { svc } from '../../data/gateway.ts'
import { stakesIn, useStakes } from '../../data/stakes.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { useValidatorSet } from '../../data/validators.ts'
import { formatCount } from '../../format.ts'
import { Section } from '../../parts/layout.tsx'
import { ProposalName, ResultBadge } from '../../parts/proposal.tsx'
import { Badge } from '../../parts/text.tsx'
import { TimeLeft } from '../../parts/TimeLeft.tsx'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { linkTo } from '../../route.ts'

/** Proposals that are shown, of each state: each is one more question. */
const OPEN_SHOWN = 20
const DECIDED_SHOWN = 5

const WORDS = { Y: 'yes', N: 'no' } as const
const TONES = { Y: 'good', N: 'bad' } as const

/** What the validators of the account voted on a proposal; those who have not come first while it is open. */
function Voted({ proposal, voters, heard }: { proposal: Proposal; voters: readonly string[]; heard: number }) {
  const { Id, Result } = proposal
  const { data: votes } = useLatest(
    useAnswer(
      `votes/${Id}@${heard}`,
      async () => (await svc.async.governance.queryProposal({ proposalId: Id, counts: true })).data?.Votes ?? [],
      'onReturn',
    ),
  )
  if (votes === undefined) return null
  const answers = new Map(votes.map(({ Owner: owner, Answer: answer }) => [owner, answer]))
  const ordered = voters.toSorted((a, b) => Number(answers.has(a)) - Number(answers.has(b)))
  return (
    <ul class='names'>
      {ordered.map((owner) => {
        const answer = answers.get(owner)
        return (
          <li key={owner}>
            <ValidatorLink owner={owner} />{' '}
            {answer === undefined ? (
              <Badge tone={Result === '' ? 'waiting' : 'plain'}>{Result === '' ? 'not yet' : 'no vote'}</Badge>
            ) : (
              <Badge tone={TONES[answer]}>{WORDS[answer]}</Badge>
            )}
          </li>
        )
      })}
    </ul>
  )
}

async function ask() {
  const { listProposals } = svc.async.governance
  const [open, newest] = await Promise.all([
    listProposals({ state: 'open', newest: true, counts: true, limit: OPEN_SHOWN }),
    listProposals({ newest: true, counts: true, limit: OPEN_SHOWN + DECIDED_SHOWN }),
  ])
  const decided = newest.data.filter(({ Result }) => Result !== '').slice(0, DECIDED_SHOWN)
  return { shown: [...open.data, ...decided], left: (open.total ?? 0) - open.data.length }
}

/** How those vote with whom the account has staked, and whose votes are still missing. */
export function Ballots({ address }: { readonly address: string }) {
  const news = useProposalNews()
  const heard = Math.max(0, ...news.values())
  const { data } = useLatest(useAnswer(`ballots@${heard}`, ask, 'onReturn'))
  const set = useValidatorSet().data?.data ?? []
  const stakes = stakesIn(useStakes(address).data)
  const mine = new Set([
    address,
    ...stakes.flatMap(({ validator_address: owner, shares }) => (shares === '0' ? [] : (owner ?? []))),
  ])
  const voters = [...new Set(set.flatMap(({ owner_address: owner }) => (owner && mine.has(owner) ? [owner] : [])))]
  if (data === undefined || data.shown.length === 0 || voters.length === 0) return null
  return (
    <Section title='Proposals, and how your stake votes' aside={<a href={linkTo(['proposals'])}>All proposals</a>}>
      <ul class='events'>
        {data.shown.map((proposal) => (
          <li key={proposal.Id} class='stack'>
            <span>
              <ResultBadge result={proposal.Result} />{' '}
              <a href={proposalLink(proposal.Id)}>
                <ProposalName proposal={proposal} />
              </a>
              {proposal.Result === '' && (
                <span class='soft'>
                  {' '}
                  · <TimeLeft proposal={proposal} isShort /> left
                </span>
              )}
            </span>
            <Voted
              proposal={proposal}
              voters={voters}
              heard={Math.max(news.get(proposal.Id) ?? 0, news.get('') ?? 0)}
            />
          </li>
        ))}
      </ul>
      {data.left > 0 && <p class='soft'>{formatCount(data.left)} more are open.</p>}
    </Section>
  )
}
