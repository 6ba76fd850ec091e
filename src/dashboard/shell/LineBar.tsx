import { head, line } from '../data/chain.ts'
import { useBrowserNow } from '../data/clock.ts'
import { patienceUntil } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { formatCount, formatSpan } from '../format.ts'

/** How long the line may be lost, or a wait be, until the page speaks of it, in ms: a restarted gateway is back by then. */
const PATIENCE_MS = 2_000

/**
 * Says that what stands below is old, while the page hears of no new blocks, or that it waits for the gateway. The
 * seconds are for the eye alone: a screen reader would read all of it out again with each of them.
 */
export function LineBar() {
  const { state, reason, isAnswered, since } = useStore(line)
  const newest = useStore(head)
  const now = useBrowserNow()
  const waitsMs = useStore(patienceUntil) - now
  const isOld = state === 'lost' && now - since >= PATIENCE_MS
  return (
    <div class='line-bar' role='status' data-old={isOld}>
      {!isOld && waitsMs > PATIENCE_MS && (
        <p>
          <strong>Too many requests from here.</strong>{' '}
          <span aria-hidden='true'>The gateway answers again in {formatSpan(waitsMs / 1_000)}.</span> The page goes on
          by itself then.
        </p>
      )}
      {isOld && (
        <p title={reason}>
          <strong>
            {isAnswered ? 'The gateway has had no blocks to show' : 'No connection to the gateway'}
            <span aria-hidden='true'> for {formatSpan((now - since) / 1_000)}</span>.
          </strong>{' '}
          {isAnswered && `${reason} `}
          {newest === undefined
            ? 'There is nothing to show yet.'
            : `What you see is as of block ${formatCount(newest.height)}.`}{' '}
          The page goes on by itself as soon as it can.
        </p>
      )}
    </div>
  )
}
