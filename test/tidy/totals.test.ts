import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { tempFolder } from '../support/tempFolder.ts'
import { runJest } from '../../tools/testing/jest.ts'
import { closingLine, jestTotals } from '../../tools/testing/totals.ts'

const jest = join(import.meta.dirname, '../../node_modules/jest/bin/jest.js')

describe('the sum of a test run', () => {
  let root = ''
  let remove: () => void
  beforeEach(() => {
    const folder = tempFolder('totals')
    root = realpathSync(folder.path)
    remove = folder.remove
  })
  afterEach(() => remove())

  /** Runs jest over these files as tools/test.ts does; what it printed does not matter. */
  function totalsOf(tests: Readonly<Record<string, string>>, pattern?: string) {
    mkdirSync(join(root, 'test'))
    writeFileSync(join(root, 'package.json'), '{}')
    const files = Object.keys(tests).map((name) => `test/${name}`)
    for (const [name, text] of Object.entries(tests)) writeFileSync(join(root, 'test', name), text)
    const report = join(root, 'report.json')
    const flags = [
      '--json',
      `--outputFile=${report}`,
      '--testLocationInResults',
      '--runInBand',
      '--transform={}',
      '--runTestsByPath',
    ]
    if (pattern !== undefined) flags.unshift('-t', pattern)
    spawnSync(process.execPath, [jest, ...flags, ...files], { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } })
    return jestTotals(root, 'unit', files, existsSync(report) ? readFileSync(report, 'utf8') : undefined, pattern)
  }

  test('failed and skipped tests count, a skip with its reason; so do a suite that does not load, an empty file and a late hook', () => {
    const good = "test('good', () => {})\n"
    const totals = totalsOf({
      'a.test.js': `
        test('good', () => {})
        describe('a group', () => { test('bad', () => { expect({ a: 1 }).toEqual({ a: 2 }) }) })
        // skip: no such program
        test.skip('left out', () => {})
      `,
      'b.test.js': good,
      'c.test.js': "require('./missing.js')\n",
      'd.test.js': '\n',
      'e.test.js': `afterAll(() => { throw new Error('left open') })\n${good}`,
    })
    expect({ ...totals, failed: totals.failed.toSorted() }).toEqual({
      passed: 3,
      failed: [
        expect.stringMatching(/^test\/a\.test\.js: a group bad: Error: .* - "a": 2, \+ "a": 1, \}$/),
        ...['c', 'd', 'e'].map((name) => `test/${name}.test.js: the suite failed outside its tests`),
      ],
      skipped: ['test/a.test.js: left out (no such program)'],
    })
    expect(closingLine([totals, totals])).toBe('6 passed, 8 failed, 2 skipped')
  })

  test('with a pattern for names the other tests are left out, and a pattern that nothing matches is a failure', () => {
    const tests = { 'a.test.js': "test('good', () => {})\ntest('bad', () => { throw new Error('no') })\n" }
    expect(totalsOf(tests, 'go+d')).toEqual({ passed: 1, failed: [], skipped: [] })
    rmSync(join(root, 'test'), { recursive: true })
    expect(totalsOf(tests, 'missing').failed).toEqual(['unit: no test has a name like missing'])
  })

  test('a test that ends the whole process is a failure', () => {
    expect(totalsOf({ 'a.test.js': "test('ends', () => { process.reallyExit(0) })\n" }).failed).toHaveLength(1)
  })

  test('no files at all, and a file that did not run, are failures', () => {
    expect(jestTotals(root, 'unit', [], undefined).failed).toHaveLength(1)
    const report = JSON.stringify({ numPassedTests: 0, numFailedTests: 0, testResults: [] })
    expect(jestTotals(root, 'unit', ['test/a.test.ts'], report).failed).toEqual(['test/a.test.ts: did not run'])
  })

  test('a file whose process crashes runs once more; when it crashes again, or two do, that is a failure', async () => {
    mkdirSync(join(root, 'test'))
    writeFileSync(join(root, 'package.json'), '{}')
    const crash = "process.kill(process.pid, 'SIGSEGV')"
    const once = (name: string): string => `
      const { existsSync, writeFileSync } = require('node:fs')
      test('first', () => {})
      test('crashes at first', async () => {
        const path = ${JSON.stringify(join(root, 'crashed-'))} + '${name}'
        if (existsSync(path)) return
        writeFileSync(path, '')
        ${crash}
        await new Promise(() => {})
      })
    `
    const run = (tests: Readonly<Record<string, string>>) => {
      for (const [name, text] of Object.entries(tests)) writeFileSync(join(root, 'test', name), text)
      const files = Object.keys(tests).map((name) => `test/${name}`)
      const args = ['--maxWorkers=2', '--transform={}']
      return runJest({ root, name: 'unit', files, args, pattern: undefined, output: 'ignore' })
    }
    // Each run has files of its own: jest runs those that it knows to be short in its own process.
    const good = "test('good', () => {})\ntest('another', () => {})\n"
    expect(await run({ 'a.test.js': once('a'), 'b.test.js': good })).toEqual({
      passed: 4,
      failed: [],
      skipped: [],
      crashes: ['test/a.test.js: its process crashed with SIGSEGV, so it ran once more'],
    })
    const always = await run({
      'c.test.js': `test('crashes', async () => { ${crash}; await new Promise(() => {}) })`,
      'd.test.js': good,
    })
    expect(always).toMatchObject({ passed: 2, failed: [expect.any(String)], crashes: [] })
    const two = await run({ 'e.test.js': once('e'), 'f.test.js': once('f'), 'g.test.js': good })
    expect(two).toMatchObject({ passed: 2, failed: [expect.any(String), expect.any(String)], crashes: [] })
  })
})
