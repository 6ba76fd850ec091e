import { describe, expect, test } from '@jest/globals'
import { LISTS_ASKED_MAX, LISTS_KEPT_BYTES_MAX, LISTS_WAITING_MAX } from '../../src/gateway/http/limits.ts'
import { shareLists } from '../../src/gateway/lists.ts'
import { RawJson } from '../../src/gateway/rpc/envelope.ts'

/** Lists whose answers the test gives. */
function makeLists() {
  const asked: { path: string; answer: (json?: Uint8Array) => void; fail: () => void }[] = []
  const state = { following: true }
  const lists = shareLists({
    isFollowing: () => state.following,
    ask: (path) =>
      new Promise<RawJson>((done, failed) => {
        const answer = (json: Uint8Array = new Uint8Array(1)): void => done(new RawJson([json]))
        asked.push({ path, answer, fail: () => failed(new Error('away')) })
      }),
  })
  // By default each path has a different caller, so that no limit of one address applies.
  const read = (path: string, caller = path): Promise<RawJson> => lists.read(caller, path)
  return { ...lists, read, asked, state, paths: () => asked.map(({ path }) => path) }
}

const settled = (): Promise<void> =>
  new Promise((done) => {
    setImmediate(done)
  })

describe('a list', () => {
  test('is asked for once at one head, by those who come before the answer and after it', async () => {
    const { read, asked, paths } = makeLists()
    const early = [read('/a'), read('/a')]
    asked[0]?.answer()
    const answers = await Promise.all([...early, read('/a')])
    expect(new Set(answers).size).toBe(1)
    expect(paths()).toEqual(['/a'])
  })

  test('is asked for again at the next head, and who asked before it is not given to who asks after it', async () => {
    const { read, asked, paths, onHeight } = makeLists()
    const before = read('/a')
    onHeight()
    const after = read('/a')
    expect(paths()).toEqual(['/a', '/a'])
    asked[1]?.answer()
    asked[0]?.answer()
    expect(await before).not.toBe(await after)
    expect(await read('/a')).toBe(await after)
  })

  test('is kept for nobody while heads are not told, nor when it failed', async () => {
    const { read, asked, paths, state } = makeLists()
    state.following = false
    const first = read('/a')
    asked[0]?.answer()
    await first
    const second = read('/a')
    asked[1]?.fail()
    await expect(second).rejects.toThrow('away')
    const third = read('/a')
    asked[2]?.answer()
    await third
    expect(paths()).toEqual(['/a', '/a', '/a'])
  })

  test('waits for its turn, which callers of later heads may share, as it was not asked yet', async () => {
    const { read, asked, paths, onHeight } = makeLists()
    const running = Array.from({ length: LISTS_ASKED_MAX }, (_, at) => read(`/${at}`))
    const first = read('/late')
    onHeight()
    const second = read('/late')
    expect(paths()).toHaveLength(LISTS_ASKED_MAX)
    asked[0]?.answer()
    await running[0]
    await settled()
    expect(paths().slice(LISTS_ASKED_MAX)).toEqual(['/late'])
    asked[LISTS_ASKED_MAX]?.answer()
    expect(await first).toBe(await second)
  })

  test('is refused with -32015 when as many others wait as may, and served when one of them is done', async () => {
    const { read, asked } = makeLists()
    const all = Array.from({ length: LISTS_ASKED_MAX + LISTS_WAITING_MAX }, (_, at) => read(`/${at}`))
    await expect(read('/more')).rejects.toMatchObject({ code: -32015, data: { retryAfterMs: 1000 } })
    const shared = read('/0')
    asked[0]?.answer()
    await all[0]
    await settled()
    const more = read('/more')
    for (let at = 1; at < LISTS_ASKED_MAX + LISTS_WAITING_MAX + 1; at++) {
      asked[at]?.answer()
      await settled()
    }
    await Promise.all([...all, shared, more])
  })

  test('that was kept makes room for newer ones', async () => {
    const { read, asked, paths } = makeLists()
    for (const path of ['/a', '/b']) {
      const answer = read(path)
      asked.at(-1)?.answer(new Uint8Array(LISTS_KEPT_BYTES_MAX * 0.6))
      await answer
    }
    await read('/b')
    void read('/a')
    expect(paths()).toEqual(['/a', '/b', '/a'])
  })
})
