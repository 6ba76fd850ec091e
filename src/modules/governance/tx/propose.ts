import type { Amount } from '../../../base/amount.ts'
import { proposalIdOf } from '../../../base/pubKey.ts'
import type { TxError } from '../../../base/txError.ts'
import { optional, type OptionalMember, text, uint } from '../../../tx/members.ts'
import { type Block, type Effects, isError, type TxContext } from '../../define.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { governanceErrors } from '../errors.ts'
import { checkOpenLimits, putProposal, validatorIdOf } from '../keeper.ts'
import type { Proposal, ProposalType } from '../tables.ts'

/** Furthest point of a proposal, in blocks after its own. Source: protocol.md §6, expiry rules. */
export const POINT_BLOCKS_MAX = 1_000_000
/** The same in seconds. */
export const POINT_SECONDS_MAX = 10_000_000

/** Why it is proposed, at most 2,048 bytes. Source: protocol.md §3. */
export const reason = (): OptionalMember<string> => optional(text(2048))

/** The point as a block height. */
export const pointHeight = (what: string): OptionalMember<number> =>
  optional(uint(`block height at which ${what}; proposal_expire_period blocks ahead by default`))

/** The point as a time. */
export const pointTimestamp = (what: string): OptionalMember<number> =>
  optional(uint(`Unix seconds at which ${what}; instead of the block height`))

/** The point that a proposal names. */
export interface Point {
  readonly height?: number | undefined
  readonly timestamp?: number | undefined
}

function pointOf(
  block: Block,
  { height, timestamp }: Point,
): Pick<Proposal, 'expireBlockHeight' | 'expireTimestamp'> | TxError {
  if (height !== undefined && timestamp !== undefined) return governanceErrors.oneExpirationAtMost
  if (height !== undefined) {
    if (height <= block.height || height > block.height + POINT_BLOCKS_MAX) return governanceErrors.invalidExpireHeight
    return { expireBlockHeight: height, expireTimestamp: 0 }
  }
  if (timestamp !== undefined) {
    if (timestamp <= block.time || timestamp > block.time + POINT_SECONDS_MAX)
      return governanceErrors.invalidExpireTimestamp
    return { expireBlockHeight: 0, expireTimestamp: timestamp }
  }
  return { expireBlockHeight: block.height + block.params.proposalExpirePeriod, expireTimestamp: 0 }
}

const BLANK = {
  result: '',
  resultMsg: '',
  resultBlockHeight: 0,
  resultAt: 0,
  pending: true,
  yesPower: 0,
  noPower: 0,
  totalPower: 0,
  reason: '',
  name: '',
  value: '',
  version: '',
  fileUrl: '',
  md5: '',
  retiredVersion: '',
  preservedValidators: '',
  transferFrom: '',
  transferTo: '',
  amount: 0n,
  escrow: 0n,
  status: '',
} as const

/** What one kind of proposal brings. */
export interface Draft {
  readonly type: ProposalType
  readonly point: Point
  /** Columns of its kind. */
  readonly row: Partial<Proposal>
  /** Own rules, in order. */
  readonly rules: () => TxError | undefined
  /** Base units that the proposal takes from the sender and holds. */
  readonly escrow?: Amount
}

/**
 * Rules of every propose operation, in order: Invalid validator, own rules, expiry rules, open limits; then the new
 * proposal.
 */
export function propose({ state, block, sender, tx, place }: TxContext, draft: Draft): TxError | Effects {
  const candidacyId = validatorIdOf(state, sender)
  if (typeof candidacyId !== 'number') return candidacyId
  const broken = draft.rules()
  if (broken !== undefined) return broken
  const point = pointOf(block, draft.point)
  if (isError(point)) return point
  const limit = checkOpenLimits(state, candidacyId)
  if (limit !== undefined) return limit
  const escrow = draft.escrow ?? 0n
  return {
    locks: escrow,
    apply: () => {
      const id = proposalIdOf(tx.hash)
      takeBalance(state, sender, escrow)
      putProposal(state, {
        ...BLANK,
        id,
        type: draft.type,
        proposer: sender,
        candidacyId,
        blockHeight: block.height,
        place,
        createdAt: block.time,
        ...point,
        ...draft.row,
        escrow,
      })
      const named = draft.row.name === undefined ? [] : [['name', draft.row.name] as const]
      return { data: tx.hash, attributes: [['proposal_id', id], ...named] }
    },
  }
}
