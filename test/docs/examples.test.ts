import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { listCommands } from '../../tools/reference/commands.ts'
import { EXAMPLES, exampleOf, examplesRunBy } from './examples.ts'
import { type CodeBlock, codeBlocks, root } from './pages.ts'

/** Blocks that people read: not the bad samples of the style gates. */
const blocks = codeBlocks.filter(({ path }) => !path.startsWith('test/tidy/bad/'))
const nameOf = ({ path, line, code }: CodeBlock): string => `${path}:${line} ${code.split('\n')[0]}`

/** The blocks that no line of test/docs/examples.ts is about, or more than one. */
const unlisted = (of: readonly CodeBlock[]): readonly string[] =>
  of.filter((block) => exampleOf(block).length !== 1).map(nameOf)

test('each block of code is run by a test, or test/docs/examples.ts says why it cannot be', () => {
  expect(blocks.length).toBeGreaterThan(100)
  expect(unlisted(blocks)).toEqual([])
})

test('each line of test/docs/examples.ts is about a block, and names a test or a reason', () => {
  const stale = EXAMPLES.filter((example) => !blocks.some((block) => exampleOf(block).includes(example)))
  expect(stale).toEqual([])
  const unclear = EXAMPLES.filter(({ runBy, reason }) => (runBy === undefined) === (reason === undefined))
  expect(unclear).toEqual([])
})

test('each test that is named takes its blocks from test/docs/examples.ts', () => {
  const named = [...new Set(EXAMPLES.flatMap(({ runBy }) => runBy ?? []))]
  expect(named.length).toBeGreaterThan(6)
  // A test may leave it to a file of its support.
  const texts = globSync('test/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'))
  const idle = named.filter(
    (path) => !existsSync(join(root, path)) || !texts.some((text) => text.includes(`examplesRunBy('${path}'`)),
  )
  expect(idle).toEqual([])
})

test('a new block, and one that two lines are about, are found', () => {
  const [known] = examplesRunBy('test/e2e/tour.test.ts') as [CodeBlock]
  expect(unlisted([known])).toEqual([])
  expect(unlisted([{ ...known, info: 'python' }])).toHaveLength(1)
  expect(unlisted([{ ...known, path: 'docs/new.md' }])).toHaveLength(1)
  const line = { page: known.path, begins: known.code.slice(0, 4), reason: 'a second line' }
  expect(exampleOf(known, [...EXAMPLES, line, line])).toHaveLength(2)
})

test('the tests that CONTRIBUTING.md chooses by their path are there', () => {
  const [{ code }] = examplesRunBy('test/docs/examples.test.ts') as [CodeBlock]
  const paths = [...code.matchAll(/ARGS="(test\/[^" ]+)/g)].map(([, path = '']) => path)
  expect(paths).toHaveLength(2)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('the examples of docs/reference/commands.md are those that test/cli/commands.test.ts runs', async () => {
  const linesOf = (page: string): readonly string[] =>
    examplesRunBy('test/cli/commands.test.ts', page).flatMap(({ code }) => code.trim().split('\n'))
  const examples = new Set((await listCommands()).flatMap((one) => one.examples))
  expect(new Set(linesOf('docs/reference/commands.md'))).toEqual(examples)
  for (const line of linesOf('docs/devnet.md')) expect(examples).toContain(line)
})
