import type { Tally } from '../data/proposals.ts'
import { formatCount, formatShare } from '../format.ts'

const inWords = ({ Yes, No, Total }: Tally): string =>
  `Yes ${formatShare(Yes, Total)}, no ${formatShare(No, Total)} of the voting power`

/** Yes from the left, no from the right, and the lines at the two thirds that either has to reach. */
function Bar({ tally }: { readonly tally: Tally }) {
  const { Yes, No, Total } = tally
  const parts = [
    ['yes', Yes],
    ['open', Total - Yes - No],
    ['no', No],
  ] as const
  return (
    <div class='tally-bar' role='img' aria-label={inWords(tally)}>
      {parts.map(([kind, power]) => (power > 0 ? <span key={kind} class={kind} style={{ flexGrow: power }} /> : null))}
      <i class='approves' />
      <i class='rejects' />
    </div>
  )
}

/** A tally in a line of a list. */
export function SmallTally({ tally }: { readonly tally: Tally | undefined }) {
  if (tally === undefined) return <span class='small-tally soft'>–</span>
  const { Yes, No, Total } = tally
  return (
    <span class='small-tally'>
      <Bar tally={tally} />
      <span class='number soft' aria-hidden='true'>
        yes {formatShare(Yes, Total)}
        {No > 0 ? `, no ${formatShare(No, Total)}` : ''}
      </span>
    </span>
  )
}

/** The least power that is two thirds of a total. */
const twoThirds = (total: number): number => Math.ceil((total * 2) / 3)

/** What is still missing, in words. */
function missing({ Yes, No, Total }: Tally): string {
  if (Total === 0) return 'Nobody has voting power: nothing is decided.'
  const [yes, no] = [twoThirds(Total) - Yes, twoThirds(Total) - No]
  // The chain tallies only behind a vote and at the end: powers may have moved since.
  if (yes <= 0 || no <= 0)
    return `Two thirds are ${yes <= 0 ? 'for' : 'against'} it: the next vote, or its end, decides it.`
  return `${formatCount(yes)} more power for it approves it, and ${formatCount(no)} more against it rejects it.`
}

/** A tally at large. `isFinal`: it is the one that decided, or the last one before the proposal expired. */
export function LargeTally({ tally, isFinal }: { readonly tally: Tally; readonly isFinal: boolean }) {
  const { Yes, No, Total } = tally
  const parts = [
    ['yes', 'Yes', Yes],
    ['open', 'Not voted', Total - Yes - No],
    ['no', 'No', No],
  ] as const
  return (
    <div class='large-tally'>
      <Bar tally={tally} />
      <p class='line-label' aria-hidden='true'>
        <span>⅔ no</span>
        <span>⅔ yes</span>
      </p>
      <dl>
        {parts.map(([kind, name, power]) => (
          <div key={kind} class={kind}>
            <dt>{name}</dt>
            <dd>
              <strong>{formatShare(power, Total)}</strong> <span class='soft'>{formatCount(power)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p class='soft'>
        {isFinal
          ? `The tally as it was when the proposal ended, of a total power of ${formatCount(Total)}.`
          : `Of a total power of ${formatCount(Total)}. ${missing(tally)}`}
      </p>
    </div>
  )
}
