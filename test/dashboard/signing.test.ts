import { expect, test } from '@jest/globals'
import { commitsOf, runsOf, type Signing } from '../../src/dashboard/data/signing.ts'

const told = (...events: readonly (readonly [string, number, string?])[]): Signing['told'] =>
  events.map(([type, height, missed = '']) => ({ type: `svc.stake.${type}`, height, attributes: { missed } }))

const steady: Signing = { told: [], height: 200, keys: 1, absent: 0 }

/** What a candidacy did from one block to the next, as runs: `95-97 missed`. */
function said(signing: Signing, from = 1, count = 100): readonly string[] {
  const commits = commitsOf(signing, from, count)
  const starts = commits.filter(([, commit], at) => commits[at - 1]?.[1] !== commit)
  return starts.map(([first, commit], at) => `${first}-${(starts[at + 1]?.[0] ?? 200) - 1} ${commit}`)
}

test('the last hundred commits end with the one that the newest block carries', () => {
  expect(said(steady)).toEqual(['100-199 signed'])
  expect(said(steady, 150)).toEqual(['150-199 signed'])
  expect(commitsOf({ ...steady, height: 1 }, 0, 100)).toEqual([])
})

test('a run lies between the block before the one that told of it and the signature', () => {
  const signing = { ...steady, told: told(['present', 154, '3'], ['absent', 151]) }
  expect(runsOf(signing)).toEqual([{ first: 150, last: 152, end: 'signed', missed: 3 }])
  expect(said(signing)).toEqual(['100-149 signed', '150-152 missed', '153-199 signed'])
})

test('a run whose beginning is not told is as long as the signature or the count says', () => {
  expect(said({ ...steady, told: told(['present', 154, '30']) })).toEqual([
    '100-122 signed',
    '123-152 missed',
    '153-199 signed',
  ])
  expect(said({ ...steady, absent: 5 })).toEqual(['100-194 signed', '195-199 missed'])
  expect(said({ ...steady, absent: 5_000 })).toEqual(['100-199 missed'])
  expect(runsOf({ ...steady, absent: 5 })).toEqual([{ first: 195, last: 199, end: 'open', missed: 5 }])
})

test('a run goes on whose beginning is told', () => {
  const signing = { ...steady, absent: 9, told: told(['absent', 192], ['present', 120, '1'], ['absent', 119]) }
  expect(runsOf(signing)).toEqual([
    { first: 191, last: 199, end: 'open', missed: 9 },
    { first: 118, last: 118, end: 'signed', missed: 1 },
  ])
})

test('outside the set there is nothing to sign: a change of it is in force two blocks later', () => {
  expect(said({ ...steady, told: told(['joined', 150]) })).toEqual(['100-151 outside', '152-199 signed'])
  expect(said({ ...steady, keys: 0, told: told(['left', 150]) })).toEqual(['100-151 signed', '152-199 outside'])
  expect(said({ ...steady, keys: 0 })).toEqual(['100-199 outside'])
})

test('a candidacy that changes its key stays in the set with either', () => {
  const signing = { ...steady, told: told(['left', 160], ['joined', 150]) }
  expect(said(signing)).toEqual(['100-199 signed'])
  expect(said({ ...signing, keys: 2, told: told(['joined', 150]) })).toEqual(['100-199 signed'])
})

test('who was removed for it missed the blocks before, and has none to sign behind', () => {
  const signing = { ...steady, keys: 0, told: told(['left', 170], ['removed', 170], ['absent', 151]) }
  expect(runsOf(signing)).toEqual([{ first: 150, last: 169, end: 'left', missed: 20 }])
  expect(said(signing)).toEqual(['100-149 signed', '150-169 missed', '170-199 outside'])
})

test('who left while it missed blocks has to sign no more', () => {
  const signing = { ...steady, keys: 0, told: told(['left', 170], ['absent', 151]) }
  expect(runsOf(signing)).toEqual([{ first: 150, last: 171, end: 'left', missed: 22 }])
  expect(said(signing)).toEqual(['100-149 signed', '150-171 missed', '172-199 outside'])
})
