import { useEffect, useState } from 'preact/hooks'
import { askInfo, type GatewayInfo, subscribe } from './gateway.ts'
import { type Answer, type Freshness, keptAnswer, refresh, showAnswer } from './questions.ts'

export type { Answer } from './questions.ts'

/**
 * Asks the gateway, and again as `freshness` says. `key` names the question: components with the same key share it and
 * its answer, and another key is another question. With `key` undefined nothing is asked.
 */
export function useAnswer<T>(
  key: string | undefined,
  ask: () => Promise<T>,
  freshness: Freshness = 'eachBlock',
): Answer<T> {
  const [shown, show] = useState<{ readonly key: string | undefined; readonly answer: Answer<unknown> }>()
  useEffect(() => {
    if (key === undefined) return
    return showAnswer(key, { ask, freshness }, (answer) => show({ key, answer }))
  }, [key, freshness])
  return (shown !== undefined && shown.key === key ? shown.answer : keptAnswer(key)) as Answer<T>
}

const NOTHING_TOLD: GatewayInfo = { devnet: false, light: false }

/** What the gateway says of itself; neither until it has answered. Another one may stand behind a line that comes back. */
export const useGatewayInfo = (): GatewayInfo => useAnswer('page.json', askInfo, 'onReturn').data ?? NOTHING_TOLD

/** Asks the gateway, and again when it tells of a topic: what changes with nothing else need not be asked with each block. */
export function useTold<T>(topic: 'validatorSet' | 'proposal', key: string, ask: () => Promise<T>): Answer<T> {
  useEffect(() => {
    const again = (): void => refresh(key)
    // What happened before the subscription was there, or in a gap, is not told.
    return subscribe(topic, { onState: ({ state }) => state !== 'lost' && again() }, again)
  }, [topic, key])
  return useAnswer(key, ask, 'onReturn')
}
