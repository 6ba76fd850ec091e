import { afterAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openKeystore } from '../../src/keys/keystore.ts'
import { makePlace, svcd } from './support.ts'
import { commandOnTerminal, onTerminal } from './terminal.ts'

const place = makePlace([1, 2, 3])
afterAll(place.remove)
const LEFT = '\u001b[D'
const fileOf = (name: string): string => readFileSync(join(place.folder, 'keys', `${name}.json`), 'utf8')

describe('a password on a terminal', () => {
  test('is edited as any line, is asked for twice when it is new, and is never shown', async () => {
    const two = await onTerminal(
      place,
      ['keys', 'new', 'alice'],
      [
        { seen: /password of alice/, type: 'racehorse\r' },
        { seen: /again/, type: 'racehouse\r' },
      ],
    )
    expect(two).toMatchObject({ status: 2, stdout: expect.stringContaining('was not the same both times') })
    const made = await onTerminal(
      place,
      ['keys', 'new', 'alice'],
      [
        { seen: /password of alice/, type: `racehore${LEFT}s\r` },
        { seen: /password of alice, again/, type: 'racehorse\r' },
      ],
    )
    expect(made).toMatchObject({ status: 0, stdout: expect.stringContaining('alice.json') })
    expect(openKeystore(fileOf('alice'), 'racehorse')).toHaveLength(32)
    for (const { stdout } of [two, made]) expect(stdout).not.toMatch(/hor|hou/)
  })

  test('is not shown either when it is typed before its prompt stands, while the one before is checked', async () => {
    const changed = await onTerminal(
      place,
      ['keys', 'passwd', 'alice'],
      [
        { seen: /password of alice/, type: 'racehorse\r' },
        { seen: /(?:)/, type: 'tooearly' },
        { seen: /new password of alice/, type: '\u0015batteries\r' },
        { seen: /again/, type: 'batteries\r' },
      ],
    )
    expect(changed).toMatchObject({ status: 0, stdout: expect.stringContaining('was changed') })
    expect(changed.stdout).not.toMatch(/horse|tooearly|batteries/)
    expect(openKeystore(fileOf('alice'), 'batteries')).toHaveLength(32)
  })

  test('of fewer than 8 characters is refused for a new key before it is asked for again', async () => {
    const short = await onTerminal(place, ['keys', 'new', 'bob'], [{ seen: /password of bob/, type: 'tomoro1\r' }])
    expect(short).toMatchObject({ status: 2, stdout: expect.stringContaining('expected at least 8 characters') })
    expect(short.stdout).not.toMatch(/again|tomoro1/)
  })

  test.each([
    ['Ctrl-C ends it with status 130 and not a word', '\u0003', 130, /^(?![\s\S]*(?:svcd:|Error|at file))/],
    ['Ctrl-D is none', '\u0004', 2, /svcd: the password of alice was not given/],
    ['Enter alone is none', '\r', 2, /svcd: the password of alice is empty/],
  ])('%s', async (_name, key, status, words) => {
    const ended = await onTerminal(
      place,
      ['keys', 'export', 'alice', '--unsafe'],
      [{ seen: /password of alice/, type: key }],
    )
    expect(ended).toMatchObject({ status, stdout: expect.stringMatching(words) })
  })
})

describe('a question on a terminal', () => {
  test.each([
    ['Ctrl-C', '\u0003', 130, ''],
    ['Ctrl-D', '\u0004', 1, 'nothing was removed'],
    ['n', 'n\r', 1, 'nothing was removed'],
  ])('%s removes nothing', async (_name, key, status, words) => {
    const ended = await onTerminal(place, ['keys', 'delete', 'alice'], [{ seen: /\[y\/N\]/, type: key }])
    expect(ended).toMatchObject({ status, stdout: expect.stringContaining(words) })
    expect((await svcd(place, ['keys', 'show', 'alice'])).status).toBe(0)
  })

  test('y removes', async () => {
    const ended = await onTerminal(place, ['keys', 'delete', 'alice'], [{ seen: /\[y\/N\]/, type: 'y\r' }])
    expect(ended).toMatchObject({ status: 0, stdout: expect.stringContaining('removed alice') })
  })
})

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at the question of npm create @svcd ends it with status 130 and not a word', async (_name, key) => {
  const create = fileURLToPath(new URL('../../src/create/create.ts', import.meta.url))
  const ended = await commandOnTerminal(place, [process.execPath, create], [{ seen: /name of the chain: /, type: key }])
  expect(ended).toMatchObject({ status: 130, stdout: expect.stringMatching(/^The name of the chain: \s*$/) })
})
