import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { TURN_CALLS } from '../../src/gateway/http/limits.ts'
import { createAdmission, createTurns } from '../../src/gateway/http/admission.ts'

test('a caller of another address begins first, however many calls of a busy one wait', async () => {
  const turns = createTurns()
  const begun: string[] = []
  const begin = (address: string, calls: number) => turns(address, 'calls', calls).then(() => void begun.push(address))
  const flood = Array.from({ length: 20 }, () => begin('flood', TURN_CALLS))
  await nextRound()
  expect(begun).toEqual(['flood'])
  const others = [begin('other', 1), begin('third', 2)]
  await nextRound()
  expect(begun.slice(0, 3)).toEqual(['flood', 'other', 'third'])
  await Promise.all([...flood, ...others])
  expect(begun).toHaveLength(22)
})

test('a large request begins when the others have begun as many calls, and the sockets are read before the next', async () => {
  const turns = createTurns()
  const begun: string[] = []
  const begin = (address: string, calls: number) => turns(address, 'calls', calls).then(() => void begun.push(address))
  const large = ['a', 'b'].map((address) => begin(address, 10 * TURN_CALLS))
  const small = Array.from({ length: 20 * TURN_CALLS }, () => begin('c', 1))
  while (!begun.includes('a')) await nextRound()
  expect(begun.indexOf('a')).toBe(10 * TURN_CALLS - 1)
  expect(begun).not.toContain('b')
  await Promise.all([...large, ...small])
})

test('a long batch begins in its order, and a caller of another address waits for one turn of it', async () => {
  const { textOf } = createAdmission(0, (method) => method === 'list')
  const begun: string[] = []
  const begin = (ip: string, methods: readonly string[]): readonly Promise<unknown>[] =>
    textOf(ip)
      .admitCalls(methods)
      .map((admitted, at) => admitted.then(() => begun.push(`${ip} ${at}`)))
  const batch = begin('10.0.0.1', Array(4 * TURN_CALLS).fill('call'))
  const lists = begin('10.0.0.2', Array(10).fill('list'))
  await nextRound()
  const other = begin('10.0.0.3', ['call'])
  await Promise.all(other)
  const before = begun.slice(0, begun.indexOf('10.0.0.3 0'))
  expect(before.filter((one) => one.startsWith('10.0.0.1')).length).toBeLessThanOrEqual(TURN_CALLS)
  expect(before.filter((one) => one.startsWith('10.0.0.2')).length).toBeLessThan(TURN_CALLS / 10)
  await Promise.all([...batch, ...lists])
  const own = begun.filter((one) => one.startsWith('10.0.0.1'))
  expect(own).toEqual(Array.from({ length: 4 * TURN_CALLS }, (_, at) => `10.0.0.1 ${at}`))
})

test('small requests of one address begin together, in their order, up to the calls of a turn', async () => {
  const turns = createTurns()
  const begun: number[] = []
  const all = Array.from({ length: TURN_CALLS + 3 }, (_, at) => turns('a', 'calls', 1).then(() => void begun.push(at)))
  await nextRound()
  expect(begun).toEqual(Array.from({ length: TURN_CALLS }, (_, at) => at))
  await Promise.all(all)
  expect(begun).toEqual(Array.from({ length: TURN_CALLS + 3 }, (_, at) => at))
})

test('addresses that ask for little begin together', async () => {
  const turns = createTurns()
  const begun: string[] = []
  const all = ['a', 'b', 'c'].map((address) => turns(address, 'calls', 1).then(() => void begun.push(address)))
  await nextRound()
  expect(begun).toEqual(['a', 'b', 'c'])
  await Promise.all(all)
})

test('what is parsed is run before more of its address is parsed, in the order in which it came', async () => {
  const turns = createTurns()
  const begun: string[] = []
  const answer = async (name: string): Promise<void> => {
    await turns('a', 'texts', TURN_CALLS / 2)
    begun.push(`text ${name}`)
    await turns('a', 'calls', 1)
    begun.push(`calls ${name}`)
  }
  await Promise.all(['1', '2', '3', '4'].map(answer))
  expect(begun).toEqual(['text 1', 'text 2', 'calls 1', 'calls 2', 'text 3', 'text 4', 'calls 3', 'calls 4'])
})

test('what a call turns out to cost more is waited for too, in turns between those of other addresses', async () => {
  const { charge, textOf } = createAdmission(0, () => false)
  const begun: string[] = []
  const several = Array.from({ length: TURN_CALLS }, (_, at) =>
    charge('10.0.0.1', at % 2 === 0 ? 15 : 1).then(() => void begun.push(String(at))),
  )
  await nextRound()
  const [other] = textOf('10.0.0.2').admitCalls(['call'])
  await other?.then(() => begun.push('other'))
  expect(begun.indexOf('other')).toBeLessThanOrEqual(TURN_CALLS / 8 + 1)
  await Promise.all(several)
  const own = begun.filter((one) => one !== 'other')
  expect(own).toEqual(Array.from({ length: TURN_CALLS }, (_, at) => String(at)))
})

test('what is refused takes its turn too, and the sockets are read in between', async () => {
  const { textOf } = createAdmission(1, () => false)
  let refused = 0
  const asking = Array.from({ length: 1_000 }, async () => {
    if ((await textOf('10.0.0.1').admitText(1)) !== undefined) refused += 1
  })
  // The first turn begins in the check phase that comes next, and this is behind it.
  await nextRound()
  await nextRound()
  expect(refused).toBeLessThan(200)
  await Promise.all(asking)
  expect(refused).toBe(990)
})
