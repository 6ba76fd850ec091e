import { globSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What one process holds. */
export interface Held {
  /** Memory that is the process's own: mapped files, which the system may drop at any time, are not in it. */
  readonly memoryMb: number
  readonly descriptors: number
}

/** What was seen at one time. `log`: bytes of log by part. */
export interface Sample {
  readonly atMs: number
  readonly parts: ReadonlyMap<string, Held>
  readonly walBytes: number
  readonly logBytes: ReadonlyMap<string, number>
}

/** What is watched: processes by name, SQLite's write-ahead log, and files of log by part, as patterns in a folder. */
export interface Watched {
  readonly pids: ReadonlyMap<string, number>
  readonly walPath: string
  readonly logFolder: string
  readonly logs: ReadonlyMap<string, string>
}

// CometBFT's databases keep up to a thousand of their tables open, more the longer a chain is.
const TABLE = /\.ldb$/

const isTable = (link: string): boolean => {
  try {
    return TABLE.test(readlinkSync(link))
  } catch {
    // It was closed meanwhile.
    return false
  }
}

/** What a process holds now. Throws when it has ended. */
export function heldBy(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kbOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  const folder = `/proc/${pid}/fd`
  const descriptors = readdirSync(folder).filter((name) => !isTable(join(folder, name))).length
  return { memoryMb: (kbOf('RssAnon') + kbOf('RssShmem')) / 1024, descriptors }
}

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Looks once. Throws when a process has ended. */
export function look({ pids, walPath, logFolder, logs }: Watched): Sample {
  const logged = [...logs].map(([name, pattern]) => {
    const files = globSync(pattern, { cwd: logFolder })
    return [name, files.reduce((sum, file) => sum + bytesOf(join(logFolder, file)), 0)] as const
  })
  return {
    atMs: performance.now(),
    parts: new Map([...pids].map(([name, pid]) => [name, heldBy(pid)])),
    walBytes: bytesOf(walPath),
    logBytes: new Map(logged),
  }
}
