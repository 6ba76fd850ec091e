import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeResult } from '../../src/cli/output.ts'
import { type TempFolder, tempFolder } from '../support/tempFolder.ts'

let folder: TempFolder

beforeEach(() => {
  folder = tempFolder('output')
})

afterEach(() => folder.remove())

test('a result takes the place of a file in one step, also behind a link, and leaves nothing else', () => {
  const [file, link] = ['file', 'link'].map((name) => join(folder.path, name)) as [string, string]
  writeFileSync(file, 'old')
  symlinkSync('file', link)
  const reader = openSync(file, 'r')
  writeResult(link, 'new')
  expect([readFileSync(reader, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['old', 'new'])
  closeSync(reader)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(() => writeResult(join(file, 'within'), 'new')).toThrow(`cannot write ${join(file, 'within')}: ENOTDIR`)
  expect(readdirSync(folder.path).sort()).toEqual(['file', 'link'])
})

test('a file that cannot be replaced in its folder is written as it stands', () => {
  const file = join(folder.path, 'file')
  writeFileSync(file, 'old')
  chmodSync(file, 0o666)
  chmodSync(folder.path, 0o555)
  const url = new URL('../../src/cli/output.ts', import.meta.url).href
  // Root may write everywhere.
  const code = `import { writeResult } from '${url}'
    if (process.getuid?.() === 0) process.setuid(65534)
    writeResult('${file}', 'new')`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  chmodSync(folder.path, 0o755)
  expect([stderr, readFileSync(file, 'utf8')]).toEqual(['', 'new'])
})

test('a result is written into a pipe or a device, which stays', async () => {
  const pipe = join(folder.path, 'pipe')
  execFileSync('mkfifo', [pipe])
  const reader = spawn('cat', [pipe])
  const read = text(reader.stdout)
  writeResult(pipe, 'through')
  expect(await read).toBe('through')
  await (reader.exitCode ?? once(reader, 'exit'))
  expect(lstatSync(pipe).isFIFO()).toBe(true)
})
