import { realpathSync, statSync, writeFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { isObject } from '../base/json.ts'
import { printable } from '../base/printable.ts'
import { writeInOneStep } from '../base/writeWhole.ts'
import { UserError } from '../node/errors.ts'
import { amount } from '../values/number.ts'
import { printTokens, toTokens } from './amounts.ts'

/** Writes one line to stdout. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Writes lines to stderr, for what is not the command's result. Control characters are escaped: others may have sent them. */
export const note = (lines: string): void =>
  void process.stderr.write(`${lines.split('\n').map(printable).join('\n')}\n`)

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'no reason given'

/** Why a file cannot be replaced that may be written: it is mounted alone, or its folder is somebody else's. */
const FIXED = new Set(['EBUSY', 'EACCES', 'EPERM', 'EROFS'])

/**
 * Writes the result of a command to a file, in one step where the file can be replaced. A device or a pipe, such as
 * /dev/stdout, is written to as it stands. Throws a UserError that names the file.
 */
export function writeResult(path: string, text: string): void {
  try {
    const held = statSync(path, { throwIfNoEntry: false })
    if (held?.isFile() === false) return writeFileSync(path, text)
    try {
      writeInOneStep(held ? realpathSync(path) : path, text)
    } catch (error) {
      if (held === undefined || !FIXED.has(codeOf(error))) throw error
      writeFileSync(path, text)
    }
  } catch (error) {
    throw new UserError(`cannot write ${path}: ${codeOf(error)}`)
  }
}

/** Writes lines to `stream`. On a terminal a line that will be replaced is overwritten by the next one. */
export const progressOn =
  (stream: NodeJS.WriteStream) =>
  (line: string, isReplaced = false): void =>
    void stream.write(stream.isTTY ? `\r\u001b[K${line}${isReplaced ? '' : '\n'}` : `${line}\n`)

type Style = Parameters<typeof styleText>[0]

/** Styles `text` if stdout is a terminal that shows colours and NO_COLOR is not set. */
export const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })

/** Formats a value for one cell of a table. */
export function cell(value: unknown): string {
  if (typeof value === 'string') return printable(value)
  return value === undefined || value === null ? '' : printable(JSON.stringify(value))
}

/** The members of answers that hold an amount in base units. People read it in tokens. */
const AMOUNTS =
  /(?:^|\.)(?:(?:\w+_)?shares|(?:\w+_)?amount|balance|delegated|room|pending|needed|available|fee|fee\.value)$/

/** Formats the member of an answer that has this name, or this path of names. `print`: prints an amount. */
const memberCell = (path: string, value: unknown, print = printTokens): string =>
  AMOUNTS.test(path) && typeof value === 'string' && amount.parse(value) !== undefined ? print(value) : cell(value)

/** Formats rows under headings, each column as wide as its widest cell. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((one, at) => one.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return [styled('bold', line(headings)), ...rows.map(line)].join('\n')
}

/** Formats an object as lines of `name  value`, amounts in tokens. Members of inner objects are named `outer.inner`. */
export function formatFields(value: Readonly<Record<string, unknown>>): string {
  const flat = (held: Readonly<Record<string, unknown>>, within: string): [string, string][] =>
    Object.entries(held).flatMap(([name, one]): [string, string][] =>
      isObject(one) ? flat(one, `${within}${name}.`) : [[`${within}${name}`, memberCell(`${within}${name}`, one)]],
    )
  const all = flat(value, '')
  const width = Math.max(0, ...all.map(([name]) => name.length))
  return all.map(([name, text]) => `${styled('bold', name.padEnd(width))}  ${text}`.trimEnd()).join('\n')
}

/** Prints a result: as JSON if `json` is set, else the text that `human` returns, which is by default that of an object. */
export function printAnswer(
  json: boolean | undefined,
  value: unknown,
  human = (): string => formatFields(value as Readonly<Record<string, unknown>>),
): void {
  say(json === true ? JSON.stringify(value, undefined, 2) : human())
}

const QUIET_MS = 1000

/** Shows on a terminal what the command is waiting for, once that takes more than a second. */
export async function withProgress<T>(what: string, work: Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work
  const begunMs = performance.now()
  const timer = setInterval(() => {
    process.stderr.write(`\r${what} … ${Math.floor((performance.now() - begunMs) / 1000)} s`)
  }, QUIET_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (performance.now() - begunMs > QUIET_MS) process.stderr.write('\r\u001b[K')
  }
}

type Json = Readonly<Record<string, unknown>>

/** The columns of lists whose rows do not fit on a line. Other lists show every member that is not an object. */
const COLUMNS: readonly (readonly string[])[] = [
  ['rank', 'owner_address', 'voting_power', 'shares', 'active', 'verified', 'state', 'name'],
  ['Id', 'Type', 'BlockHeight', 'ExpireBlockHeight', 'Result'],
  ['validator_address', 'delegate_amount', 'award_amount', 'withdraw_amount', 'slash_amount', 'shares', 'pending'],
]

/** The value of a column. A validator's name comes from its description. */
function held(row: Json, column: string): unknown {
  return column in row ? row[column] : (row['description'] as Json | undefined)?.[column]
}

function printRows(rows: readonly unknown[]): string {
  const [first] = rows
  if (!isObject(first)) return rows.map(cell).join('\n')
  const columns =
    COLUMNS.find(([lead = '', second = '']) => lead in first && second in first) ??
    Object.keys(first).filter((name) => !isObject(first[name]))
  return formatTable(
    columns.map((column) => (AMOUNTS.test(column) ? `${column} (tokens)` : column)),
    rows.map((row) => columns.map((column) => memberCell(column, held(row as Json, column), toTokens))),
  )
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : printRows(value)
  if (isObject(value)) return formatFields(value)
  return value === null ? 'none' : cell(value)
}

/**
 * Formats a gateway's result for people: a list as a table, an object as lines of `name  value`, and `{height, data}`
 * with its height above. Amounts are in tokens.
 */
export function formatAnswer(result: unknown): string {
  if (!isObject(result) || !('data' in result) || Object.keys(result).length !== 2) return printValue(result)
  return `${styled('dim', `height ${cell(result['height'])}`)}\n${printValue(result['data'])}`
}
