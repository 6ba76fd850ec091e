import { afterAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { GO_THREADS_MIN, goMaxProcs, withGoMaxProcs } from '../../src/comet/goMaxProcs.ts'
import { startCometBft } from '../../src/comet/process.ts'
import { kvstoreHome } from './support.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('procs')
afterAll(remove)

const MIN = String(GO_THREADS_MIN)

describe('GOMAXPROCS of CometBFT', () => {
  test.each([
    [1, {}, MIN],
    [GO_THREADS_MIN - 1, {}, MIN],
    [GO_THREADS_MIN, {}, undefined],
    [64, {}, undefined],
    [2, { GOMAXPROCS: '1' }, '1'],
    [64, { GOMAXPROCS: '7' }, '7'],
    [2, { GOMAXPROCS: '' }, MIN],
  ])('%d cores and %j: %s', (cores, env, expected) => {
    expect(goMaxProcs(env, cores)).toBe(expected)
  })

  test.each([
    ['2', undefined, MIN],
    [String(GO_THREADS_MIN), undefined, ''],
    ['64', '7', '7'],
    ['2', '1', '1'],
    ['2', '', MIN],
  ])('the line of sh says the same: %s cores, %s', (cores, ofUser, expected) => {
    writeFileSync(join(folder, 'nproc'), `#!/bin/sh\necho ${cores}\n`, { mode: 0o755 })
    const [shell = '', ...args] = withGoMaxProcs(['/bin/sh', '-c', 'printf "%s|%s" "$GOMAXPROCS" "$1"', 'sh', 'a b'])
    const env = { PATH: `${folder}:/usr/bin:/bin`, ...(ofUser !== undefined && { GOMAXPROCS: ofUser }) }
    const { stdout, stderr } = spawnSync(shell, args, { encoding: 'utf8', env })
    expect([stdout, stderr]).toEqual([`${expected}|a b`, ''])
  })

  test('a node that svcd starts gets it', async () => {
    const { home, remove } = await kvstoreHome()
    try {
      const program = join(folder, 'comet.sh')
      writeFileSync(program, '#!/bin/sh\necho "threads: $GOMAXPROCS"\n', { mode: 0o755 })
      const { exited } = await startCometBft({ program, home })
      const expected = goMaxProcs(process.env, availableParallelism()) ?? ''
      expect((await exited).lastLines).toEqual([`threads: ${expected}`])
    } finally {
      remove()
    }
  })
})
