import type { Proposal } from '../data/proposals.ts'
import { Badge, type Tone } from './text.tsx'

const TONES: Readonly<Record<Proposal['Result'], Tone>> = {
  '': 'waiting',
  Approved: 'good',
  Rejected: 'bad',
  Expired: 'plain',
}

/** What became of a proposal. */
export const ResultBadge = ({ result }: { readonly result: Proposal['Result'] }) => (
  <Badge tone={TONES[result]}>{result === '' ? 'Open' : result}</Badge>
)
