import type { Proposal } from '../data/proposals.ts'
import { formatCount } from '../format.ts'
import { titleOf } from '../proposals/index.ts'
import { Badge, type Tone, UserText } from './text.tsx'

const TONES: Readonly<Record<Proposal['Result'], Tone>> = {
  '': 'waiting',
  Approved: 'good',
  Rejected: 'bad',
  Expired: 'plain',
}

/** A proposal as people name it: the number of it, in the order in which they were made, and its title. */
export const ProposalName = ({ proposal }: { readonly proposal: Pick<Proposal, 'Number' | 'Type' | 'Detail'> }) => (
  <>
    {proposal.Number === undefined ? null : <span class='number soft'>#{formatCount(proposal.Number)} </span>}
    <UserText text={titleOf(proposal)} />
  </>
)

export const ResultBadge = ({ result }: { readonly result: Proposal['Result'] }) => (
  <Badge tone={TONES[result]}>{result === '' ? 'Open' : result}</Badge>
)
