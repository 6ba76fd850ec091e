import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { startLightProxy } from '../../src/comet/light.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('light')
afterAll(remove)

/** `cometbft light` in whose place a script runs. */
const start = (script: string) => {
  const program = join(folder, 'program.sh')
  writeFileSync(program, `#!/bin/sh\necho "$@" > ${folder}/args\n${script}\n`)
  chmodSync(program, 0o755)
  const node = 'http://127.0.0.1:1'
  return startLightProxy({ program, folder, chainId: 'chain', primary: node, witnesses: [node] })
}

test('the light client chooses its port, so that nobody can take it before', async () => {
  const line = 'I[2026-11-27|01:00:00.000] serve msg="Starting RPC HTTP server on 127.0.0.1:43210"'
  const light = await start(`echo '${line}'; exec sleep 60`)
  expect(light.url).toBe('http://127.0.0.1:43210')
  expect(readFileSync(join(folder, 'args'), 'utf8')).toContain('--laddr tcp://127.0.0.1:0')
  expect(light.isRunning()).toBe(true)
  await light.stop()
  expect(light.isRunning()).toBe(false)
})

test('one that ends before it listens is an error with its words', async () => {
  const starting = start(
    'echo \'I[…] Starting proxy... laddr=tcp://127.0.0.1:0\'; echo "ERROR: no such header"; exit 1',
  )
  await expect(starting).rejects.toMatchObject({ code: 'COMET', message: 'cometbft light: no such header' })
  expect(existsSync(join(folder, 'light.log'))).toBe(true)
})
