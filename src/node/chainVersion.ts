/** Which program version the chain of a home is at, and what to do where this release runs another one. */
import { existsSync } from 'node:fs'
import { readCometConfig } from '../comet/home.ts'
import { FIRST_PROGRAM_VERSION, programVersion } from '../modules/chain/keeper.ts'
import type { CommittedState } from '../store/index.ts'
import { UserError } from './errors.ts'
import { statePathOf } from './homes.ts'
import { readState } from './stateFile.ts'

/** True when config.toml tells the CometBFT of a home to begin with a snapshot; undefined when it tells nothing. */
function usesStateSync(home: string): boolean | undefined {
  try {
    return readCometConfig(home).statesync?.enable === true
  } catch {
    return undefined // There is none, or CometBFT says what is wrong with it.
  }
}

/** The program version of the next block of a home, and what tells it. Undefined: nothing does yet. */
interface ChainVersion {
  readonly version: number | undefined
  readonly from: 'state' | 'genesis' | 'snapshot'
}

/**
 * Looks at the state of a home, or where there is none, at how the home will get one: a replay from genesis begins with
 * the first version, and state sync brings one that nobody knows yet.
 */
export function chainVersionOf(home: string, state: CommittedState | undefined): ChainVersion {
  if (state !== undefined && state.height() > 0) return { version: programVersion(state), from: 'state' }
  return usesStateSync(home) === false
    ? { version: FIRST_PROGRAM_VERSION, from: 'genesis' }
    : { version: undefined, from: 'snapshot' }
}

/** The same, of a home whose state is read through a connection of its own. */
export function chainVersionAt(home: string): ChainVersion {
  const path = statePathOf(home)
  return existsSync(path) ? readState(path, (state) => chainVersionOf(home, state)) : chainVersionOf(home, undefined)
}

/** Why a program that runs `runs` cannot execute the next block of a home, and what to do; undefined when it can. */
export function whyRefused(home: string, runs: number, { version, from }: ChainVersion): string | undefined {
  if (version === undefined || version === runs) return undefined
  const program = `this program runs version ${runs}`
  const older = `the release of version ${version} until the chain retires it`
  const accept = `svcd program accept ${version} --home ${home}`
  if (from === 'genesis') {
    return (
      `${program}, but this home has no state, and a replay from genesis begins with the blocks of version ${version}. ` +
      'Join by state sync: move config/genesis.json out of the home, and run svcd init with --genesis and --state-sync. ' +
      `Or run ${older}. If the chain began with this release, run ${accept}`
    )
  }
  if (version > runs) {
    return (
      `${program}, which the chain has retired: it is at version ${version}. Install the successor. If this release is ` +
      `the successor, start it with --accept-program-version ${version}, or run ${accept} once`
    )
  }
  return from === 'state'
    ? `${program}, but the chain is still at version ${version}. Run ${older}. If this release is of that version, leave out ` +
        `--accept-program-version, or run ${accept}`
    : `${program}, but the snapshot is of version ${version}, from before the retirement. Run svcd snapshot create on a ` +
        'node that has passed it, and start again'
}

/** Throws a UserError that says what to do when a program that runs `runs` cannot execute the next block of a home. */
export function assertRuns(home: string, runs: number, chain: ChainVersion): void {
  const why = whyRefused(home, runs, chain)
  if (why !== undefined) throw new UserError(why)
}
