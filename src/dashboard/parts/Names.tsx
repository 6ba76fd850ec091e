import { formatCount } from '../format.ts'
import { ValidatorLink } from './ValidatorLink.tsx'

/** Names of a long list that are shown at once. */
const SHOWN_NAMES = 12

/** Validators by name; those of a long list behind a switch. */
export function Names({ owners }: { readonly owners: readonly string[] }) {
  const list = (some: readonly string[]) => (
    <ul class='names'>
      {some.map((owner) => (
        <li key={owner}>
          <ValidatorLink owner={owner} />
        </li>
      ))}
    </ul>
  )
  return (
    <>
      {list(owners.slice(0, SHOWN_NAMES))}
      {owners.length > SHOWN_NAMES ? (
        <details>
          <summary>{formatCount(owners.length - SHOWN_NAMES)} more</summary>
          {list(owners.slice(SHOWN_NAMES))}
        </details>
      ) : null}
    </>
  )
}
