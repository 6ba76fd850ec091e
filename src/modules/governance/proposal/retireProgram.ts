import { parsePubKey, type PubKey } from '../../../base/pubKey.ts'
import type { StateReader } from '../../../store/state.ts'
import { raiseProgramVersion } from '../../chain/keeper.ts'
import { deactivateAllBut, isEligibleKey } from '../../stake/keeper.ts'
import type { ProposalKind } from './kind.ts'

/** The keys of a preservedValidators list, or why it is none. Source: protocol.md §6, retire_program. */
export function parsePreserved(
  state: StateReader,
  list: string,
): { readonly keys: ReadonlySet<PubKey> } | { readonly why: string } {
  if (list === '') return { why: 'preservedValidators: expected a comma separated list of public keys, got ""' }
  const keys = new Set<PubKey>()
  for (const text of list.split(',')) {
    const key = parsePubKey(text)
    if (key === undefined)
      return { why: `preservedValidators: expected base64 of 32 bytes, got ${JSON.stringify(text.slice(0, 60))}` }
    if (keys.has(key)) return { why: `preservedValidators: ${key} is named twice` }
    if (!isEligibleKey(state, key))
      return { why: `preservedValidators: ${key} is not the key of an eligible candidacy` }
    keys.add(key)
  }
  return { keys }
}

const NOBODY_PRESERVED = 'No preserved validator is active'

/**
 * Ends this program version at its point: whoever is not preserved is deactivated. Source: protocol.md §7,
 * retire_program.
 */
export const retireProgram: ProposalKind = {
  at: 'point',
  carryOut: (state, block, { preservedValidators }) => {
    const keys = new Set(preservedValidators.split(',') as PubKey[])
    if (![...keys].some((key) => isEligibleKey(state, key)))
      return { rejected: NOBODY_PRESERVED, row: { status: 'rejected' } }
    deactivateAllBut(state, keys, block.time)
    raiseProgramVersion(state)
    return { row: { status: 'success' } }
  },
  drop: () => ({ status: 'rejected' }),
  detail: ({ retiredVersion, preservedValidators, reason, status }) => ({
    retired_version: retiredVersion,
    preserved_validators: preservedValidators,
    reason,
    status,
  }),
}
