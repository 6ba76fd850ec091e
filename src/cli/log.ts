import { destination, type Logger, pino } from 'pino'
import { LOG_FORMATS, LOG_LEVELS, type LogSettings, openLogFile } from '../base/logFile.ts'
import { option } from './options.ts'
import { clean } from './output.ts'
import { parseOneOf } from './settings.ts'

/** The most bytes of log lines that wait for stderr; further lines are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/** The options of every command that runs for long. */
export const logOptions = [
  option('--log-level <level>', `the least severe lines to log: ${LOG_LEVELS.join(', ')}`, {
    env: 'SVCD_LOG_LEVEL',
    parse: parseOneOf(LOG_LEVELS),
    fallback: 'info',
  }),
  option('--log-format <format>', 'json for programs, or pretty for people (default: json; of CometBFT: pretty)', {
    env: 'SVCD_LOG_FORMAT',
    parse: parseOneOf(LOG_FORMATS),
  }),
] as const

/** The flags of those options, for a program that is started with the same settings. */
export const logFlags = ({ logLevel, logFormat }: LogSettings): readonly string[] => [
  ...(logLevel === undefined ? [] : ['--log-level', logLevel]),
  ...(logFormat === undefined ? [] : ['--log-format', logFormat]),
]

/** A value in a line for people. An error's stack is left to the other format. */
function fieldText(value: unknown): string {
  const { message } = (value ?? {}) as { readonly message?: unknown }
  const plain = typeof message === 'string' ? message : value
  return typeof plain === 'string' && /^[^\s"=]+$/.test(plain) ? plain : JSON.stringify(plain)
}

/** A line of pino as people read it: `2026-11-23T01:32:49.680Z INFO  the application listens height=15`. */
export function prettyLine(line: string): string {
  const { level, time, msg = '', ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const label = (pino.levels.labels[Number(level)] ?? '').toUpperCase().padEnd(5)
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`)
  return `${new Date(Number(time)).toISOString()} ${label} ${clean(`${msg as string}${pairs.join('')}`)}\n`
}

/** Where the lines go: to a file of bounded size, or to stderr. A full disk costs log lines and nothing else. */
function writerOf(file: string | undefined): (line: string) => void {
  if (file !== undefined) return openLogFile(file)
  const stream = destination({ dest: 2, sync: true, maxLength: WAITING_BYTES_MAX })
  // Without a listener the first failed write would end the process.
  stream.on('error', () => undefined)
  return (line) => stream.write(line)
}

/** Opens a log that writes each line to `file`, or to stderr, before the call returns. */
export function openLog({ logLevel = 'info', logFormat = 'json' }: LogSettings, file?: string): Logger {
  const write = writerOf(file)
  const stream = { write: logFormat === 'json' ? write : (line: string) => write(prettyLine(line)) }
  return pino({ base: {}, level: logLevel }, stream)
}
