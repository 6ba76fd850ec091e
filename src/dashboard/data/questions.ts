import { INVALID_PARAMS } from '../../client/errors.ts'
import { head, line } from './chain.ts'
import { createStore, type Store } from './store.ts'

/** An answer of the gateway as a component shows it. While a newer one is on its way the last one stays. */
export interface Answer<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
}

/**
 * When an answer is asked for again: with each block; with each block until it is not null; when a reader comes back to
 * it, or the line does; or never.
 */
export type Freshness = 'eachBlock' | 'untilFound' | 'onReturn' | 'once'

/** The shortest time between two questions for the same thing, in ms. */
const PAUSE_MS = 1_000

/** How long the page waits before it repeats a question that failed, in ms: doubled each time. */
const RETRY_MS_MIN = 2_000
const RETRY_MS_MAX = 30_000

/** How long the page waits for an answer, in ms: a connection that died while the machine slept says nothing at all. */
const ANSWER_MS = 30_000

/** Answers that are kept for a reader who comes back to a view. */
const KEPT_MAX = 64

const NOTHING: Answer<never> = { data: undefined, error: undefined }

/** One question that the page asks, however many of its parts show the answer. */
interface Question {
  readonly answer: Store<Answer<unknown>>
  ask: () => Promise<unknown>
  freshness: Freshness
  /** The parts of the page that show it. */
  shown: number
  isUnderWay: boolean
  /** Somebody wants a newer answer than the one under way. */
  isDue: boolean
  /** When it may be asked again at the earliest, in ms of `performance.now`; 0 before it is asked for the first time. */
  notBefore: number
  failures: number
  /** The gateway takes no such question: asking again would not help. */
  isRefused: boolean
  timer: ReturnType<typeof setTimeout> | undefined
}

/** In the order in which they were shown last. */
const questions = new Map<string, Question>()

interface Failure {
  readonly code?: unknown
  readonly data?: { readonly retryAfterMs?: unknown } | null
}

function retryMs({ data }: Failure, failures: number): number {
  const asked = Number(data?.retryAfterMs ?? 0)
  return Math.min(RETRY_MS_MAX, Math.max(asked, RETRY_MS_MIN * 2 ** (failures - 1)))
}

/** The answer, or an error where there is none in time. */
export function answerOf<T>(ask: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`the gateway has said nothing for ${ANSWER_MS / 1_000} s`)), ANSWER_MS)
  })
  return Promise.race([ask(), late]).finally(() => clearTimeout(timer))
}

async function run(question: Question): Promise<void> {
  const { answer } = question
  question.isUnderWay = true
  question.isDue = false
  question.notBefore = performance.now() + PAUSE_MS
  try {
    answer.set({ data: await answerOf(question.ask), error: undefined })
    question.failures = 0
  } catch (error) {
    // What is shown stays: an old answer with a word about it says more than none.
    answer.set({ data: answer.get().data, error: error as Error })
    question.isRefused = (error as Failure).code === INVALID_PARAMS
    question.isDue = !question.isRefused
    question.notBefore = performance.now() + retryMs(error as Failure, ++question.failures)
  }
  question.isUnderWay = false
  if (question.isDue) plan(question)
}

/** Nobody looks, or the gateway is away and the question was asked before: then the page waits. */
const isIdle = ({ shown, notBefore }: Question): boolean =>
  shown === 0 || document.hidden || (notBefore > 0 && line.get().state === 'lost')

/** Asks as soon as the last answer is there and the pause is over. */
function plan(question: Question): void {
  question.isDue = true
  if (question.isUnderWay || question.timer !== undefined || isIdle(question)) return
  const inMs = Math.max(0, question.notBefore - performance.now())
  question.timer = setTimeout(() => {
    question.timer = undefined
    if (!isIdle(question)) void run(question)
  }, inMs)
}

/** Whether another answer may come. */
const isOpen = ({ isRefused, freshness, answer }: Question): boolean => {
  if (isRefused) return false
  const { data } = answer.get()
  return freshness === 'eachBlock' || data === undefined || (freshness === 'untilFound' && data === null)
}

/** Asks again what is shown and may have changed. */
function refreshShown(isReturn = false): void {
  for (const question of questions.values()) {
    const { isDue, isRefused, freshness } = question
    if (isDue || isOpen(question) || (isReturn && !isRefused && freshness === 'onReturn')) plan(question)
  }
}

let wasLost = false

function onLine(): void {
  const { state } = line.get()
  if (state === 'lost') wasLost = true
  if (state !== 'live') return
  for (const question of questions.values()) {
    if (question.failures === 0) continue
    // What failed while the gateway was away need not wait any longer.
    clearTimeout(question.timer)
    Object.assign(question, { timer: undefined, notBefore: 0 })
  }
  // What a page asks before its line is there for the first time is new.
  refreshShown(wasLost)
  wasLost = false
}

head.listen(() => refreshShown())
line.listen(onLine)
document.addEventListener('visibilitychange', () => refreshShown(true))

/** Asks one question again, if it is shown. */
export function refresh(key: string): void {
  const question = questions.get(key)
  if (question !== undefined) plan(question)
}

function trim(): void {
  for (const [key, { shown, isUnderWay }] of questions) {
    if (questions.size <= KEPT_MAX) return
    if (shown === 0 && !isUnderWay) questions.delete(key)
  }
}

/** The answer to a question as far as the page has it. */
export const keptAnswer = (key: string | undefined): Answer<unknown> =>
  (key === undefined ? undefined : questions.get(key)?.answer.get()) ?? NOTHING

/**
 * Shows the answer to a question until the function that is returned is called. Whoever shows the same `key` shares one
 * question: it is never asked twice at a time, nor twice a second.
 */
export function showAnswer(
  key: string,
  { ask, freshness }: { readonly ask: () => Promise<unknown>; readonly freshness: Freshness },
  listener: (answer: Answer<unknown>) => void,
): () => void {
  const known = questions.get(key)
  const question: Question = known ?? {
    answer: createStore<Answer<unknown>>(NOTHING),
    ask,
    freshness,
    shown: 0,
    isUnderWay: false,
    isDue: false,
    notBefore: 0,
    failures: 0,
    isRefused: false,
    timer: undefined,
  }
  questions.delete(key)
  questions.set(key, question)
  Object.assign(question, { ask, freshness })
  question.shown++
  const end = question.answer.listen(() => listener(question.answer.get()))
  listener(question.answer.get())
  if (isOpen(question) || (freshness === 'onReturn' && question.shown === 1)) plan(question)
  return () => {
    end()
    question.shown--
    if (question.shown === 0) {
      clearTimeout(question.timer)
      question.timer = undefined
      trim()
    }
  }
}
