import { type Candidate, nameOf } from '../data/validators.ts'
import { shorten } from '../format.ts'
import { linkTo } from '../route.ts'
import { UserText } from './text.tsx'

interface ValidatorProps {
  readonly owner: string
  readonly candidates: readonly Candidate[] | undefined
}

/** A validator's own name where it has one, else its owner's address. */
export function ValidatorName({ owner, candidates }: ValidatorProps) {
  const name = nameOf(candidates, owner)
  return name === '' ? <span class='mono'>{shorten(owner)}</span> : <UserText text={name} />
}

/** A validator's name as a link to its page. */
export const ValidatorLink = (props: ValidatorProps) => (
  <a href={linkTo(['validators', props.owner])} title={props.owner}>
    <ValidatorName {...props} />
  </a>
)
