import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { summary } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { type Explained, mutation, prepare, staleOf } from './campaign.ts'
import { mutantsOf, switched } from './mutants.ts'
import { MUTATED, project } from './project.ts'
import { createRunner } from './runner.ts'

// The short form of `make mutants`.
test('the tests of the fields of operations notice faults in them', async () => {
  const prepared = await prepare({ ...project, sources: ['src/tx/fields.ts'], tests: ['test/tx/fields.test.ts'] })
  try {
    const report = await mutation(prepared, { explained: [] }, 'src/tx/', { count: 5, seed: 1 })
    expect([summary(report), report.passed]).toEqual([summary(report), true])
    expect(report.ran).toBe(5)
  } finally {
    prepared.close()
  }
})

test('every explained mutant is there', () => {
  const { explained, root } = project
  const paths = new Set(explained.map(({ path }) => path))
  const mutants = [...paths].flatMap((path) => mutantsOf(path, readFileSync(join(root, path), 'utf8')))
  expect(staleOf(explained, mutants)).toEqual([])
  expect([...paths].filter((path) => !MUTATED.some((folder) => path.startsWith(`${folder}/`)))).toEqual([])
})

const IS_BIG = 'export const isBig = (size: number): boolean => size > 10'
const LABEL = "export const labelOf = (size: number): 'big' | 'small' => (isBig(size) ? 'big' : 'small')"
const TEST = `import { expect, test } from '@jest/globals'
import { isBig } from '../src/size.ts'
test('20 is big, 5 is not', () => expect([isBig(20), isBig(5)]).toEqual([true, false]))
`
const entry = (change: string): Explained => ({ path: 'src/size.ts', text: IS_BIG, change, why: 'a fixture' })

describe('in a project with one test', () => {
  const { path: root, remove } = tempFolder('mutation')
  let prepared: Awaited<ReturnType<typeof prepare>>
  beforeAll(async () => {
    for (const folder of ['src', 'test']) mkdirSync(join(root, folder))
    for (const file of ['package.json', 'jest.config.js', 'tsconfig.json'])
      cpSync(join(project.root, file), join(root, file))
    writeFileSync(join(root, 'src/size.ts'), `${IS_BIG}\n${LABEL}\n`)
    writeFileSync(join(root, 'test/size.test.ts'), TEST)
    prepared = await prepare({ root, sources: ['src/*.ts'], tests: ['test/*.test.ts'] })
  })
  afterAll(() => {
    prepared.close()
    remove()
  })
  const found = async (explained: readonly Explained[] = []) => {
    const { ran, passed, result } = await mutation(prepared, { explained }, 'src/', { count: 1_000, seed: 1 })
    const [counts = '', ...lines] = result.split('\n  ')
    return { ran, passed, counts, lines: lines.sort() }
  }

  test('what no test notices or reaches survives, and what cannot be compiled does not count', async () => {
    expect(await found()).toEqual({
      ran: 6,
      passed: false,
      counts: '16.7 % killed (1, 0 of them by a test that took too long), 5 survived, 0 of them explained',
      lines: [
        'survived: src/size.ts:1 10 → 11',
        'survived: src/size.ts:1 10 → 9',
        'survived: src/size.ts:1 size > 10 → size >= 10',
        'survived: src/size.ts:2 isBig(size) → false',
        'survived: src/size.ts:2 isBig(size) → true',
      ],
    })
  })

  test('an explanation counts while its mutant is there, which is not tried then', async () => {
    const { counts, lines } = await found([entry('10 → 11'), entry('10 → 12'), entry('size > 10 → size <= 10')])
    expect(counts).toBe('0.0 % killed (0, 0 of them by a test that took too long), 6 survived, 2 of them explained')
    expect(lines.filter((line) => !line.startsWith('survived: '))).toEqual([
      `explained, but not there: src/size.ts: ${IS_BIG}: 10 → 12`,
    ])
  })
})

test('a test that loops is too slow by the CPU time that it takes, and one that passes tells it', async () => {
  const { path: root, remove } = tempFolder('runner')
  const runner = createRunner()
  const run = async (body: string, cpuMsMax: number) => {
    const file = join(root, 'one.test.mjs')
    writeFileSync(join(root, 'package.json'), '{ "jest": { "testMatch": ["**/*.test.mjs"], "transform": {} } }')
    writeFileSync(file, `import { test } from '@jest/globals'\ntest('one', () => { ${body} })`)
    return await runner.run({ root, file, env: {}, cpuMsMax })
  }
  try {
    symlinkSync(join(project.root, 'node_modules'), join(root, 'node_modules'))
    expect(await run('', 60_000)).toEqual({ verdict: 'passed', cpuMs: expect.any(Number) })
    expect(await run('for (;;);', 500)).toEqual({ verdict: 'too slow', cpuMs: 0 })
    expect(await run('process.reallyExit(0)', 60_000)).toMatchObject({ verdict: 'failed' })
  } finally {
    runner.close()
    remove()
  }
})

test('each kind of fault is found, and text for people and types are left alone', () => {
  const changes = (text: string) => mutantsOf('src/a.ts', text).map(({ change }) => change)
  expect(changes('const f = () => {\n  if (a === b) return\n}')).toEqual([
    'a === b → true',
    'a === b → false',
    'a === b → a !== b',
    'return → (dropped)',
  ])
  expect(changes('put(row)\nleft -= 1n')).toEqual([
    'put(row) → (dropped)',
    'left -= 1n → (dropped)',
    'left -= 1n → left += 1n',
    '1n → 2n',
    '1n → 0n',
  ])
  expect(changes('const a = all.filter(is).some((one) => !one) ?? true')).toEqual([
    'all.filter(is).some((one) => !one) ?? true → (all.filter(is).some((one) => !one)) && true',
    'all.filter(is).some((one) => !one) → all.filter(is).every((one) => !one)',
    'all.filter(is) → all',
    '!one → one',
    'true → false',
  ])
  expect(changes("const a = { doc: 'What it is', code: 'é', 'key': '' } as const")).toEqual([
    "'é' → ''",
    "'' → 'mutant'",
  ])
  expect(changes("throw new StoreError('too ' + 'er')")).toEqual([
    "throw new StoreError('too ' + 'er') → (dropped)",
    "'too ' + 'er' → 'too ' - 'er'",
  ])
  const [long] = changes(`const a = ${'b'.repeat(90)} || ${'c'.repeat(90)}`)
  expect(long).toBe(`…${'b'.repeat(29)} || ${'c'.repeat(29)}… → …${'b'.repeat(29)} && ${'c'.repeat(29)}…`)
  expect(changes("type A = 'b' | 2\nimport { c } from 'd'")).toEqual([])
})

test('a file with all its mutants in it does what it did', () => {
  const text = `function total() {
  let sum = 0
  for (let at = 0; at < 4 && sum < 100; at++) {
    if (at % 2 === 0) continue
    sum += at
  }
  return sum
}`
  const mutants = mutantsOf('src/a.ts', text)
  expect(mutants.length).toBeGreaterThan(15)
  const code = switched(text, mutants, (mutant) => mutants.indexOf(mutant)).replace(/^.*?new Set\(\)\);/, '')
  const total = (id: number): unknown => new Function('$m', `${code}\nreturn total()`)((one: number) => one === id)
  expect(total(-1)).toBe(4)
  expect(total(mutants.findIndex(({ change }) => change === 'sum += at → sum -= at'))).toBe(-4)
  expect(total(mutants.findIndex(({ change }) => change === 'continue → (dropped)'))).toBe(6)
})
