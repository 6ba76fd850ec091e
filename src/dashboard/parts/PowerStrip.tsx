import { type Spread, spreadOf } from '../data/power.ts'
import type { Member } from '../data/validators.ts'
import { formatCount, formatShare, shorten } from '../format.ts'
import { visibleText } from '../marks.ts'
import { linkTo } from '../route.ts'
import { UserText } from './text.tsx'

/** The name that an owner has given its candidacy; empty where there is none. */
type NameOf = (owner: string) => string

const linkOf = ({ owner_address: owner }: Member): string =>
  linkTo(owner === null ? ['validators'] : ['validators', owner])

function textOf({ owner_address: owner, pub_key: { value: key } }: Member, nameOf: NameOf): string {
  const name = owner === null ? '' : nameOf(owner)
  return name === '' ? shorten(owner ?? key) : name
}

/** Members that a sentence names; where there are more, it counts the rest. */
const NAMED = 3

/** A few members by name: `A, B and 4 more`. */
function Who({ members, nameOf }: { readonly members: readonly Member[]; readonly nameOf: NameOf }) {
  const named = members.slice(0, members.length > NAMED ? NAMED - 1 : NAMED)
  const rest = members.length - named.length
  const before = (at: number): string => (at === 0 ? '' : at === named.length - 1 && rest === 0 ? ' and ' : ', ')
  return (
    <>
      {named.map((member, at) => (
        <span key={member.pub_key.value}>
          {before(at)}
          <a href={linkOf(member)}>
            <UserText text={textOf(member, nameOf)} />
          </a>
        </span>
      ))}
      {rest === 0 ? '' : ` and ${formatCount(rest)} more`}
    </>
  )
}

/** Who can stop the chain, and who can decide. */
function Decisive({ spread, nameOf }: { readonly spread: Spread<Member>; readonly nameOf: NameOf }) {
  const { large, small, third, twoThirds } = spread
  const ordered = [...large, ...small]
  if (ordered.length === 0) return null
  if (twoThirds === 1) {
    return (
      <p class='soft'>
        <Who members={ordered.slice(0, 1)} nameOf={nameOf} /> alone has two thirds of the voting power or more, which
        decide every proposal.
      </p>
    )
  }
  return (
    <p class='soft'>
      <Who members={ordered.slice(0, third)} nameOf={nameOf} /> {third === 1 ? 'alone has' : 'together have'} a third of
      the voting power, without which no block is made. The {formatCount(twoThirds)} most powerful have two thirds,
      which decide every proposal.
    </p>
  )
}

/**
 * The voting power of a validator set as one bar to scale, the most powerful first and the small ones as one, with a mark
 * where two thirds of it are: so many have to sign a block or approve a proposal.
 */
export function PowerStrip({ members, nameOf }: { readonly members: readonly Member[]; readonly nameOf: NameOf }) {
  const spread = spreadOf(members)
  const { total, large, small } = spread
  const rest = small.reduce((sum, { power }) => sum + power, 0)
  const restLabel = `${formatCount(small.length)} others: ${formatShare(rest, total)}`
  return (
    <div>
      <div class='power-strip'>
        <ul>
          {large.map((member) => {
            const { pub_key: key, power, proven } = member
            const name = visibleText(textOf(member, nameOf))
            const label = `${name}: ${formatShare(power, total)}${proven ? '' : ', joining'}`
            return (
              <li key={key.value} class={proven ? '' : 'joining'} style={{ flexGrow: power }}>
                <a href={linkOf(member)} title={label}>
                  <span class='visually-hidden'>{label}</span>
                </a>
              </li>
            )
          })}
          {small.length === 0 ? null : (
            <li class='others' style={{ flexGrow: rest }}>
              <a href={linkTo(['validators'])} title={restLabel}>
                <span class='visually-hidden'>{restLabel}</span>
              </a>
            </li>
          )}
        </ul>
        <span class='two-thirds' aria-hidden='true'>
          ⅔
        </span>
      </div>
      <Decisive spread={spread} nameOf={nameOf} />
    </div>
  )
}
