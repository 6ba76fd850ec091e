import { useLatest, type WholeProposal } from '../../data/proposals.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { Facts, Section, View } from '../../parts/layout.tsx'
import { Verified } from '../../parts/Verified.tsx'
import { EmptyNote, Shown } from '../../parts/notes.tsx'
import { ProposalName, ResultBadge } from '../../parts/proposal.tsx'
import { LargeTally } from '../../parts/TallyBar.tsx'
import { Prose } from '../../parts/Prose.tsx'
import { Ago, HeightLink, TxLink, UserText, Whole } from '../../parts/text.tsx'
import { endOf, TimeLeft } from '../../parts/TimeLeft.tsx'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { kindOf, rowOf, titleOf, whatOf } from '../../proposals/index.ts'
import { VoteBox } from './VoteBox.tsx'
import { Votes } from './Votes.tsx'

const CHANGES: Readonly<Record<WholeProposal['Result'], string>> = {
  '': 'What would change',
  Approved: 'What changes',
  Rejected: 'What would have changed',
  Expired: 'What would have changed',
}

/** What the end that a proposal names means by now. */
function endNameOf({ Result: result, Type }: WholeProposal): string {
  if (result === '' || result === 'Expired') return 'Open until'
  return result === 'Approved' && kindOf(Type).isDelayed ? 'Carried out' : 'Would have ended'
}

/** Where a proposal is in its life, in a line. */
function StatusLine({ proposal }: { readonly proposal: WholeProposal }) {
  const { Type, Result: result, ResultBlockHeight: height, ResultAt: time, ResultMsg: message } = proposal
  return (
    <p class='status-line'>
      <ResultBadge result={result} />
      {result === '' ? (
        <span>
          <TimeLeft proposal={proposal} /> left, until {endOf(proposal)}
        </span>
      ) : (
        <span>
          in block <HeightLink height={height} />, <Ago time={time} />
          {message === '' ? null : (
            <>
              : <UserText text={message} />
            </>
          )}
          {result === 'Approved' && kindOf(Type).isDelayed ? `, carried out at ${endOf(proposal)}` : null}
        </span>
      )}
    </p>
  )
}

function Proposed({ proposal, hash }: { readonly proposal: WholeProposal; readonly hash: string }) {
  const { reason } = proposal.Detail
  const { title, Changes } = kindOf(proposal.Type)
  return (
    <>
      {reason.trim() === '' ? null : <p class='summary'>{whatOf(proposal)}</p>}
      <StatusLine proposal={proposal} />
      <Section title={CHANGES[proposal.Result]} aside={title}>
        <Changes proposal={proposal} />
        {reason.trim() === '' ? null : (
          <figure class='reason'>
            <figcaption>Reason, in the words of the proposer</figcaption>
            <blockquote>
              <Prose text={reason} />
            </blockquote>
          </figure>
        )}
      </Section>
      <Section title='Tally'>
        <LargeTally tally={proposal.Tally} isFinal={proposal.Result !== ''} />
        {proposal.Result === '' ? <VoteBox proposal={proposal} /> : null}
      </Section>
      <Section title='Record'>
        <Facts
          facts={{
            Proposer: <ValidatorLink owner={proposal.Proposer} />,
            Proposed: (
              <>
                in block <HeightLink height={proposal.BlockHeight} />, <Ago time={proposal.CreatedAt} />
              </>
            ),
            [endNameOf(proposal)]: endOf(proposal),
            Transaction: <TxLink hash={hash} />,
            Id: <Whole text={proposal.Id} label='the id of the proposal' />,
          }}
        />
        <Verified
          call={() => svc.verified.governance.queryProposal(proposal.Id)}
          expect={{
            proposer: proposal.Proposer,
            type: proposal.Type,
            block_height: String(proposal.BlockHeight),
            expire_block_height: String(proposal.ExpireBlockHeight),
            result: proposal.Result,
            result_msg: proposal.ResultMsg,
            result_block_height: String(proposal.ResultBlockHeight),
            reason,
            ...rowOf(proposal),
          }}
        />
      </Section>
      <Section title='Votes'>
        <Votes proposal={proposal} />
      </Section>
    </>
  )
}

/** One proposal: what it would change, its tally, who voted what, and voting. */
export function ProposalDetail({ id, hash }: { readonly id: string; readonly hash: string }) {
  const answer = useLatest(
    useAnswer(`proposal/${id}`, () => svc.async.governance.queryProposal({ proposalId: id, counts: true })),
  )
  const proposal = answer.data?.data
  return (
    <View
      title={
        proposal ? `${proposal.Number === undefined ? '' : `#${proposal.Number} `}${titleOf(proposal)}` : 'Proposal'
      }
      name={proposal ? <ProposalName proposal={proposal} /> : 'Proposal'}
    >
      <Shown answer={answer} lines={8}>
        {({ data }) =>
          data === null ? (
            <EmptyNote>This chain has no proposal with this ProposalID.</EmptyNote>
          ) : (
            <Proposed proposal={data} hash={hash} />
          )
        }
      </Shown>
    </View>
  )
}
