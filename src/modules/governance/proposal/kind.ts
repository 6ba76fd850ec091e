import type { State } from '../../../store/state.ts'
import type { Block } from '../../define.ts'
import type { Proposal } from '../tables.ts'

/**
 * What carrying out changes in the proposal's row; `rejected` says why it could not be, and nothing else was changed
 * then.
 */
export interface CarriedOut {
  readonly row?: Partial<Proposal>
  readonly rejected?: string
}

/** One kind of proposal. */
export interface ProposalKind {
  /** Where an approved one is carried out: at once, or at its point. */
  readonly at: 'approval' | 'point'
  readonly carryOut: (state: State, block: Block, proposal: Proposal) => CarriedOut
  /** What a rejected or expired one gives back; returns the changes in its row. */
  readonly drop?: (state: State, proposal: Proposal) => Partial<Proposal>
  /** Detail of the proposal object. `status` is this node's own, where the kind has one. */
  readonly detail: (proposal: Proposal, status: string | undefined) => Record<string, unknown>
}
