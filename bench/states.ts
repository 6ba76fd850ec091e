import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Context } from './context.ts'
import type { SenderKind } from './signers.ts'

/** What a state holds much of. */
export type StateKind = 'accounts' | 'candidacies' | 'proposals' | 'delegations' | 'votes' | SenderKind

/** What the application alone costs on one state: CPU, but for opening, which is time. */
export interface InProcess {
  readonly openMs: number
  /**
   * A transaction from CheckTx to Commit, in blocks of 1,000: 900 transfers, 100 updates; of delegations, delegations; of
   * votes, votes on that many open proposals; of a kind of sender, transfers.
   */
  readonly txUs: number
  /** The same in blocks of 1,000 transfers, on the states of delegations and votes alone. */
  readonly transferUs?: number
  /** A block of 1,000, without its CheckTx. */
  readonly blockMs: number
  readonly emptyBlockMs: number
  /** 5,000 waiting transactions: seen the first time, and rechecked after a block. */
  readonly firstCheckMs: number
  readonly recheckMs: number
  readonly rssMb: number
  readonly pssMb: number
}

/** What making a state took: from genesis to a file that is whole. */
interface Making {
  readonly makeMs: number
  readonly makePeakMb: number
  readonly diskMb: number
}

/** A state by its kind and size, and what was measured on it in each round. */
export interface StateCost extends Making {
  readonly kind: StateKind
  readonly size: number
  readonly rounds: readonly InProcess[]
}

const PROGRAM = fileURLToPath(new URL('inProcess.ts', import.meta.url))
const run = promisify(execFile)
const LIMIT = { timeout: 900_000 }
const MB = 1_000_000

/** Makes each state once, then measures all of them in turn, round after round. Each in a process of its own. */
export async function measureStates(
  { rounds, newFolder, say }: Context,
  states: readonly (readonly [StateKind, number])[],
): Promise<StateCost[]> {
  const costs: (StateCost & { readonly folder: string; readonly rounds: InProcess[] })[] = []
  for (const [kind, size] of states) {
    const folder = newFolder()
    const { stdout } = await run(process.execPath, [PROGRAM, 'make', kind, String(size), folder], LIMIT)
    const diskMb = statSync(join(folder, 'state.db')).size / MB
    const making = { ...(JSON.parse(stdout) as Omit<Making, 'diskMb'>), diskMb }
    const { makeMs, makePeakMb } = making
    say(
      `${size} ${kind}: made in ${(makeMs / 1000).toFixed(1)} s with ${makePeakMb} MB at most, ${Math.round(diskMb)} MB on disk`,
    )
    costs.push({ kind, size, folder, ...making, rounds: [] })
  }
  for (let round = 0; round < rounds; round++) {
    for (const { kind, size, folder, rounds: done } of costs) {
      const { stdout } = await run(process.execPath, [PROGRAM, 'run', kind, String(size), folder], LIMIT)
      const cost = JSON.parse(stdout) as InProcess
      done.push(cost)
      say(
        `round ${round + 1}, ${size} ${kind}: ${Math.round(cost.txUs)} µs CPU a transaction, opened in ${Math.round(cost.openMs)} ms, ` +
          `an empty block ${cost.emptyBlockMs.toFixed(1)} ms, ${cost.rssMb} MB`,
      )
    }
  }
  return costs
}
