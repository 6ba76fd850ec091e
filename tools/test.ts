/**
 * Every test: `node tools/test.ts`, or only some parts of it: `node tools/test.ts check unit e2e test/store …`. A part
 * that is the beginning of paths runs those files, and `-t PATTERN` only their tests whose names match. Parts run in
 * this order: gen (the generated code and the web page are made fresh), check (biome, tsc, knip, tidy, the tables of docs/), cometbft
 * (found, or built once, and its abci-cli), unit (everything under test but test/e2e), e2e (each has a chain of its
 * own; a few run later, or alone). `quick` is the part of unit that starts no node. The last lines name
 * each test that failed or was skipped and each file that crashed, and sum it up: `N passed, N failed, N skipped`;
 * exit 1 when anything failed. Each check counts as one test.
 */
import { randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { buildPage } from './page.ts'
import { runJest, runNode } from './testing/jest.ts'
import { closingLine, type Totals } from './testing/totals.ts'
import { programArgs } from './testing/programArgs.ts'

const root = join(import.meta.dirname, '..')
const modules = join(root, 'node_modules')

const CHECKS: Readonly<Record<string, readonly string[]>> = {
  biome: [join(modules, '@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'],
  tsc: [join(modules, 'typescript/bin/tsc'), '-p', '.'],
  'tsc of the page': [join(modules, 'typescript/bin/tsc'), '-p', 'src/dashboard'],
  knip: [join(modules, 'knip/bin/knip.js'), '--no-progress', '--no-config-hints', '--no-gitignore'],
  tidy: [join(root, 'tools/tidy.ts')],
  reference: [join(root, 'tools/reference.ts'), '--check'],
}

const {
  values: { testNamePattern: pattern },
  positionals: asked,
} = programArgs({ options: { testNamePattern: { type: 'string', short: 't' } }, allowPositionals: true })

/** Does what counts as one test. It fails when `work` throws, or resolves with false. */
async function step(name: string, work: () => Promise<boolean>): Promise<Totals> {
  process.stdout.write(`== ${name}\n`)
  let ok = false
  try {
    ok = await work()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  }
  return { passed: ok ? 1 : 0, failed: ok ? [] : [name], skipped: [] }
}

async function gen(): Promise<true> {
  await buildPage()
  return true
}

async function jest(name: string, isIncluded: (file: string) => boolean, args: readonly string[]): Promise<Totals> {
  process.stdout.write(`== ${name}\n`)
  const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['test/tidy/bad/**'] })
    .filter(isIncluded)
    .sort()
  return await runJest({ root, name, files, args, pattern })
}

/** The node that tests run with, and abci-cli. Built before any test needs it, so that none waits for Go within its own time. */
async function cometBft(): Promise<true> {
  const { COMETBFT_VERSION, findCometBft } = await import('../src/comet/find.ts')
  const { progressOn } = await import('../src/cli/output.ts')
  const { path, version } = await findCometBft({ onProgress: progressOn(process.stdout) })
  process.stdout.write(`CometBFT ${version} at ${path}\n`)
  await (await import('./testing/cometVersions.ts')).abciCli(COMETBFT_VERSION)
  return true
}

const isIn =
  (places: readonly string[]) =>
  (file: string): boolean =>
    places.some((place) => file.startsWith(place))

const isE2e = isIn(['test/e2e/'])

const namesE2e = (...names: readonly string[]) => isIn(names.map((name) => `test/e2e/${name}.test.ts`))

// They use the packages that `package` makes, and may not while it makes them.
const isLate = namesE2e('create', 'examplePage')

// They compare times, of svcd and another program or before and under an attack, and would measure their neighbour as well.
const isAlone = namesE2e('bench', 'stress')

// The folders whose tests start a node or another program, or run for long.
const isSlow = isIn(
  ['abci', 'cli', 'comet', 'containers', 'e2e', 'faults', 'fuzz', 'ics23', 'model', 'mutation', 'sim'].map(
    (name) => `test/${name}/`,
  ),
)

async function runPart(part: string): Promise<Totals[]> {
  if (part === 'gen') return [await step('gen', gen)]
  if (part === 'check') {
    const checked: Totals[] = []
    for (const [name, args] of Object.entries(CHECKS))
      checked.push(await step(name, async () => (await runNode(root, args)) === 0))
    return checked
  }
  if (part === 'cometbft') return [await step('cometbft', cometBft)]
  // They wait for half of their time, mostly for programs that they started.
  if (part === 'unit') return [await jest('unit', (file) => !isE2e(file), ['--maxWorkers=4'])]
  if (part === 'quick') return [await jest('quick', (file) => !isSlow(file), ['--maxWorkers=2'])]
  if (part === 'e2e')
    return [
      // They wait for half of their time, mostly for blocks.
      await jest('e2e', (file) => isE2e(file) && !isLate(file) && !isAlone(file), ['--maxWorkers=4']),
      await jest('e2e late', isLate, ['--maxWorkers=2']),
      await jest('e2e alone', isAlone, ['--runInBand']),
    ]
  return [await jest(part, (file) => file.startsWith(part), [isE2e(part) ? '--runInBand' : '--maxWorkers=2'])]
}

// By this a test file knows what another one of the same run has packed.
process.env['TEST_RUN'] = randomUUID()

const all: Totals[] = []
for (const part of asked.length > 0 ? ['gen', ...asked] : ['gen', 'check', 'cometbft', 'unit', 'e2e'])
  all.push(...(await runPart(part)))

process.stdout.write('\n')
for (const { failed } of all) for (const failure of failed) process.stdout.write(`FAILED ${failure}\n`)
for (const { crashes = [] } of all) for (const crash of crashes) process.stdout.write(`CRASHED ${crash}\n`)
for (const { skipped } of all) for (const skip of skipped) process.stdout.write(`SKIPPED ${skip}\n`)
process.stdout.write(`${closingLine(all)}\n`)
process.exitCode = all.some(({ failed }) => failed.length > 0) ? 1 : 0
