import {
  closeSync,
  createWriteStream,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  type WriteStream,
} from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../base/folder.ts'
import { homeFiles } from './home.ts'

/** A log file that keeps at most two files of `bytesMax`: the current one and `<path>.1`. */
export type LogFile = { write: (chunk: Uint8Array) => void; close: () => void }

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * Opens `path` for appending, its folder made when missing. When it grows over `bytesMax` it becomes `<path>.1` and
 * begins anew. A disk that is full or gone loses log lines and nothing else: write errors are not reported.
 */
export const openLogFile = (path: string, bytesMax = 50 * 1024 * 1024): LogFile => {
  makeFolder(dirname(path))
  let bytes = sizeOf(path)
  let stream: WriteStream | undefined
  const open = () => {
    if (bytes >= bytesMax) {
      stream?.end()
      renameSync(path, `${path}.1`)
      bytes = 0
      stream = undefined
    }
    if (stream === undefined) {
      stream = createWriteStream(path, { flags: 'a' })
      stream.on('error', () => {})
    }
    return stream
  }
  open()
  return {
    write: (chunk) => {
      open().write(chunk)
      bytes += chunk.length
    },
    close: () => stream?.end(),
  }
}

/** How much of the end of a log is read: days of what a node prints that makes no blocks. */
const TAIL_BYTES = 1024 * 1024

/** Go's quoted text, or what is left of it when the line was cut off. */
const unquoted = (text: string): string => text.replaceAll(/\\(["\\])/g, '$1')

/**
 * Why the consensus of CometBFT failed, when this line of its log says that it did: `… write …/wal: no space left on
 * device`. CometBFT lives on after that and answers calls, but makes and follows no more blocks until it is started
 * again. Reads both of its log formats.
 */
export const consensusFailureIn = (line: string): string | undefined => {
  if (!line.includes('CONSENSUS FAILURE!!!')) return undefined
  const [, plain, json] = /\berr="((?:[^"\\]|\\.)*)"|"err":"((?:[^"\\]|\\.)*)"/.exec(line) ?? []
  return unquoted(plain ?? json ?? 'no reason given')
}

const tailOf = (path: string): string => {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, size - bytes.length))
  } finally {
    closeSync(file)
  }
}

/**
 * The same out of the log in a home, which only a node that svcd started writes: undefined when there is none, or when
 * a block was committed since.
 */
export const lastConsensusFailure = (home: string): string | undefined => {
  let lines: readonly string[]
  try {
    lines = tailOf(homeFiles(home).log).split('\n')
  } catch {
    return undefined
  }
  const at = lines.findLastIndex((line) => consensusFailureIn(line) !== undefined)
  if (at < 0 || lines.slice(at + 1).some((line) => line.includes('committed state'))) return undefined
  return consensusFailureIn(lines[at] as string)
}
