/** The titles of CometBFT's numbered requirements that are checked (spec/abci/abci++_app_requirements.md). */
const TITLES: Readonly<Record<number, string>> = {
  2: 'PrepareProposal, tx-size',
  3: 'PrepareProposal, ProcessProposal, coherence',
  4: 'ProcessProposal, determinism-1',
  5: 'ProcessProposal, determinism-2',
  6: 'ExtendVote, VerifyVoteExtension, coherence',
  7: 'VerifyVoteExtension, determinism-1',
  8: 'VerifyVoteExtension, determinism-2',
  9: 'all, no-side-effects',
  10: 'ExtendVote, FinalizeBlock, non-dependency',
  11: 'FinalizeBlock, determinism-1',
  12: 'FinalizeBlock, determinism-2',
  13: 'CheckTx, eventual non-oscillation',
}

/**
 * The number of a requirement, or the heading of a section of CometBFT's specification that has rules without a number.
 * @example const requirement: Requirement = 'Crash Recovery'
 */
export type Requirement =
  | 2
  | 3
  | 4
  | 5
  | 6
  | 7
  | 8
  | 9
  | 10
  | 11
  | 12
  | 13
  | 'Crash Recovery'
  | 'Info/Query Connection'
  | 'InitChain'
  | 'State Sync'
  | 'Updating the Validator Set'
  | 'Valid method call sequences'

/**
 * What a test chain throws when the application breaks a requirement. The message names the requirement and says in one
 * sentence what the application did, and with which seed and at which height.
 * @example if (error instanceof RequirementError) console.error(error.requirement) // 9, or 'Crash Recovery'
 */
export class RequirementError extends Error {
  override readonly name = 'RequirementError'
  readonly requirement: Requirement

  constructor(requirement: Requirement, what: string, options?: ErrorOptions) {
    const title = typeof requirement === 'number' ? `Requirement ${requirement} [${TITLES[requirement]}]` : requirement
    super(`${title}: ${what}`, options)
    this.requirement = requirement
  }
}

/** Judges requirements: counts the cases of each, and throws at the first that is broken. */
export class Judge {
  /** How often each requirement was judged. */
  readonly cases = new Map<Requirement, number>()
  private readonly where: () => string

  /** `where`: what every message ends with. */
  constructor(where: () => string) {
    this.where = where
  }

  /** Counts a case, and throws a RequirementError unless `holds`. */
  check(requirement: Requirement, holds: boolean, what: () => string): void {
    this.cases.set(requirement, (this.cases.get(requirement) ?? 0) + 1)
    if (!holds) throw this.error(requirement, what())
  }

  /** The error of a broken requirement. */
  error(requirement: Requirement, what: string, cause?: unknown): RequirementError {
    return new RequirementError(requirement, `${what} (${this.where()})`, cause === undefined ? undefined : { cause })
  }
}
