import { accessSync, appendFileSync, constants, lstatSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ensureFolder, FolderError } from './folder.ts'

/** The levels of a log, from the one that logs most. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** A level of a log. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The formats of a log line. */
export const LOG_FORMATS = ['json', 'pretty'] as const

/** What a program logs, and how. A setting that is undefined is the program's own default. */
export interface LogSettings {
  readonly logLevel?: LogLevel | undefined
  readonly logFormat?: (typeof LOG_FORMATS)[number] | undefined
}

/** A log file that has reached this size, in bytes, is renamed and a new one begins. */
export const LOG_FILE_BYTES_MAX = 10 * 1024 * 1024

/** The most files of one log: the log itself, and older ones named `<path>.1`, `<path>.2` and so on. */
export const LOG_FILES_MAX = 3

/** Renames each file to the next number, over the oldest. */
function rotate(path: string): void {
  for (let at = LOG_FILES_MAX - 1; at > 0; at -= 1) {
    const from = at === 1 ? path : `${path}.${at - 1}`
    if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${at}`)
  }
}

/** Throws a FolderError unless lines can be written to `path`, and its files renamed. That a disk is full is no reason. */
function assertWritable(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return
  try {
    // What is behind a link is not renamed.
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) accessSync(dirname(path), constants.W_OK)
    appendFileSync(path, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') return
    throw new FolderError(`${path}: the log cannot be written (${message}): name another place`, { cause: error })
  }
}

/**
 * Returns a function that appends to the log at `path`, whose folder it creates if it is missing. A log takes at most
 * LOG_FILES_MAX files of `bytesMax`, plus what one call adds to each. A device or pipe in its place is never renamed.
 * Throws a FolderError for a file that cannot be written, or a folder in which none can be renamed.
 */
export function openLogFile(path: string, bytesMax = LOG_FILE_BYTES_MAX): (chunk: string | Uint8Array) => void {
  ensureFolder(dirname(path))
  assertWritable(path)
  let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return (chunk) => {
    try {
      if (bytes >= bytesMax && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) {
        rotate(path)
        bytes = 0
      }
    } catch {
      // One that is mounted alone cannot be renamed. It grows.
    }
    try {
      appendFileSync(path, chunk)
      bytes += Buffer.byteLength(chunk)
    } catch {
      // A full disk costs log lines and nothing else.
    }
  }
}
