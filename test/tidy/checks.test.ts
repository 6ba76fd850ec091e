import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { tempFolder } from '../support/tempFolder.ts'

const root = join(import.meta.dirname, '../..')
let folder = ''
let remove: () => void

beforeEach(() => {
  ;({ path: folder, remove } = tempFolder('checks'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'src'))
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', scripts: { start: 'node src/start.ts' } }),
  )
})
afterEach(() => remove())

function run(program: string, ...args: string[]): { status: number | null; stdout: string } {
  return spawnSync(process.execPath, [join(root, 'node_modules', program), ...args], { cwd: folder, encoding: 'utf8' })
}

test('tsc: every flag of tsconfig.json refuses its bad sample, and nothing else is refused', () => {
  cpSync(join(import.meta.dirname, 'bad/compiler'), join(folder, 'src'), { recursive: true })
  cpSync(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'))
  const marks = readFileSync(join(folder, 'src/flags.ts'), 'utf8')
    .split('\n')
    .flatMap((line, at) =>
      line.includes('// tsc: ') ? [`src/flags.ts:${at + 1} ${line.replace(/^.*\/\/ tsc: /, '')}`] : [],
    )
  const { status, stdout } = run('typescript/bin/tsc', '-p', '.', '--pretty', 'false')
  const found = [...stdout.matchAll(/^(.*)\((\d+),\d+\): error (TS\d+)/gm)].map(
    ([, path, line, code]) => `${path}:${line} ${code}`,
  )
  expect([...found].sort()).toEqual([...marks].sort())
  expect(status).not.toBe(0)
})

test('knip: an export and a file that nobody uses are refused', () => {
  cpSync(join(root, 'knip.json'), join(folder, 'knip.json'))
  writeFileSync(join(folder, 'src/start.ts'), "import { used } from './parts.ts'\nused()\n")
  writeFileSync(join(folder, 'src/parts.ts'), 'export const used = () => 1\n')
  expect(run('knip/bin/knip.js', '--no-progress', '--no-config-hints').status).toBe(0)
  writeFileSync(join(folder, 'src/parts.ts'), 'export const used = () => 1\nexport const idle = () => 2\n')
  writeFileSync(join(folder, 'src/alone.ts'), 'export const alone = 1\n')
  const { status, stdout } = run('knip/bin/knip.js', '--no-progress', '--no-config-hints')
  expect(status).toBe(1)
  expect(stdout).toContain('src/alone.ts')
  expect(stdout).toContain('idle')
})
