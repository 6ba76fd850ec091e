import { type Change, changeOf, type Proposal } from '../data/proposals.ts'
import { formatValue, parameterOf } from '../data/parameters.ts'
import { preservedKeys } from '../operations/proposeRetireProgram.ts'
import { formatCount, formatTokens, shorten } from '../format.ts'
import { Badge, type Tone } from './text.tsx'

/** A parameter's value with its unit, in plain text. */
export function valueText(name: string, value: string | number): string {
  const unit = parameterOf(name)?.unit ?? ''
  return unit === '' ? shorten(String(value)) : `${formatValue(value)} ${unit}`
}

/** What a proposal would do, in a sentence without a full stop. Plain text: none of it can hold a stranger's prose. */
export function sentenceOf(change: Change): string {
  switch (change.type) {
    case 'change_param':
      return `Set ${change.detail.name} to ${valueText(change.detail.name, change.detail.value)}`
    case 'deploy_libeni':
      return `Deploy the library ${change.detail.name} ${change.detail.version}`
    case 'retire_program': {
      const count = preservedKeys(change.detail.preserved_validators).length
      const kept = count === 1 ? 'one validator' : `${formatCount(count)} validators`
      return `Retire program ${change.detail.retired_version} and keep ${kept}`
    }
    case 'transfer_fund':
      return `Pay ${formatTokens(change.detail.amount)} token to ${shorten(change.detail.to)}`
  }
}

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

/** The sentence of a proposal. */
export const titleOf = (proposal: Pick<Proposal, 'Type' | 'Detail'>): string => sentenceOf(changeOf(proposal))
