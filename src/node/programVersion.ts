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
 * The program version that this release runs in a home: the one that is `given` by a flag or a variable, else the one
 * that config/svcd.json says it was told to run, else its own, `own`. What an earlier release was told is not said of
 * this one, which may have other rules. Throws a UserError that names the setting.
 */
export function programVersionOf(home: string, given?: number, own = PROGRAM_VERSION): number {
  const { acceptProgramVersion: accepted, acceptedBy = 1 } = readConfig(home)
  const version = given ?? (acceptedBy === own ? accepted : undefined) ?? own
  return checkWhole(version, PROGRAM_VERSION_LIMITS, 'config/svcd.json: acceptProgramVersion')
}

/**
 * Writes into config/svcd.json that this release runs `version` in a home; nothing for its own version. `own`: this
 * release's version.
 */
export function acceptProgramVersion(home: string, version: number, own = PROGRAM_VERSION): void {
  const { acceptProgramVersion: before, acceptedBy: _, ...config } = readConfig(home)
  if (version !== own) writeConfig(home, { ...config, acceptProgramVersion: version, acceptedBy: own })
  else if (before !== undefined) writeConfig(home, config)
}
