import { readdirSync, readFileSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { until } from '../../../bench/until.ts'
import { tryPort } from '../../../src/comet/process.ts'

/** One running process, as /proc has it. */
export interface Running {
  readonly pid: number
  readonly parent: number
  readonly args: string
}

function readProcess(pid: number): Running | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may hold anything; what follows the last bracket is state and parent.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A dead child that nobody has waited for yet runs no more, once its other threads, which still hold its locks, are
    // gone.
    if (state === 'X' || (state === 'Z' && readdirSync(`/proc/${pid}/task`).length <= 1)) return undefined
    return {
      pid,
      parent: Number(parent),
      args: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim(),
    }
  } catch {
    return undefined
  }
}

/** True while a process runs; one that is dead but not waited for does not. */
export const isRunning = (pid: number): boolean => readProcess(pid) !== undefined

/** All processes below `pid`, of any depth, without itself. */
export function descendantsOf(pid: number): readonly Running[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
  const found: Running[] = []
  const add = (parent: number): void => {
    for (const one of all) {
      if (one?.parent !== parent) continue
      found.push(one)
      add(one.pid)
    }
  }
  add(pid)
  return found
}

/**
 * Resolves when none of `pids` runs any more; throws after `limitMs` with those that do. Kernels take a moment to bury
 * the dead.
 */
export async function allGone(pids: readonly number[], limitMs = 300_000): Promise<void> {
  const left = (): readonly number[] => pids.filter(isRunning)
  const named = (pid: number): string => `${pid} (${readProcess(pid)?.args ?? ''})`
  await until(
    () => left().length === 0,
    limitMs,
    () => `still running: ${left().map(named).join(', ')}`,
  )
}

const isFree = (port: number): Promise<boolean> =>
  tryPort('127.0.0.1', port).then(
    () => true,
    () => false,
  )

/** Below the ports that systems hand out by themselves. */
const [PORT_MIN, PORT_COUNT] = [10_000, 22_000]
/** How many workers of jest have ports of their own. tools/test.ts starts fewer. */
const WORKERS_MAX = 8

/** The ports that a worker of jest takes, which no other one does. Workers count from 1. Throws above WORKERS_MAX. */
export function portRange(worker: number): { readonly first: number; readonly count: number } {
  if (worker > WORKERS_MAX) throw new Error(`worker ${worker} of jest has no ports: run at most ${WORKERS_MAX}`)
  const count = PORT_COUNT / WORKERS_MAX
  return { first: PORT_MIN + count * (worker - 1), count }
}

const { first: FIRST, count: COUNT } = portRange(Number(process.env['JEST_WORKER_ID'] ?? 1))
let next = FIRST + randomInt(COUNT)

/** The first of ports of 127.0.0.1 that nothing listens on, `offsets` above it. No two calls give the same one. */
async function findFree(offsets: readonly number[]): Promise<number> {
  const width = Math.max(...offsets) + 1
  for (let tried = 0; tried < COUNT; tried += width) {
    if (next + width > FIRST + COUNT) next = FIRST
    const base = next
    next += width
    if ((await Promise.all(offsets.map((offset) => isFree(base + offset)))).every(Boolean)) return base
  }
  throw new Error('no free ports')
}

/** Ports of 127.0.0.1 that nothing listens on. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await findFree([0]))
  return ports
}

/** A base port with which the ports of all nodes of a network are free: four for each, 10 above those of the one before. */
export const freeBasePort = (nodes: number): Promise<number> =>
  findFree(Array.from({ length: nodes }, (_, at) => [0, 1, 2, 3].map((port) => 10 * at + port)).flat())
