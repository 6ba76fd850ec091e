import type { Address } from '../../../values/address.ts'
import type { Amount } from '../../../base/amount.ts'
import { printProposalId, proposalIdOf } from '../../../values/pubKey.ts'
import type { TxError } from '../../../base/txError.ts'
import type { State } from '../../../store/state.ts'
import { field, type Fields, optional, type OptionalField } from '../../../tx/fields.ts'
import { uint } from '../../../values/number.ts'
import { isPointHeight, isPointTime } from '../../../values/point.ts'
import type { Shape } from '../../../values/shape.ts'
import { textOf } from '../../../values/text.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { type Block, defineTx, isError, type Outcome, type TxContext, type TxEntry } from '../../define.ts'
import type { EventEntry } from '../../event.ts'
import { governanceErrors } from '../errors.ts'
import { checkOpenLimits, createProposal, proposerIdOf } from '../keeper.ts'
import type { LibraryStatus, OwnFields, Proposal, ProposalOf, ProposalType } from '../tables.ts'

/** What carrying out leaves. `rejected` says why it could not be done; nothing but the proposal was changed then. */
export interface CarriedOut<P> {
  readonly proposal: P
  readonly rejected?: string
}

/** What becomes of one kind of proposal. With methods, not members, the kind of one type is also a kind of any. */
export interface ProposalKind<T extends ProposalType = ProposalType, D = object> {
  /** The Detail of the proposal object. */
  readonly shape: Shape<D>
  readonly carriedOut: 'at approval' | 'at its point'
  carryOut(state: State, block: Block, proposal: ProposalOf<T>): CarriedOut<ProposalOf<T>>
  /** Gives back what a rejected or expired proposal holds; returns it as it then is. */
  drop?(state: State, proposal: ProposalOf<T>): ProposalOf<T>
  /** `libraryStatus` is this node's own, where it keeps one. */
  detail(proposal: ProposalOf<T>, libraryStatus: LibraryStatus | undefined): D
}

/** Declares an operation that proposes: what all of them have in common is said here. */
export const defineProposal = <const M extends Fields, E extends EventEntry<never>>(
  entry: Pick<TxEntry<M, E>, 'operation' | 'doc' | 'input' | 'event' | 'execute'>,
): TxEntry =>
  defineTx({
    ...entry,
    call: `governance.${entry.operation}`,
    returns: 'ProposalID',
    gas: (params) => params.governanceProposal,
  })

/** Why it is proposed, at most 2,048 bytes. Source: protocol.md §3. */
export const reason = (): OptionalField<string> => optional(field(textOf(2048)))

/** The point as a block height. */
export const pointHeight = (what: string): OptionalField<number> =>
  optional(field(uint, `block height at which ${what}; proposal_expire_period blocks ahead by default`))

/** The point as a time. */
export const pointTimestamp = (what: string): OptionalField<number> =>
  optional(field(uint, `Unix seconds at which ${what}; instead of the block height`))

/** The fields of a proposal that its point ends. */
export const expiringFields = {
  reason: reason(),
  expireBlockHeight: pointHeight('the proposal expires'),
  expireTimestamp: pointTimestamp('the proposal expires'),
}

function pointOf(
  block: Block,
  { height, timestamp }: Pick<Draft<unknown>, 'height' | 'timestamp'>,
): Pick<Proposal, 'expireBlockHeight' | 'expireTimestamp'> | TxError {
  if (height !== undefined && timestamp !== undefined) return governanceErrors.oneExpirationAtMost
  if (height !== undefined) {
    if (!isPointHeight(height, block)) return governanceErrors.invalidExpireHeight
    return { expireBlockHeight: height, expireTimestamp: 0 }
  }
  if (timestamp !== undefined) {
    if (!isPointTime(timestamp, block)) return governanceErrors.invalidExpireTimestamp
    return { expireBlockHeight: 0, expireTimestamp: timestamp }
  }
  return { expireBlockHeight: block.height + block.params.proposalExpirePeriod, expireTimestamp: 0 }
}

/** What a kind of proposal gives to `propose`. Its point is a height, a time in Unix seconds, or neither. */
export interface Draft<A> {
  readonly fields: OwnFields
  readonly reason: string | undefined
  readonly height: number | undefined
  readonly timestamp?: number | undefined
  /** Own rules, in order. */
  readonly rules: () => TxError | undefined
  /** Base units that the proposal takes from the sender and holds. */
  readonly escrow?: Amount
  /** What its event names beside the proposal's id. */
  readonly attributes: A
  /** Accounts that it would pay from and to. */
  readonly accounts?: readonly Address[]
}

/** Checks every proposal by these rules in order: the sender, own rules, the point, open limits. Then creates it. */
export function propose<A extends object>(
  { state, block, sender, tx, index }: TxContext,
  draft: Draft<A>,
): Outcome<EventEntry<{ readonly proposal_id: string } & A>> {
  const candidacyId = proposerIdOf(state, sender)
  if (typeof candidacyId !== 'number') return candidacyId
  const broken = draft.rules()
  if (broken !== undefined) return broken
  const point = pointOf(block, draft)
  if (isError(point)) return point
  const limit = checkOpenLimits(state, candidacyId)
  if (limit !== undefined) return limit
  const { fields, reason: why = '', escrow = 0n, attributes, accounts = [] } = draft
  return {
    locks: escrow,
    apply: () => {
      const id = proposalIdOf(tx.hash)
      takeBalance(state, sender, escrow)
      createProposal(state, { id, proposer: sender, candidacyId, block, index, reason: why, ...point }, fields)
      return {
        data: tx.hash,
        attributes: { proposal_id: printProposalId(id), ...attributes },
        accounts,
        validators: [sender],
      }
    },
  }
}
