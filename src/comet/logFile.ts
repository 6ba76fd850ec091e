import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../base/folder.ts'

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
