import type { Proposal } from '../data/proposals.ts'
import { type Clock, useClock, useTimeOfHeight } from '../data/blockTime.ts'
import { useNow } from '../data/clock.ts'
import { formatCount, formatSpan, formatTime } from '../format.ts'

type Point = Pick<Proposal, 'ExpireBlockHeight' | 'ExpireTimestamp'>

/** How many blocks and seconds there are until the end of a proposal; one of the two is judged by recent blocks. */
function leftUntil({ ExpireBlockHeight: height, ExpireTimestamp: time }: Point, clock: Clock, nowMs: number) {
  const pace = clock.secondsPerBlock
  if (time !== undefined) {
    const seconds = time - nowMs / 1000
    return { seconds, blocks: pace ? Math.ceil((time - clock.timeMs / 1000) / pace) : undefined, isTime: true }
  }
  const blocks = height - clock.height
  return {
    blocks,
    // From the newest block on, not from now: the estimate does not run away while the chain makes no block.
    seconds: pace === undefined ? undefined : (clock.timeMs - nowMs) / 1000 + blocks * pace,
    isTime: false,
  }
}

const blocksText = (blocks: number): string => (blocks === 1 ? '1 block' : `${formatCount(blocks)} blocks`)

/** How long a proposal is still open, in blocks and on the clock. What is an estimate says so. */
export function TimeLeft({ proposal, isShort = false }: { readonly proposal: Point; readonly isShort?: boolean }) {
  const clock = useClock()
  const now = useNow()
  if (clock === undefined) return <span>–</span>
  const { blocks, seconds, isTime } = leftUntil(proposal, clock, now)
  // Less than a second is no estimate: the chain waits for transactions then.
  const onClock = seconds === undefined || seconds < 1 ? undefined : formatSpan(seconds)
  if (isTime) {
    return (
      <span class='number'>
        {onClock ?? 'with the next block'}
        {isShort || blocks === undefined || blocks <= 0 ? '' : `, about ${blocksText(blocks)}`}
      </span>
    )
  }
  return (
    <span class='number'>
      {blocksText(Math.max(0, blocks ?? 0))}
      {onClock === undefined || isShort ? '' : `, about ${onClock}`}
    </span>
  )
}

/** When a block is to be expected, on the clock; nothing of one that is made already. */
export function WhenBlock({ height }: { readonly height: number }) {
  const newest = useClock()?.height ?? height
  const timeMs = useTimeOfHeight(height)
  if (timeMs === undefined || height <= newest) return null
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
