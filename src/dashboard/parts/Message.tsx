import type { ComponentChildren } from 'preact'
import { parseRatio } from '../../base/amount.ts'
import { exactValue } from '../data/parameters.ts'
import { proposalLink } from '../data/proposals.ts'
import { useCandidates } from '../data/validators.ts'
import { formatRatio, formatTime, isDate } from '../format.ts'
import { linkTo } from '../route.ts'
import { labelOf } from '../operations/index.ts'
import type { Message } from '../operations/operation.ts'
import { ANSWERS } from '../operations/vote.ts'
import { Facts } from './layout.tsx'
import { LibraryFiles } from './LibraryFiles.tsx'
import { AccountLink, HeightLink, Short, Tokens, UserText } from './text.tsx'
import { WhenBlock } from './TimeLeft.tsx'

const heightOrText = (value: string): ComponentChildren =>
  Number.isSafeInteger(Number(value)) ? (
    <>
      <HeightLink height={Number(value)} />
      <WhenBlock height={Number(value)} />
    </>
  ) : (
    value
  )

const timeOf = (value: string): ComponentChildren => {
  const timeMs = Number(value) * 1_000
  return isDate(timeMs) ? `${formatTime(timeMs)} UTC` : value
}

function Keys({ text }: { readonly text: string }) {
  const candidates = useCandidates().data
  return (
    <ul class='user-text long'>
      {text.split(',').map((key) => {
        const name = candidates?.find(({ pub_key }) => pub_key.value === key)?.description.name.trim()
        return (
          <li key={key}>
            <span class='mono'>
              <UserText text={key} />
            </span>{' '}
            {name === undefined ? null : <UserText text={name} />}
          </li>
        )
      })}
    </ul>
  )
}

const amount = (value: string): ComponentChildren => <Tokens units={value} decimals={18} />
const account = (value: string): ComponentChildren => <AccountLink address={value} />
const candidacy = (value: string): ComponentChildren => <Short text={value} to={linkTo(['validators', value])} />

/** Values that mean more than their text. A stranger wrote them: an amount, an answer or a ratio may be none. */
const shown: Readonly<Record<string, (value: string) => ComponentChildren>> = {
  to: account,
  value: amount,
  maxAmount: amount,
  amount,
  newCandidateAccount: account,
  candidateAddress: candidacy,
  validatorAddress: candidacy,
  transferFrom: account,
  transferTo: account,
  proposalId: (value) => <Short text={value} to={proposalLink(value)} left={20} right={20} />,
  answer: (value) => (ANSWERS.has(value) ? `${value} (${ANSWERS.get(value)})` : <UserText text={value} />),
  expireBlockHeight: heightOrText,
  deployBlockHeight: heightOrText,
  retiredBlockHeight: heightOrText,
  upgradeBlockHeight: heightOrText,
  expireTimestamp: timeOf,
  deployTimestamp: timeOf,
  compRate: (value) =>
    parseRatio(value) === undefined ? (
      <UserText text={value} />
    ) : (
      <>
        <span class='number'>{formatRatio(value)}</span> <span class='soft'>({value})</span>
      </>
    ),
  pubKey: (value) => <span class='mono'>{value}</span>,
  preservedValidators: (value) => <Keys text={value} />,
  reason: (value) => <UserText text={value} isLong />,
  'description.profile': (value) => <UserText text={value} isLong />,
}

/** The value of `proposeChangeParam` is no amount, and the files of a library stand with their sums. */
function shownValue(operation: string, name: string, value: unknown, message: Message): ComponentChildren {
  if (typeof value === 'object' && value !== null)
    return <Fields operation={operation} message={value as Message} within={`${name}.`} />
  const text = String(value)
  if (name === 'fileUrl') return <LibraryFiles fileUrl={text} md5={String(message['md5'] ?? '')} />
  if (name === 'value' && operation !== 'transfer')
    return <UserText text={exactValue(String(message['name'] ?? ''), text)} />
  const show = shown[name]
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
  const given = Object.entries(message).filter(
    ([name, value]) => value !== undefined && value !== null && !(name === 'md5' && 'fileUrl' in message),
  )
  if (given.length === 0)
    return <p class='soft'>{within === '' ? 'This operation takes no fields.' : 'Given, without members.'}</p>
  return (
    <Facts
      facts={Object.fromEntries(
        given.map(([name, value]) => [
          labelOf(operation, `${within}${name}`),
          shownValue(operation, `${within}${name}`, value, message),
        ]),
      )}
    />
  )
}
