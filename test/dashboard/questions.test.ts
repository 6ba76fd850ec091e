import './browser.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'

/** What the data of the page takes from a browser. */
interface Tab extends EventTarget {
  hidden: boolean
}

const tab: Tab = document

type Questions = typeof import('../../src/dashboard/data/questions.ts')
type Chain = typeof import('../../src/dashboard/data/chain.ts')

describe('questions', () => {
  let questions: Questions
  let chain: Chain
  let height = 0
  let name = 0

  beforeAll(async () => {
    ;[questions, chain] = await Promise.all([
      import('../../src/dashboard/data/questions.ts'),
      import('../../src/dashboard/data/chain.ts'),
    ])
  })
  beforeEach(() => {
    jest.useFakeTimers()
    name++
    setLine('live')
  })
  afterEach(() => {
    setHidden(false)
    jest.useRealTimers()
  })

  const setLine = (state: 'connecting' | 'live' | 'lost') =>
    chain.line.set({ state, reason: '', isAnswered: false, since: Date.now() })
  const setHidden = (hidden: boolean): void => {
    tab.hidden = hidden
    tab.dispatchEvent(new Event('visibilitychange'))
  }
  const newBlock = (): void => {
    height++
    const hash = String(height)
    chain.head.set({
      height,
      hash,
      parent_hash: '',
      time: '',
      proposer_address: '',
      app_hash: '',
      transaction_count: 0,
    })
  }
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms)

  type Freshness = Parameters<Questions['showAnswer']>[1]['freshness']

  /** Shows the answers that `answer` makes of how often it was asked, and counts. */
  function show(freshness: Freshness, answer: (count: number) => unknown = (count) => count, key = `${name}`) {
    const state = { asked: 0, data: undefined as unknown, error: undefined as string | undefined, end: () => {} }
    const ask = async (): Promise<unknown> => {
      const given = answer(++state.asked)
      if (given instanceof Error) throw given
      return given
    }
    state.end = questions.showAnswer(key, { ask, freshness }, (told) => {
      state.data = told.data
      state.error = told.error?.message
    })
    return state
  }

  test('one question is asked once, however many show its answer', async () => {
    const [first, second] = [show('eachBlock'), show('eachBlock')]
    await pass(0)
    expect([first.asked + second.asked, first.data, second.data]).toEqual([1, 1, 1])
    first.end()
    second.end()
  })

  test('with each block, but at most once a second', async () => {
    const state = show('eachBlock')
    await pass(0)
    for (let block = 0; block < 30; block++) {
      newBlock()
      await pass(100)
    }
    expect(state.asked).toBe(4)
    await pass(5_000)
    expect([state.asked, state.data]).toEqual([4, 4])
    state.end()
  })

  test('never two at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const state = show('eachBlock', (count) => (count === 1 ? promise : 'second'))
    await pass(0)
    newBlock()
    await pass(5_000)
    expect(state.asked).toBe(1)
    resolve('first')
    await pass(0)
    expect([state.asked, state.data]).toEqual([2, 'second'])
    state.end()
  })

  test('not while nobody looks, and at once when somebody does again', async () => {
    setHidden(true)
    const state = show('eachBlock')
    newBlock()
    await pass(5_000)
    expect(state.asked).toBe(0)
    setHidden(false)
    await pass(0)
    expect(state.asked).toBe(1)
    setHidden(true)
    newBlock()
    await pass(5_000)
    expect(state.asked).toBe(1)
    setHidden(false)
    await pass(0)
    expect(state.asked).toBe(2)
    state.end()
  })

  test('what is shown stays when an answer fails, and the question is asked again after a growing pause', async () => {
    const state = show('once', (count) => (count === 2 || count > 3 ? count : new Error('away')))
    await pass(0)
    expect([state.data, state.error]).toEqual([undefined, 'away'])
    await pass(2_000)
    expect([state.asked, state.data, state.error]).toEqual([2, 2, undefined])
    questions.refresh(`${name}`)
    await pass(1_000)
    expect([state.asked, state.data, state.error]).toEqual([3, 2, 'away'])
    await pass(2_000)
    expect([state.asked, state.data, state.error]).toEqual([4, 4, undefined])
    state.end()
  })

  test('a gateway that asks for patience gets it', async () => {
    const busy = Object.assign(new Error('too many'), { code: -32015, data: { retryAfterMs: 7_000 } })
    const state = show('eachBlock', (count) => (count === 1 ? busy : count))
    await pass(0)
    newBlock()
    await pass(6_900)
    expect(state.asked).toBe(1)
    await pass(200)
    expect([state.asked, state.data]).toEqual([2, 2])
    state.end()
  })

  test('what the gateway does not take is asked once', async () => {
    const state = show('eachBlock', () => Object.assign(new Error('no address'), { code: -32602 }))
    await pass(0)
    newBlock()
    await pass(60_000)
    expect([state.asked, state.error]).toEqual([1, 'no address'])
    state.end()
  })

  test('an answer that never comes is given up', async () => {
    const state = show('once', (count) => (count === 1 ? new Promise(() => {}) : count))
    await pass(29_000)
    expect([state.asked, state.error]).toEqual([1, undefined])
    await pass(3_000)
    expect([state.asked, state.data, state.error]).toEqual([2, 2, undefined])
    state.end()
  })

  test('what was asked before the line is there for the first time is not asked again when it is', async () => {
    setLine('connecting')
    const first = show('onReturn')
    await pass(2_000)
    setLine('live')
    await pass(2_000)
    expect(first.asked).toBe(1)
    first.end()
  })

  test('nothing is repeated while the line is lost; what failed is asked at once when it is back', async () => {
    const state = show('eachBlock', (count) => (count === 2 ? new Error('away') : count))
    await pass(1_000)
    newBlock()
    await pass(0)
    setLine('lost')
    await pass(60_000)
    expect([state.asked, state.data, state.error]).toEqual([2, 1, 'away'])
    setLine('live')
    await pass(0)
    expect([state.asked, state.data, state.error]).toEqual([3, 3, undefined])
    state.end()
  })

  test('untilFound asks until there is an answer, onReturn when a reader comes back, once never again', async () => {
    const until = show('untilFound', (count) => (count < 3 ? null : 'there'), `${name}/a`)
    const returned = show('onReturn', (count) => count, `${name}/b`)
    const once = show('once', (count) => count, `${name}/c`)
    for (let block = 0; block < 10; block++) {
      newBlock()
      await pass(1_000)
    }
    expect([until.asked, returned.asked, once.asked]).toEqual([3, 1, 1])
    setHidden(true)
    setHidden(false)
    await pass(0)
    expect([until.asked, returned.asked, once.asked]).toEqual([3, 2, 1])
    for (const one of [until, returned, once]) one.end()
    const [again, kept] = [show('onReturn', () => 'new', `${name}/b`), show('once', () => 'new', `${name}/c`)]
    expect([again.data, kept.data]).toEqual([2, 1])
    await pass(1_000)
    expect([again.data, kept.data]).toEqual(['new', 1])
    for (const one of [again, kept]) one.end()
  })

  test('what nobody shows is not asked, and only the answers shown last are kept', async () => {
    const gone = show('eachBlock', () => 'old', `${name}/gone`)
    await pass(0)
    gone.end()
    newBlock()
    await pass(5_000)
    expect(gone.asked).toBe(1)
    for (let other = 0; other < 70; other++) {
      const state = show('once', () => other, `${name}/${other}`)
      await pass(0)
      state.end()
    }
    expect(questions.keptAnswer(`${name}/gone`).data).toBe(undefined)
    expect(questions.keptAnswer(`${name}/69`).data).toBe(69)
  })
})
