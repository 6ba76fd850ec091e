import { describe, expect, test } from '@jest/globals'
import { random } from './support.ts'
import { type Call, type Dialect, firstViolation } from '../../src/abci/testing/index.ts'

type Next = (below: number) => number

const call = (kind: string): Call => ({ kind })
const info = (height: number): Call => ({ kind: 'info', height })
const times = (count: number, make: () => readonly Call[]): readonly Call[] =>
  Array.from({ length: count }, make).flat()
const maybe = (next: Next, calls: readonly Call[]): readonly Call[] => (next(2) === 0 ? [] : calls)

/** The productions of the published grammar, one function each, at random. */
const grammarOf = (next: Next, dialect: Dialect) => {
  const gotVotes = (): readonly Call[] => times(next(3), () => [call('verifyVoteExtension')])
  const extend = (): readonly Call[] => [...gotVotes(), call('extendVote'), ...gotVotes()]
  const proposer = (): readonly Call[] => [
    ...gotVotes(),
    ...maybe(next, [call('prepareProposal'), ...maybe(next, [call('processProposal')])]),
    ...maybe(next, extend()),
  ]
  const nonProposer = (): readonly Call[] => [
    ...gotVotes(),
    ...maybe(next, [call('processProposal')]),
    ...maybe(next, extend()),
  ]
  const round = (): readonly Call[] => (next(2) === 0 ? proposer() : nonProposer())
  const decide = (): readonly Call[] =>
    dialect === '0.38'
      ? [call('finalizeBlock')]
      : [call('beginBlock'), ...times(next(3), () => [call('deliverTx')]), call('endBlock')]
  const height = (): readonly Call[] => [...times(next(3), round), ...decide(), call('commit')]
  const attempt = (): readonly Call[] => [call('offerSnapshot'), ...times(next(3), () => [call('applySnapshotChunk')])]
  const stateSync = (): readonly Call[] => [
    ...times(next(3), attempt),
    call('offerSnapshot'),
    ...times(1 + next(3), () => [call('applySnapshotChunk')]),
    info(9),
  ]
  const consensus = (): readonly Call[] => times(1 + next(4), height)
  return {
    cleanStart: () => [info(0), call('initChain'), ...maybe(next, stateSync()), ...consensus()],
    withoutHandshake: () => [...stateSync(), ...consensus()],
    recovery: () => [info(1 + next(5)), ...consensus()],
  }
}

const FREE = ['echo', 'flush', 'checkTx', 'query', 'listSnapshots', 'loadSnapshotChunk']

/** The calls with others between them that may come at any time. */
const withFree = (next: Next, calls: readonly Call[]): readonly Call[] =>
  calls.flatMap((one) => [...maybe(next, [call(FREE[next(FREE.length)] as string)]), one])

test.each<Dialect>(['0.37', '0.38'])('what the published grammar of %s makes is taken, 500 seeds', (dialect) => {
  for (let seed = 1; seed <= 500; seed++) {
    const next = random(seed)
    const { cleanStart, withoutHandshake, recovery } = grammarOf(next, dialect)
    for (const calls of [cleanStart(), withoutHandshake(), recovery()])
      expect([seed, firstViolation(withFree(next, calls))]).toEqual([seed, undefined])
  }
})

test('a run may end anywhere, and Info may come anywhere in a block', () => {
  const { cleanStart } = grammarOf(random(1), '0.37')
  const calls = cleanStart()
  for (let length = 0; length <= calls.length; length++) {
    const cut = calls.slice(0, length)
    expect(firstViolation(cut)).toBeUndefined()
    if (length > 2) expect(firstViolation([...cut, info(3), ...calls.slice(length)])).toBeUndefined()
  }
})

test.each<Dialect>(['0.37', '0.38'])('a call of %s that is left out or doubled is found, 500 seeds', (dialect) => {
  const once = ['beginBlock', 'endBlock', 'finalizeBlock', 'commit']
  for (let seed = 1; seed <= 500; seed++) {
    const next = random(seed)
    const calls = grammarOf(next, dialect).recovery()
    // Without what follows, the last one may be missing: the run may have ended before it.
    const places = [...calls.keys()].slice(0, -1).filter((at) => once.includes(calls[at]?.kind ?? ''))
    const at = places[next(places.length)] as number
    const what = [seed, calls[at]?.kind]
    const without = calls.filter((_, index) => index !== at)
    const doubled = calls.flatMap((one, index) => (index === at ? [one, one] : [one]))
    expect([...what, firstViolation(without)]).toEqual([...what, expect.any(String)])
    expect([...what, firstViolation(doubled)]).toEqual([...what, expect.any(String)])
  }
})

describe('refused', () => {
  const block = ['finalizeBlock', 'commit'].map(call)
  test.each<[string, readonly Call[], string]>([
    ['a block before InitChain', [info(0), ...block], 'call 1: finalizeBlock came in the state empty'],
    ['a block before the handshake', block, 'call 0: finalizeBlock came in the state begun'],
    [
      'a proposal before InitChain',
      [info(0), call('prepareProposal')],
      'call 1: prepareProposal came in the state empty',
    ],
    ['InitChain with a state', [info(4), call('initChain')], 'call 1: initChain came in the state ready'],
    [
      'InitChain twice',
      [info(0), call('initChain'), call('initChain')],
      'call 2: initChain came in the state initialized',
    ],
    [
      'two blocks before Commit',
      [info(4), ...block.slice(0, 1), ...block],
      'call 2: finalizeBlock came in the state decided',
    ],
    [
      'a proposal before Commit',
      [info(4), call('finalizeBlock'), call('processProposal')],
      'processProposal came in the state decided',
    ],
    ['Commit twice', [info(4), ...block, call('commit')], 'call 3: commit came in the state ready'],
    [
      'a snapshot in the middle of the chain',
      [info(4), ...block, call('offerSnapshot')],
      'offerSnapshot came in the state ready',
    ],
    ['a snapshot for a state', [info(4), call('offerSnapshot')], 'offerSnapshot came in the state ready'],
    ['a chunk of nothing', [info(0), call('applySnapshotChunk')], 'applySnapshotChunk came in the state empty'],
    [
      'a block in a state sync',
      [call('offerSnapshot'), call('applySnapshotChunk'), ...block],
      'call 2: finalizeBlock came in the state restoring',
    ],
    [
      'a block after an offer',
      [call('offerSnapshot'), info(0), ...block],
      'call 2: finalizeBlock came in the state offered',
    ],
    ['DeliverTx in the dialect of 0.38', [info(4), call('deliverTx')], 'deliverTx came in the state ready'],
    ['both dialects', [info(4), ...block, call('beginBlock')], 'beginBlock came in a run of the 0.38 dialect'],
    ['Commit before EndBlock', [info(4), call('beginBlock'), call('commit')], 'commit came in the state executing'],
    ['what is no call', [info(4), call('voteTwice')], 'voteTwice came in the state ready'],
  ])('%s', (_name, calls, why) => {
    expect(firstViolation(calls)).toContain(why)
  })
})
