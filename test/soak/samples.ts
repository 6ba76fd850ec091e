import { globSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { collectGarbage } from '../support/garbage.ts'

/** What one process holds. */
export interface Held {
  /** Memory that is the process's own: mapped files, which the system may drop at any time, are not in it. */
  readonly memoryMb: number
  readonly descriptors: number
}

/** What was seen at one time. */
export interface Sample {
  readonly atMs: number
  readonly parts: ReadonlyMap<string, Held>
  /** MB that each part still had after a collection of its garbage; undefined when there was none. */
  readonly keptMb: ReadonlyMap<string, number> | undefined
  readonly walBytes: number
  /** Bytes of log by part. */
  readonly logBytes: ReadonlyMap<string, number>
}

/** What is watched: processes by name, SQLite's write-ahead log, and files of log by part, as patterns in a folder. */
export interface Watched {
  readonly pids: ReadonlyMap<string, number>
  /** Where the parts that are written in Go answer for their memory; the others have loaded collect.ts. */
  readonly profiles: ReadonlyMap<string, string>
  readonly walPath: string
  readonly logFolder: string
  readonly logs: ReadonlyMap<string, string>
}

const KIB = 1024
/** Bytes. */
export const MIB = KIB * KIB

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
  return { memoryMb: (kbOf('RssAnon') + kbOf('RssShmem')) / KIB, descriptors }
}

/** Collects the garbage of a Go program; resolves with the MB that its objects and its stacks then take. */
async function keptByGo(profile: string): Promise<number> {
  const text = await (await fetch(`http://${profile}/debug/pprof/heap?gc=1&debug=1`)).text()
  const bytes = ['HeapAlloc', 'Stack'].map((name) => Number(new RegExp(`^# ${name} = (\\d+)`, 'm').exec(text)?.[1]))
  return bytes.reduce((a, b) => a + b) / MIB
}

/** Collects the garbage of every part; resolves with the MB that each still has. */
async function collect({ pids, profiles }: Watched): Promise<ReadonlyMap<string, number>> {
  const kept = [...pids].map(async ([name, pid]) => {
    const profile = profiles.get(name)
    if (profile !== undefined) return [name, await keptByGo(profile)] as const
    await collectGarbage(pid)
    return [name, heldBy(pid).memoryMb] as const
  })
  return new Map(await Promise.all(kept))
}

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Looks once, and then collects the garbage when asked to. Throws when a process has ended. */
export async function look(watched: Watched, isCollecting: boolean): Promise<Sample> {
  const { pids, walPath, logFolder, logs } = watched
  const logged = [...logs].map(([name, pattern]) => {
    const files = globSync(pattern, { cwd: logFolder })
    return [name, files.reduce((sum, file) => sum + bytesOf(join(logFolder, file)), 0)] as const
  })
  return {
    atMs: performance.now(),
    parts: new Map([...pids].map(([name, pid]) => [name, heldBy(pid)])),
    keptMb: isCollecting ? await collect(watched) : undefined,
    walBytes: bytesOf(walPath),
    logBytes: new Map(logged),
  }
}
