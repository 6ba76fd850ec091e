import type { ComponentChildren } from 'preact'
import { formatTime } from '../format.ts'
import { proposalLink } from '../data/proposals.ts'
import { linkTo } from '../route.ts'
import { labelOf } from '../operations/index.ts'
import { Facts } from './layout.tsx'
import { AccountLink, HeightLink, Short, Tokens, UserText } from './text.tsx'

type Message = Readonly<Record<string, unknown>>

const heightOrText = (value: string): ComponentChildren =>
  Number.isSafeInteger(Number(value)) ? <HeightLink height={Number(value)} /> : value

const timeOf = (value: string): ComponentChildren => {
  const timeMs = Number(value) * 1_000
  return Number.isNaN(new Date(timeMs).getTime()) ? value : `${formatTime(timeMs)} UTC`
}

const ANSWERS: Readonly<Record<string, string>> = { Y: 'Y (yes)', N: 'N (no)' }

/** URLs or sums by operating system, which a proposer wrote as JSON; as it stands where it is none. */
function BySystem({ text }: { readonly text: string }) {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return <UserText text={text} isLong />
  }
  return <UserText text={JSON.stringify(parsed, null, 2)} isLong />
}

const amount = (value: string): ComponentChildren => <Tokens units={value} decimals={18} />
const account = (value: string): ComponentChildren => <AccountLink address={value} />

/** Values that mean more than their text. A number that is none in these fields cannot be in a message. */
const shown: Readonly<Record<string, (value: string) => ComponentChildren>> = {
  to: account,
  value: (value) => (/^[0-9]+$/.test(value) ? amount(value) : <UserText text={value} />),
  maxAmount: amount,
  amount,
  newCandidateAccount: account,
  candidateAddress: (value) => <Short text={value} to={linkTo(['validators', value])} />,
  transferFrom: account,
  transferTo: account,
  proposalId: (value) => <Short text={value} to={proposalLink(value)} left={20} right={20} />,
  answer: (value) => ANSWERS[value] ?? <UserText text={value} />,
  expireBlockHeight: heightOrText,
  deployBlockHeight: heightOrText,
  retiredBlockHeight: heightOrText,
  upgradeBlockHeight: heightOrText,
  expireTimestamp: timeOf,
  deployTimestamp: timeOf,
  fileUrl: (value) => <BySystem text={value} />,
  md5: (value) => <BySystem text={value} />,
  pubKey: (value) => <span class='mono'>{value}</span>,
  preservedValidators: (value) => <UserText text={value.replaceAll(',', '\n')} isLong />,
  reason: (value) => <UserText text={value} isLong />,
  profile: (value) => <UserText text={value} isLong />,
}

/** The value of `proposeChangeParam` is a text of its own: it is no amount. */
function shownValue(operation: string, name: string, value: unknown): ComponentChildren {
  if (typeof value === 'object' && value !== null)
    return <Fields operation={operation} message={value as Message} within={`${name}.`} />
  const text = String(value)
  const show = name === 'value' && operation !== 'transfer' ? undefined : shown[name]
  return text === '' ? <span class='soft'>empty</span> : (show?.(text) ?? <UserText text={text} />)
}

/** The fields of an operation, each in its own way. */
export function Fields({
  operation,
  message,
  within = '',
}: {
  readonly operation: string
  readonly message: Message
  /** The field that these lie in: `description.`. */
  readonly within?: string
}) {
  const given = Object.entries(message).filter(([, value]) => value !== undefined && value !== null)
  if (given.length === 0) return <p class='soft'>This operation takes no fields.</p>
  return (
    <Facts
      facts={Object.fromEntries(
        given.map(([name, value]) => [
          labelOf(operation, `${within}${name}`),
          shownValue(operation, `${within}${name}`, value),
        ]),
      )}
    />
  )
}
