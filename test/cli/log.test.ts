import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLog } from '../../src/node/log.ts'
import type { LogSettings } from '../../src/base/logFile.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** What a log with these settings holds after one line of each kind. */
function logged(settings: LogSettings): readonly string[] {
  const folder = tempFolder('log')
  const path = join(folder.path, 'x.log')
  const log = openLog(settings, path)
  log.debug({ height: 5 }, 'a detail')
  log.info({ height: 5, url: 'http://127.0.0.1:8545', name: 'a "name"\u001b[2J', list: [1] }, 'it listens')
  log.warn({ err: new Error('disk full') }, 'not written')
  log.error('it ends')
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  folder.remove()
  return lines
}

test('JSON is the default, without details', () => {
  const lines = logged({}).map((line) => JSON.parse(line) as { level: number; msg: string })
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'it listens'],
    [40, 'not written'],
    [50, 'it ends'],
  ])
  expect(lines[0]).toMatchObject({ height: 5, url: 'http://127.0.0.1:8545', time: expect.any(Number) })
})

test('pretty lines are for people: time, level, message and fields, and nothing that moves the cursor', () => {
  const lines = logged({ logFormat: 'pretty' })
  for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /)
  expect(lines.map((line) => line.slice(25))).toEqual([
    'INFO  it listens height=5 url=http://127.0.0.1:8545 name="a \\"name\\"\\u001b[2J" list=[1]',
    'WARN  not written err="disk full"',
    'ERROR it ends',
  ])
})

test.each([
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
] as const)('with level %s, %i of four lines are logged', (logLevel, count) => {
  expect(logged({ logLevel })).toHaveLength(count)
})
