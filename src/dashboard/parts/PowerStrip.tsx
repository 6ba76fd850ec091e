import { formatShare, shorten } from '../format.ts'
import { linkTo } from '../route.ts'

/** A member of the validator set. */
export interface Member {
  readonly owner_address: string | null
  readonly pub_key: { readonly value: string }
  readonly power: number
  readonly proven: boolean
}

/**
 * The voting power of a validator set as one bar, the most powerful first, with a mark where two thirds of it are: so
 * many have to sign a block or approve a proposal.
 */
export function PowerStrip({ members }: { readonly members: readonly Member[] }) {
  const total = members.reduce((sum, { power }) => sum + power, 0)
  const ordered = [...members].sort((a, b) => b.power - a.power)
  return (
    <div class='power-strip'>
      <ul>
        {ordered.map(({ owner_address: owner, pub_key: { value: key }, power, proven }) => {
          const label = `${shorten(owner ?? key)}: ${formatShare(power, total)}${proven ? '' : ', joining'}`
          return (
            <li key={key} class={proven ? '' : 'joining'} style={{ flexGrow: power }}>
              <a href={linkTo(owner === null ? ['validators'] : ['validators', owner])} title={label}>
                <span class='visually-hidden'>{label}</span>
              </a>
            </li>
          )
        })}
      </ul>
      <span class='two-thirds' aria-hidden='true'>
        ⅔
      </span>
    </div>
  )
}
