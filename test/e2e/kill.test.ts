import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { chaos } from './support/chaos.ts'
import { crashRound, lastCheck, makeBook, type Victim } from './support/crash.ts'
import { makePlace, type Place } from './support/devnet.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder()
describe('kill -9 while transactions flow: after each restart what was acknowledged is there, hashes agree and balances add up', () => {
  const book = makeBook()
  let place: Place
  let checked = 0
  beforeAll(async () => {
    place = await makePlace(join(folder, 'home'), '100ms')
  })

  const rounds: readonly (readonly [Victim, number])[] = [
    ['app', 0],
    ['node', 37],
    ['app', 151],
    ['all', 83],
    ['node', 210],
    ['app', 330],
    ['supervisor', 120],
  ]
  test.each(rounds)('killed: %s, %i ms after the first acknowledged transaction', async (victim, pauseMs) => {
    const since = checked
    checked = book.acknowledged.size
    const round = await crashRound(place, book, victim, { pauseMs, since })
    expect(round.acknowledged).toBeGreaterThan(0)
  })

  test('the last start has all that was ever acknowledged, and stops in order', async () => {
    expect(await lastCheck(place, book)).toBeGreaterThan(Math.max(...book.acknowledged.values()))
    expect(book.acknowledged.size).toBeGreaterThanOrEqual(rounds.length)
  })
})

test('make chaos finds a disk that forgets what it was told to keep: all files are as they were one kill before', async () => {
  const kept = join(folder, 'kept')
  const disturb = (home: string, round: number): void => {
    const [from, to] = round === 1 ? [join(home, 'data'), kept] : [kept, join(home, 'data')]
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true })
  }
  expect(await chaos({ count: 3, seed: 1 }, { home: join(folder, 'forgetful'), disturb })).toMatchObject({
    passed: false,
    result: expect.stringMatching(/after 2 cases: transaction \w+ was acknowledged in block \d+ and is not there/),
  })
})
