import { formatCount, formatShare } from '../../format.ts'
import { visibleText } from '../../marks.ts'
import { Badge } from '../../parts/text.tsx'
import { OwnerLink } from '../../parts/ValidatorLink.tsx'
import { linkTo } from '../../route.ts'
import type { Candidate } from '../../data/validators.ts'
import { type Candidacy, type Status, STATUS_WORDS } from './candidacy.ts'

export const linkToValidator = (owner: string): string => linkTo(['validators', owner])

/** Where one stakes with a validator, or takes a stake back. */
export const linkToForm = (owner: string, what: 'stake' | 'take-back'): string => linkTo(['validators', owner, what])

export const StakeLink = ({ validator }: { readonly validator: Candidate }) => (
  <a href={linkToForm(validator.owner_address, 'stake')} title={`Stake with ${validator.owner_address}`}>
    Stake
    <span class='visually-hidden'>
      {' '}
      with {visibleText(validator.description.name.trim()) || validator.owner_address}
    </span>
  </a>
)

export const StatusBadge = ({ status }: { readonly status: Status }) => (
  <Badge tone={STATUS_WORDS[status].tone}>{STATUS_WORDS[status].word}</Badge>
)

/** What the mark of the foundation says of a candidacy. */
export const VERIFIED_MEANING = 'the foundation of this chain has checked who runs it'

/** A candidacy by its name, or by the address of its owner, as a link; with the mark of the foundation where it has it. */
export function NameCell({ validator }: { readonly validator: Candidate }) {
  const { owner_address: owner, description, verified } = validator
  return (
    <>
      <OwnerLink owner={owner} name={description.name} />
      {verified === 'Y' && (
        <span class='verified' title={`Verified: ${VERIFIED_MEANING}`}>
          <span aria-hidden='true'>✓</span>
          <span class='visually-hidden'>verified</span>
        </span>
      )}
    </>
  )
}

/** How many blocks in a row a candidacy has not signed until now; a dash for one that has nothing to sign. */
export function MissedNow({ keys, absent }: Pick<Candidacy, 'keys' | 'absent'>) {
  if (keys === 0) return <span class='soft'>–</span>
  return <span class={absent === 0 ? 'soft' : 'failure'}>{formatCount(absent)}</span>
}

/** Voting power as a number, and its part of the whole. */
export function Power({ power, total }: { readonly power: number; readonly total: number }) {
  if (power === 0) return <span class='soft'>–</span>
  return (
    <span class='power'>
      <span class='count'>{formatCount(power)}</span>
      <span>{formatShare(power, total)}</span>
    </span>
  )
}
