import { useEffect, useState } from 'preact/hooks'
import { type Answer, type Freshness, keptAnswer, showAnswer } from './questions.ts'

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
