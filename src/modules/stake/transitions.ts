import type { TxError } from '../../base/txError.ts'
import type { TxContext } from '../define.ts'
import { stakeErrors } from './errors.ts'
import { getByOwner } from './keeper.ts'
import type { Candidacy } from './tables.ts'

/** The state of an address's candidacy. `none`: the address has no record. */
type CandidacyState = 'none' | 'active' | 'inactive' | 'withdrawn'

/** What the owner asks for. */
type CandidacyTrigger = 'update' | 'withdraw' | 'deactivate' | 'activate' | 'updateAccount'

const noCandidacy: Readonly<Record<CandidacyTrigger, TxError>> = {
  update: stakeErrors.noCandidacyToEdit,
  withdraw: stakeErrors.noCandidacyToWithdraw,
  deactivate: stakeErrors.noCandidacyToDeactivate,
  activate: stakeErrors.noCandidacyToActivate,
  updateAccount: stakeErrors.badRequest,
}

type Moves = Readonly<Record<CandidacyState, Readonly<Record<CandidacyTrigger, CandidacyState | TxError>>>>

/**
 * Every move, total: what is not allowed says its error. The activate of a withdrawn candidacy has rules of its own
 * beside. Source: interface, States and transitions; protocol.md §3.
 *
 *   none ──declare──▶ active ◀──activate── inactive
 *                       │  ───deactivate──▶   │
 *                       └──────withdraw───────┴──▶ withdrawn ──activate──▶ active
 */
const candidacyMoves: Moves = {
  none: noCandidacy,
  active: {
    update: 'active',
    withdraw: 'withdrawn',
    deactivate: 'inactive',
    activate: stakeErrors.alreadyActivated,
    updateAccount: 'active',
  },
  inactive: {
    update: 'inactive',
    withdraw: 'withdrawn',
    deactivate: stakeErrors.alreadyDeactivated,
    activate: 'active',
    updateAccount: 'inactive',
  },
  withdrawn: { ...noCandidacy, activate: 'active' },
}

/** The state that a record is in. */
function stateOf(candidacy: Candidacy | undefined): CandidacyState {
  if (candidacy === undefined) return 'none'
  if (candidacy.withdrawn) return 'withdrawn'
  return candidacy.active ? 'active' : 'inactive'
}

/** The sender's candidacy, which may make this move, or why it may not. */
export function allowed({ state, sender }: TxContext, trigger: CandidacyTrigger): Candidacy | TxError {
  const candidacy = getByOwner(state, sender)
  const to = candidacyMoves[stateOf(candidacy)][trigger]
  return typeof to === 'string' ? (candidacy as Candidacy) : to
}
