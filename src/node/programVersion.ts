/** Which program version this release runs in a home. */
import { checkWhole, type Limits, readConfig, writeConfig } from './settings.ts'

/**
 * The program version that this release runs unless its operator says otherwise. A release that changes the rules
 * raises it. Source: protocol.md §7, retire_program; CONTRIBUTING.md, A release.
 */
export const PROGRAM_VERSION = 1

/** The limits of a program version that can be accepted. */
export const PROGRAM_VERSION_LIMITS: Limits = [1, 999_999]

/**
 * The program version that this release runs in a home: the one that is `given` by a flag or a variable, else that of
 * config/svcd.json, else its own. Throws a UserError that names the setting.
 */
export function programVersionOf(home: string, given?: number): number {
  const accepted = given ?? readConfig(home).acceptProgramVersion ?? PROGRAM_VERSION
  return checkWhole(accepted, PROGRAM_VERSION_LIMITS, 'config/svcd.json: acceptProgramVersion')
}

/**
 * Writes into config/svcd.json that this release runs `version` in a home. Nothing is left there for its own version,
 * so that the file never makes another release run what it does not know. `own`: this release's version.
 */
export function acceptProgramVersion(home: string, version: number, own = PROGRAM_VERSION): void {
  const { acceptProgramVersion: before, ...config } = readConfig(home)
  if (version !== own) writeConfig(home, { ...config, acceptProgramVersion: version })
  else if (before !== undefined) writeConfig(home, config)
}
