import type { Proposal } from '../data/proposals.ts'
import { type Clock, useClock, useTimeOfHeight } from '../data/blockTime.ts'
import { useNow } from '../data/clock.ts'
import { formatCount, formatSpan, formatTime, isDate } from '../format.ts'

type Point = Pick<Proposal, 'ExpireBlockHeight' | 'ExpireTimestamp'>

const blocksText = (blocks: number): string => (blocks === 1 ? '1 block' : `${formatCount(blocks)} blocks`)

/** A time on the clock. Less than a second is no estimate: the chain waits for transactions then. */
const spanText = (seconds: number): string | undefined => (seconds < 1 ? undefined : formatSpan(seconds))

/** What a proposal itself says of how long it is open, and the other of blocks and time as recent blocks let expect. */
function leftUntil({ ExpireBlockHeight: height, ExpireTimestamp: time }: Point, clock: Clock, nowMs: number) {
  const pace = clock.secondsPerBlock
  if (time !== undefined) {
    const blocks = pace ? Math.ceil((time - clock.timeMs / 1000) / pace) : 0
    return [
      spanText(time - nowMs / 1000) ?? 'with the next block',
      blocks > 0 ? blocksText(blocks) : undefined,
    ] as const
  }
  const blocks = height - clock.height
  // From the newest block on, not from now: the estimate does not run away while the chain makes no block.
  const about = pace === undefined ? undefined : spanText((clock.timeMs - nowMs) / 1000 + blocks * pace)
  return [blocksText(Math.max(0, blocks)), about] as const
}

/** How long a proposal is still open, in blocks and on the clock. What is an estimate says so. */
export function TimeLeft({ proposal, isShort = false }: { readonly proposal: Point; readonly isShort?: boolean }) {
  const clock = useClock()
  const now = useNow()
  if (clock === undefined) return <span>–</span>
  const [left, about] = leftUntil(proposal, clock, now)
  return (
    <span class='number'>
      {left}
      {about === undefined || isShort ? '' : `, about ${about}`}
    </span>
  )
}

/** When a block is to be expected, on the clock; nothing of one that is made already. */
export function WhenBlock({ height }: { readonly height: number }) {
  const newest = useClock()?.height ?? height
  const timeMs = useTimeOfHeight(height)
  if (timeMs === undefined || height <= newest || !isDate(timeMs)) return null
  return (
    <>
      {' '}
      <span class='about'>(about {formatTime(timeMs).slice(0, -3)} UTC)</span>
    </>
  )
}

/** When a proposal ends, as it says itself: a height or a time. */
export const endOf = ({ ExpireBlockHeight: height, ExpireTimestamp: time }: Point): string =>
  time === undefined ? `block ${formatCount(height)}` : `${formatTime(time * 1000)} UTC`
