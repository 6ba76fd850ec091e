import { readFileSync } from 'node:fs'

const CLOCK_TICK_MS = 10

/**
 * CPU time that a process and all its threads have used, in ms; 0 for no process. Source: /proc/<pid>/stat, utime and
 * stime.
 */
export function cpuMsOf(pid: number | undefined): number {
  if (pid === undefined) return 0
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS
}

/** Memory of a process in MB: resident, and resident with shared pages split among those that share them. */
export interface Memory {
  readonly rssMb: number
  readonly pssMb: number
}

/** What a process holds now. Source: /proc/<pid>/smaps_rollup. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const mbOf = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024)
  return { rssMb: mbOf('Rss'), pssMb: mbOf('Pss') }
}

/** The most resident memory that a process has had, in MB. Source: VmHWM of /proc/<pid>/status. */
export const peakMbOf = (pid: number): number =>
  Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
