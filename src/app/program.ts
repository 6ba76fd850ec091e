/** Which program may execute a chain's next block. Source: protocol.md §7, retire_program. */
import { programVersion } from '../modules/chain/keeper.ts'
import type { StateReader } from '../store/state.ts'

/**
 * Why a program that executes the version `executes` may not execute the block after this state; undefined when it may. A
 * replay from genesis asks before each block, because the chain may have retired its program in the block before.
 */
export function programRefusal(state: StateReader, executes: number): string | undefined {
  const wanted = programVersion(state)
  if (wanted === executes) return undefined
  return `the chain runs program version ${wanted}, but this program executes version ${executes}, ${
    executes < wanted
      ? `which was retired. Install the successor; if this is the successor, start it with --accept-program-version ${wanted}`
      : `whose turn has not come. Run the program that executes version ${wanted} until the chain retires it`
  }`
}
