import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useNow } from '../data/clock.ts'
import { labels } from '../data/labels.ts'
import { useStore } from '../data/store.ts'
import { formatAgo, formatTime, formatTokens, isWholeNumber, shorten } from '../format.ts'
import { partsOf } from '../marks.ts'
import { linkTo } from '../route.ts'

/**
 * Text that a stranger wrote. It stands as text, isolated from the writing direction around it. Characters that are not
 * seen, or that look like a space and are none, stand there by their codes.
 */
export function UserText({ text, isLong = false }: { readonly text: string; readonly isLong?: boolean }) {
  return (
    <bdi dir='auto' class={isLong ? 'user-text long' : 'user-text'}>
      {partsOf(text).map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <span key={at} class='mark' title='A character by its code'>
            {part}
          </span>
        ),
      )}
    </bdi>
  )
}

/**
 * A link that a stranger gave, which shows where it leads: only http and https are links, and only those whose host stands
 * there as the browser reads it, without a user's name before it and without letters that look like others.
 */
export function UserLink({ url }: { readonly url: string }) {
  if (!/^https?:\/\/[\w.:[\]-]+(?:[/?#]\S*)?$/i.test(url)) return <UserText text={url} />
  return (
    <a href={url} target='_blank' rel='noopener noreferrer nofollow ugc'>
      <UserText text={url} />
    </a>
  )
}

/** How long ago or ahead a time is, with the time itself at hand. `time`: ISO 8601. */
export function Ago({ time }: { readonly time: string }) {
  const now = useNow()
  const timeMs = Date.parse(time)
  if (Number.isNaN(timeMs)) return <span>–</span>
  return (
    <time dateTime={time} title={`${formatTime(timeMs)} UTC`}>
      {formatAgo(timeMs, now)}
    </time>
  )
}

/** A time as it is, and how long ago or ahead that is. `time`: ISO 8601. */
export const Moment = ({ time }: { readonly time: string }) => (
  <>
    {formatTime(Date.parse(time))} UTC{' '}
    <span class='soft'>
      (<Ago time={time} />)
    </span>
  </>
)

/**
 * An amount in base units, in tokens; the exact one is at hand. In a table of amounts the unit may go without saying. What
 * a stranger wrote in the place of an amount stands as text.
 */
export function Tokens({
  units,
  decimals = 4,
  unit = 'token',
}: {
  readonly units: string | bigint
  readonly decimals?: number
  readonly unit?: 'token' | ''
}) {
  if (typeof units === 'string' && !isWholeNumber(units)) return <UserText text={units} />
  return (
    <span class='number' title={`${units} base units`}>
      {formatTokens(units, decimals)}
      {unit === '' ? null : <span class='unit'> {unit}</span>}
    </span>
  )
}

/**
 * The label that the reader gave to an address, in a frame that nothing of the chain has: a stranger who takes the same
 * name does not look the same.
 */
export function OwnLabel({ address }: { readonly address: string }) {
  const label = useStore(labels).get(address)
  if (label === undefined) return null
  return (
    <>
      {' '}
      <span class='own-label' title='Your own label, which only this browser has'>
        <span class='visually-hidden'>your label: </span>
        <UserText text={label} />
      </span>
    </>
  )
}

/** The addresses in a text that have a label, each with it. */
export function LabelsIn({ text }: { readonly text: string }) {
  const known = useStore(labels)
  const named = [...new Set(text.match(/0x[0-9a-f]{40}/g))].filter((address) => known.has(address))
  return named.length === 0 ? null : (
    <span class='labels-in'>
      {named.map((address) => (
        <span key={address}>
          <span class='mono'>{shorten(address)}</span>
          <OwnLabel address={address} />
        </span>
      ))}
    </span>
  )
}

/** A hash, key or address in short, as a link where it leads somewhere. */
export function Short({ text, to, left, right }: { text: string; to?: string; left?: number; right?: number }) {
  const shown = (
    <span class='mono' title={text}>
      {shorten(text, left, right)}
    </span>
  )
  return (
    <>
      {to === undefined ? shown : <a href={to}>{shown}</a>}
      <OwnLabel address={text} />
    </>
  )
}

export const AccountLink = ({ address }: { readonly address: string }) => (
  <Short text={address} to={linkTo(['accounts', address])} />
)

export const HeightLink = ({ height }: { readonly height: number }) => (
  <a class='number' href={linkTo(['blocks', height])}>
    {height.toLocaleString('en')}
  </a>
)

export const TxLink = ({ hash }: { readonly hash: string }) => <Short text={hash} to={linkTo(['transactions', hash])} />

/** A button that copies a text, and says whether it could. */
export function CopyButton({ text, label, shown = 'Copy' }: { text: string; label: string; shown?: string }) {
  const [told, setTold] = useState<string>()
  // Over plain http beyond this machine there is no clipboard: what throws then must reject.
  const write = async (): Promise<void> => navigator.clipboard.writeText(text)
  const copy = async (): Promise<void> => {
    setTold(
      await write().then(
        () => 'Copied',
        () => 'Not copied',
      ),
    )
    setTimeout(() => setTold(undefined), 1_500)
  }
  return (
    <>
      <button type='button' class='copy' aria-label={`Copy ${label}`} onClick={() => void copy()}>
        {told ?? shown}
      </button>
      <span class='visually-hidden' role='status'>
        {told}
      </span>
    </>
  )
}

/** A whole hash, key or address with a button that copies it. */
export function Whole({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <span class='whole'>
      <WholeAddress address={text} /> <CopyButton text={text} label={label} />
    </span>
  )
}

/** A whole address with the reader's own label. */
export const WholeAddress = ({ address }: { readonly address: string }) => (
  <>
    <span class='mono'>{address}</span>
    <OwnLabel address={address} />
  </>
)

export type Tone = 'good' | 'bad' | 'waiting' | 'plain'

/** A state in a word. Its tone has a sign beside the colour. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
