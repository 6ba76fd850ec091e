import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/** What a part of the test run came to. `skipped` and `failed` are lines for people, one for each that is counted. */
export interface Totals {
  readonly passed: number
  readonly skipped: readonly string[]
  /** Failed tests, and what no test reports: a suite that did not load, a file that did not run, no result at all. */
  readonly failed: readonly string[]
  /** Test files whose process crashed and that ran once more. */
  readonly crashes?: readonly string[]
}

interface JestTest {
  readonly status: string
  readonly fullName: string
  readonly location?: { readonly line: number } | null
  readonly failureMessages: readonly string[]
}
interface JestResult {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly JestTest[]
  }[]
}

const MESSAGE_CHARS_MAX = 500

/** A text without its middle where it is too long: a program that failed says why at its end. */
const shortened = (text: string): string =>
  text.length <= MESSAGE_CHARS_MAX
    ? text
    : `${text.slice(0, MESSAGE_CHARS_MAX / 2)} … ${text.slice(-MESSAGE_CHARS_MAX / 2)}`

/** How a test failed, in one line: who reads only the end of a long run knows too. Without the stack. */
function failureOf({ fullName, failureMessages }: JestTest): string {
  const [message = ''] = stripVTControlCharacters(failureMessages.join('\n')).split(/\n\s+at /)
  return `${fullName}: ${shortened(message.replace(/\s+/g, ' ').trim())}`
}

/** The reason in the comment `// skip: <reason>` nearest above a line of `path`; tidy sees to it that there is one. */
function reasonOf(path: string, line: number | undefined): string {
  const lines = readFileSync(path, 'utf8').split('\n')
  const above = lines.slice(0, line ?? lines.length).findLast((text) => text.includes('// skip: '))
  return above?.replace(/^.*\/\/ skip: /, '') ?? 'no reason given'
}

/**
 * Sums jest's JSON report of the part `name` over the test files that should have run. Every file counts: one that did
 * not load, has no test (jest calls both failed suites) or is not in the report is a failure, and so are no files and
 * no report at all, as when jest was killed. With a `pattern` for names, tests with other names are left out.
 */
export function jestTotals(
  root: string,
  name: string,
  files: readonly string[],
  report: string | undefined,
  pattern?: string,
): Totals {
  const nothing = (why: string): Totals => ({ passed: 0, failed: [`${name}: ${why}`], skipped: [] })
  if (files.length === 0) return nothing('no test files found')
  if (report === undefined) return nothing('jest ended without a report')
  const result = JSON.parse(report) as JestResult
  if (pattern !== undefined && result.numPassedTests + result.numFailedTests === 0)
    return nothing(`no test has a name like ${pattern}`)
  const failed: string[] = []
  const skipped: string[] = []
  for (const { name: path, status, assertionResults } of result.testResults) {
    const file = relative(root, path)
    const failures = assertionResults.filter((one) => one.status === 'failed')
    failed.push(...failures.map((failure) => `${file}: ${failureOf(failure)}`))
    if (status === 'failed' && failures.length === 0) failed.push(`${file}: the suite failed outside its tests`)
    if (pattern !== undefined) continue
    for (const one of assertionResults.filter((test) => test.status !== 'passed' && test.status !== 'failed')) {
      skipped.push(`${file}: ${one.fullName} (${reasonOf(path, one.location?.line)})`)
    }
  }
  const ran = new Set(result.testResults.map((one) => relative(root, one.name)))
  failed.push(...files.filter((file) => !ran.has(file)).map((file) => `${file}: did not run`))
  return { passed: result.numPassedTests, failed, skipped }
}

/** The path of the test file whose worker process crashed with SIGSEGV, if there is exactly one in jest's report. */
export function crashedFile(report: string | undefined): string | undefined {
  if (report === undefined) return undefined
  const { testResults } = JSON.parse(report) as JestResult
  const crashed = testResults.filter(({ message }) =>
    message.includes('was terminated by another process: signal=SIGSEGV'),
  )
  return crashed.length === 1 ? crashed[0]?.name : undefined
}

/** `report` with the result of `file` replaced by that of `retried`, a report of this file alone. */
export function withRetried(report: string | undefined, file: string, retried: string): string | undefined {
  if (report === undefined) return undefined
  const [first, second] = [report, retried].map((text) => JSON.parse(text) as JestResult) as [JestResult, JestResult]
  const merged: JestResult = {
    numPassedTests: first.numPassedTests + second.numPassedTests,
    numFailedTests: first.numFailedTests + second.numFailedTests,
    testResults: [...first.testResults.filter(({ name }) => name !== file), ...second.testResults],
  }
  return JSON.stringify(merged)
}

/** The closing line that CI reads. */
export function closingLine(all: readonly Totals[]): string {
  const [passed, failed, skipped] = [
    all.reduce((sum, one) => sum + one.passed, 0),
    all.flatMap((one) => one.failed).length,
    all.flatMap((one) => one.skipped).length,
  ]
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}
