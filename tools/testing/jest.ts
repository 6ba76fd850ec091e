import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { crashedFile, jestTotals, type Totals, withRetried } from './totals.ts'

const modules = join(import.meta.dirname, '../../node_modules')

const HANG_MS_MAX = 20_000

/** Where the output of a program goes: straight through, nowhere, or into an open file. */
type Output = 'inherit' | 'ignore' | number

/**
 * Runs one Node program in the folder `root` to its end. Returns its exit status; a signal counts as 1. Once `report` is
 * written the program has HANG_MS_MAX to end: jest waits for ever for a socket or child that a test left open.
 */
export function runNode(
  root: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  report = '',
  output: Output = 'inherit',
): Promise<number> {
  const path = `${join(modules, '.bin')}${delimiter}${process.env['PATH'] ?? ''}`
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['inherit', output, output],
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

interface JestOptions {
  /** The folder that the paths of files start from. */
  readonly root: string
  /** What the part of the test run is called. */
  readonly name: string
  /** The test files to run. */
  readonly files: readonly string[]
  readonly args: readonly string[]
  /** Only tests whose names match it count. */
  readonly pattern: string | undefined
  /** What becomes of jest's output. Default 'inherit'. */
  readonly output?: Output
  /** The environment of the tests, beside that of this program. */
  readonly env?: Readonly<Record<string, string>>
}

async function runOnce(options: JestOptions): Promise<{ status: number; report: string | undefined }> {
  const { root, files, args, pattern, output, env } = options
  if (files.length === 0) return { status: 0, report: undefined }
  const folder = mkdtempSync(join(tmpdir(), 'svcd-test-'))
  const report = join(folder, 'report.json')
  try {
    const flags = ['--json', `--outputFile=${report}`, '--testLocationInResults', '--passWithNoTests', ...args]
    flags.push('--testSequencer', join(import.meta.dirname, 'longestFirst.ts'))
    if (pattern !== undefined) flags.push('-t', pattern)
    const own = {
      ...env,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`,
      // Tests start svcd some hundred times, and compiling it anew takes two thirds of the CPU of a short command.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    }
    const jestArgs = [join(modules, 'jest/bin/jest.js'), ...flags, '--runTestsByPath', ...files]
    const status = await runNode(root, jestArgs, own, report, output)
    return { status, report: existsSync(report) ? readFileSync(report, 'utf8') : undefined }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Runs test files with jest and sums up what came of them. If the process of one file crashed with SIGSEGV, that file
 * runs once more, alone: Node 24 itself crashes at times while it collects garbage in a worker process of jest
 * (nodejs/node#62393). The sum names the crash. Should it happen again, or to two files, it is a failure.
 */
export async function runJest(options: JestOptions): Promise<Totals> {
  const { root, name, files, pattern } = options
  let { status, report } = await runOnce(options)
  const crashed = crashedFile(report)
  const crashes: string[] = []
  if (crashed !== undefined) {
    const crash = `${relative(root, crashed)}: its process crashed with SIGSEGV, so it ran once more`
    const again = await runOnce({ ...options, files: [relative(root, crashed)] })
    if (again.report !== undefined) {
      crashes.push(crash)
      status = again.status
      report = withRetried(report, crashed, again.report)
    }
  }
  const totals = { ...jestTotals(root, name, files, report, pattern), crashes }
  if (status === 0 || totals.failed.length > 0) return totals
  return { ...totals, failed: [`${name}: jest ended with status ${status}, as when a test leaves something open`] }
}
