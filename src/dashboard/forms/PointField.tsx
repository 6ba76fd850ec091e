import { useId, useState } from 'preact/hooks'
import { head } from '../data/chain.ts'
import { useNow } from '../data/clock.ts'
import { useStore } from '../data/store.ts'
import { formatAgo, formatCount, formatSpan } from '../format.ts'
import type { PointNames, Typing } from './check.ts'
import { CountField } from './fields.tsx'
import { Labelled } from './Labelled.tsx'
import { useAnswer } from '../data/useAnswer.ts'
import { svc } from '../data/gateway.ts'
import { useClock } from '../data/blockTime.ts'

type Way = 'default' | 'in' | 'at' | 'time'

/** The text of an input for local time, of Unix seconds. */
const localTime = (seconds: number): string => {
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** What stands beside each way to say when. */
const WAYS: readonly (readonly [Way, string])[] = [
  ['default', 'As the chain sets it'],
  ['in', 'After a number of blocks'],
  ['at', 'At a block'],
  ['time', 'At a time'],
]

/** The end that the chain gives to what names none. */
function DefaultEnd() {
  const clock = useClock()
  const blocks = useAnswer('params', () => svc.async.governance.getParams()).data?.data.proposal_expire_period
  if (blocks === undefined || clock === undefined) return null
  const pace = clock.secondsPerBlock
  return (
    <p class='hint'>
      {formatCount(blocks)} blocks after the one that it is in, about block {formatCount(clock.height + 1 + blocks)}
      {pace === undefined ? '' : `, in about ${formatSpan(blocks * pace)}`}
    </p>
  )
}

/** When a proposal ends: by default, at a block or at a time. Only one of them goes to the chain. */
export function PointField({
  names,
  typing,
  onChange,
  errors,
}: {
  readonly names: PointNames
  readonly typing: Typing
  readonly onChange: (changed: Typing) => void
  readonly errors: Readonly<Record<string, string>>
}) {
  const given = typing[names.height] ?? ''
  const seconds = names.time === undefined ? '' : (typing[names.time] ?? '')
  // What a reload has kept is a block or a time.
  const [way, setWay] = useState<Way>(given !== '' ? 'at' : seconds !== '' ? 'time' : 'default')
  const [blocks, setBlocks] = useState('')
  const height = useStore(head)?.height ?? 0
  const now = useNow()
  const id = useId()
  const none = { [names.height]: '', ...(names.time === undefined ? {} : { [names.time]: '' }) }
  const pick = (next: Way): void => {
    setWay(next)
    setBlocks('')
    onChange(none)
  }
  const inBlocks = (text: string): void => {
    setBlocks(text)
    onChange({ ...none, [names.height]: /^[0-9]{1,9}$/.test(text) ? String(height + Number(text)) : text })
  }
  return (
    <fieldset class='point'>
      <legend>When it ends</legend>
      <div class='radio-row'>
        {WAYS.filter(([name]) => name !== 'time' || names.time !== undefined).map(([name, title]) => (
          <label key={name}>
            <input
              type='radio'
              name={id}
              checked={name === way}
              // It counts from the newest block, which the page does not know at first.
              disabled={name === 'in' && height === 0}
              onChange={() => pick(name)}
            />{' '}
            {title}
          </label>
        ))}
      </div>
      {way === 'default' ? <DefaultEnd /> : null}
      {way === 'in' ? (
        <CountField
          label='Blocks from now'
          value={blocks}
          onInput={inBlocks}
          error={errors[names.height]}
          hint={given === '' || blocks === '' ? undefined : `block ${formatCount(Number(given) || 0)}`}
        />
      ) : null}
      {way === 'at' ? (
        <CountField
          label='Block height'
          value={given}
          onInput={(text) => onChange({ ...none, [names.height]: text })}
          error={errors[names.height]}
          hint={`the newest block is ${formatCount(height)}`}
        />
      ) : null}
      {way === 'time' && names.time !== undefined ? (
        <Labelled
          label='Date and time'
          hint={seconds === '' ? 'on the clock of this machine' : formatAgo(Number(seconds) * 1000, now)}
          error={errors[names.time]}
        >
          {(props) => (
            <input
              {...props}
              type='datetime-local'
              // Browsers take a year of six digits otherwise, which Date.parse does not read.
              max='9999-12-31T23:59'
              value={seconds === '' ? '' : localTime(Number(seconds))}
              onInput={({ currentTarget: { value } }) => {
                const timeMs = Date.parse(value)
                onChange({ ...none, [names.time as string]: Number.isNaN(timeMs) ? '' : String(timeMs / 1000) })
              }}
            />
          )}
        </Labelled>
      ) : null}
    </fieldset>
  )
}
