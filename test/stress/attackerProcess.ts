import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { AttackJob, AttackTally } from './job.ts'

const PROGRAM = fileURLToPath(new URL('attacker.ts', import.meta.url))
/** Ends only a process that hangs: on a busy machine one of low priority begins late. */
const OVERRUN_MS_MAX = 300_000

// Strangers have machines of their own, so where both want the CPU the node comes first; they still get about a tenth,
// or a busy node would hold up the very requests that it is tried with. A kernel that shares CPU between sessions first
// goes by the session's nice value.
function yieldCpu(pid: number): void {
  setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    /* a kernel without sessions that share CPU */
  }
}

/**
 * Runs one attack in a process of its own, below normal priority. Resolves when the last of its sockets is closed;
 * throws when the process ends without saying what became of its requests.
 */
export async function runAttack(job: AttackJob): Promise<AttackTally> {
  const child: ChildProcess = fork(PROGRAM, { stdio: 'inherit', execArgv: [], detached: true })
  yieldCpu(child.pid as number)
  // 'exit' may be emitted before the last message has been read; 'close' comes after it.
  const ended = once(child, 'close')
  const late = new AbortController()
  const overrun = sleep(job.firstMsMax + job.durationMs + OVERRUN_MS_MAX, undefined, { signal: late.signal }).then(
    () => {
      child.kill('SIGKILL')
    },
    () => {},
  )
  let tally: AttackTally | undefined
  child.once('message', (message: AttackTally) => {
    tally = message
  })
  child.send(job)
  await ended
  late.abort()
  await overrun
  if (tally === undefined)
    throw new Error(
      `the strangers' process ended with ${String(child.signalCode ?? child.exitCode)} before its attack was over`,
    )
  return tally
}
