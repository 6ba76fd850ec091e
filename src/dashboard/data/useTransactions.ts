import { useEffect, useRef, useState } from 'preact/hooks'
import type { Connection, SvcTopics } from '../../client/index.ts'
import { recentBlocks } from './chain.ts'
import { subscribe, svc } from './gateway.ts'
import { useStore } from './store.ts'
import { useAnswer } from './useAnswer.ts'

/** A transaction in a block; with its block's time where that is known. */
export type Tx = SvcTopics['tx'] & { readonly time?: string }

/** Transactions that a list of the latest ones holds. */
export const LATEST_TXS = 100

/** How often the list is drawn anew at most, in ms. */
const DRAW_MS = 300

/**
 * The transactions from a height on, as they are committed, the newest first; none while `from` is undefined. Those before
 * a gap in what the page hears are forgotten, and `onGap` is called.
 */
export function useLive(from: number | undefined, address?: string, onGap = (): void => {}): readonly Tx[] {
  const gap = useRef(onGap)
  gap.current = onGap
  const [told, tell] = useState<readonly Tx[]>([])
  const blocks = useStore(recentBlocks)
  const isKnown = from !== undefined
  useEffect(() => {
    if (from === undefined) return
    let all: Tx[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const draw = (): void => {
      timer = undefined
      tell([...all].reverse())
    }
    const onState = ({ state }: Connection): void => {
      if (state !== 'gap') return
      all = []
      timer ??= setTimeout(draw, DRAW_MS)
      gap.current()
    }
    const options = { from, onState, ...(address === undefined ? {} : { address }) }
    const end = subscribe('tx', options, (tx) => {
      all = [...all.slice(1 - LATEST_TXS), tx]
      timer ??= setTimeout(draw, DRAW_MS)
    })
    return () => {
      end()
      clearTimeout(timer)
      // What comes next begins behind what an answer has by then.
      tell([])
    }
    // A subscription goes on where it was: another `from` of the same list is no reason for another one.
  }, [isKnown, address])
  const times = new Map(blocks.map(({ height, time }) => [height, time]))
  return told.map((tx) => {
    const time = times.get(tx.height)
    return time === undefined ? tx : { ...tx, time }
  })
}

/** The first block that the node still has, 1 until that is known. */
export const useEarliest = (): number =>
  useAnswer('earliest', () => svc.async.getTransactions({ limit: 1 }), 'once').data?.earliest_height ?? 1
