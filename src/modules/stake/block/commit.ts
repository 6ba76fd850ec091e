import { type Address, addressBytes } from '../../../base/address.ts'
import type { StateReader } from '../../../store/state.ts'
import { getById, listEligible } from '../keeper.ts'
import { type Candidacy, validatorKeys } from '../tables.ts'

/** One member of the set whose commit the block carries. */
export interface CommitVote {
  /** CometBFT's address of the validator key. */
  readonly validator: Address
  readonly power: number
  /** True unless the flag is absent; a nil vote counts as signed. */
  readonly signed: boolean
}

/** What CometBFT reports of a validator that signed what it must not. */
export interface Offence {
  readonly validator: Address
  /** Height of the offence. */
  readonly height: number
}

/**
 * The candidacy id that a key's address belonged to at a height; undefined for a key that was not in the set then.
 * Source: protocol.md §3, validator_keys.
 */
export function candidacyIdAt(state: StateReader, validator: Address, height: number): number | undefined {
  for (const row of state.scan(validatorKeys, { index: 'byAddress', prefix: addressBytes(validator), reverse: true })) {
    if (row.firstHeight <= height) return row.lastHeight === 0 || row.lastHeight >= height ? row.candidacyId : undefined
  }
  return undefined
}

/** Eligible and only one: it may be neither counted out nor voted out by absence. */
export function isOnlyEligible(state: StateReader, candidacy: Candidacy): boolean {
  let seen = 0
  for (const { id } of listEligible(state)) {
    if (id !== candidacy.id || ++seen > 1) return false
  }
  return seen === 1
}

/** The live candidacy that a vote in the last commit belongs to, if its record is still there. */
export function liveVoter(state: StateReader, vote: CommitVote, commitHeight: number): Candidacy | undefined {
  const id = candidacyIdAt(state, vote.validator, commitHeight)
  const candidacy = id === undefined ? undefined : getById(state, id)
  return candidacy?.withdrawn === false ? candidacy : undefined
}
