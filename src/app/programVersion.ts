/** Which blocks a program executes: those of the program version that it runs. Source: protocol.md §7, retire_program. */
import { programVersion } from '../modules/chain/keeper.ts'
import type { StateReader } from '../store/index.ts'
import type { AppContext } from './context.ts'

/** Thrown for a state, or a block, of another program version than this program runs. Nothing of it was executed. */
export class OtherProgramVersion extends Error {
  override readonly name = 'OtherProgramVersion'
  /** The version that this program runs. */
  readonly runs: number
  /** The version that the chain is at. */
  readonly chain: number

  constructor(runs: number, chain: number) {
    super(`this program runs version ${runs}, but the chain is at version ${chain}`)
    this.runs = runs
    this.chain = chain
  }
}

/** Throws an OtherProgramVersion unless this program executes the block after `state`. */
export function assertProgramVersion({ options: { programVersion: runs } }: AppContext, state: StateReader): void {
  if (runs === undefined) return
  const chain = programVersion(state)
  if (runs !== chain) throw new OtherProgramVersion(runs, chain)
}
