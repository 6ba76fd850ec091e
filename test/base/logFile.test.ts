import { expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLogFile } from '../../src/base/logFile.ts'
import { tempFolder } from '../support/tempFolder.ts'

test('a log keeps three files of the size given, the oldest lines are lost, and a restart goes on', () => {
  const folder = tempFolder('log')
  const path = join(folder.path, 'logs', 'x.log')
  const files = () =>
    Object.fromEntries(
      readdirSync(join(folder.path, 'logs')).map((name) => [name, readFileSync(join(path, '..', name), 'utf8')]),
    )
  let write = openLogFile(path, 4)
  write('aaaa')
  expect(files()).toEqual({ 'x.log': 'aaaa' })
  write(Buffer.from('b'))
  write = openLogFile(path, 4)
  write('bbb')
  expect(files()).toEqual({ 'x.log': 'bbbb', 'x.log.1': 'aaaa' })
  for (const text of ['cccc', 'dddd']) write(text)
  expect(files()).toEqual({ 'x.log': 'dddd', 'x.log.1': 'cccc', 'x.log.2': 'bbbb' })
  folder.remove()
})

test('a log that another program moved away begins anew', () => {
  const folder = tempFolder('log')
  const path = join(folder.path, 'x.log')
  const write = openLogFile(path, 4)
  write('aaaa')
  renameSync(path, join(folder.path, 'taken'))
  write('bbbb')
  expect(readFileSync(path, 'utf8')).toBe('bbbb')
  folder.remove()
})

test('a log that cannot be written, or whose files cannot be renamed, is refused when it is opened', () => {
  const folder = tempFolder('log')
  expect(() => openLogFile(folder.path)).toThrow(`${folder.path}: the log cannot be written (EISDIR`)
  const path = join(folder.path, 'x.log')
  writeFileSync(path, '')
  chmodSync(path, 0o666)
  chmodSync(folder.path, 0o555)
  const url = new URL('../../src/base/logFile.ts', import.meta.url).href
  // Root may write everywhere.
  const opened = (log: string): string => {
    const code = `import { openLogFile } from '${url}'
      if (process.getuid?.() === 0) process.setuid(65534)
      openLogFile('${log}')('told')`
    return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stderr
  }
  expect(opened(path)).toContain(`FolderError: ${path}: the log cannot be written (EACCES`)
  // What a link leads to is never renamed.
  const other = tempFolder('log')
  chmodSync(other.path, 0o755)
  symlinkSync(path, join(other.path, 'link'))
  chmodSync(other.path, 0o555)
  expect(opened(join(other.path, 'link'))).toBe('')
  expect(readFileSync(path, 'utf8')).toBe('told')
  other.remove()
  chmodSync(folder.path, 0o755)
  folder.remove()
})

// skip: Windows has no mkfifo
const whereThereArePipes = process.platform === 'win32' ? test.skip : test
whereThereArePipes('a pipe in place of a log is written to and never renamed', () => {
  const folder = tempFolder('log')
  const path = join(folder.path, 'pipe')
  execFileSync('mkfifo', [path])
  const script = `exec 3<>'${path}'; "$0" --input-type=module -e "$1"; head -c 8 <&3`
  const url = new URL('../../src/base/logFile.ts', import.meta.url).href
  const code = `import { openLogFile } from '${url}'
    const write = openLogFile('${path}', 4)
    for (const text of ['aaaa', 'bbbb']) write(text)`
  expect(execFileSync('sh', ['-c', script, process.execPath, code], { encoding: 'utf8' })).toBe('aaaabbbb')
  expect(existsSync(`${path}.1`)).toBe(false)
  folder.remove()
})
