import { nameOf, useCandidates } from '../data/validators.ts'
import { shorten } from '../format.ts'
import { linkTo } from '../route.ts'
import { OwnLabel, Short, UserText } from './text.tsx'

/** A validator's own name where it has one, else its owner's address. */
export function ValidatorName({ owner }: { readonly owner: string }) {
  const name = nameOf(useCandidates().data, owner)
  return name === '' ? <span class='mono'>{shorten(owner)}</span> : <UserText text={name} />
}

/** The owner of a candidacy as a link to its page, by the name of that, or by its address where `name` has nothing to see. */
export function OwnerLink({ owner, name }: { readonly owner: string; readonly name: string }) {
  const link = linkTo(['validators', owner])
  if (name.trim() === '') return <Short text={owner} to={link} />
  return (
    <>
      <a href={link} title={owner}>
        <UserText text={name} />
      </a>
      <OwnLabel address={owner} />
    </>
  )
}

export const ValidatorLink = ({ owner }: { readonly owner: string }) => (
  <OwnerLink owner={owner} name={nameOf(useCandidates().data, owner)} />
)
