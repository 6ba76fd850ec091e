import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { writeConfig } from '../../src/node/settings.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('write')
afterAll(remove)

test('settings that cannot be written leave those that were there', () => {
  const file = join(folder, 'config', 'svcd.json')
  writeConfig(folder, { acceptProgramVersion: 7 })
  const before = readFileSync(file, 'utf8')
  expect([JSON.parse(before), statSync(file).mode & 0o777]).toEqual([{ acceptProgramVersion: 7 }, 0o600])
  expect(readdirSync(join(folder, 'config'))).toEqual(['svcd.json'])
  const settings = new URL('../../src/node/settings.ts', import.meta.url).href
  const code = `import { writeConfig } from '${settings}'
    try { writeConfig('${folder}', { acceptProgramVersion: 8 }) } catch ({ code }) { console.log(code) }`
  // No file may grow, as on a full disk.
  const limited = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', code]
  const env = { ...process.env, NODE_COMPILE_CACHE: '' }
  expect(execFileSync('/bin/bash', limited, { encoding: 'utf8', env })).toBe('EFBIG\n')
  expect(readFileSync(file, 'utf8')).toBe(before)
})
