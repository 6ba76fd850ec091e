import { describe, expect, jest, test } from '@jest/globals'
import {
  BEHIND_MS,
  createNonceQueue,
  decodeNonce,
  encodeNonce,
  isInNoBlock,
  NONCES_OF_TX_MAX,
  type Numbered,
  nonceToRetry,
  RESIGNS_MAX,
  type Sent,
} from '../../src/tx/nonceQueue.ts'

type Answer = (one: Numbered<string>) => Sent<string> | undefined

/** The mempool of one account, which takes nonces in order. `answer` judges a transaction before the nonce does. */
function createAccount(answer: Answer = () => undefined, batchMax = 50, noncesMax = Number.POSITIVE_INFINITY) {
  const accepted: string[] = []
  const batches: number[] = []
  const account = {
    accepted,
    batches,
    next: 0,
    read: undefined as number | undefined,
    reads: 0,
    ends: [] as PromiseWithResolvers<void>[],
  }
  const judge = (one: Numbered<string>): Sent<string> => {
    const own = answer(one)
    if (own !== undefined && own.state !== 'accepted') return own
    const result = `${one.tx} with ${one.nonce}`
    if (one.nonce !== account.next) return { state: 'badNonce', result, expected: account.next }
    account.next += 1
    accepted.push(result)
    const end = Promise.withResolvers<void>()
    account.ends.push(end)
    return { state: 'accepted', result, ended: () => end.promise }
  }
  const queue = createNonceQueue<string, string>({
    readNonce: async () => {
      account.reads += 1
      return account.read ?? account.next
    },
    send: async (batch) => {
      batches.push(batch.length)
      return batch.map(judge)
    },
    batchMax,
    noncesMax,
  })
  return { account, queue }
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `t${index}`)
const numbered = (all: readonly string[], first = 0) => all.map((name, index) => `${name} with ${first + index}`)
/** Counts the pauses of queues from here on, until the count is asked for. */
function pausesOf(): () => number {
  const timers = jest.spyOn(globalThis, 'setTimeout')
  return () => {
    const count = timers.mock.calls.filter(([, ms]) => ms === BEHIND_MS).length
    timers.mockRestore()
    return count
  }
}
const later = () => new Promise((done) => setImmediate(done))

describe('nonces in order', () => {
  test.each([[1], [50]])(
    'calls are sent in their order, %s at a time, and the nonce is read once',
    async (batchMax) => {
      const { account, queue } = createAccount(undefined, batchMax)
      const pauses = pausesOf()
      const all = names(120)
      expect(await Promise.all(all.map((name) => queue.submit(name)))).toEqual(numbered(all))
      expect(account.accepted).toEqual(numbered(all))
      expect([account.reads, Math.max(...account.batches), pauses()]).toEqual([1, batchMax, 0])
    },
  )

  test('a refused transaction uses no nonce up; those behind it in the batch are signed again', async () => {
    const { account, queue } = createAccount(({ tx }) =>
      tx === 't3' || tx === 't4' ? { state: 'refused', result: 'refused' } : undefined,
    )
    const results = await Promise.all(names(8).map((name) => queue.submit(name)))
    expect(results.filter((result) => result === 'refused')).toHaveLength(2)
    expect(account.accepted).toEqual(numbered(['t0', 't1', 't2', 't5', 't6', 't7']))
    expect(account.reads).toBe(1)
  })

  test('a nonce that another program has used is signed again with the one that comes next', async () => {
    const { account, queue } = createAccount()
    await queue.submit('one')
    account.next = 5
    expect(await Promise.all([queue.submit('two'), queue.submit('three')])).toEqual(['two with 5', 'three with 6'])
    expect(account.reads).toBe(1)
  })

  test('the same bytes of another program are not taken for the call', async () => {
    const taken = new Set([0, 1, 2])
    const { account, queue } = createAccount(({ nonce }) => (taken.has(nonce) ? { state: 'taken' } : undefined), 1)
    account.next = 3
    account.read = 0
    expect(await queue.submit('one')).toBe('one with 3')
  })

  test('after a taken nonce the very next one is tried', async () => {
    const { account, queue } = createAccount(({ nonce }) => (nonce === 0 ? { state: 'taken' } : undefined))
    account.next = 1
    account.read = 0
    expect(await queue.submit('one')).toBe('one with 1')
    expect(account.batches).toEqual([1, 1])
  })

  test('a node that has not heard of pending transactions yet is asked again, and none of their nonces is used twice', async () => {
    const accepted: string[] = []
    let sends = 0
    const queue = createNonceQueue<string, string>({
      readNonce: async () => 0,
      send: async (batch) => {
        sends += 1
        // The first batch goes to one node, the others to a second, which hears of the first batch after some time.
        let next = sends === 1 ? 0 : sends < 4 ? accepted.length - 3 : accepted.length
        return batch.map(({ tx, nonce }) => {
          const result = `${tx} with ${nonce}`
          if (nonce !== next) return { state: 'badNonce', result, expected: next }
          next += 1
          accepted.push(result)
          return { state: 'accepted', result, ended: () => new Promise(() => undefined) }
        })
      },
      batchMax: 3,
      noncesMax: Number.POSITIVE_INFINITY,
    })
    const pauses = pausesOf()
    const all = names(6)
    expect(await Promise.all(all.map((name) => queue.submit(name)))).toEqual(numbered(all))
    expect([accepted, sends]).toEqual([numbered(all), 4])
    // The second and the third batch find it behind. Once it is not, nothing pauses any more.
    expect(await queue.submit('after')).toBe('after with 6')
    expect(pauses()).toBe(2)
  })

  test('what another nonce is expected of again and again ends after 51 tries', async () => {
    let tries = 0
    const { queue } = createAccount(({ nonce }) => {
      tries += 1
      return { state: 'badNonce', result: 'refused', expected: nonce + 1 }
    })
    expect(await queue.submit('one')).toBe('refused')
    expect([tries, RESIGNS_MAX]).toEqual([51, 50])
  })

  test('holes that others leave are not counted as tries', async () => {
    const { account, queue } = createAccount(
      ({ tx, nonce }) => (tx !== 'last' && nonce === 0 ? { state: 'refused', result: 'refused' } : undefined),
      RESIGNS_MAX + 3,
    )
    // One of them is refused with each batch; those behind it are told that another nonce comes next.
    const calls = [...names(RESIGNS_MAX + 2), 'last'].map((name) => queue.submit(name))
    expect((await Promise.all(calls)).at(-1)).toBe('last with 0')
    expect(account.accepted).toEqual(['last with 0'])
  })

  test.each([['taken'], ['accepted']])('a nonce that is %s leaves no hole to those behind it', async (state) => {
    let tries = 0
    const { account, queue } = createAccount(({ tx, nonce }) => {
      if (tx === 'one') return state === 'taken' && nonce === 0 ? { state } : undefined
      tries += 1
      return { state: 'badNonce', result: 'refused', expected: nonce }
    })
    account.next = state === 'taken' ? 1 : 0
    account.read = 0
    // What contradicts itself is only tried again when it is not at fault.
    const [one, two] = [queue.submit('one'), queue.submit('two')]
    expect([await two, tries, await one]).toEqual(['refused', 1, `one with ${account.next - 1}`])
  })

  test('what contradicts itself is not tried again', async () => {
    let tries = 0
    const { queue } = createAccount(({ nonce }) => {
      tries += 1
      return { state: 'badNonce', result: 'refused', expected: nonce }
    })
    expect([await queue.submit('one'), tries]).toEqual(['refused', 1])
  })
})

describe('a bound of nonces', () => {
  /** The nonces that each transaction came with. */
  const noncesBy = (seen: readonly Numbered<string>[]) => {
    const all = new Map<string, Set<number>>()
    for (const { tx, nonce } of seen) all.set(tx, (all.get(tx) ?? new Set()).add(nonce))
    return all
  }

  test('holds whatever nonces are expected, higher and lower ones', async () => {
    const seen: Numbered<string>[] = []
    const expected = [9, 2, 30, 4]
    const { queue } = createAccount(
      (one) => ({ state: 'badNonce', result: `refused ${seen.push(one)}`, expected: expected[seen.length - 1] }),
      50,
      3,
    )
    expect(await queue.submit('one')).toBe('refused 3')
    expect(seen.map(({ nonce }) => nonce)).toEqual([0, 9, 2])
  })

  test('holds when the nonce is read anew between two tries', async () => {
    const seen: number[] = []
    // It expects the nonce that is pending at last, and that transaction ends in no block.
    const expected = [5, 6, 0]
    const { account, queue } = createAccount(
      ({ tx, nonce }) => {
        if (tx === 'pending') return undefined
        if (seen.push(nonce) === 3) {
          account.read = 50
          account.ends[0]?.reject(new Error('in no block'))
        }
        return { state: 'badNonce', result: 'refused', expected: expected[seen.length - 1] }
      },
      50,
      3,
    )
    await queue.submit('pending')
    account.read = 40
    expect(await queue.submit('two')).toBe('refused')
    expect(seen).toEqual([1, 5, 40])
  })

  test('is enough for those behind refused ones in a batch, however many these are', async () => {
    const seen: Numbered<string>[] = []
    const { account, queue } = createAccount(
      (one) => {
        seen.push(one)
        return one.tx !== 'last' && one.nonce === account.next ? { state: 'refused', result: 'refused' } : undefined
      },
      50,
      3,
    )
    const calls = [...names(20), 'last'].map((name) => queue.submit(name))
    expect((await Promise.all(calls)).at(-1)).toBe('last with 0')
    expect(Math.max(...[...noncesBy(seen).values()].map(({ size }) => size))).toBe(3)
  })

  test('lets the last try wait until another program, which was always faster, has paused', async () => {
    const seen: number[] = []
    const { account, queue } = createAccount(
      ({ nonce }) => {
        seen.push(nonce)
        if (seen.length < 3) account.next += 7
        return undefined
      },
      50,
      3,
    )
    // It goes on for two readings. The first of all is of the first try.
    const moves = [0, 0, 4, 3, 0]
    Object.defineProperty(account, 'read', { get: () => (account.next += moves[account.reads - 1] ?? 0) })
    const pauses = pausesOf()
    expect(await queue.submit('one')).toBe('one with 21')
    expect([seen, account.reads, pauses()]).toEqual([[0, 7, 21], 5, 3])
  })

  test('lets the last try wait for 50 readings at most, when another program never pauses', async () => {
    const { account, queue } = createAccount(
      () => ({ state: 'badNonce', result: 'refused', expected: ++account.next }),
      50,
      2,
    )
    Object.defineProperty(account, 'read', { get: () => ++account.next })
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(((done: () => void) => setImmediate(done)) as never)
    expect(await queue.submit('one')).toBe('refused')
    jest.restoreAllMocks()
    // The first of all is of the first try.
    expect([account.reads, RESIGNS_MAX, NONCES_OF_TX_MAX]).toEqual([51, 50, 20])
  })
})

describe('pending nonces', () => {
  test('count until their transactions have ended, and keep a nonce that is read too early from being used twice', async () => {
    const { account, queue } = createAccount(({ tx }) =>
      tx === 'lost' ? { state: 'failed', error: new Error('away') } : undefined,
    )
    await Promise.all([queue.submit('one'), queue.submit('two')])
    await expect(queue.submit('lost')).rejects.toThrow('away')
    // The chain knows only what is in a block.
    account.read = 0
    expect(await queue.submit('three')).toBe('three with 2')
    expect(account.reads).toBe(2)
    for (const { resolve } of account.ends) resolve()
    await later()
    await expect(queue.submit('lost')).rejects.toThrow('away')
    account.next = 0
    expect(await queue.submit('four')).toBe('four with 0')
  })

  test('of a transaction that ends in no block is free: the next nonce is read again', async () => {
    const { account, queue } = createAccount()
    await queue.submit('one')
    account.next = 0
    account.ends[0]?.reject(new Error('in no block'))
    await later()
    expect([await queue.submit('two'), account.reads]).toEqual(['two with 0', 2])
  })

  test('of an unclear answer is pending too, and the next one is read', async () => {
    const { account, queue } = createAccount(({ tx, nonce }) =>
      tx === 'unclear'
        ? { state: 'unclear', result: `${nonce}`, ended: () => new Promise(() => undefined) }
        : undefined,
    )
    expect(await queue.submit('unclear')).toBe('0')
    account.read = 0
    account.next = 1
    expect([await queue.submit('two'), account.reads]).toEqual(['two with 1', 2])
  })
})

describe("a caller's nonce", () => {
  test('is sent as given, once, in its turn', async () => {
    const { account, queue } = createAccount()
    const calls = [queue.submit('one'), queue.submit('two', { nonce: 1 }), queue.submit('three')]
    expect(await Promise.all(calls)).toEqual(numbered(['one', 'two', 'three']))
    expect(await queue.submit('far', { nonce: 9 })).toBe('far with 9')
    expect(account.batches).toEqual([1, 1, 1, 1])
    expect(account.accepted).toHaveLength(3)
    expect(await queue.submit('four')).toBe('four with 3')
  })

  test('that is refused tells which one comes next', async () => {
    const { account, queue } = createAccount()
    account.next = 3
    expect(await queue.submit('far', { nonce: 9 })).toBe('far with 9')
    expect([await queue.submit('two'), account.reads]).toEqual(['two with 3', 0])
  })

  test('that is refused by a node which has not heard of a pending one leaves that one alone', async () => {
    const { account, queue } = createAccount(({ tx }) =>
      tx === 'far' ? { state: 'badNonce', result: tx, expected: 0 } : undefined,
    )
    await queue.submit('one')
    await queue.submit('far', { nonce: 9 })
    expect([await queue.submit('two'), account.batches]).toEqual(['two with 1', [1, 1, 1]])
  })

  test('of an unclear answer makes the next one be read', async () => {
    const { account, queue } = createAccount(({ tx, nonce }) =>
      tx === 'unclear'
        ? { state: 'unclear', result: `${nonce}`, ended: () => new Promise(() => undefined) }
        : undefined,
    )
    expect(await queue.submit('one')).toBe('one with 0')
    expect(await queue.submit('unclear', { nonce: 1 })).toBe('1')
    account.next = 2
    account.read = 1
    expect([await queue.submit('two'), account.reads]).toEqual(['two with 2', 2])
    expect(account.batches).toEqual([1, 1, 1])
  })

  test('with which nothing is known to have been sent makes the next one be read', async () => {
    const { account, queue } = createAccount(({ tx }) =>
      tx === 'lost' ? { state: 'failed', error: new Error('away') } : undefined,
    )
    expect(await queue.submit('one')).toBe('one with 0')
    await expect(queue.submit('lost', { nonce: 1 })).rejects.toThrow('away')
    account.next = 2
    expect([await queue.submit('two'), account.reads, account.batches]).toEqual(['two with 2', 2, [1, 1, 1]])
  })

  test.each([
    [1, 2],
    [0, 2],
    [4, 5],
  ])('whose bytes the node knows: after %s comes the next of all, %s', async (nonce, next) => {
    const { account, queue } = createAccount(({ tx }) =>
      tx === 'known' ? { state: 'known', result: tx, ended: () => new Promise(() => undefined) } : undefined,
    )
    await Promise.all([queue.submit('one'), queue.submit('two')])
    await queue.submit('known', { nonce })
    account.next = next
    expect(await queue.submit('three')).toBe(`three with ${next}`)
    expect([account.batches, account.reads]).toEqual([[2, 1, 1], 1])
  })

  test('whose bytes the node knows is pending until that transaction ends', async () => {
    const { account, queue } = createAccount(({ nonce }) => ({
      state: 'known',
      result: `${nonce}`,
      ended: () => new Promise(() => undefined),
    }))
    expect(await queue.submit('again', { nonce: 4 })).toBe('4')
    expect(account.reads).toBe(0)
    expect(await queue.submit('more')).toBe('5')
  })
})

describe('what goes wrong', () => {
  test('a nonce that cannot be read fails the calls that waited for it, and no later one', async () => {
    let isAway = true
    const queue = createNonceQueue<string, string>({
      readNonce: async () => {
        if (isAway) throw new Error('away')
        return 7
      },
      send: async (batch) => batch.map(({ nonce }) => ({ state: 'refused', result: `${nonce}` })),
      batchMax: 50,
      noncesMax: Number.POSITIVE_INFINITY,
    })
    expect(await Promise.allSettled([queue.submit('one'), queue.submit('two')])).toMatchObject([
      { reason: { message: 'away' } },
      { reason: { message: 'away' } },
    ])
    isAway = false
    expect(await queue.submit('three')).toBe('7')
  })

  test('a call that is given up before it is sent never is', async () => {
    const { account, queue } = createAccount()
    const abort = new AbortController()
    const calls = [queue.submit('one'), queue.submit('two', { signal: abort.signal }), queue.submit('three')]
    abort.abort(new Error('no longer'))
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(account.accepted).toEqual(numbered(['one', 'three']))
  })

  test('when all calls are given up, nothing is read and nothing sent', async () => {
    const { account, queue } = createAccount()
    const abort = new AbortController()
    const call = queue.submit('one', { signal: abort.signal })
    abort.abort(new Error('no longer'))
    await expect(call).rejects.toThrow('no longer')
    await later()
    expect([account.reads, account.batches]).toEqual([0, []])
  })

  test('calls that are given up leave the next nonce known', async () => {
    const { account, queue } = createAccount()
    await queue.submit('one')
    const abort = new AbortController()
    const call = queue.submit('two', { signal: abort.signal })
    abort.abort(new Error('no longer'))
    await expect(call).rejects.toThrow('no longer')
    expect([await queue.submit('three'), account.reads]).toEqual(['three with 1', 1])
  })
})

test('a nonce goes through the data of CheckTx and back; other data holds none', () => {
  for (const nonce of [0, 7, Number.MAX_SAFE_INTEGER]) expect(decodeNonce(encodeNonce(nonce))).toBe(nonce)
  for (const data of [new Uint8Array(), Uint8Array.of(255), new Uint8Array(32).fill(49)])
    expect(decodeNonce(data)).toBeUndefined()
})

test('a refused transaction is in no block unless its nonce is used up, or may be', () => {
  expect([4, 5, 6, undefined].map((expected) => isInNoBlock(6, expected, 5))).toEqual([true, false, false, false])
  expect([isInNoBlock(5, undefined, 5), isInNoBlock(undefined, 9, 5)]).toEqual([true, true])
})

test('a transaction is signed again with the nonce after one that is taken, or with the one that is expected', () => {
  const bad = { state: 'badNonce', result: undefined } as const
  const signed = (sent: Sent<unknown>, resigns = 0) => nonceToRetry(sent, 7, resigns)
  expect(signed({ state: 'taken' }, RESIGNS_MAX)).toBe(8)
  expect(signed({ ...bad, expected: 9 })).toBe(9)
  expect(signed({ ...bad, expected: 9 }, RESIGNS_MAX - 1)).toBe(9)
  for (const sent of [
    { ...bad, expected: 7 },
    { ...bad, expected: undefined },
  ])
    expect(signed(sent)).toBeUndefined()
  expect(signed({ ...bad, expected: 9 }, RESIGNS_MAX)).toBeUndefined()
})

test('after a batch that could not be sent, the next nonce is read again', async () => {
  let next = 0
  let isDown = false
  const queue = createNonceQueue<string, string>({
    readNonce: async () => next,
    send: async (batch) => {
      next += batch.length // The node took them, and its answer was lost.
      if (isDown) throw new Error('the node is down')
      return batch.map(({ tx, nonce }) => ({
        state: 'accepted',
        result: `${tx} with ${nonce}`,
        ended: async () => undefined,
      }))
    },
    batchMax: 5,
    noncesMax: Number.POSITIVE_INFINITY,
  })
  expect(await queue.submit('one')).toBe('one with 0')
  isDown = true
  await expect(queue.submit('two')).rejects.toThrow('the node is down')
  isDown = false
  expect(await queue.submit('three')).toBe('three with 2')
})
