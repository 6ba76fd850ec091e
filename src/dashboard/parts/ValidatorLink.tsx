import { nameOf, useCandidates } from '../data/validators.ts'
import { shorten } from '../format.ts'
import { linkTo } from '../route.ts'
import { OwnLabel, UserText } from './text.tsx'

interface ValidatorProps {
  readonly owner: string
}

/** A validator's own name where it has one, else its owner's address. */
export function ValidatorName({ owner }: ValidatorProps) {
  const name = nameOf(useCandidates().data, owner)
  return name === '' ? <span class='mono'>{shorten(owner)}</span> : <UserText text={name} />
}

/** A validator's name as a link to its page. */
export const ValidatorLink = ({ owner }: ValidatorProps) => (
  <>
    <a href={linkTo(['validators', owner])} title={owner}>
      <ValidatorName owner={owner} />
    </a>
    <OwnLabel address={owner} />
  </>
)
