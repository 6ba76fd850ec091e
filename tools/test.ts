/**
 * Every test: `node tools/test.ts`, or only some parts of it: `node tools/test.ts check unit e2e test/store …`. A part
 * that is the beginning of paths runs those files, and `-t PATTERN` only their tests whose names match. Parts run in
 * this order: gen (the generated code and the web page are made fresh), check (biome, tsc, knip, tidy, the tables of docs/), cometbft
 * (found, or built once, and its abci-cli), unit (everything under test but test/e2e), e2e (each has a chain of its
 * own; a few run alone, after the others). `quick` is the part of unit that starts no node. The last line sums it all
 * up: `N passed, N failed, N skipped`; exit 1 when anything failed. Each check counts as one test.
 */
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPage } from './page.ts'
import { closingLine, jestTotals, type Totals } from './testing/totals.ts'

const root = join(import.meta.dirname, '..')
const modules = join(root, 'node_modules')

const CHECKS: Readonly<Record<string, readonly string[]>> = {
  biome: [join(modules, '@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'],
  tsc: [join(modules, 'typescript/bin/tsc'), '-p', '.'],
  'tsc of the page': [join(modules, 'typescript/bin/tsc'), '-p', 'src/dashboard'],
  knip: [join(modules, 'knip/bin/knip.js'), '--no-progress', '--no-config-hints'],
  tidy: [join(root, 'tools/tidy.ts')],
  reference: [join(root, 'tools/reference.ts'), '--check'],
}

const {
  values: { testNamePattern: pattern },
  positionals: asked,
} = parseArgs({ options: { testNamePattern: { type: 'string', short: 't' } }, allowPositionals: true })

const HANG_MS_MAX = 20_000

/**
 * Runs one Node program to its end, its output going straight through. Returns its exit status; a signal counts as 1.
 * Once `report` is written the program has HANG_MS_MAX to end: jest waits for ever for a socket or child that a test
 * left open.
 */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, report = ''): Promise<number> {
  const path = `${join(modules, '.bin')}${delimiter}${process.env['PATH'] ?? ''}`
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: path, ...env },
  })
  // Ctrl-C reaches the child from the terminal; a signal to this process alone must be handed on, or the tests would
  // run on.
  const stop = (signal: NodeJS.Signals): void => {
    child.kill(signal)
  }
  process.once('SIGTERM', stop).once('SIGINT', stop)
  const hang = setInterval(() => {
    if (report !== '' && existsSync(report) && Date.now() - statSync(report).mtimeMs > HANG_MS_MAX)
      child.kill('SIGKILL')
  }, 1000)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.removeListener('SIGTERM', stop).removeListener('SIGINT', stop)
      clearInterval(hang)
      resolve(code ?? 1)
    })
  })
}

function one(name: string, ok: boolean): Totals {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [], problems: ok ? [] : [`${name} failed`] }
}

async function check(name: string): Promise<Totals> {
  process.stdout.write(`== ${name}\n`)
  return one(name, (await run(CHECKS[name] ?? [])) === 0)
}

async function gen(): Promise<Totals> {
  process.stdout.write('== gen\n')
  try {
    await buildPage()
    return one('gen', true)
  } catch (error) {
    process.stderr.write(`${String(error)}\n`)
    return one('gen', false)
  }
}

async function jest(name: string, isIncluded: (file: string) => boolean, args: readonly string[]): Promise<Totals> {
  process.stdout.write(`== ${name}\n`)
  const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['test/tidy/bad/**'] })
    .filter(isIncluded)
    .sort()
  const folder = mkdtempSync(join(tmpdir(), 'svcd-test-'))
  const report = join(folder, 'report.json')
  try {
    const flags = ['--json', `--outputFile=${report}`, '--testLocationInResults', '--passWithNoTests', ...args]
    if (pattern !== undefined) flags.push('-t', pattern)
    const options = {
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`,
    }
    const jestArgs = [join(modules, 'jest/bin/jest.js'), ...flags, '--runTestsByPath', ...files]
    const status = files.length === 0 ? 0 : await run(jestArgs, options, report)
    const totals = jestTotals(root, name, files, existsSync(report) ? readFileSync(report, 'utf8') : undefined, pattern)
    if (status === 0 || totals.failed > 0) return totals
    return {
      ...totals,
      failed: 1,
      problems: [`${name}: jest ended with status ${status}, as when a test leaves something open`],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The node that tests run with, and abci-cli. Built before any test needs it, so that none waits for Go within its own time. */
async function cometBft(): Promise<Totals> {
  process.stdout.write('== cometbft\n')
  try {
    const { COMETBFT_VERSION, findCometBft } = await import('../src/comet/find.ts')
    const { progressOn } = await import('../src/cli/output.ts')
    const { path, version } = await findCometBft({ onProgress: progressOn(process.stdout) })
    process.stdout.write(`CometBFT ${version} at ${path}\n`)
    await (await import('./testing/abciCli.ts')).abciCli(COMETBFT_VERSION)
    return one('cometbft', true)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return one('cometbft', false)
  }
}

const isIn =
  (places: readonly string[]) =>
  (file: string): boolean =>
    places.some((place) => file.startsWith(place))

const isE2e = isIn(['test/e2e/'])

// These compare speeds, or how fast a node answers, and would measure their neighbour as well. `browser` builds dist, as
// `package` does.
const isAlone = isIn(['bench', 'browser', 'libraries', 'stalled', 'stress'].map((name) => `test/e2e/${name}.test.ts`))

// The folders whose tests start a node or another program, or run for long.
const isSlow = isIn(
  ['abci', 'cli', 'comet', 'containers', 'e2e', 'faults', 'fuzz', 'ics23', 'model', 'mutation', 'sim'].map(
    (name) => `test/${name}/`,
  ),
)

async function runPart(part: string): Promise<Totals[]> {
  if (part === 'gen') return [await gen()]
  if (part === 'check')
    return [
      await check('biome'),
      await check('tsc'),
      await check('tsc of the page'),
      await check('knip'),
      await check('tidy'),
      await check('reference'),
    ]
  if (part === 'cometbft') return [await cometBft()]
  if (part === 'unit') return [await jest('unit', (file) => !isE2e(file), ['--maxWorkers=2'])]
  if (part === 'quick') return [await jest('quick', (file) => !isSlow(file), ['--maxWorkers=2'])]
  if (part === 'e2e')
    return [
      await jest('e2e', (file) => isE2e(file) && !isAlone(file), ['--maxWorkers=2']),
      await jest('e2e alone', isAlone, ['--runInBand']),
    ]
  return [await jest(part, (file) => file.startsWith(part), [isE2e(part) ? '--runInBand' : '--maxWorkers=2'])]
}

const all: Totals[] = []
for (const part of asked.length > 0 ? ['gen', ...asked] : ['gen', 'check', 'cometbft', 'unit', 'e2e'])
  all.push(...(await runPart(part)))

process.stdout.write('\n')
for (const { problems } of all) for (const problem of problems) process.stdout.write(`FAILED ${problem}\n`)
for (const { skipped } of all) for (const skip of skipped) process.stdout.write(`SKIPPED ${skip}\n`)
process.stdout.write(`${closingLine(all)}\n`)
process.exitCode = all.some(({ failed }) => failed > 0) ? 1 : 0
