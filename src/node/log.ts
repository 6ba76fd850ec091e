import { destination, type Logger, pino } from 'pino'
import { type LogSettings, openLogFile } from '../base/logFile.ts'
import { printable } from '../base/printable.ts'

/** The most bytes of log lines that wait for stderr; further lines are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/** A value in a line for people. An error's stack is left to the other format. */
function fieldText(value: unknown): string {
  const { message } = (value ?? {}) as { readonly message?: unknown }
  const plain = typeof message === 'string' ? message : value
  return typeof plain === 'string' && /^[^\s"=]+$/.test(plain) ? plain : JSON.stringify(plain)
}

/** A line of pino as people read it: `2026-11-23T01:32:49.680Z INFO  the application listens height=15`. */
function prettyLine(line: string): string {
  const { level, time, msg = '', ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const label = (pino.levels.labels[Number(level)] ?? '').toUpperCase().padEnd(5)
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`)
  return `${new Date(Number(time)).toISOString()} ${label} ${printable(`${msg as string}${pairs.join('')}`)}\n`
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
