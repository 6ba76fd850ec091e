import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

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
export async function allGone(pids: readonly number[], limitMs = 10_000): Promise<void> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const left = pids.filter(isRunning)
    if (left.length === 0) return
    if (Date.now() > deadline)
      throw new Error(`still running: ${left.map((pid) => `${pid} (${readProcess(pid)?.args ?? ''})`).join(', ')}`)
    await sleep(20)
  }
}

/** Ports of 127.0.0.1 that nothing listens on. They are held until all are found, so that they differ. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((done) => {
          const server = createServer().listen(0, '127.0.0.1', () => done(server))
        }),
    ),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  return ports
}
