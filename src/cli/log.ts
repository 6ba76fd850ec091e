import { destination, type Logger, pino } from 'pino'

/** Most bytes of lines that wait for a disk that takes none; more are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/**
 * A log that goes to the file or file descriptor `dest`. `sync`: each line is written before the call returns. A disk
 * that is full or gone loses log lines and nothing else: without the listener the first failed write would end the
 * process.
 */
export function openLog(dest: string | number, sync = true): Logger {
  const stream = destination({ dest, sync, mkdir: true, maxLength: WAITING_BYTES_MAX })
  stream.on('error', () => undefined)
  return pino({ base: {} }, stream)
}
